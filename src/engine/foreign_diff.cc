// See foreign_diff.h. Tests: tests/unit/evidence_test.cc.
#include "engine/foreign_diff.h"

#include <algorithm>
#include <charconv>

#include "engine/diff.h"
#include "engine/revert.h"

namespace suture {
namespace {

constexpr std::size_t kMostLines = 48;  // of a diff in a message

struct Hunk {
  std::string text;
  std::size_t lines = 0;
  std::uint32_t begin = 0, end = 0;  // lines of the new side, 0-based, half-open
};

// "@@ -1,2 +3,4 @@": the new side. A range of no lines stands behind the line that it names.
void read_range(std::string_view header, Hunk& hunk) {
  const std::size_t plus = header.find('+');
  const char* at = header.data() + plus + 1;
  const char* end = header.data() + header.size();
  std::uint32_t line = 0, count = 1;
  at = std::from_chars(at, end, line).ptr;
  if (at != end && *at == ',') std::from_chars(at + 1, end, count);
  hunk.begin = count == 0 ? line : line - 1;
  hunk.end = hunk.begin + std::max(1U, count);
}

// The two lines of names, then the hunks.
std::pair<std::string, std::vector<Hunk>> split_hunks(std::string_view diff) {
  std::string head;
  std::vector<Hunk> hunks;
  while (!diff.empty()) {
    const std::size_t newline = diff.find('\n');
    const std::size_t size = newline == std::string_view::npos ? diff.size() : newline + 1;
    const std::string_view line = diff.substr(0, size);
    if (line.starts_with("@@ ")) {
      hunks.emplace_back();
      read_range(line, hunks.back());
    }
    (hunks.empty() ? head : hunks.back().text) += line;
    if (!hunks.empty()) ++hunks.back().lines;
    diff.remove_prefix(size);
  }
  return {std::move(head), std::move(hunks)};
}

std::string left_out(std::size_t elsewhere, std::size_t too_long) {
  std::string out;
  if (elsewhere > 0)
    out = std::to_string(elsewhere) + (elsewhere == 1 ? " change" : " changes") + " elsewhere in the file";
  if (too_long > 0) out += (out.empty() ? "" : ", and ") + std::to_string(too_long) + " lines of the rest";
  return out.empty() ? "" : "not shown of the difference: " + out;
}

}  // namespace

std::optional<ForeignDiff> foreign_diff(const TreeState& state, const std::string& path,
                                        const std::vector<Range>& near) {
  const auto file = state.files.find(path);
  const std::optional<std::string> left = bytes_as_left(state, path);
  if (!left || file == state.files.end() || !file->second.bytes) return std::nullopt;
  const Source now(path, *file->second.bytes);
  const std::string name = state.folder.empty() ? path : state.folder + "/" + path;
  const auto [head, hunks] = split_hunks(unified_diff(name, *left, now.bytes()));
  ForeignDiff out;
  std::size_t shown = 0, elsewhere = 0, too_long = 0;
  for (const Hunk& hunk : hunks) {
    const bool touches = near.empty() || std::any_of(near.begin(), near.end(), [&](Range range) {
                           return hunk.begin <= now.line_of(range.end) && now.line_of(range.begin) < hunk.end;
                         });
    if (!touches) {
      ++elsewhere;
    } else if (shown > 0 && shown + hunk.lines > kMostLines) {
      too_long += hunk.lines;
    } else {
      std::string_view text = hunk.text;
      std::size_t lines = 0, at = 0;
      while (at < text.size() && lines < kMostLines) at = text.find('\n', at) + 1, ++lines;
      out.text += (out.text.empty() ? head : "") + std::string(text.substr(0, at));
      too_long += hunk.lines - lines;
      shown += lines;
    }
  }
  out.note = left_out(elsewhere, too_long);
  return out;
}

}  // namespace suture
