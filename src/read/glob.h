// Globs of `file:`: which paths of a package a pattern names. Pure; who lists folders is effects/tree_files.
//
//   *      any characters of one part          ?      one character of a part
//   [abc]  one of these; [a-z], [!a-z] too     **     any number of folders, none too; a part of its own
//
// A glob names Python files only: names that end in .py. What begins with a dot is named by a part that begins with a dot, as in a
// shell; `.suture` and `__pycache__` are never named. There is no escape: `[*]` is a star.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace suture {

// Whether a candidate is a glob and not a path.
bool is_glob(std::string_view candidate);

// Why a glob is none, and what to write.
struct GlobProblem {
  std::string message, hint;
};
std::optional<GlobProblem> glob_problem(std::string_view glob);

class Glob {
 public:
  // Precondition: no glob_problem().
  explicit Glob(std::string_view pattern);

  // path: of a file, relative to the folder that the glob is relative to.
  [[nodiscard]] bool matches(std::string_view path) const;
  // Whether a file below `folder` ("" is where the glob begins) may match.
  [[nodiscard]] bool enters(std::string_view folder) const;

 private:
  std::vector<std::string> parts_;
};

}  // namespace suture
