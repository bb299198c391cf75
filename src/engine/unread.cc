// See unread.h. Tests: tests/unit/unread_test.cc.
#include "engine/unread.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/token.h"
#include "read/python_reading.h"

namespace suture {
namespace {

constexpr std::string_view kHint = "write the rule on a node beside it, or edit this place by hand";

// How the constructs look that Python takes and the grammar does not. A look is no proof: the words say "may be".
struct Gap {
  const char* look;
  std::string_view name;
};
constexpr std::array<Gap, 6> kGaps = {{
    {R"((^|[^\w'"])([tT][rR]?|[rR][tT])['"])", "a template string"},
    {R"([fF][rR]?['"].*\{[^{}]*:=)", "a format specification that begins with ="},
    {R"(\b(def|class|type)\s+\w+\s*\[[^\]]*=)", "a default of a type parameter"},
    {R"(([,=(]|\b(return|yield|in))\s*\*\s*(['"(\[{~-]|await\b))", "unpacking of something else than a name"},
    {R"((:|->)\s*[\w.]+\[[^\]]*:[^\]]*\])", "a slice in an annotation"},
    {R"((:|->)\s*[\w.]+\[.*\]\s*[\[(.])", "a subscript with something behind it in an annotation"},
}};

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f';
}

// The first byte of the range that is no blank: an error may begin with the line end before it.
std::uint32_t first_code(const Source& source, Range range) {
  while (range.begin + 1 < range.end && is_blank(source.bytes()[range.begin])) ++range.begin;
  return range.begin;
}

// The lines that the node lies on.
Range lines_around(const Source& source, Range at) {
  constexpr std::uint32_t kEnough = 2000;
  const std::uint32_t begin = source.line_begin(source.line_of(first_code(source, at)));
  return {begin, std::min(source.line_end(source.line_of(at.end)), begin + kEnough)};
}

// Whether a line is indented less than the first one: it can only be one within brackets. The line behind the last counts where a bracket is
// still open, since the error ends there.
bool hangs_out(const Source& source, Range lines) {
  const auto indentation = [&](std::uint32_t line) { return source.indentation_at(source.line_begin(line)).size(); };
  const std::string_view text = source.text(lines);
  const auto opened =
      std::count_if(text.begin(), text.end(), [](char c) { return is_opening(std::string_view(&c, 1)); });
  const auto closed =
      std::count_if(text.begin(), text.end(), [](char c) { return is_closing(std::string_view(&c, 1)); });
  const std::uint32_t first = source.line_of(lines.begin);
  const std::uint32_t end = source.line_of(lines.end) + (opened > closed ? 2 : 1);
  for (std::uint32_t line = first + 1; line < std::min(end, source.line_count()); ++line) {
    const bool blank = source.line_begin(line) + indentation(line) >= source.line_end(line);
    if (!blank && indentation(line) < indentation(first)) return true;
  }
  return false;
}

bool is_statement(const Tree& tree, NodeId node) {
  const std::string_view kind = kind_name(tree[node].kind);
  return kind.ends_with("_statement") || kind.ends_with("_definition");
}

// The lines of what the parser could not make a statement of, or of the statement that the error lies in.
Range statement_lines(const CodeView& target, NodeId error) {
  const Tree& tree = *target.tree;
  NodeId at = error;
  while (tree[at].parent != kNone && !is_suite(tree, tree[at].parent) && !is_statement(tree, tree[at].parent))
    at = tree[at].parent;
  return lines_around(*target.source, tree.range(at));
}

std::string_view look_of(const CodeView& target, NodeId error) {
  static const auto looks = [] {
    std::vector<std::unique_ptr<const RE2>> all;
    for (const Gap& gap : kGaps) all.push_back(std::make_unique<const RE2>(gap.look));
    return all;
  }();
  const Source& source = *target.source;
  const Range lines = lines_around(source, target.tree->range(error));
  for (std::size_t i = 0; i < kGaps.size(); ++i) {
    if (RE2::PartialMatch(source.text(lines), *looks[i])) return kGaps[i].name;
  }
  return hangs_out(source, statement_lines(target, error))
             ? "a line in brackets that is indented less than its statement"
             : "";
}

UnreadCode syntax_error_at(const CodeView& target, NodeId error) {
  const Range at = target.tree->range(error);
  const std::string_view look = look_of(target, error);
  std::string what = "the parser sees a syntax error here";
  if (!look.empty()) what += "; it may be " + std::string(look) + ", which Python takes and the parser does not";
  return {at, std::move(what), std::string(kHint)};
}

// How many lines of code end in the statement before the offset.
std::uint32_t line_in(const CodeView& target, NodeId statement, std::uint32_t offset) {
  const Tree& tree = *target.tree;
  std::uint32_t lines = 0;
  int depth = 0;
  std::uint32_t end = tree[statement].begin;
  for (const NodeId token : tokens_of(tree, {statement})) {
    if (tree[token].begin > offset) break;
    const auto gap = target.source->text({end, tree[token].begin});
    const bool ends = gap.find('\n') != std::string_view::npos && gap.find('\\') == std::string_view::npos;
    if (depth == 0 && ends) ++lines;
    const auto text = target.source->text(tree.range(token));
    if (is_opening(text)) ++depth;
    if (is_closing(text) && depth > 0) --depth;
    end = tree[token].end;
  }
  return lines;
}

}  // namespace

std::optional<UnreadCode> syntax_error_in(const CodeView& target, NodeId node) {
  const Tree& tree = *target.tree;
  for (NodeId id = node; id < tree[node].subtree_end; ++id) {
    if (tree[id].error || tree[id].missing) return syntax_error_at(target, id);
  }
  return std::nullopt;
}

UnreadCode unread_in(const CodeView& target, const Match& match) {
  if (match.misread != kNone) {
    return {
        target.tree->range(match.misread),
        "this is " + std::string(misreading(*target.tree, match.misread)) + ", which the parser takes for other code",
        std::string(kHint)};
  }
  if (const NodeId error = error_around(*target.tree, match.nodes.front()); error != kNone)
    return syntax_error_at(target, error);
  for (const NodeId node : match.nodes) {
    if (auto error = syntax_error_in(target, node)) return *std::move(error);
  }
  return {match.range(*target.tree), "the parser sees a syntax error in this code", std::string(kHint)};
}

NodeId error_around(const Tree& tree, NodeId node) {
  for (NodeId at = node; at != kNone && !is_statement(tree, at); at = tree[at].parent) {
    if (tree[at].error) return at;
  }
  return kNone;
}

NodeId misread_part(const Pattern& pattern, const Tree& tree, const Match& match) {
  for (NodeId at = match.nodes.front(); at != kNone; at = tree[at].parent) {
    if (tree[at].misread) return at;
  }
  const auto matched = std::find_if(match.pairs.begin(), match.pairs.end(), [&](const auto& pair) {
    return tree[pair.second].misread && pattern.metavariable(pair.first) == nullptr;
  });
  return matched == match.pairs.end() ? kNone : matched->second;
}

bool in_broken_line(const CodeView& target, NodeId node) {
  const Tree& tree = *target.tree;
  const NodeId statement = statement_of(tree, node);
  if (!tree[statement].broken || tree[statement].parent == kNone) return false;
  const std::uint32_t line = line_in(target, statement, tree[node].begin);
  for (NodeId id = statement; id < tree[statement].subtree_end; ++id) {
    if (tree.is(id, kinds().block)) {
      id = tree[id].subtree_end - 1;  // statements of their own
      continue;
    }
    const bool error = tree[id].error || tree[id].missing;
    if (error && line_in(target, statement, first_code(*target.source, tree.range(id))) == line) return true;
  }
  return false;
}

}  // namespace suture
