// See rewrite.h. Tests: tests/unit/rewrite_test.cc; tests/oracle compares with a naive splice.
#include "engine/rewrite.h"

#include <algorithm>

#include "engine/statement_rewrite.h"
#include "engine/token_rewrite.h"

namespace suture {
namespace {

// Whether the rewritten code is what the replacement says, with the very captures of the match: the structure decides, not
// the layout. A parse of the whole file: asked only where the alignment alone proves nothing.
bool is_result(const CodeView& target, const Match& match, const std::vector<Splice>& splices,
               const Pattern& replacement) {
  std::vector<Splice> ordered = splices;
  std::stable_sort(ordered.begin(), ordered.end(), [](const Splice& a, const Splice& b) { return a.begin < b.begin; });
  const Source after(target.source->name(), splice(target.source->bytes(), ordered));
  const auto tree = parse_python(after);
  if (!tree || tree->error_count() > target.tree->error_count()) return false;
  const CodeView result{&after, &*tree};
  const std::uint32_t begin = match.range(*target.tree).begin;
  const auto same = [&](const Metavariable& mv, const Match& m) {
    const auto was = match.bindings.find(mv.name);
    const auto now = m.bindings.find(mv.name);
    if (was == match.bindings.end() || now == m.bindings.end()) return false;
    return std::equal(was->second.nodes.begin(), was->second.nodes.end(), now->second.nodes.begin(),
                      now->second.nodes.end(), [&](NodeId x, NodeId y) { return equal_code(target, x, result, y); });
  };
  const auto admit = [](const std::string&, const Binding&) { return true; };
  std::uint32_t end = match.range(*target.tree).end;
  for (const Splice& s : splices) end += static_cast<std::uint32_t>(s.text.size()) - (s.end - s.begin);
  // All of what was written, not a part of it: parentheses around it may be redundant, or those of a tuple.
  const auto is_all = [&](const Match& m) {
    const Range range = m.range(*tree);
    if (replacement.form() != Pattern::Form::expression) return range.begin <= begin + 1 && begin <= range.begin + 1;
    NodeId at = m.nodes[0];
    while (tree->range(at) != Range{begin, end} && tree->is((*tree)[at].parent, kinds().parenthesized_expression))
      at = (*tree)[at].parent;
    return tree->range(at) == Range{begin, end};
  };
  const auto accept = [&](const Match& m) {
    return is_all(m) && std::all_of(replacement.names().begin(), replacement.names().end(),
                                    [&](const Metavariable& mv) { return same(mv, m); });
  };
  return !find_all({&replacement, result, {}}, tree->root(), Admit(admit), Accept(accept)).empty();
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

// `from a import $$$X` where $$$X is empty: see Pattern::only_runs.
bool is_no_statement(const Pattern& replacement, NodeId statement, const Bindings& bindings) {
  const std::vector<NodeId> runs = replacement.only_runs(statement);
  return !runs.empty() && std::all_of(runs.begin(), runs.end(), [&](NodeId run) {
    const auto it = bindings.find(replacement.metavariable(run)->name);
    return it != bindings.end() && it->second.nodes.empty();
  });
}

RewriteProblem not_rewritable(const CodeView& target, const Match& match) {
  return {"the code here cannot be rewritten token by token", "narrow the rule, or match and replace more of the code",
          match.range(*target.tree)};
}

Rewrite rewrite_expression(const CodeView& target, const Pattern& pattern, const Match& match,
                           const Pattern& replacement, Comments comments) {
  using Way = TokenRewrite::Way;
  const TokenMap map(target, pattern, match, pattern.roots(), match.nodes);
  const auto attempt = [&](Way way) {
    const NodeId whole = pattern.form() == Pattern::Form::clause ? kNone : match.nodes[0];
    return rewrite_tokens({target, &match.bindings, &pattern, &replacement, replacement.roots(), comments, whole, way},
                          map);
  };
  Rewrite first = attempt(Way::outside);
  if (first.problem || (map.in_order() && !has_redundant_parentheses(*target.tree, match.nodes[0]))) return first;
  for (const Way way : {Way::outside, Way::inside, Way::afresh}) {
    Rewrite next = way == Way::outside ? first : attempt(way);
    if (!next.problem && is_result(target, match, next.splices, replacement)) return next;
  }
  first.problem = not_rewritable(target, match);
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
  StatementRewrite job{target, &pattern, &whole, &replacement, comments, false};
  auto want = as_statements(replacement);
  std::erase_if(want, [&](NodeId statement) { return is_no_statement(replacement, statement, match.bindings); });
  const NodeId suite = tree[statement_of(tree, whole.nodes[0])].parent;
  bool in_order = true;
  Rewrite out = rewrite_statements(job, have, want, suite, &in_order);
  if (out.problem || in_order || is_result(target, whole, out.splices, replacement)) return out;
  job.afresh = true;
  out = rewrite_statements(job, have, want, suite, &in_order);
  if (!out.problem && !is_result(target, whole, out.splices, replacement)) out.problem = not_rewritable(target, match);
  return out;
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
