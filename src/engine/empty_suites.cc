// See empty_suites.h. Tests: tests/unit/empty_suites_test.cc.
#include "engine/empty_suites.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "engine/layout.h"

namespace suture {
namespace {

std::string_view without_blank_lines(std::string_view text) {
  while (true) {
    const std::size_t first = text.find_first_not_of(" \t\f");
    if (first == std::string_view::npos || (text[first] != '\n' && text[first] != '\r')) return text;
    text.remove_prefix(first + 1);
  }
}

// Whether the text has more than comments.
bool has_code(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\r\n"), text.size());
    const std::size_t first = text.substr(0, end).find_first_not_of(" \t\f");
    if (first != std::string_view::npos && text[first] != '#') return true;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return false;
}

class EmptySuites {
 public:
  EmptySuites(const CodeView& target, std::vector<Splice>& splices)
      : target_(target), source_(*target.source), tree_(*target.tree), splices_(splices) {}

  void fill() {
    for (NodeId id = 0; id < tree_.size(); ++id) {
      if (!tree_.is(id, kinds().block)) continue;
      const auto statements = statements_of(tree_, id);
      const bool emptied = !statements.empty() && taken_out(tree_[tree_[id].parent].begin) == nullptr &&
                           std::all_of(statements.begin(), statements.end(), [&](NodeId s) { return goes(s); });
      if (emptied && !refilled(id)) leave_pass(id, *taken_out(tree_[statements.front()].begin));
    }
  }

 private:
  // The splice that takes out the byte and puts no code in its place.
  Splice* taken_out(std::uint32_t offset) const {
    const auto after = std::upper_bound(splices_.begin(), splices_.end(), offset,
                                        [](std::uint32_t at, const Splice& s) { return at < s.begin; });
    if (after == splices_.begin()) return nullptr;
    Splice& splice = *(after - 1);
    return offset < splice.end && !has_code(splice.text) ? &splice : nullptr;
  }
  bool goes(NodeId statement) const {
    const Splice* splice = taken_out(tree_[statement].begin);
    return splice != nullptr && tree_[statement].end <= splice->end;
  }
  // Whether an edit puts code into the suite. Where it ends, the code behind it begins: the indentation tells.
  bool refilled(NodeId suite) const {
    const std::string indentation = suite_indentation(target_, suite);
    const std::uint32_t last = source_.line_of(tree_[suite].end);
    const std::uint32_t end = last + 1 < source_.line_count() ? source_.line_begin(last + 1) : source_.size();
    const std::uint32_t begin = source_.line_begin(source_.line_of(tree_[suite].begin));
    return std::any_of(splices_.begin(), splices_.end(), [&](const Splice& s) {
      const bool at_end = s.begin == end && without_blank_lines(s.text).starts_with(indentation);
      const bool inside = begin <= s.begin && (s.begin < end || at_end);
      return inside && has_code(s.text);
    });
  }
  void leave_pass(NodeId suite, Splice& first) const {
    const bool whole_lines = first_on_line(source_, tree_[statements_of(tree_, suite).front()].begin) &&
                             first.begin <= source_.line_begin(source_.line_of(tree_[suite].begin)) + bom(first);
    if (whole_lines) first.text += suite_indentation(target_, suite);
    first.text += "pass";
    const char last = source_.bytes()[first.end - 1];
    if (last == '\n' || last == '\r') first.text += source_.newline();
  }
  std::uint32_t bom(const Splice& splice) const { return splice.begin <= source_.bom() ? source_.bom() : 0; }

  CodeView target_;
  const Source& source_;
  const Tree& tree_;
  std::vector<Splice>& splices_;
};

}  // namespace

void fill_empty_suites(const CodeView& target, std::vector<Splice>& splices) {
  const bool any = std::any_of(splices.begin(), splices.end(), [](const Splice& s) { return s.begin < s.end; });
  if (any) EmptySuites(target, splices).fill();
}

}  // namespace suture
