// The table of `status` for several trees. Patches are rows and trees columns, as long as that fits the width; else trees are
// rows, in as many tables, one below the other, as their patches need.
#include <algorithm>

#include "base/text.h"
#include "shell/report_text.h"
#include "shell/words.h"

namespace suture {
namespace {

constexpr std::size_t kWidth = 100;  // of a page, where the terminal does not say
constexpr std::size_t kGap = 2;

// A cell, and how it is painted.
struct Cell {
  std::string text;
  std::optional<Verdict> verdict;
};
using Row = std::vector<Cell>;

std::string drawn(const Cell& cell, std::size_t width, Style style) {
  const std::size_t size = count_characters(cell.text);
  return (cell.verdict ? paint_verdict(*cell.verdict, style) : cell.text) + std::string(width - size, ' ');
}

std::vector<std::size_t> widths_of(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], count_characters(row[i].text) + kGap);
  }
  return widths;
}

std::size_t total(const std::vector<Row>& rows) {
  std::size_t sum = 0;
  for (const std::size_t width : widths_of(rows)) sum += width;
  return sum < kGap ? 0 : sum - kGap;
}

std::string drawn(const std::vector<Row>& rows, Style style) {
  const std::vector<std::size_t> widths = widths_of(rows);
  std::string text;
  for (const Row& row : rows) {
    std::size_t last = row.size();
    while (last > 0 && row[last - 1].text.empty()) --last;
    for (std::size_t i = 0; i < last; ++i)
      text += drawn(row[i], i + 1 == last ? count_characters(row[i].text) : widths[i], style);
    text += "\n";
  }
  return text;
}

Cell verdict_cell(const StatusRow& row, const std::string& patch) {
  if (!row.problem.empty()) return {row.problem, std::nullopt};
  const auto found = std::find_if(row.verdicts.begin(), row.verdicts.end(),
                                  [&patch](const auto& each) { return each.first == patch; });
  if (found == row.verdicts.end()) return {"-", std::nullopt};
  return {std::string(verdict_name(found->second)), found->second};
}

std::vector<Row> patches_as_rows(const std::vector<StatusRow>& trees, const std::vector<std::string>& patches) {
  std::vector<Row> rows = {{{"PATCH", {}}}, {{"", {}}}};
  for (const StatusRow& tree : trees) {
    rows[0].push_back({tree.tree, {}});
    rows[1].push_back({tree.problem.empty() ? tree.version : "", {}});
  }
  for (const std::string& patch : patches) {
    Row row = {{patch, {}}};
    for (const StatusRow& tree : trees) row.push_back(verdict_cell(tree, patch));
    rows.push_back(std::move(row));
  }
  return rows;
}

std::vector<Row> trees_as_rows(const std::vector<StatusRow>& trees, const std::vector<std::string>& patches) {
  Row head = {{"TREE", {}}, {"VERSION", {}}};
  for (const std::string& patch : patches) head.push_back({patch, {}});
  std::vector<Row> rows = {std::move(head)};
  for (const StatusRow& tree : trees) {
    Row row = {{tree.tree, {}}, {tree.problem.empty() ? tree.version : "-", {}}};
    for (const std::string& patch : patches) row.push_back(verdict_cell(tree, patch));
    if (patches.empty() && !tree.problem.empty()) row.push_back({tree.problem, {}});
    rows.push_back(std::move(row));
  }
  return rows;
}

// As many patches a table as fit, one at least.
std::string tables_of_trees(const std::vector<StatusRow>& trees, const std::vector<std::string>& patches,
                            std::size_t width, Style style) {
  std::string text;
  std::size_t done = 0;
  do {
    std::size_t end = std::min(done + 1, patches.size());
    const auto part = [&](std::size_t to) {
      return trees_as_rows(trees, {patches.begin() + static_cast<std::ptrdiff_t>(done),
                                   patches.begin() + static_cast<std::ptrdiff_t>(to)});
    };
    while (end < patches.size() && total(part(end + 1)) <= width) ++end;
    text += (text.empty() ? "" : "\n") + drawn(part(end), style);
    done = end;
  } while (done < patches.size());
  return text;
}

// The folder that all trees are in, with its slash; empty where they share none, or one of them is it.
std::string common_folder(const std::vector<StatusRow>& trees) {
  std::string common = trees.front().tree;
  for (const StatusRow& tree : trees) {
    const auto differs = std::mismatch(common.begin(), common.end(), tree.tree.begin(), tree.tree.end());
    common.erase(differs.first, common.end());
  }
  const std::size_t slash = common.rfind('/');
  common.erase(slash == std::string::npos ? 0 : slash + 1);
  const bool one_is_it = std::any_of(trees.begin(), trees.end(), [&](const StatusRow& t) { return t.tree == common; });
  return one_is_it ? "" : common;
}

}  // namespace

std::string status_table(std::vector<StatusRow> trees, const std::vector<std::string>& patches, Style style) {
  if (trees.empty()) return "";
  const std::string folder = common_folder(trees);
  const bool said = folder.size() > 1;
  for (StatusRow& tree : trees) {
    if (said) tree.tree.erase(0, folder.size());
  }
  const std::size_t width = style.width == 0 ? kWidth : style.width;
  const std::vector<Row> rows = patches_as_rows(trees, patches);
  return (said ? "in " + folder + "\n" : "") + (!patches.empty() && total(rows) <= width
                                                    ? drawn(rows, style)
                                                    : tables_of_trees(trees, patches, width, style));
}

}  // namespace suture
