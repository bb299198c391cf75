// See glob.h. Test: tests/unit/glob_test.cc.
#include "read/glob.h"

#include <algorithm>
#include <span>

#include "base/text.h"

namespace suture {
namespace {

using Names = std::span<const std::string>;

std::vector<std::string> parts_of(std::string_view path) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t slash = std::min(path.find('/', at), path.size());
    parts.emplace_back(path.substr(at, slash - at));
    at = slash + 1;
  }
  return parts;
}

// One character; a byte that is not UTF-8 is one too.
std::string_view character(std::string_view text, std::size_t at) {
  return text.substr(at, std::max<std::size_t>(utf8_length(text, at), 1));
}

// Behind the `]` of the set that begins at `at`; npos: it is not closed. A `]` that comes first is one of the set.
std::size_t set_end(std::string_view part, std::size_t at) {
  std::size_t first = at + 1;
  if (first < part.size() && (part[first] == '!' || part[first] == '^')) ++first;
  const std::size_t end = part.find(']', first + 1);
  return end == std::string_view::npos ? end : end + 1;
}

// set: what stands between the brackets. Characters are compared as UTF-8, whose order is that of the code points.
bool in_set(std::string_view set, std::string_view wanted) {
  const bool negated = set.starts_with('!') || set.starts_with('^');
  bool found = false;
  for (std::size_t at = negated ? 1 : 0; at < set.size();) {
    const std::string_view low = character(set, at);
    std::string_view high = low;
    at += low.size();
    if (at + 1 < set.size() && set[at] == '-') {
      high = character(set, at + 1);
      at += 1 + high.size();
    }
    found = found || (low <= wanted && wanted <= high);
  }
  return found != negated;
}

// Whether the pattern's piece at *at stands for the character; moves *at behind it.
bool piece_fits(std::string_view part, std::size_t* at, std::string_view wanted) {
  if (part[*at] == '?') {
    ++*at;
    return true;
  }
  if (part[*at] == '[') {
    const std::size_t end = set_end(part, *at);
    const std::string_view set = part.substr(*at + 1, end - *at - 2);
    *at = end;
    return in_set(set, wanted);
  }
  const std::string_view own = character(part, *at);
  *at += own.size();
  return own == wanted;
}

bool is_wild(char c) {
  return c == '*' || c == '?' || c == '[';
}

// The usual walk with one star to come back to: linear but for the last star.
bool part_fits(std::string_view part, std::string_view name) {
  if (name.starts_with('.') && is_wild(part.front())) return false;
  std::size_t at = 0, in_name = 0, star = std::string_view::npos, retry = 0;
  while (in_name < name.size()) {
    if (at < part.size() && part[at] == '*') {
      star = at++;
      retry = in_name;
      continue;
    }
    const std::string_view next = character(name, in_name);
    std::size_t behind = at;
    if (at < part.size() && piece_fits(part, &behind, next)) {
      at = behind;
      in_name += next.size();
      continue;
    }
    if (star == std::string_view::npos) return false;
    at = star + 1;
    retry += character(name, retry).size();
    in_name = retry;
  }
  return part.find_first_not_of('*', at) == std::string_view::npos;
}

bool never_named(const std::string& name) {
  return name == ".suture" || name == "__pycache__";
}
bool passed_by_stars(const std::string& name) {
  return !name.starts_with('.') && !never_named(name);
}

// Whether `names` fit the parts. beginning: they are folders on the way to a file that fits.
bool fits(Names parts, Names names, bool beginning) {
  if (names.empty()) return beginning ? !parts.empty() : parts.empty();
  if (parts.empty() || (beginning && parts.size() == 1)) return false;
  if (parts[0] == "**") {
    if (fits(parts.subspan(1), names, beginning)) return true;
    return passed_by_stars(names[0]) && fits(parts, names.subspan(1), beginning);
  }
  return !never_named(names[0]) && part_fits(parts[0], names[0]) && fits(parts.subspan(1), names.subspan(1), beginning);
}

std::optional<GlobProblem> part_problem(const std::string& part, const std::string& shown) {
  if (part != "**" && part.find("**") != std::string::npos)
    return GlobProblem{"'**' is not a part of its own in " + shown,
                       "write ** between two '/', or one * for any characters"};
  for (std::size_t at = part.find('['); at != std::string::npos; at = part.find('[', at)) {
    at = set_end(part, at);
    if (at == std::string::npos)
      return GlobProblem{"a '[' is not closed in " + shown, "close it with ']'; a bracket itself is [[]"};
  }
  return std::nullopt;
}

}  // namespace

bool is_glob(std::string_view candidate) {
  return candidate.find_first_of("*?[") != std::string_view::npos;
}

std::optional<GlobProblem> glob_problem(std::string_view glob) {
  const std::string shown = in_quotes(glob);
  const std::vector<std::string> parts = parts_of(glob);
  for (const std::string& part : parts) {
    if (auto problem = part_problem(part, shown)) return problem;
  }
  const std::string last = parts.empty() ? "" : parts.back();
  if (last == "**") return GlobProblem{"the glob " + shown + " names folders, not files", "write **/*.py"};
  if (!last.ends_with(".py") && !last.ends_with('*'))
    return GlobProblem{"the glob " + shown + " names no Python file", "let its last part end in .py"};
  return std::nullopt;
}

Glob::Glob(std::string_view pattern) : parts_(parts_of(pattern)) {}

bool Glob::matches(std::string_view path) const {
  if (!path.ends_with(".py")) return false;
  const std::vector<std::string> names = parts_of(path);
  return fits(parts_, names, false);
}

bool Glob::enters(std::string_view folder) const {
  const std::vector<std::string> names = parts_of(folder);
  return fits(parts_, names, true);
}

}  // namespace suture
