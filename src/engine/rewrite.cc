// See rewrite.h. Tests: tests/unit/rewrite_test.cc; tests/oracle compares with a naive splice.
#include "engine/rewrite.h"

#include <algorithm>

#include "engine/statement_rewrite.h"
#include "engine/token_rewrite.h"

namespace suture {
namespace {

std::string spliced(const Source& source, const std::vector<Splice>& splices) {
  return splice(source.bytes(), splices);
}

// Whether the rewritten code is what the replacement says: the structure decides, not the layout.
bool is_result(const CodeView& target, const std::vector<Splice>& splices, std::uint32_t begin,
               const Pattern& replacement) {
  const Source after(target.source->name(), spliced(*target.source, splices));
  const auto tree = parse_python(after);
  if (!tree) return false;
  const Search search{&replacement, {&after, &*tree}, {}};
  const auto found = find_all(search, tree->root());
  return std::any_of(found.begin(), found.end(), [&](const Match& m) {
    const Range r = m.range(*tree);
    return r.begin <= begin + 1 && begin <= r.begin + 1;
  });
}

bool has_redundant_parentheses(const Tree& tree, NodeId node) {
  for (NodeId id = node; id < tree[node].subtree_end; ++id) {
    if (tree.is(id, kinds().parenthesized_expression)) return true;
  }
  return false;
}

std::vector<NodeId> as_statements(const Pattern& pattern) {
  if (pattern.form() != Pattern::Form::expression) return pattern.roots();
  return {statement_of(pattern.tree(), pattern.roots()[0])};
}

Rewrite rewrite_expression(const CodeView& target, const Pattern& pattern, const Match& match,
                           const Pattern& replacement, Comments comments) {
  const auto attempt = [&](bool outer) {
    const TokenMap map(target, pattern, match, pattern.roots(), match.nodes);
    return rewrite_tokens(
        {target, &match.bindings, &pattern, &replacement, replacement.roots(), comments, match.nodes[0], outer}, map);
  };
  Rewrite first = attempt(true);
  if (first.problem || !has_redundant_parentheses(*target.tree, match.nodes[0])) return first;
  // Redundant parentheses: outside of them or inside? Only one of the two is what the replacement says.
  const std::uint32_t begin = match.range(*target.tree).begin;
  if (is_result(target, first.splices, begin, replacement)) return first;
  Rewrite second = attempt(false);
  if (second.problem || is_result(target, second.splices, begin, replacement)) return second;
  first.problem = RewriteProblem{"the redundant parentheses here do not let the code be rewritten token by token", "",
                                 match.range(*target.tree)};
  return first;
}

bool is_whole_statement(const Tree& tree, NodeId node) {
  const NodeId parent = tree[node].parent;
  return parent != kNone && tree.is(parent, kinds().expression_statement) && tree.named_children(parent).size() == 1;
}

}  // namespace

Rewrite replace_match(const CodeView& target, const Pattern& pattern, const Match& match, const Pattern& replacement,
                      Comments comments) {
  const bool expressions =
      pattern.form() == Pattern::Form::expression && replacement.form() == Pattern::Form::expression;
  if (expressions || pattern.form() == Pattern::Form::clause)
    return rewrite_expression(target, pattern, match, replacement, comments);
  const Tree& tree = *target.tree;
  Match whole = match;
  const auto have = as_statements(pattern);
  if (pattern.form() == Pattern::Form::expression) {
    if (!is_whole_statement(tree, match.nodes[0])) {
      return {{},
              RewriteProblem{"statements cannot stand in the place of an expression", "match the whole statement",
                             match.range(tree)}};
    }
    whole.nodes = {statement_of(tree, match.nodes[0])};
    if (whole.pairs.empty() || whole.pairs.front().first != have[0]) whole.pairs.emplace_back(have[0], whole.nodes[0]);
  }
  return rewrite_statements(target, pattern, whole, replacement, comments, have, as_statements(replacement),
                            tree[statement_of(tree, whole.nodes[0])].parent);
}

Rewrite replace_node(const CodeView& target, NodeId node, const std::string& self, const Bindings& bindings,
                     const Pattern& replacement, Comments comments) {
  const auto pattern = compile_pattern("$" + self, nullptr);
  Match match;
  match.nodes = {node};
  match.bindings = bindings;
  match.bindings[self] = Binding{false, {node}};
  match.pairs.emplace_back(pattern->roots()[0], node);
  return rewrite_expression(target, *pattern, match, replacement, comments);
}

}  // namespace suture
