// See leads.h.
#include "engine/leads.h"

#include <algorithm>

#include "base/text.h"

namespace suture {
namespace {

// Nodes that are read for one pattern and file, nested ones again for each that holds them: code that is nested a thousand
// deep ends the search, and not the patience of who waits.
constexpr std::uint64_t kMostNodes = 2'000'000;

class Collector {
 public:
  Collector(const Pattern& pattern, const CodeView& target, const std::vector<NodeId>& scopes)
      : pattern_(pattern),
        target_(target),
        tree_(*target.tree),
        scopes_(scopes),
        features_(features_of(pattern)),
        weight_(features_.weight()) {}

  std::vector<Lead> run() {
    if (pattern_.form() == Pattern::Form::statements) {
      windows();
    } else {
      single_nodes();
    }
    return std::move(out_);
  }

 private:
  // Nodes of the pattern's kind, and calls of what it calls.
  void single_nodes() {
    const NodeId root = strip_parentheses(pattern_.tree(), pattern_.roots()[0]);
    for (NodeId id = 0; id < tree_.size(); ++id) {
      if (!tree_[id].named || tree_[id].extra) continue;
      const bool kin = same_kind(pattern_.tree(), root, tree_, id);
      if (kin || tree_.is(id, kinds().call)) consider({id}, {id}, kin);
    }
  }

  // As many statements as the pattern has, from each statement on.
  void windows() {
    const std::size_t size = statements_named();
    for (NodeId suite = 0; suite < tree_.size(); ++suite) {
      if (!is_suite(tree_, suite)) continue;
      const std::vector<NodeId> all = statements_of(tree_, suite);
      for (std::size_t i = 0; i < all.size(); ++i) {
        // A statement or two that were put between are looked over: the rest of the pattern may follow.
        const std::vector<NodeId> wide = some(all, i, size == 1 ? 1 : size + 2);
        consider(some(all, i, size), wide, kin_of_root(all[i]));
      }
    }
  }
  static std::vector<NodeId> some(const std::vector<NodeId>& all, std::size_t from, std::size_t most) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(from);
    return {first, first + static_cast<std::ptrdiff_t>(std::min(most, all.size() - from))};
  }
  [[nodiscard]] std::size_t statements_named() const {
    const auto runs = std::count_if(pattern_.roots().begin(), pattern_.roots().end(), [&](NodeId root) {
      const Metavariable* mv = pattern_.metavariable(root);
      return mv != nullptr && mv->run;
    });
    return std::max<std::size_t>(1, pattern_.roots().size() - static_cast<std::size_t>(runs));
  }
  [[nodiscard]] bool kin_of_root(NodeId statement) const {
    return same_kind(pattern_.tree(), core(pattern_.tree(), pattern_.roots()[0]), tree_, core(tree_, statement));
  }
  // The expression of a statement that is one; the definition below decorators.
  static NodeId core(const Tree& tree, NodeId statement) {
    if (tree.is(statement, kinds().decorated_definition)) return tree.child(statement, fields().definition);
    const NodeId inner = tree.is(statement, kinds().expression_statement) ? tree.first_child(statement) : kNone;
    return inner == kNone ? statement : inner;
  }

  // wide: the nodes, and what is looked over behind them.
  void consider(std::vector<NodeId> nodes, const std::vector<NodeId>& wide, bool kin) {
    Lead lead;
    if (!kin && is_compound(nodes.front())) return;  // what it holds is considered by itself
    const auto scope = std::find_if(scopes_.rbegin(), scopes_.rend(),
                                    [&](NodeId each) { return tree_.contains(each, nodes.front()); });
    const bool inside = scope != scopes_.rend();
    read_ += tree_[wide.back()].subtree_end - wide.front();
    if (read_ > kMostNodes) return;
    lead.like = likeness(features_, target_, wide);
    if (!is_lead(lead.like, inside, kin)) return;
    if (inside) lead.scope = *scope;
    lead.nodes = std::move(nodes);
    lead.same_kind = kin;
    out_.push_back(std::move(lead));
  }
  [[nodiscard]] bool is_compound(NodeId node) const {
    const auto children = tree_.named_children(core(tree_, node));
    return std::any_of(children.begin(), children.end(), [&](NodeId each) { return tree_.is(each, kinds().block); });
  }
  [[nodiscard]] bool is_lead(const Likeness& like, bool inside, bool kin) const {
    if (like.callee) return true;
    if (features_.names.empty()) return inside && kin;
    if (!like.named) return false;
    return inside ? like.weight * 5 >= weight_ * 2 : like.weight * 2 >= weight_;
  }

  const Pattern& pattern_;
  CodeView target_;
  const Tree& tree_;
  const std::vector<NodeId>& scopes_;
  Features features_;
  std::uint32_t weight_;
  std::uint64_t read_ = 0;
  std::vector<Lead> out_;
};

}  // namespace

std::vector<Lead> leads_for(const Pattern& pattern, const CodeView& target, const std::vector<NodeId>& scopes) {
  return Collector(pattern, target, scopes).run();
}

std::vector<std::string> scope_names(const Rule& rule) {
  std::vector<std::string> out;
  for (const Text& name : rule.in) out.push_back(name.value);
  return out;
}

std::string shown_scopes(const Rule& rule) {
  return rule.in.empty() ? "the module" : join(scope_names(rule), ", ", " or ");
}

std::vector<NodeId> definitions_called(const CodeView& target, const std::string& name) {
  const Tree& tree = *target.tree;
  std::vector<NodeId> out;
  for (NodeId id = 0; id < tree.size(); ++id) {
    if (!tree.is(id, kinds().function_definition) && !tree.is(id, kinds().class_definition)) continue;
    const NodeId at = tree.child(id, fields().name);
    if (at != kNone && target.source->text(tree.range(at)) == name) out.push_back(id);
  }
  return out;
}

std::string first_line_of_definition(const CodeView& target, NodeId node) {
  const Tree& tree = *target.tree;
  std::uint32_t end = tree[node].begin;
  for (const NodeId child : tree.children(node)) {
    if (tree.is(child, kinds().block)) break;
    if (!tree[child].extra) end = tree[child].end;
  }
  return one_line(target.source->text({tree[node].begin, end}), 100);
}

}  // namespace suture
