// See flow.h. Tests: tests/unit/audit_test.cc.
#include "engine/flow.h"

#include <re2/re2.h>

#include <algorithm>
#include <set>
#include <utility>

namespace suture {
namespace {

constexpr int kMostSteps = 200;  // values looked at for one question: code has a handful

// --- definitions -----------------------------------------------------------------------------------------------------

// The assignments to one name that may reach one use of it. Backwards, suite by suite: an assignment that stands in a suite around
// the use hides all before it; those in the branches of a statement before the use are all of them possible.
class Definitions {
 public:
  Definitions(const CodeView& target, NodeId use)
      : target_(target), tree_(*target.tree), use_(use), name_(text_of(target, use)) {}

  std::vector<Definition> run() {
    for (NodeId at = statement_of(tree_, use_);;) {
      const NodeId suite = tree_[at].parent;
      if (suite == kNone) break;
      const std::vector<NodeId> statements = statements_of(tree_, suite);
      for (auto it = statements.rbegin(); it != statements.rend(); ++it) {
        if (*it < at && enter(*it)) return std::move(out_);
      }
      const NodeId owner = tree_[suite].parent;
      if (owner == kNone) break;
      if (tree_.is(owner, kinds().function_definition)) {
        parameter(tree_.child(owner, fields().parameters));
        break;
      }
      if (tree_.is(owner, kinds().class_definition)) break;
      at = statement_of(tree_, owner);
      if (in_header(at)) return std::move(out_);
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool is_name(NodeId id) const {
    return tree_.is(id, kinds().identifier) && target_.source->text(tree_.range(id)) == name_;
  }

  // Every assignment within the statement; whether one of them is sure to be made.
  bool enter(NodeId statement) {
    collect(statement);
    return is_sure(statement);
  }

  void collect(NodeId top) {
    const Kinds& k = kinds();
    for (NodeId id = top; id < tree_[top].subtree_end;) {
      if (is_definition(tree_, id) || tree_.is(id, k.lambda)) {
        const NodeId name = tree_.child(id, fields().name);
        if (name != kNone && is_name(name)) out_.push_back({});
        id = tree_[id].subtree_end;
        continue;
      }
      if (tree_.is(id, k.assignment)) {
        assign(tree_.child(id, fields().left), tree_.child(id, fields().right));
      } else if (tree_.is(id, k.named_expression)) {
        assign(tree_.child(id, fields().name), tree_.child(id, fields().value));
      } else if (tree_.is(id, k.augmented_assignment)) {
        if (is_name(tree_.child(id, fields().left))) out_.push_back({});
      } else if (binds_otherwise(id)) {
        out_.push_back({});
      }
      ++id;
    }
  }

  // A loop variable, `with ... as`, `except ... as`.
  [[nodiscard]] bool binds_otherwise(NodeId id) const {
    if (!is_name(id) || tree_[id].parent == kNone) return false;
    NodeId at = id;
    for (NodeId up = tree_[at].parent; up != kNone; at = up, up = tree_[up].parent) {
      if (tree_.is(up, kinds().for_statement)) return tree_[at].field == fields().left;
      if (kind_name(tree_[up].kind) == "as_pattern_target") return true;
      const auto kind = kind_name(tree_[up].kind);
      if (kind != "pattern_list" && kind != "tuple_pattern" && kind != "list_pattern") return false;
    }
    return false;
  }

  void assign(NodeId left, NodeId right) {
    if (left == kNone || right == kNone) return;  // `x: int` alone binds nothing
    while (tree_.is(right, kinds().assignment)) right = tree_.child(right, fields().right);
    if (right == kNone) return;
    if (is_name(left)) return out_.push_back({right, std::nullopt, kNone});
    const auto kind = kind_name(tree_[left].kind);
    if (kind != "pattern_list" && kind != "tuple_pattern" && kind != "list_pattern") return;
    unpack(tree_.named_children(left), right);
  }

  void unpack(const std::vector<NodeId>& targets, NodeId right) {
    const NodeId value = strip_parentheses(tree_, right);
    const bool display =
        tree_.is(value, kinds().tuple) || tree_.is(value, kinds().expression_list) || tree_.is(value, kinds().list);
    const std::vector<NodeId> values = display ? tree_.named_children(value) : std::vector<NodeId>();
    for (std::size_t i = 0; i < targets.size(); ++i) {
      if (!is_name(targets[i])) {
        if (holds_name(targets[i])) out_.push_back({});
        continue;
      }
      const bool starred = std::any_of(targets.begin(), targets.end(),
                                       [&](NodeId t) { return tree_.is(t, kinds().list_splat_pattern); });
      if (starred) {
        out_.push_back({});
      } else if (values.size() == targets.size()) {
        out_.push_back({values[i], std::nullopt, kNone});
      } else {
        out_.push_back({right, i, kNone});
      }
    }
  }
  [[nodiscard]] bool holds_name(NodeId top) const {
    for (NodeId id = top; id < tree_[top].subtree_end; ++id) {
      if (is_name(id)) return true;
    }
    return false;
  }

  // Whether the statement assigns the name whatever happens: an assignment, or an if of which every branch does.
  [[nodiscard]] bool is_sure(NodeId statement) const {
    const Kinds& k = kinds();
    if (tree_.is(statement, k.expression_statement)) {
      const std::vector<NodeId> inner = tree_.named_children(statement);
      return inner.size() == 1 && (tree_.is(inner[0], k.assignment) || tree_.is(inner[0], k.augmented_assignment)) &&
             assigns(inner[0]);
    }
    if (tree_.is(statement, k.with_statement)) return is_sure_suite(tree_.child(statement, fields().body));
    if (!tree_.is(statement, k.if_statement)) return false;
    bool has_else = false;
    for (const NodeId part : tree_.named_children(statement)) {
      if (tree_.is(part, k.block) && !is_sure_suite(part)) return false;
      if (!tree_.is(part, k.elif_clause) && !tree_.is(part, k.else_clause)) continue;
      has_else = has_else || tree_.is(part, k.else_clause);
      const std::vector<NodeId> inner = tree_.named_children(part);
      if (inner.empty() || !is_sure_suite(inner.back())) return false;
    }
    return has_else;
  }
  [[nodiscard]] bool is_sure_suite(NodeId suite) const {
    if (suite == kNone) return false;
    const std::vector<NodeId> statements = statements_of(tree_, suite);
    return std::any_of(statements.begin(), statements.end(), [&](NodeId s) { return is_sure(s); });
  }
  // All targets of `a = b = ...`.
  [[nodiscard]] bool assigns(NodeId assignment) const {
    for (NodeId at = assignment; at != kNone; at = tree_.child(at, fields().right)) {
      if (!tree_.is(at, kinds().assignment) && !tree_.is(at, kinds().augmented_assignment)) return false;
      const NodeId left = tree_.child(at, fields().left);
      const bool bound = left != kNone && !tree_.is(left, kinds().subscript) && !tree_.is(left, kinds().attribute) &&
                         holds_name(left) && tree_.child(at, fields().right) != kNone;
      if (bound) return true;
    }
    return false;
  }

  // Names that the header of a compound statement around the use binds: nothing before them is seen.
  bool in_header(NodeId statement) {
    for (NodeId id = statement; id < tree_[statement].subtree_end;) {
      if (tree_.is(id, kinds().block)) {
        id = tree_[id].subtree_end;
        continue;
      }
      if (binds_otherwise(id)) return out_.push_back({}), true;
      if (tree_.is(id, kinds().named_expression) && is_name(tree_.child(id, fields().name))) {
        assign(tree_.child(id, fields().name), tree_.child(id, fields().value));
        return true;
      }
      ++id;
    }
    return false;
  }

  void parameter(NodeId parameters) {
    if (parameters == kNone) return;
    for (const NodeId each : tree_.named_children(parameters)) {
      NodeId name = each;
      if (!tree_.is(each, kinds().identifier)) name = tree_.child(each, fields().name);
      if (name == kNone) name = tree_.first_child(each);  // typed_parameter has no field for its name
      if (name != kNone && is_name(name)) return out_.push_back({kNone, std::nullopt, each});
    }
  }

  CodeView target_;
  const Tree& tree_;
  NodeId use_;
  std::string name_;
  std::vector<Definition> out_;
};

// --- values ----------------------------------------------------------------------------------------------------------

class Follower {
 public:
  Follower(const CodeView& target, const CompiledFlow& flow, Admit admit)
      : target_(target), tree_(*target.tree), flow_(flow), admit_(admit) {}

  // The value of the expression, or (part) an element of it.
  bool holds(NodeId value, bool part) {
    value = strip_parentheses(tree_, value);
    if (++steps_ > kMostSteps || !seen_.insert({value, part}).second) return false;
    const std::vector<Pattern>& wanted = part ? flow_.element_of : flow_.from;
    if (std::any_of(wanted.begin(), wanted.end(), [&](const Pattern& p) { return matches(p, value); })) return true;
    const Kinds& k = kinds();
    if (tree_.is(value, k.identifier)) return of_name(value, part);
    if (tree_.is(value, k.conditional_expression)) return of_conditional(value, part);
    if (tree_.is(value, k.named_expression)) return holds(tree_.child(value, fields().value), part);
    if (part) return false;
    if (tree_.is(value, k.subscript)) return of_element(value);
    return std::any_of(flow_.through.begin(), flow_.through.end(), [&](const Pattern& p) { return passes(p, value); });
  }

 private:
  bool matches(const Pattern& pattern, NodeId value) {
    const auto accept = [](const Match&) { return true; };
    return match_at(Search{&pattern, target_, {}}, value, admit_, Accept(accept));
  }
  bool passes(const Pattern& pattern, NodeId value) {
    const auto accept = [&](const Match& match) {
      const auto from = match.bindings.find("FROM");
      return from != match.bindings.end() && from->second.nodes.size() == 1 && holds(from->second.nodes[0], false);
    };
    return match_at(Search{&pattern, target_, {}}, value, admit_, Accept(accept));
  }
  bool of_name(NodeId name, bool part) {
    for (const Definition& definition : definitions_of(target_, name)) {
      if (definition.parameter != kNone) {
        const std::string text(target_.source->text(tree_.range(name)));
        if (!part && flow_.parameter && re2::RE2::PartialMatch(text, *flow_.parameter)) return true;
      } else if (definition.value != kNone && !(part && definition.part)) {
        if (holds(definition.value, part || definition.part)) return true;
      }
    }
    return false;
  }
  bool of_conditional(NodeId value, bool part) {
    const std::vector<NodeId> parts = tree_.named_children(value);  // a if b else c
    return parts.size() == 3 && (holds(parts[0], part) || holds(parts[2], part));
  }
  // `kv[0]`: an element, where the index is a number.
  bool of_element(NodeId value) {
    const std::vector<NodeId> parts = tree_.named_children(value);
    return parts.size() == 2 && tree_.is(parts[1], kinds().integer) && holds(parts[0], true);
  }

  CodeView target_;
  const Tree& tree_;
  const CompiledFlow& flow_;
  Admit admit_;
  std::set<std::pair<NodeId, bool>> seen_;
  int steps_ = 0;
};

// In the body of one: the defaults of its parameters belong to the code around it.
bool in_function(const Tree& tree, NodeId node) {
  for (NodeId at = node; tree[at].parent != kNone; at = tree[at].parent) {
    if (tree[at].field == fields().body && tree.is(tree[at].parent, kinds().function_definition)) return true;
  }
  return false;
}

}  // namespace

std::vector<Definition> definitions_of(const CodeView& target, NodeId identifier) {
  if (!in_function(*target.tree, identifier)) return {};
  return Definitions(target, identifier).run();
}

bool comes_from(const CodeView& target, NodeId value, const CompiledFlow& flow, Admit admit) {
  return Follower(target, flow, admit).holds(value, false);
}

}  // namespace suture
