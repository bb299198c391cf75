// Unified diffs over dtl's edit script. Contract: engine/diff.h. The only includer of dtl.
//
// Lines become numbers first (equal lines, equal numbers) and the common head and tail are cut off, so that the usual
// small change of a large file costs next to nothing.
#include "engine/diff.h"

#include <algorithm>
#include <cstddef>
#include <dtl/dtl.hpp>
#include <string>
#include <unordered_map>
#include <vector>

namespace suture {
namespace {

constexpr std::uint32_t kContext = 3;
// Above that many lines on both sides together (heads and tails cut off) the script is one change: dtl's table grows
// with the number of differences times the number of lines.
constexpr std::size_t kMostLines = 200'000;

using Lines = std::vector<std::string_view>;

// Lines with their newline; only "\n" ends a line, as for patch and git.
Lines lines_of(std::string_view text) {
  Lines lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t size = end == std::string_view::npos ? text.size() : end + 1;
    lines.push_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return lines;
}

std::uint32_t u32(std::size_t value) {
  return static_cast<std::uint32_t>(value);
}

// The script between two runs of numbers; line numbers count from `head`.
std::vector<LineChange> script(const std::vector<std::uint32_t>& before, const std::vector<std::uint32_t>& after,
                               std::uint32_t head) {
  const LineChange whole{head, head + u32(before.size()), head, head + u32(after.size())};
  if (before.empty() && after.empty()) return {};
  if (before.empty() || after.empty() || before.size() + after.size() > kMostLines) return {whole};
  dtl::Diff<std::uint32_t> diff(before, after);
  diff.onHuge();
  diff.compose();
  std::vector<LineChange> changes;
  std::uint32_t at_before = head, at_after = head;
  bool open = false;
  for (const auto& [line, step] : diff.getSes().getSequence()) {
    if (step.type == dtl::SES_COMMON) {
      open = false;
      ++at_before;
      ++at_after;
      continue;
    }
    if (!open) changes.push_back({at_before, at_before, at_after, at_after});
    open = true;
    if (step.type == dtl::SES_DELETE) changes.back().before_end = ++at_before;
    if (step.type == dtl::SES_ADD) changes.back().after_end = ++at_after;
  }
  return changes;
}

// A script that does not lead from one side to the other is never used (dtl falls back to a piecewise search past
// two million steps).
bool leads(const std::vector<LineChange>& changes, const Lines& before, const Lines& after) {
  std::size_t at = 0, to = 0;
  const auto same = [&](std::size_t until) {
    while (at < until) {
      if (to >= after.size() || before[at++] != after[to++]) return false;
    }
    return true;
  };
  for (const LineChange& change : changes) {
    if (change.before_end > before.size() || !same(change.before_begin) || to != change.after_begin) return false;
    at = change.before_end;
    to = change.after_end;
  }
  return same(before.size()) && to == after.size();
}

std::vector<LineChange> changes_of(const Lines& before, const Lines& after) {
  std::size_t head = 0, tail = 0;
  const std::size_t shorter = std::min(before.size(), after.size());
  while (head < shorter && before[head] == after[head]) ++head;
  while (tail < shorter - head && before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) ++tail;
  std::unordered_map<std::string_view, std::uint32_t> numbers;
  const auto numbered = [&](const Lines& lines) {
    std::vector<std::uint32_t> out;
    for (std::size_t i = head; i < lines.size() - tail; ++i) {
      out.push_back(numbers.emplace(lines[i], u32(numbers.size())).first->second);
    }
    return out;
  };
  const std::vector<std::uint32_t> a = numbered(before), b = numbered(after);
  std::vector<LineChange> changes = script(a, b, u32(head));
  if (leads(changes, before, after)) return changes;
  return {{u32(head), u32(head + a.size()), u32(head), u32(head + b.size())}};
}

// A name as git writes it: quoted where it has a character that would end it.
std::string name_of(const std::string& prefix, std::string_view path) {
  const std::string name = prefix + std::string(path);
  const bool quote = std::any_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\' || c == 0x7F;
  });
  if (!quote) return name.find(' ') == std::string::npos ? name : name + "\t";
  std::string out = "\"";
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (byte < 0x20 || byte == 0x7F) {
      for (const int shift : {6, 3, 0}) {
        if (shift == 6) out += '\\';
        out += static_cast<char>('0' + ((byte >> shift) & 7));
      }
    } else {
      out += c;
    }
  }
  return out + "\"";
}

// "12,3"; ",1" is left out; an empty range names the line before it.
std::string range_text(std::uint32_t begin, std::uint32_t end) {
  const std::uint32_t count = end - begin;
  if (count == 1) return std::to_string(begin + 1);
  return std::to_string(count == 0 ? begin : begin + 1) + "," + std::to_string(count);
}

void put_line(std::string& out, char mark, std::string_view line) {
  (out += mark).append(line);
  if (line.back() != '\n') out += "\n\\ No newline at end of file\n";
}

// One hunk: changes [first, last) with their context.
void put_hunk(std::string& out, const Lines& before, const Lines& after, const std::vector<LineChange>& changes,
              std::size_t first, std::size_t last) {
  const LineChange &head = changes[first], &tail = changes[last - 1];
  const std::uint32_t lead = std::min(kContext, head.before_begin);
  const std::uint32_t trail = std::min(kContext, u32(before.size()) - tail.before_end);
  const std::uint32_t begin = head.before_begin - lead, end = tail.before_end + trail;
  out += "@@ -" + range_text(begin, end) + " +" + range_text(head.after_begin - lead, tail.after_end + trail) + " @@\n";
  std::uint32_t at = begin;
  for (std::size_t i = first; i < last; ++i) {
    for (; at < changes[i].before_begin; ++at) put_line(out, ' ', before[at]);
    for (; at < changes[i].before_end; ++at) put_line(out, '-', before[at]);
    for (std::uint32_t k = changes[i].after_begin; k < changes[i].after_end; ++k) put_line(out, '+', after[k]);
  }
  for (; at < end; ++at) put_line(out, ' ', before[at]);
}

// The plain form cannot say that an empty file appears or goes: git's extended header can, and patch reads it too.
std::string empty_file(std::string_view path, DiffSide side) {
  const std::string head = "diff --git " + name_of("a/", path) + " " + name_of("b/", path) + "\n";
  return head + (side == DiffSide::created ? "new file mode 100644\nindex 0000000..e69de29\n"
                                           : "deleted file mode 100644\nindex e69de29..0000000\n");
}

}  // namespace

std::string unified_diff(std::string_view path, std::string_view before, std::string_view after, DiffSide side) {
  if (before == after) return side == DiffSide::changed || !before.empty() ? std::string() : empty_file(path, side);
  const Lines a = lines_of(before), b = lines_of(after);
  const std::vector<LineChange> changes = changes_of(a, b);
  std::string out = "--- " + (side == DiffSide::created ? "/dev/null" : name_of("a/", path)) + "\n";
  out += "+++ " + (side == DiffSide::removed ? "/dev/null" : name_of("b/", path)) + "\n";
  for (std::size_t first = 0; first < changes.size();) {
    std::size_t last = first + 1;
    while (last < changes.size() && changes[last].before_begin - changes[last - 1].before_end <= 2 * kContext) ++last;
    put_hunk(out, a, b, changes, first, last);
    first = last;
  }
  return out;
}

std::vector<LineChange> line_changes(std::string_view before, std::string_view after) {
  return changes_of(lines_of(before), lines_of(after));
}

}  // namespace suture
