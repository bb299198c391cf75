// Moves nodes of an arena about, for python_reading.cc: each repair turns what the grammar read into what Python reads there. A repair costs
// what it moves, however large the tree is; the arena is written anew once, in the end.
#pragma once

#include <string_view>
#include <vector>

#include "read/syntax.h"

namespace suture {

enum class Repair {
  none,
  splat,        // call(*f, (x))             -> *call(f, (x)); also attributes, subscripts, operators
  await_power,  // await(a ** b)             -> (await a) ** b
  walrus,       // (x := a) if b else c      -> x := (a if b else c)
  alias,        // a if b else (c as d)      -> (a if b else c) as d
  and_xor,      // a & (b ^ c)               -> (a & b) ^ c: all of one chain, `&` first, each from the left
  union_type,   // union(a[b], c | d)        -> union(a[b], c) | d
  assignment,   // type alias of (self).x    -> assignment to type(self).x
  subscript,    // generic_type a, [type b]  -> the subscript that a[b] is outside of annotations
  union_,       // union_type a, b           -> the operator that a | b is outside of annotations
};

// The repair that this node, as the parser gave it, stands for. The rest of the tree may be broken, the node is not.
Repair repair_at(const Tree& tree, NodeId node);
// A second round, on what the first one gave: annotations become expressions.
Repair annotation_repair_at(const Tree& tree, NodeId node);

class TreeRepair {
 public:
  explicit TreeRepair(Tree tree);
  // Node ids are those of the tree that was given. Inner nodes first.
  void make(Repair repair, NodeId node);
  // The arena of what stands now, in preorder.
  Tree take();

  // Sets Node::misread where misreading() says so (python_reading.h).
  static void mark(Tree& tree);

 private:
  struct Chain;  // of `&` and `^`

  void lift_splat(NodeId splat);
  void lower_await(NodeId power);
  void lift_walrus(NodeId walrus);
  void lift_alias(NodeId alias);
  void regroup(NodeId node);
  void regroup_union(NodeId node);
  void make_assignment(NodeId statement);
  void make_subscript(NodeId generic);
  void make_operator(NodeId union_type);
  NodeId without_type(NodeId type);

  void flatten(NodeId id, Chain& chain);
  void flatten_side(NodeId id, Chain& chain);
  NodeId group(Chain& chain);
  NodeId join(Chain& chain, NodeId left, const std::vector<NodeId>& gap, NodeId right);
  [[nodiscard]] std::string_view gap_operator(const std::vector<NodeId>& gap) const;
  [[nodiscard]] bool in_chain(NodeId id) const { return is_binary(id, "&") || is_binary(id, "^"); }
  NodeId call_type(NodeId keyword, NodeId wrapper, NodeId base);

  Node& at(NodeId id) { return tree_.nodes_[id]; }
  [[nodiscard]] const Node& at(NodeId id) const { return tree_[id]; }
  [[nodiscard]] std::vector<NodeId> kids(NodeId id) const;
  void set_kids(NodeId id, const std::vector<NodeId>& children);
  // `id` comes behind `before`; kNone: first.
  void link(NodeId parent, NodeId before, NodeId id);
  // `now` stands where `was` stood, as the same part of its parent.
  void put_in_place(NodeId was, NodeId now);
  [[nodiscard]] NodeId value_of(NodeId id) const;                  // the first that is no token
  [[nodiscard]] NodeId part(NodeId id, std::uint8_t field) const;  // of what stands now
  [[nodiscard]] bool is_binary(NodeId id, std::string_view op) const;

  Tree tree_;
  std::vector<NodeId> first_, next_, previous_;
  std::vector<bool> grouped_;  // nodes of chains that are in order
};

}  // namespace suture
