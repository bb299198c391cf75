// See soundness.h. Tests: tests/unit/soundness_test.cc.
#include "engine/soundness.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

#include "engine/layout.h"
#include "engine/token.h"

namespace suture {
namespace {

class Finder {
 public:
  explicit Finder(const CodeView& target) : source_(*target.source), tree_(*target.tree) {}

  std::vector<Fault> run() {
    for (NodeId id = 0; id < tree_.size(); ++id) look(id);
    return std::move(out_);
  }

 private:
  void look(NodeId id) {
    const Kinds& k = kinds();
    const Node& node = tree_[id];
    if (node.extra || !node.named) return;
    if (is_suite(tree_, id)) {
      for (NodeId statement : statements_of(tree_, id)) line_ends(statement);
      indentation(id);
    } else if (tree_.is(id, k.named_expression)) {
      if (!walrus_fits(id)) fault(id, "an assignment expression stands here without parentheses");
    } else if (tree_.is(id, k.print_statement) || tree_.is(id, k.exec_statement)) {
      fault(id, "this is a statement of Python 2");
    } else if (tree_.is(id, k.list_splat) || tree_.is(id, k.dictionary_splat)) {
      if (!splat_fits(id)) fault(id, "a starred expression stands where none can");
    } else if (tree_.is(id, k.argument_list)) {
      arguments(id);
    } else if (tree_.is(id, k.parameters) || tree_.is(id, k.lambda_parameters)) {
      parameters(id);
    } else if (tree_.is(id, k.interpolation)) {
      interpolation(id);
    }
  }

  void fault(NodeId id, std::string what) { out_.push_back({tree_.range(id), std::move(what)}); }
  [[nodiscard]] std::string_view text(NodeId id) const { return source_.text(tree_.range(id)); }
  [[nodiscard]] std::string_view parent_kind(NodeId id) const { return kind_name(tree_[tree_[id].parent].kind); }

  // A line end between two tokens of one statement, outside of brackets and not behind a backslash. Suites are not entered: what
  // stands in front of them is a header, and ends in its colon.
  void line_ends(NodeId statement) {
    int depth = 0;
    NodeId before = kNone;
    for (NodeId id = statement; id < tree_[statement].subtree_end;) {
      if (tree_[id].extra || tree_.is(id, kinds().block)) {
        if (tree_.is(id, kinds().block)) before = kNone;  // a clause begins a line of its own
        id = tree_[id].subtree_end;
        continue;
      }
      if (!is_token(tree_, id)) {
        if (tree_.is(id, kinds().decorator) || tree_.is(tree_[id].parent, kinds().decorated_definition)) before = kNone;
        if (kind_name(tree_[id].kind) == "case_clause") before = kNone;
        ++id;
        continue;
      }
      const auto now = text(id);
      if (!now.empty()) {
        if (before != kNone && depth == 0 && breaks_line(tree_[before].end, tree_[id].begin))
          fault(id, "a line ends inside of an expression");
        if (!tree_[id].named && is_opening(now)) ++depth;
        if (!tree_[id].named && is_closing(now)) --depth;
        before = id;
      }
      id = tree_[id].subtree_end;
    }
  }
  // The statements of a suite that begin their line are indented alike; a line behind a backslash is no new one.
  void indentation(NodeId suite) {
    std::optional<std::string_view> first;
    for (NodeId statement : statements_of(tree_, suite)) {
      const std::uint32_t at = tree_[statement].begin;
      if (!first_on_line(source_, at) || continues(at)) continue;
      const std::string_view blanks = source_.indentation_at(at);
      if (!first) first = blanks;
      if (blanks != *first) fault(statement, "this statement is indented otherwise than those beside it");
    }
    const NodeId last = tree_.is_leaf(suite)                  ? kNone
                        : statements_of(tree_, suite).empty() ? kNone
                                                              : statements_of(tree_, suite).back();
    if (last != kNone && dangles(tree_[last].end)) fault(last, "a backslash stands behind the last statement here");
  }
  [[nodiscard]] bool continues(std::uint32_t at) const {
    const std::uint32_t line = source_.line_of(at);
    if (line == 0) return false;
    const auto before = source_.text({source_.line_begin(line - 1), source_.line_end(line - 1)});
    return !before.empty() && before.back() == '\\';
  }
  // `a; \` and no statement behind it.
  [[nodiscard]] bool dangles(std::uint32_t end) const {
    const auto rest = source_.text({end, source_.line_end(source_.line_of(end))});
    return rest.find_first_not_of("; \t") < rest.size() && rest[rest.find_first_not_of("; \t")] == '\\';
  }

  [[nodiscard]] bool breaks_line(std::uint32_t begin, std::uint32_t end) const {
    const auto gap = source_.text({begin, end});
    for (std::size_t i = 0; i < gap.size(); ++i) {
      if (gap[i] == '\\') {
        ++i;
        if (i < gap.size() && gap[i] == '\r' && i + 1 < gap.size() && gap[i + 1] == '\n') ++i;
        continue;
      }
      if (gap[i] == '\n' || gap[i] == '\r') return true;
    }
    return false;
  }

  [[nodiscard]] bool walrus_fits(NodeId id) const {
    static constexpr std::array<std::string_view, 14> kAllowed = {"parenthesized_expression",
                                                                  "argument_list",
                                                                  "list",
                                                                  "set",
                                                                  "tuple",
                                                                  "if_statement",
                                                                  "while_statement",
                                                                  "elif_clause",
                                                                  "if_clause",
                                                                  "generator_expression",
                                                                  "list_comprehension",
                                                                  "set_comprehension",
                                                                  "subscript",
                                                                  "decorator"};
    const auto parent = parent_kind(id);
    return std::find(kAllowed.begin(), kAllowed.end(), parent) != kAllowed.end() || parent == "match_statement" ||
           parent == "named_expression";
  }

  [[nodiscard]] bool splat_fits(NodeId id) const {
    static constexpr std::array<std::string_view, 13> kAllowed = {"argument_list",
                                                                  "list",
                                                                  "set",
                                                                  "tuple",
                                                                  "expression_list",
                                                                  "subscript",
                                                                  "dictionary",
                                                                  "assignment",
                                                                  "expression_statement",
                                                                  "match_statement",
                                                                  "yield",
                                                                  "with_item",
                                                                  "type"};
    const auto parent = parent_kind(id);
    return std::find(kAllowed.begin(), kAllowed.end(), parent) != kAllowed.end();
  }

  // f(a=1, b), f(a=1, a=2)
  void arguments(NodeId list) {
    std::set<std::string_view> names;
    for (NodeId element : tree_.named_children(list)) {
      if (tree_.is(element, kinds().keyword_argument)) {
        const NodeId name = tree_.child(element, fields().name);
        if (name != kNone && !names.insert(text(name)).second) fault(element, "this keyword is passed twice");
      } else if (!names.empty() && !tree_.is(element, kinds().list_splat) &&
                 !tree_.is(element, kinds().dictionary_splat)) {
        fault(element, "a positional argument follows a keyword argument");
      } else if (tree_.is(element, kinds().generator_expression) && tree_.is(tree_[list].parent, kinds().call) &&
                 text(element).front() != '(') {
        fault(element, "a generator needs parentheses beside other arguments");
      }
    }
  }

  // def f(*), def f(/, a), def f(**k, a)
  void separators(NodeId list) {
    const auto elements = tree_.named_children(list);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      auto kind = kind_name(tree_[elements[i]].kind);
      if (kind == "typed_parameter") kind = kind_name(tree_[tree_.first_child(elements[i])].kind);
      const bool last = i + 1 == elements.size();
      if (kind == "positional_separator" && i == 0) fault(elements[i], "no parameter stands in front of the `/`");
      if (kind == "keyword_separator" && (last || kind_name(tree_[elements[i + 1]].kind) == "dictionary_splat_pattern"))
        fault(elements[i], "no parameter stands behind the `*`");
      if (kind == "dictionary_splat_pattern" && !last) fault(elements[i + 1], "a parameter stands behind the `**`");
    }
  }

  // def f(a=1, b), def f(a, a)
  void parameters(NodeId list) {
    separators(list);
    std::set<std::string_view> names;
    bool defaults = false;
    for (NodeId element : tree_.named_children(list)) {
      const auto kind = kind_name(tree_[element].kind);
      const bool has_default = kind == "default_parameter" || kind == "typed_default_parameter";
      NodeId name = element;
      if (has_default) name = tree_.child(element, fields().name);
      if (kind == "typed_parameter") name = tree_.first_child(element);
      const bool plain = name != kNone && tree_.is(name, kinds().identifier);
      if (kind == "list_splat_pattern" || kind == "keyword_separator" || (kind == "typed_parameter" && !plain)) {
        return;  // behind it each parameter is passed by name
      }
      if (plain && !names.insert(text(name)).second) fault(element, "this parameter is there twice");
      if (plain && !has_default && defaults) fault(element, "a parameter without a default follows one with a default");
      defaults = defaults || has_default;
    }
  }

  // A lambda or a walrus in braces needs parentheses; the quotes of the f-string cannot come again before Python 3.12.
  void interpolation(NodeId id) {
    NodeId string = tree_[id].parent;
    while (string != kNone && !tree_.is(string, kinds().string)) string = tree_[string].parent;
    if (string == kNone) return;
    const auto outer = quotes(string);
    const auto inside = text(id);
    if (inside.find('\\') != std::string_view::npos)
      fault(id, "a backslash stands in the braces of an f-string, which needs Python 3.12");
    if (outer.size() == 1 && inside.find('\n') != std::string_view::npos)
      fault(id, "a line ends in the braces of an f-string, which needs Python 3.12");
    for (NodeId c = id + 1; c < tree_[id].subtree_end; ++c) {
      if (tree_.is(c, kinds().lambda) && tree_[c].parent == id) fault(c, "a lambda in an f-string needs parentheses");
      if (tree_.is(c, kinds().string) && quotes(c) == outer)
        fault(c, "the quotes of the f-string stand inside of it, which needs Python 3.12");
    }
  }
  [[nodiscard]] std::string_view quotes(NodeId string) const {
    const NodeId start = tree_.first_child(string);
    if (start == kNone) return {};
    const auto all = text(start);
    return all.substr(std::min(all.find_first_of("'\""), all.size()));
  }

  const Source& source_;
  const Tree& tree_;
  std::vector<Fault> out_;
};

}  // namespace

std::vector<Fault> python_faults(const CodeView& target) {
  return Finder(target).run();
}

}  // namespace suture
