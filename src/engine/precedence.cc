// The table of Python's reference, 6.17 "Operator precedence", as numbers, and the three expressions that stand
// outside of it. Tests: tests/unit/precedence_test.cc compares with what Python's own parser makes of each
// combination.
#include "engine/precedence.h"

#include <string_view>

#include "engine/token.h"

namespace suture {
namespace {

constexpr int kLambda = 1, kTernary = 2, kOr = 3, kAnd = 4, kNot = 5, kCompare = 6, kBitOr = 7, kBitXor = 8,
              kBitAnd = 9, kShift = 10, kSum = 11, kProduct = 12, kUnary = 13, kPower = 14, kAwait = 15, kAtom = 16;

// What a place takes without parentheses: an operator that binds at least as tightly as `least`. A bare tuple, a
// `yield` and a `:=` are no operators: each has its own list of places.
struct Place {
  int least = kLambda;
  bool tuple = false, yield = false, walrus = false;
};
constexpr Place kAnything{kLambda, true, true, true};
constexpr Place kElement{kLambda, false, false, true};  // of a list, an argument, a condition ...

std::string_view operator_of(CodeView code, NodeId node) {
  const NodeId op = code.tree->child(node, fields().operator_);
  return op == kNone ? std::string_view() : code.source->text(code.tree->range(op));
}

int binary(std::string_view op) {
  if (op == "|") return kBitOr;
  if (op == "^") return kBitXor;
  if (op == "&") return kBitAnd;
  if (op == "<<" || op == ">>") return kShift;
  if (op == "+" || op == "-") return kSum;
  if (op == "**") return kPower;
  return kProduct;
}

int boolean(std::string_view op) {
  return op == "or" ? kOr : kAnd;
}

// How tightly an expression binds; 0: outside of the table.
int level(CodeView code, NodeId node) {
  const Tree& tree = *code.tree;
  const Kinds& k = kinds();
  if (tree.is(node, k.named_expression) || tree.is(node, k.yield) || tree.is(node, k.expression_list) ||
      tree.is(node, k.pattern_list) || tree.is(node, k.list_splat) || tree.is(node, k.dictionary_splat) ||
      tree.is(node, k.as_pattern)) {
    return 0;
  }
  if (tree.is(node, k.lambda)) return kLambda;
  if (tree.is(node, k.conditional_expression)) return kTernary;
  if (tree.is(node, k.boolean_operator)) return boolean(operator_of(code, node));
  if (tree.is(node, k.not_operator)) return kNot;
  if (tree.is(node, k.comparison_operator)) return kCompare;
  if (tree.is(node, k.binary_operator)) return binary(operator_of(code, node));
  if (tree.is(node, k.unary_operator)) return kUnary;
  if (tree.is(node, k.await)) return kAwait;
  return kAtom;
}

bool is_left(const Tree& tree, NodeId node) {
  return tree[node].field == fields().left;
}

// Places beside an operator; least 0: `node` stands beside none.
Place operand(CodeView code, NodeId node) {
  const Tree& tree = *code.tree;
  const Kinds& k = kinds();
  const NodeId parent = tree[node].parent;
  if (tree.is(parent, k.attribute) || tree.is(parent, k.await)) return {kAtom};
  if (tree.is(parent, k.call)) return {kAtom};  // what is called; arguments have their list in between
  if (tree.is(parent, k.subscript) && tree[node].field == fields().value) return {kAtom};
  if (tree.is(parent, k.binary_operator)) {
    const int own = binary(operator_of(code, parent));
    if (own == kPower) return {is_left(tree, node) ? kAwait : kUnary};
    return {is_left(tree, node) ? own : own + 1};
  }
  if (tree.is(parent, k.boolean_operator)) {
    const int own = boolean(operator_of(code, parent));
    return {is_left(tree, node) ? own : own + 1};
  }
  if (tree.is(parent, k.not_operator)) return {kNot};
  if (tree.is(parent, k.comparison_operator)) return {kBitOr};
  if (tree.is(parent, k.unary_operator)) return {kUnary};
  if (tree.is(parent, k.conditional_expression)) return {tree[node].end == tree[parent].end ? kLambda : kOr};
  if (tree.is(parent, k.list_splat) || tree.is(parent, k.dictionary_splat)) {
    return {tree.is(tree[parent].parent, k.argument_list) ? kLambda : kBitOr};
  }
  return {0};
}

Place place_of(CodeView code, NodeId node) {
  const Tree& tree = *code.tree;
  const Kinds& k = kinds();
  const NodeId parent = tree[node].parent;
  if (parent == kNone || is_suite(tree, parent) || tree.is(parent, k.parenthesized_expression)) return kAnything;
  if (const Place place = operand(code, node); place.least != 0) return place;
  if (tree.is(parent, k.expression_statement) || tree.is(parent, k.assignment) ||
      tree.is(parent, k.augmented_assignment)) {
    return {kLambda, true, true, false};
  }
  if (tree.is(parent, k.return_statement) || tree.is(parent, k.for_statement)) return {kLambda, true, false, false};
  if (tree.is(parent, k.yield)) return {kLambda, tree.children(parent).size() == 2, false, false};  // not `yield from`
  if (tree.is(parent, k.subscript)) return {kLambda, true, false, true};
  if (tree.is(parent, k.interpolation)) return {kTernary, true, true, false};
  const auto kind = kind_name(tree[parent].kind);
  if (kind == "as_pattern" || kind == "with_item" || kind == "for_in_clause" || kind == "if_clause") {
    return is_left(tree, node) ? kAnything : Place{kOr};
  }
  const bool element = tree.is(parent, k.argument_list) || tree.is(parent, k.list) || tree.is(parent, k.tuple) ||
                       tree.is(parent, k.set) || tree.is(parent, k.if_statement) || tree.is(parent, k.elif_clause) ||
                       tree.is(parent, k.while_statement) || tree.is(parent, k.match_statement) ||
                       tree.is(parent, k.decorator) || tree.is(parent, k.list_comprehension) ||
                       tree.is(parent, k.generator_expression) || kind == "set_comprehension";
  return element ? kElement : Place{};
}

// Tokens that run into what stands beside them: `1.x`, `{{`, and the parentheses of `with (a, b):`, which are no
// tuple's.
bool runs_together(CodeView expression, NodeId node, CodeView place, NodeId at) {
  const NodeId parent = place.tree->operator[](at).parent;
  if (parent == kNone) return false;
  const auto text = expression.source->text(expression.tree->range(node));
  if (place.tree->is(parent, kinds().attribute))
    return text.find_first_not_of("0123456789_") == std::string_view::npos && text[0] != '_';
  if (place.tree->is(parent, kinds().interpolation)) return text[0] == '{';
  return kind_name((*place.tree)[parent].kind) == "with_item" && expression.tree->is(node, kinds().tuple);
}

// `with $X:` has its metavariable within a node that only wraps it.
NodeId unwrapped(const Tree& tree, NodeId node) {
  for (NodeId c = tree.first_child(node); c != kNone && tree.range(c) == tree.range(node); c = tree.first_child(c))
    node = c;
  return node;
}

}  // namespace

bool needs_parentheses(CodeView expression, NodeId node, CodeView place, NodeId at) {
  const Tree& tree = *expression.tree;
  const Kinds& k = kinds();
  at = unwrapped(*place.tree, at);
  const Place wanted = place_of(place, at);
  if (runs_together(expression, node, place, at)) return true;
  if (tree.is(node, k.named_expression)) return !wanted.walrus;
  if (tree.is(node, k.yield)) return !wanted.yield;
  if (tree.is(node, k.expression_list) || tree.is(node, k.pattern_list)) return !wanted.tuple;
  return level(expression, node) < wanted.least;
}

bool in_brackets(CodeView code, NodeId node) {
  const Tree& tree = *code.tree;
  for (NodeId at = tree[node].parent; at != kNone && !is_suite(tree, at); at = tree[at].parent) {
    for (NodeId c = tree.first_child(at); c != kNone && tree[c].begin < tree[node].begin; c = tree.next_sibling(c)) {
      if (!tree[c].named && is_opening(code.source->text(tree.range(c)))) return true;
    }
  }
  return false;
}

bool breaks_line(CodeView code, NodeId node) {
  int depth = 0;
  std::uint32_t end = (*code.tree)[node].begin;
  for (const NodeId token : tokens_of(*code.tree, {node})) {
    const auto gap = code.source->text({end, (*code.tree)[token].begin});
    if (depth == 0 && gap.find_first_of("\r\n") != std::string_view::npos && gap.find('\\') == std::string_view::npos)
      return true;
    const auto text = code.source->text(code.tree->range(token));
    if (is_opening(text)) ++depth;
    if (is_closing(text)) --depth;
    end = (*code.tree)[token].end;
  }
  return false;
}

}  // namespace suture
