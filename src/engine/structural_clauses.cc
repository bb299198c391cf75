// add_branch: an elif, else, except, finally or case clause of a compound statement.
#include <algorithm>

#include "engine/layout.h"
#include "engine/structural_parts.h"
#include "engine/token.h"

namespace suture {
namespace {

struct ClauseKinds {
  Kind except_group = kind_named("except_group_clause"), case_pattern = kind_named("case_pattern");
};
const ClauseKinds& clause_kinds() {
  static const ClauseKinds kKinds;
  return kKinds;
}

bool is_except(const Tree& tree, NodeId node) {
  return tree.is(node, kinds().except_clause) || tree.is(node, clause_kinds().except_group);
}

bool same_sort(const Tree& a, NodeId x, const Tree& b, NodeId y) {
  return a[x].kind == b[y].kind || (is_except(a, x) && is_except(b, y));
}

// The clauses of a compound statement, its own first suite apart.
std::vector<NodeId> clauses_of(const Tree& tree, NodeId statement) {
  const Kinds& k = kinds();
  const NodeId holder = tree.is(statement, k.match_statement) ? tree.child(statement, fields().body) : statement;
  std::vector<NodeId> out;
  if (holder == kNone) return out;
  for (const NodeId child : tree.named_children(holder)) {
    const bool clause = tree.is(child, k.elif_clause) || tree.is(child, k.else_clause) || is_except(tree, child) ||
                        tree.is(child, k.finally_clause) || tree.is(child, k.case_clause);
    if (clause) out.push_back(child);
  }
  return out;
}

// Whether the statement may have such a clause.
bool may_have(const Tree& tree, NodeId statement, const Tree& code, NodeId clause) {
  const Kinds& k = kinds();
  const bool is_try = tree.is(statement, k.try_statement);
  if (code.is(clause, k.elif_clause)) return tree.is(statement, k.if_statement);
  if (code.is(clause, k.case_clause)) return tree.is(statement, k.match_statement);
  if (is_except(code, clause) || code.is(clause, k.finally_clause)) return is_try;
  return is_try || tree.is(statement, k.if_statement) || tree.is(statement, k.for_statement) ||
         tree.is(statement, k.while_statement);
}

NodeId body_of(const Tree& tree, NodeId clause) {
  NodeId body = kNone;
  for (const NodeId child : tree.named_children(clause)) {
    if (tree.is(child, kinds().block)) body = child;
  }
  return body;
}

// What stands between a clause's keyword and its colon, as token keys: two clauses with the same are two ways on.
std::vector<std::string> header(const CodeView& code, NodeId clause) {
  const NodeId body = body_of(*code.tree, clause);
  std::vector<std::string> out;
  for (const NodeId token : tokens_of(*code.tree, {clause})) {
    if (body != kNone && (*code.tree)[token].begin >= (*code.tree)[body].begin) break;
    out.push_back(token_key(*code.source, *code.tree, token));
  }
  return out;
}

// A clause behind which nothing of its sort can be reached: `else`, `finally`, a bare `except:`, `case _:`, `case x:`.
bool catches_all(const CodeView& code, NodeId clause) {
  const Tree& tree = *code.tree;
  if (is_except(tree, clause)) return header(code, clause).size() <= 2;  // `except` `:`
  if (!tree.is(clause, kinds().case_clause) || tree.child(clause, field_named("guard")) != kNone) return false;
  const auto patterns = tree.named_children(clause);
  if (patterns.empty() || !tree.is(patterns[0], clause_kinds().case_pattern)) return false;
  const std::string text(code.source->text(tree.range(patterns[0])));
  return text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
             std::string::npos &&
         text != "None" && text != "True" && text != "False" && (text[0] < '0' || text[0] > '9');
}

// The rank of a clause within its statement: clauses stand in this order.
int rank(const Tree& tree, NodeId clause) {
  const Kinds& k = kinds();
  if (tree.is(clause, k.finally_clause)) return 2;
  return tree.is(clause, k.else_clause) ? 1 : 0;
}

class BranchPlace {
 public:
  BranchPlace(const CompiledStructural& edit, const StructuralSite& site, NodeId statement, const Rendered& wanted)
      : edit_(edit),
        site_(site),
        target_(site.target),
        tree_(*site.target.tree),
        statement_(statement),
        wanted_(wanted) {}

  std::vector<Splice> put() const {
    const auto clauses = clauses_of(tree_, statement_);
    // In front of the first clause that it must not stand behind.
    const auto before =
        std::find_if(clauses.begin(), clauses.end(), [&](NodeId clause) { return must_follow(clause); });
    if (before != clauses.end() && tree_.is(*before, kinds().case_clause))
      return insert_above(target_, *before, lines(*before));
    const NodeId body = before == clauses.begin() ? own_body() : body_of(tree_, *(before - 1));
    const NodeId last = statements_of(tree_, body).back();
    const NodeId like = before == clauses.end() && !clauses.empty() ? clauses.back() : statement_;
    return insert_below(target_, last, lines(like), tree_.is(like, kinds().case_clause) ? like : statement_);
  }

 private:
  bool must_follow(NodeId clause) const {
    const int mine = rank(*wanted_.tree, wanted_.node);
    if (rank(tree_, clause) != mine) return rank(tree_, clause) > mine;
    return edit_.end == End::first || catches_all(target_, clause);
  }
  NodeId own_body() const {
    const NodeId body = tree_.child(statement_, fields().body);
    return body != kNone ? body : tree_.child(statement_, fields().consequence);
  }
  // The clause's lines, indented as its siblings are.
  std::string lines(NodeId like) const {
    const bool is_case = tree_.is(like, kinds().case_clause);
    const NodeId line = is_case ? like : statement_;
    return code_lines(edit_, site_, std::string(target_.source->indentation_at(tree_[line].begin)));
  }

  const CompiledStructural& edit_;
  const StructuralSite& site_;
  CodeView target_;
  const Tree& tree_;
  NodeId statement_;
  const Rendered& wanted_;
};

}  // namespace

Examined examine_branch(const CompiledStructural& edit, const StructuralSite& site, NodeId statement) {
  const Tree& tree = *site.target.tree;
  const Rendered wanted = render(edit, site);
  if (wanted.node == kNone) return Examined::unfit("the branch cannot be written here");
  if (!may_have(tree, statement, *wanted.tree, wanted.node)) return Examined::unfit("cannot have such a branch");
  const bool single = rank(*wanted.tree, wanted.node) > 0;
  bool has_except = false;
  for (const NodeId clause : clauses_of(tree, statement)) {
    has_except = has_except || is_except(tree, clause);
    if (equal_code(site.target, clause, wanted.view(), wanted.node)) return Examined::in_place();
    if (!same_sort(tree, clause, *wanted.tree, wanted.node)) continue;
    if (single || header(site.target, clause) == header(wanted.view(), wanted.node)) {
      const std::uint32_t line = site.target.source->line_of(tree[clause].begin) + 1;
      return Examined::unfit("has such a branch with another body, at line " + std::to_string(line));
    }
  }
  if (tree.is(statement, kinds().try_statement) && wanted.tree->is(wanted.node, kinds().else_clause) && !has_except)
    return Examined::unfit("has no except clause, and an else needs one");
  return Examined::to_do(BranchPlace(edit, site, statement, wanted).put());
}

}  // namespace suture
