// The table of Python's reference, 6.17 "Operator precedence", as numbers. Tests: tests/unit/precedence_test.cc compares
// with what Python's own `ast` makes of each combination.
#include "engine/precedence.h"

#include <string_view>

namespace suture {
namespace {

constexpr int kLoose = 0, kLambda = 1, kTernary = 2, kOr = 3, kAnd = 4, kNot = 5, kCompare = 6, kBitOr = 7, kBitXor = 8,
              kBitAnd = 9, kShift = 10, kSum = 11, kProduct = 12, kUnary = 13, kPower = 14, kAwait = 15, kAtom = 16;

std::string_view operator_of(const Source& source, const Tree& tree, NodeId node) {
  const NodeId op = tree.child(node, fields().operator_);
  return op == kNone ? std::string_view() : source.text(tree.range(op));
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

bool is_left(const Tree& tree, NodeId node) {
  return tree[node].field == fields().left;
}

}  // namespace

int precedence(const Source& source, const Tree& tree, NodeId node) {
  const Kinds& k = kinds();
  if (tree.is(node, k.named_expression) || tree.is(node, k.yield) || tree.is(node, k.expression_list) ||
      tree.is(node, k.pattern_list) || tree.is(node, k.list_splat) || tree.is(node, k.dictionary_splat) ||
      tree.is(node, k.as_pattern)) {
    return kLoose;
  }
  if (tree.is(node, k.lambda)) return kLambda;
  if (tree.is(node, k.conditional_expression)) return kTernary;
  if (tree.is(node, k.boolean_operator)) return boolean(operator_of(source, tree, node));
  if (tree.is(node, k.not_operator)) return kNot;
  if (tree.is(node, k.comparison_operator)) return kCompare;
  if (tree.is(node, k.binary_operator)) return binary(operator_of(source, tree, node));
  if (tree.is(node, k.unary_operator)) return kUnary;
  if (tree.is(node, k.await)) return kAwait;
  return kAtom;
}

int precedence_wanted(const Source& source, const Tree& tree, NodeId node) {
  const Kinds& k = kinds();
  const NodeId parent = tree[node].parent;
  if (parent == kNone) return kLoose;
  if (tree.is(parent, k.attribute) || tree.is(parent, k.await)) return kAtom;
  if (tree.is(parent, k.call)) return tree[node].field == fields().function ? kAtom : kLoose;
  if (tree.is(parent, k.subscript)) return tree[node].field == fields().value ? kAtom : kLambda;
  if (tree.is(parent, k.binary_operator)) {
    const int own = binary(operator_of(source, tree, parent));
    if (own == kPower) return is_left(tree, node) ? kAwait : kUnary;
    return is_left(tree, node) ? own : own + 1;
  }
  if (tree.is(parent, k.boolean_operator)) {
    const int own = boolean(operator_of(source, tree, parent));
    return is_left(tree, node) ? own : own + 1;
  }
  if (tree.is(parent, k.not_operator)) return kNot;
  if (tree.is(parent, k.comparison_operator)) return kBitOr;
  if (tree.is(parent, k.unary_operator)) return kUnary;
  if (tree.is(parent, k.conditional_expression)) return tree[node].end == tree[parent].end ? kTernary : kOr;
  if (tree.is(parent, k.list_splat) || tree.is(parent, k.dictionary_splat)) return kBitOr;
  if (tree.is(parent, k.parenthesized_expression) || tree.is(parent, k.expression_statement) ||
      tree.is(parent, k.assignment) || tree.is(parent, k.return_statement) || tree.is(parent, k.module) ||
      tree.is(parent, k.block)) {
    return kLoose;
  }
  const auto kind = kind_name(tree[parent].kind);
  if (kind == "for_statement" || (kind == "for_in_clause" && is_left(tree, node))) return kLoose;
  if (kind == "for_in_clause" || kind == "if_clause") return kOr;
  return kLambda;
}

}  // namespace suture
