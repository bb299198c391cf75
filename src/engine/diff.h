// Unified diffs that `git apply -p1` and `patch -p1` both take byte for byte. Written over dtl's edit
// script (its own printed form is not what patch accepts without a final newline).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace suture {

// Lines keep their newline. Three lines of context, gaps of <= 6 merge, "-0,0" for empty files, ",1" omitted,
// "\ No newline at end of file". Empty string when equal. `path` is shown as a/path and b/path; created: the old side is /dev/null,
// removed: the new side. A tab follows names with spaces.
enum class DiffSide { changed, created, removed };
std::string unified_diff(std::string_view path, std::string_view before, std::string_view after,
                         DiffSide side = DiffSide::changed);

// The minimal line-wise script as hunks without context: lines [before_begin, before_end) of before became
// [after_begin, after_end) of after. 0-based line numbers.
struct LineChange {
  std::uint32_t before_begin, before_end, after_begin, after_end;
};
std::vector<LineChange> line_changes(std::string_view before, std::string_view after);

}  // namespace suture
