// See code.h. Tests: tests/unit/code_test.cc.
#include "engine/code.h"

#include <utility>

#include "engine/token.h"

namespace suture {
namespace {

// Kinds that only differ in whether parentheses were written.
int tuple_like(const Tree& tree, NodeId id) {
  static const Kind tuple_pattern = kind_named("tuple_pattern");
  const Kinds& k = kinds();
  if (tree.is(id, k.tuple) || tree.is(id, k.expression_list)) return 1;
  if (tree.is(id, k.pattern_list) || tree.is(id, tuple_pattern)) return 2;
  return 0;
}

bool ignorable(const Tree& tree, NodeId id) {
  if (tree[id].extra) return true;
  if (tree[id].named) return false;
  const auto name = kind_name(tree[id].kind);
  if (name == ":") return !tree.is(tree[id].parent, kinds().slice);
  return name == "," || name == ";" || name == "(" || name == ")" || name == "->";
}

}  // namespace

bool same_kind(const Tree& a, NodeId x, const Tree& b, NodeId y) {
  if (a[x].kind == b[y].kind) return true;
  const int like = tuple_like(a, x);
  return like != 0 && like == tuple_like(b, y);
}

std::vector<NodeId> significant(const Tree& tree, NodeId id) {
  std::vector<NodeId> out;
  for (NodeId c = tree.first_child(id); c != kNone; c = tree.next_sibling(c)) {
    if (!ignorable(tree, c)) out.push_back(c);
  }
  return out;
}

bool is_suite(const Tree& tree, NodeId node) {
  return tree.is(node, kinds().block) || tree.is(node, kinds().module);
}

std::vector<NodeId> statements_of(const Tree& tree, NodeId suite) {
  return tree.named_children(suite);
}

NodeId statement_of(const Tree& tree, NodeId node) {
  NodeId at = node;
  while (tree[at].parent != kNone && !is_suite(tree, tree[at].parent)) at = tree[at].parent;
  return at;
}

NodeId suite_of(const Tree& tree, NodeId statement) {
  NodeId at = tree[statement].parent;
  while (at != kNone && !is_suite(tree, at)) at = tree[at].parent;
  return at;
}

NodeId strip_parentheses(const Tree& tree, NodeId node) {
  while (tree.is(node, kinds().parenthesized_expression)) {
    const auto inner = tree.named_children(node);
    if (inner.size() != 1) break;
    node = inner[0];
  }
  return node;
}

std::string text_of(const CodeView& code, NodeId node) {
  return std::string(code.source->text(code.tree->range(node)));
}

bool is_definition(const Tree& tree, NodeId node) {
  return tree.is(node, kinds().function_definition) || tree.is(node, kinds().class_definition);
}

bool is_clause(const Tree& tree, NodeId node) {
  const Kinds& k = kinds();
  return tree.is(node, k.elif_clause) || tree.is(node, k.else_clause) || tree.is(node, k.except_clause) ||
         tree.is(node, k.finally_clause) || tree.is(node, k.case_clause) ||
         kind_name(tree[node].kind) == "except_group_clause";
}

// A loop and not a recursion: what a repeated metavariable binds can be nested as deep as the parser allows.
bool equal_code(CodeView a, NodeId x, CodeView b, NodeId y) {
  std::vector<std::pair<NodeId, NodeId>> open{{x, y}};
  while (!open.empty()) {
    const NodeId m = strip_parentheses(*a.tree, open.back().first);
    const NodeId n = strip_parentheses(*b.tree, open.back().second);
    open.pop_back();
    if (!same_kind(*a.tree, m, *b.tree, n)) return false;
    if (is_token(*a.tree, m) || is_token(*b.tree, n)) {
      const bool tokens = is_token(*a.tree, m) && is_token(*b.tree, n);
      if (!tokens || token_key(*a.source, *a.tree, m) != token_key(*b.source, *b.tree, n)) return false;
      continue;
    }
    const auto ms = significant(*a.tree, m);
    const auto ns = significant(*b.tree, n);
    if (ms.size() != ns.size()) return false;
    for (std::size_t i = ms.size(); i-- > 0;) open.emplace_back(ms[i], ns[i]);
  }
  return true;
}

}  // namespace suture
