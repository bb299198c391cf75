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
  const NodeId holder = tree.is(statement, kinds().match_statement) ? tree.child(statement, fields().body) : statement;
  std::vector<NodeId> out;
  if (holder == kNone) return out;
  for (const NodeId child : tree.named_children(holder)) {
    if (is_clause(tree, child)) out.push_back(child);
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

bool is_wildcard(const CodeView& code, NodeId clause) {
  const Tree& tree = *code.tree;
  if (!tree.is(clause, kinds().case_clause) || tree.child(clause, field_named("guard")) != kNone) return false;
  const auto patterns = tree.named_children(clause);
  if (patterns.empty() || !tree.is(patterns[0], clause_kinds().case_pattern)) return false;
  const std::string text(code.source->text(tree.range(patterns[0])));
  return text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") ==
             std::string::npos &&
         text != "None" && text != "True" && text != "False" && (text[0] < '0' || text[0] > '9');
}

// How much a clause takes: behind one that takes more, another of its sort is never reached. `except Exception:` takes
// less than a bare `except:`, and more than any other; `case _:` and `case x:` take all.
int breadth(const CodeView& code, NodeId clause) {
  if (!is_except(*code.tree, clause)) return is_wildcard(code, clause) ? 1 : 0;
  const auto keys = header(code, clause);
  if (keys.size() <= 2) return 2;  // `except` `:`
  const auto names = [&](const char* name) { return std::find(keys.begin(), keys.end(), name) != keys.end(); };
  if (names("BaseException")) return 2;
  return names("Exception") ? 1 : 0;
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
    if (before == clauses.begin() && before != clauses.end() && tree_.is(*before, kinds().case_clause))
      return put_first(*before);
    const NodeId body = before == clauses.begin() ? own_body() : body_of(tree_, *(before - 1));
    const NodeId last = statements_of(tree_, body).back();
    const NodeId like = before == clauses.begin() ? statement_ : *(before - 1);
    const std::string blank = is_spaced(clauses, before) ? std::string(target_.source->newline()) : "";
    return insert_below(target_, last, blank + lines(like), tree_.is(like, kinds().case_clause) ? like : statement_);
  }

 private:
  bool must_follow(NodeId clause) const {
    const int mine = rank(*wanted_.tree, wanted_.node);
    if (rank(tree_, clause) != mine) return rank(tree_, clause) > mine;
    return edit_.end == End::first || breadth(target_, clause) > breadth(wanted_.view(), wanted_.node);
  }
  // A match statement has no suite in front of its first case. Comments above that one stay with it.
  std::vector<Splice> put_first(NodeId first) const {
    NodeId top = first;
    for (NodeId at = previous(first); at != kNone && tree_[at].extra; at = previous(at)) {
      if (first_on_line(*target_.source, tree_[at].begin)) top = at;
    }
    const auto clauses = clauses_of(tree_, statement_);
    const bool spaced = clauses.size() > 1 && blank_above(clauses[1]);
    return insert_above(target_, top, lines(first) + (spaced ? std::string(target_.source->newline()) : ""));
  }
  NodeId previous(NodeId node) const {
    NodeId out = kNone;
    for (NodeId at = tree_.first_child(tree_[node].parent); at != node; at = tree_.next_sibling(at)) out = at;
    return out;
  }
  // Whether the clauses around the place, or the two before it, stand apart by a blank line.
  bool is_spaced(const std::vector<NodeId>& clauses, std::vector<NodeId>::const_iterator before) const {
    if (before != clauses.end()) return blank_above(*before);
    return !clauses.empty() && clauses.back() != first_case(clauses) && blank_above(clauses.back());
  }
  NodeId first_case(const std::vector<NodeId>& clauses) const {
    return tree_.is(clauses.front(), kinds().case_clause) ? clauses.front() : kNone;
  }
  // Above the clause or the comments above it.
  bool blank_above(NodeId clause) const {
    const Source& source = *target_.source;
    std::uint32_t line = source.line_of(tree_[clause].begin);
    const auto text = [&](std::uint32_t at) {
      const std::string_view all = source.text({source.line_begin(at), source.line_end(at)});
      const auto begin = all.find_first_not_of(" \t");
      return begin == std::string_view::npos ? std::string_view{} : all.substr(begin);
    };
    while (line > 0 && text(line - 1).starts_with('#')) --line;
    return line > 0 && text(line - 1).empty();
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

std::string line_text(const CodeView& code, NodeId node) {
  return std::to_string(code.source->line_of((*code.tree)[node].begin) + 1);
}

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
    if (is_wildcard(site.target, clause) && is_wildcard(wanted.view(), wanted.node))
      return Examined::unfit("has a case that takes all, at line " + line_text(site.target, clause));
    if (single || header(site.target, clause) == header(wanted.view(), wanted.node))
      return Examined::unfit("has such a branch with another body, at line " + line_text(site.target, clause));
  }
  if (tree.is(statement, kinds().try_statement) && wanted.tree->is(wanted.node, kinds().else_clause) && !has_except)
    return Examined::unfit("has no except clause, and an else needs one");
  return Examined::to_do(BranchPlace(edit, site, statement, wanted).put());
}

}  // namespace suture
