// See tree_repair.h. Tests: tests/unit/python_reading_test.cc.
#include "read/tree_repair.h"

#include <algorithm>
#include <utility>

#include "read/python_reading.h"

namespace suture {
namespace {

bool has_operator(const Tree& tree, NodeId node, std::string_view op) {
  if (!tree.is(node, kinds().binary_operator)) return false;
  const NodeId token = tree.child(node, fields().operator_);
  return token != kNone && kind_name(tree[token].kind) == op;
}

bool mixes_and_xor(const Tree& tree, NodeId node) {
  const NodeId parent = tree[node].parent;
  return (has_operator(tree, node, "&") && has_operator(tree, parent, "^")) ||
         (has_operator(tree, node, "^") && has_operator(tree, parent, "&"));
}

// The parent is an expression that begins, or ends, with this node.
bool begins_expression(const Tree& tree, NodeId node) {
  const Kinds& k = kinds();
  const NodeId parent = tree[node].parent;
  const bool expression = tree.is(parent, k.call) || tree.is(parent, k.attribute) || tree.is(parent, k.subscript) ||
                          tree.is(parent, k.binary_operator) || tree.is(parent, k.boolean_operator) ||
                          tree.is(parent, k.comparison_operator) || tree.is(parent, k.conditional_expression);
  return expression && tree[parent].begin == tree[node].begin;
}
bool ends_expression(const Tree& tree, NodeId node) {
  const NodeId parent = tree[node].parent;
  return (tree.is(parent, kinds().conditional_expression) || tree.is(parent, kinds().lambda)) &&
         tree[parent].end == tree[node].end;
}

// The `(self)` of `type(self).x = 1`, of what the grammar takes for an alias; kNone where it is one, or something else again.
NodeId type_call_base(const Tree& tree, NodeId alias) {
  static const Kind generic_type = kind_named("generic_type");
  static const Kind union_type = kind_named("union_type");
  static const Kind member_type = kind_named("member_type");
  const Kinds& k = kinds();
  const NodeId left = tree.child(alias, fields().left);
  const NodeId right = tree.child(alias, fields().right);
  if (left == kNone || right == kNone || tree.is_leaf(left) || tree.is_leaf(right)) return kNone;
  const NodeId value = tree.first_child(right);
  if (tree.is(value, generic_type) || tree.is(value, union_type) || tree.is(value, member_type)) return kNone;
  NodeId base = tree.first_child(left);
  const bool target = tree.is(base, k.attribute) || tree.is(base, k.subscript) || tree.is(base, k.list);
  while (tree.is(base, k.attribute) || tree.is(base, k.subscript) || tree.is(base, k.call))
    base = tree.first_child(base);
  const bool called = tree.is(base, k.parenthesized_expression) || tree.is(base, k.tuple) ||
                      tree.is(base, k.generator_expression) || tree.is(base, k.list);
  return target && called ? base : kNone;
}

// What a `type` node is all of; kNone.
NodeId typed(const Tree& tree, NodeId type) {
  if (!tree.is(type, kinds().type)) return kNone;
  const auto inner = tree.named_children(type);
  return inner.size() == 1 && tree.range(inner[0]) == tree.range(type) ? inner[0] : kNone;
}

// `b:c` of `x: a[b:c]`, which is a slice and no constraint.
bool is_slice(const Tree& tree, NodeId node) {
  const auto sides = tree.named_children(node);
  return sides.size() == 2 && std::all_of(sides.begin(), sides.end(), [&](NodeId side) {
           const NodeId inner = typed(tree, side);
           return inner != kNone && kind_name(tree[inner].kind) != "constrained_type";
         });
}

// `a[b, c]` of an annotation; not the `X[T]` that an alias defines, and nothing that no subscript could hold.
bool is_subscript(const Tree& tree, NodeId node) {
  static const Kind generic_type = kind_named("generic_type");
  static const Kind type_parameter = kind_named("type_parameter");
  static const Kind constrained_type = kind_named("constrained_type");
  if (!tree.is(node, generic_type)) return false;
  const NodeId wrapper = tree[node].parent;
  if (tree[wrapper].field == fields().left && tree.is(tree[wrapper].parent, kinds().type_alias_statement)) return false;
  const auto parts = tree.named_children(node);
  if (parts.size() != 2 || !tree.is(parts[0], kinds().identifier) || !tree.is(parts[1], type_parameter)) return false;
  const auto items = tree.named_children(parts[1]);
  return !items.empty() && std::all_of(items.begin(), items.end(), [&](NodeId item) {
    const NodeId inner = typed(tree, item);
    if (inner == kNone || kind_name(tree[inner].kind) == "splat_type") return false;
    return !tree.is(inner, constrained_type) || is_slice(tree, inner);
  });
}

bool is_union(const Tree& tree, NodeId node) {
  static const Kind union_type = kind_named("union_type");
  if (!tree.is(node, union_type) || !misreading(tree, node).empty()) return false;
  const auto sides = tree.named_children(node);
  return sides.size() == 2 && typed(tree, sides[0]) != kNone && typed(tree, sides[1]) != kNone;
}

}  // namespace

Repair repair_at(const Tree& tree, NodeId node) {
  static const Kind union_type = kind_named("union_type");
  const Kinds& k = kinds();
  if (node == tree.root() || tree[node].broken) return Repair::none;
  if (tree.is(node, k.list_splat)) return begins_expression(tree, node) ? Repair::splat : Repair::none;
  if (tree.is(node, k.named_expression)) {
    const NodeId parent = tree[node].parent;
    const bool first = tree.is(parent, k.conditional_expression) && tree.first_child(parent) == node;
    return first ? Repair::walrus : Repair::none;
  }
  if (tree.is(node, k.as_pattern)) return ends_expression(tree, node) ? Repair::alias : Repair::none;
  if (tree.is(node, k.type_alias_statement))
    return type_call_base(tree, node) != kNone ? Repair::assignment : Repair::none;
  if (tree.is(node, k.binary_operator)) {
    if (tree.is(tree[node].parent, k.await) && has_operator(tree, node, "**")) return Repair::await_power;
    return mixes_and_xor(tree, node) ? Repair::and_xor : Repair::none;
  }
  if (tree.is(node, union_type)) {
    const auto sides = tree.named_children(node);
    const NodeId right = sides.size() == 2 ? tree.first_child(sides[1]) : kNone;
    return right != kNone && has_operator(tree, right, "|") ? Repair::union_type : Repair::none;
  }
  return Repair::none;
}

Repair annotation_repair_at(const Tree& tree, NodeId node) {
  if (tree[node].broken) return Repair::none;
  if (is_subscript(tree, node)) return Repair::subscript;
  return is_union(tree, node) ? Repair::union_ : Repair::none;
}

TreeRepair::TreeRepair(Tree tree)
    : tree_(std::move(tree)),
      first_(tree_.size(), kNone),
      next_(first_),
      previous_(first_),
      grouped_(tree_.size(), false) {
  std::vector<NodeId> last(tree_.size(), kNone);
  for (NodeId id = 1; id < tree_.size(); ++id) {
    const NodeId parent = at(id).parent;
    link(parent, last[parent], id);
    last[parent] = id;
  }
}

void TreeRepair::make(Repair repair, NodeId node) {
  switch (repair) {
    case Repair::none:
      return;
    case Repair::splat:
      return lift_splat(node);
    case Repair::await_power:
      return lower_await(node);
    case Repair::walrus:
      return lift_walrus(node);
    case Repair::alias:
      return lift_alias(node);
    case Repair::and_xor:
      return regroup(node);
    case Repair::union_type:
      return regroup_union(node);
    case Repair::assignment:
      return make_assignment(node);
    case Repair::subscript:
      return make_subscript(node);
    case Repair::union_:
      return make_operator(node);
  }
}

Tree TreeRepair::take() {
  Tree out;
  out.nodes_.reserve(tree_.size());
  std::vector<NodeId> path;
  std::vector<NodeId> left{tree_.root()};
  while (!left.empty()) {
    const NodeId id = left.back();
    left.pop_back();
    if (id == kNone) {  // all below the last of the path is written
      const NodeId done = path.back();
      path.pop_back();
      out.nodes_[done].subtree_end = out.size();
      if (out.nodes_[done].broken && !path.empty()) out.nodes_[path.back()].broken = true;
      continue;
    }
    Node node = at(id);
    node.parent = path.empty() ? kNone : path.back();
    node.broken = node.error || node.missing;
    path.push_back(out.size());
    out.nodes_.push_back(node);
    left.push_back(kNone);
    const std::vector<NodeId> children = kids(id);
    left.insert(left.end(), children.rbegin(), children.rend());
  }
  out.broken_ = tree_.broken_;
  out.error_count_ = tree_.error_count_;
  return out;
}

void TreeRepair::mark(Tree& tree) {
  for (NodeId id = 0; id < tree.size(); ++id) {
    if (!tree.is_leaf(id) && !misreading(tree, id).empty()) tree.nodes_[id].misread = true;
  }
}

// --- the arena as lists ------------------------------------------------------------------------------------------------

std::vector<NodeId> TreeRepair::kids(NodeId id) const {
  std::vector<NodeId> out;
  for (NodeId c = first_[id]; c != kNone; c = next_[c]) out.push_back(c);
  return out;
}

void TreeRepair::link(NodeId parent, NodeId before, NodeId id) {
  (before == kNone ? first_[parent] : next_[before]) = id;
  if (id != kNone) previous_[id] = before;
}

void TreeRepair::set_kids(NodeId id, const std::vector<NodeId>& children) {
  NodeId before = kNone;
  for (const NodeId child : children) {
    link(id, before, child);
    at(child).parent = id;
    before = child;
  }
  link(id, before, kNone);
  at(id).begin = at(children.front()).begin;
  at(id).end = at(children.back()).end;
}

void TreeRepair::put_in_place(NodeId was, NodeId now) {
  const NodeId parent = at(was).parent;
  const NodeId after = next_[was];
  link(parent, previous_[was], now);
  link(parent, now, after);
  at(now).parent = parent;
  at(now).field = at(was).field;
}

NodeId TreeRepair::value_of(NodeId id) const {
  NodeId c = first_[id];
  while (c != kNone && (!at(c).named || at(c).extra)) c = next_[c];
  return c;
}

NodeId TreeRepair::part(NodeId id, std::uint8_t field) const {
  NodeId c = first_[id];
  while (c != kNone && at(c).field != field) c = next_[c];
  return c;
}

bool TreeRepair::is_binary(NodeId id, std::string_view op) const {
  return at(id).kind == kinds().binary_operator && kind_name(at(part(id, fields().operator_)).kind) == op;
}

// --- the repairs -------------------------------------------------------------------------------------------------------

void TreeRepair::lift_splat(NodeId splat) {
  NodeId top = splat;
  while (begins_expression(tree_, top) && first_[at(top).parent] == top) top = at(top).parent;
  if (top == splat) return;
  const NodeId operand = value_of(splat);
  std::vector<NodeId> children = kids(splat);
  for (NodeId id = splat; id != top;) {
    id = at(id).parent;
    at(id).begin = at(operand).begin;
  }
  put_in_place(splat, operand);
  put_in_place(top, splat);
  std::replace(children.begin(), children.end(), operand, top);
  at(top).field = 0;
  set_kids(splat, children);
}

void TreeRepair::lower_await(NodeId power) {
  const NodeId await = at(power).parent;
  const NodeId base = part(power, fields().left);
  std::vector<NodeId> children = kids(await);
  put_in_place(await, power);
  put_in_place(base, await);
  std::replace(children.begin(), children.end(), power, base);
  at(base).field = 0;
  at(power).begin = at(await).begin;
  set_kids(await, children);
}

void TreeRepair::lift_walrus(NodeId walrus) {
  const NodeId choice = at(walrus).parent;
  const NodeId value = part(walrus, fields().value);
  std::vector<NodeId> children = kids(walrus);
  std::vector<NodeId> branches = kids(choice);
  put_in_place(choice, walrus);
  std::replace(branches.begin(), branches.end(), walrus, value);
  std::replace(children.begin(), children.end(), value, choice);
  at(choice).field = fields().value;
  at(value).field = 0;
  set_kids(choice, branches);
  set_kids(walrus, children);
}

void TreeRepair::lift_alias(NodeId alias) {
  NodeId top = alias;
  while (ends_expression(tree_, top)) top = at(top).parent;
  if (top == alias) return;
  const NodeId value = value_of(alias);
  std::vector<NodeId> children = kids(alias);
  for (NodeId id = alias; id != top;) {
    id = at(id).parent;
    at(id).end = at(value).end;
  }
  put_in_place(alias, value);
  put_in_place(top, alias);
  std::replace(children.begin(), children.end(), value, top);
  at(top).field = 0;
  set_kids(alias, children);
}

// operands[0] gaps[0] operands[1] ...: a gap is the operator and the comments beside it. nodes: to be used again.
struct TreeRepair::Chain {
  std::vector<NodeId> operands, nodes;
  std::vector<std::vector<NodeId>> gaps;
};

void TreeRepair::regroup(NodeId node) {
  if (grouped_[node]) return;
  NodeId top = node;
  while (in_chain(at(top).parent)) top = at(top).parent;
  const Node place = at(top);
  const NodeId before = previous_[top];
  const NodeId after = next_[top];
  Chain chain;
  flatten(top, chain);
  for (const NodeId id : chain.nodes) grouped_[id] = true;
  const NodeId whole = group(chain);
  at(whole).field = place.field;
  at(whole).parent = place.parent;
  link(place.parent, before, whole);
  link(place.parent, whole, after);
}

void TreeRepair::flatten(NodeId id, Chain& chain) {
  chain.nodes.push_back(id);
  const NodeId left = part(id, fields().left);
  const NodeId right = part(id, fields().right);
  std::vector<NodeId> gap = kids(id);
  std::erase_if(gap, [&](NodeId c) { return c == left || c == right; });
  flatten_side(left, chain);
  chain.gaps.push_back(std::move(gap));
  flatten_side(right, chain);
}

void TreeRepair::flatten_side(NodeId id, Chain& chain) {
  if (in_chain(id)) return flatten(id, chain);
  chain.operands.push_back(id);
}

NodeId TreeRepair::group(Chain& chain) {
  std::vector<NodeId> terms{chain.operands[0]};
  std::vector<std::vector<NodeId>> between;
  for (std::size_t i = 0; i < chain.gaps.size(); ++i) {
    if (gap_operator(chain.gaps[i]) == "&") {
      terms.back() = join(chain, terms.back(), chain.gaps[i], chain.operands[i + 1]);
    } else {
      between.push_back(chain.gaps[i]);
      terms.push_back(chain.operands[i + 1]);
    }
  }
  NodeId whole = terms[0];
  for (std::size_t i = 0; i < between.size(); ++i) whole = join(chain, whole, between[i], terms[i + 1]);
  return whole;
}

std::string_view TreeRepair::gap_operator(const std::vector<NodeId>& gap) const {
  const auto op = std::find_if(gap.begin(), gap.end(), [&](NodeId id) { return at(id).field == fields().operator_; });
  return kind_name(at(*op).kind);
}

NodeId TreeRepair::join(Chain& chain, NodeId left, const std::vector<NodeId>& gap, NodeId right) {
  const NodeId id = chain.nodes.back();
  chain.nodes.pop_back();
  std::vector<NodeId> children{left};
  children.insert(children.end(), gap.begin(), gap.end());
  children.push_back(right);
  at(left).field = fields().left;
  at(right).field = fields().right;
  set_kids(id, children);
  return id;
}

void TreeRepair::regroup_union(NodeId node) {
  const NodeId right_type = kids(node).back();
  const NodeId right = first_[right_type];
  NodeId inner = right;
  at(inner).begin = at(node).begin;
  while (is_binary(part(inner, fields().left), "|")) {
    inner = part(inner, fields().left);
    at(inner).begin = at(node).begin;
  }
  const NodeId head = part(inner, fields().left);
  put_in_place(node, right);
  put_in_place(head, node);
  at(head).field = 0;
  set_kids(right_type, {head});
  at(node).end = at(right_type).end;
}

// The statement's parts are used again: its keyword as the name `type`, the two nodes around a type as the call and the assignment.
void TreeRepair::make_assignment(NodeId statement) {
  const NodeId base = type_call_base(tree_, statement);
  const NodeId keyword = first_[statement];
  const NodeId wrapper = part(statement, fields().left);
  const NodeId assignment = part(statement, fields().right);
  std::vector<NodeId> children = kids(statement);
  const NodeId value = first_[assignment];
  NodeId target = first_[wrapper];
  const bool bare = target == base;
  for (NodeId id = base; id != wrapper; id = at(id).parent) at(id).begin = at(statement).begin;
  at(base).begin = at(first_[base]).begin;
  const NodeId called = call_type(keyword, wrapper, base);
  if (bare) target = called;
  children.erase(children.begin());
  std::replace(children.begin(), children.end(), wrapper, target);
  std::replace(children.begin(), children.end(), assignment, value);
  at(target).field = fields().left;
  at(value).field = fields().right;
  at(assignment).kind = kinds().assignment;
  at(assignment).field = 0;
  set_kids(assignment, children);
  at(statement).kind = kinds().expression_statement;
  set_kids(statement, {assignment});
}

// The expression in a `type` node, which stands by itself from now on.
NodeId TreeRepair::without_type(NodeId type) {
  NodeId out = type;
  for (const NodeId inner : kids(type)) {
    if (at(inner).named && !at(inner).extra) out = inner;
  }
  at(out).field = 0;
  return out;
}

void TreeRepair::make_subscript(NodeId generic) {
  static const Kind constrained_type = kind_named("constrained_type");
  const std::vector<NodeId> parts = kids(generic);
  std::vector<NodeId> children;
  for (const NodeId part : parts) {
    if (part != parts.back()) {
      if (at(part).named && !at(part).extra) at(part).field = fields().value;
      children.push_back(part);
      continue;
    }
    for (const NodeId item : kids(part)) {
      children.push_back(at(item).kind == kinds().type ? without_type(item) : item);
      if (children.back() == item) continue;
      at(children.back()).field = field_named("subscript");
      if (at(children.back()).kind != constrained_type) continue;
      at(children.back()).kind = kinds().slice;
      std::vector<NodeId> ends;
      for (const NodeId end : kids(children.back()))
        ends.push_back(at(end).kind == kinds().type ? without_type(end) : end);
      set_kids(children.back(), ends);
    }
  }
  at(generic).kind = kinds().subscript;
  set_kids(generic, children);
}

void TreeRepair::make_operator(NodeId union_type) {
  std::vector<NodeId> children;
  for (const NodeId side : kids(union_type)) {
    if (at(side).kind == kinds().type) {
      const bool left = children.empty();
      children.push_back(without_type(side));
      at(children.back()).field = left ? fields().left : fields().right;
    } else {
      if (!at(side).named) at(side).field = fields().operator_;
      children.push_back(side);
    }
  }
  at(union_type).kind = kinds().binary_operator;
  set_kids(union_type, children);
}

// `type` and `(self)` -> the call; `type` and `[a]` -> the subscript. It takes the place of the brackets.
NodeId TreeRepair::call_type(NodeId keyword, NodeId wrapper, NodeId base) {
  const bool subscript = at(base).kind == kinds().list;
  std::vector<NodeId> children{keyword};
  if (subscript) {
    for (const NodeId c : kids(base)) {
      if (at(c).named && !at(c).extra) at(c).field = field_named("subscript");
      children.push_back(c);
    }
  } else {
    children.push_back(base);
  }
  put_in_place(base, wrapper);
  at(wrapper).kind = subscript ? kinds().subscript : kinds().call;
  at(keyword).kind = kinds().identifier;
  at(keyword).named = true;
  at(keyword).field = subscript ? fields().value : fields().function;
  if (!subscript) {
    at(base).field = fields().arguments;
    if (at(base).kind != kinds().generator_expression) at(base).kind = kinds().argument_list;
  }
  set_kids(wrapper, children);
  return wrapper;
}

}  // namespace suture
