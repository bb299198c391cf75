// See python_reading.h. Tests: tests/unit/python_reading_test.cc, tests/oracle/grammar_oracle.py.
#include "read/python_reading.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "read/tree_repair.h"

namespace suture {
namespace {

bool loose_operator(const Tree& tree, NodeId node) {
  const Kinds& k = kinds();
  return tree.is(node, k.comparison_operator) || tree.is(node, k.boolean_operator) ||
         tree.is(node, k.conditional_expression);
}

// `with (a, *b):`, `with (a := b, c):` are tuples to Python, `with (a,):` is none.
bool odd_with_clause(const Tree& tree, NodeId node) {
  const Kinds& k = kinds();
  const auto items = tree.named_children(node);
  const bool bracketed = tree.first_child(node) != kNone && !tree[tree.first_child(node)].named;
  for (const NodeId item : items) {
    const NodeId value = tree.child(item, fields().value);
    if (value == kNone) continue;
    if (bracketed && (tree.is(value, k.named_expression) || tree.is(value, k.list_splat))) return true;
    if (items.size() == 1 && tree.is(value, k.tuple) && tree.named_children(value).size() == 1) return true;
  }
  return false;
}

bool is_type_parameter_list(const Tree& tree, NodeId node) {
  return tree[node].field == fields().type_parameters;
}

// `type X = ...` and `type X[T] = ...` are the aliases that there are.
bool odd_alias(const Tree& tree, NodeId node) {
  static const Kind generic_type = kind_named("generic_type");
  const NodeId left = tree.child(node, fields().left);
  if (left == kNone || tree.is_leaf(left)) return false;
  const NodeId name = tree.first_child(left);
  return !tree.is(name, kinds().identifier) && !tree.is(name, generic_type);
}

}  // namespace

std::string_view misreading(const Tree& tree, NodeId node) {
  static const Kind type_parameter = kind_named("type_parameter");
  static const Kind constrained_type = kind_named("constrained_type");
  static const Kind union_type = kind_named("union_type");
  static const Kind keyword_pattern = kind_named("keyword_pattern");
  static const Kind with_clause = kind_named("with_clause");
  static const Kind member_type = kind_named("member_type");
  static const Kind splat_type = kind_named("splat_type");
  const Kinds& k = kinds();
  if (tree.is(node, k.type_alias_statement))
    return odd_alias(tree, node) ? "an assignment to an attribute or item of type(...)" : "";
  if (tree.is(node, k.print_statement) || tree.is(node, k.exec_statement)) return "a statement of Python 2";
  if (tree.is(node, with_clause))
    return odd_with_clause(tree, node) ? "a parenthesised expression as the context of a with statement" : "";
  if (tree.is(node, type_parameter) && !is_type_parameter_list(tree, node)) {
    const auto items = tree.named_children(node);
    const bool slice = std::any_of(items.begin(), items.end(), [&](NodeId item) {
      return !tree.is_leaf(item) && tree.is(tree.first_child(item), constrained_type);
    });
    return slice ? "a slice in an annotation" : "";
  }
  if (tree.is(node, union_type)) {
    const auto sides = tree.named_children(node);
    const NodeId right = sides.size() == 2 ? tree.first_child(sides[1]) : kNone;
    return right != kNone && loose_operator(tree, right) ? "an operator beside | in an annotation" : "";
  }
  if (tree.is(node, k.interpolation)) {
    const auto parts = tree.named_children(node);
    const bool walrus =
        std::any_of(parts.begin(), parts.end(), [&](NodeId part) { return tree.is(part, k.named_expression); });
    return walrus ? "a format specification that begins with =" : "";
  }
  if (tree.is(node, k.assignment)) {
    const NodeId type = tree.child(node, fields().type);
    const bool block = type != kNone && !tree.is_leaf(type) && tree.is(tree.first_child(type), constrained_type);
    return block ? "a match statement" : "";  // `match [x]: case [y]: z` as an item's annotation
  }
  if (tree.is(node, member_type)) {
    const NodeId object = tree.first_child(node);
    return !tree.is_leaf(object) && tree.is(tree.first_child(object), splat_type) ? "unpacking in an annotation" : "";
  }
  if (tree.is(node, k.as_pattern)) {
    const NodeId value = tree.first_child(node);
    const NodeId inner = value == kNone ? kNone : tree.first_child(value);
    return inner != kNone && tree.is(inner, keyword_pattern) ? "`as` behind the value of a keyword in a class pattern"
                                                             : "";
  }
  return "";
}

namespace {

Tree repaired(Tree tree, Repair (*repair_of)(const Tree&, NodeId)) {
  std::vector<std::pair<Repair, NodeId>> repairs;
  for (NodeId id = 0; id < tree.size(); ++id) {
    const Repair repair = repair_of(tree, id);
    if (repair != Repair::none) repairs.emplace_back(repair, id);
  }
  if (repairs.empty()) return tree;
  TreeRepair repair(std::move(tree));
  for (auto it = repairs.rbegin(); it != repairs.rend(); ++it) repair.make(it->first, it->second);
  return repair.take();
}

}  // namespace

Tree read_as_python(Tree tree) {
  tree = repaired(repaired(std::move(tree), repair_at), annotation_repair_at);
  TreeRepair::mark(tree);
  return tree;
}

}  // namespace suture
