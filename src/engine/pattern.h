// A pattern: Python with metavariables, compiled.
//
//   $X      one node; as a statement any one statement, as an argument a positional one
//   $$$XS   a run of siblings, may be empty        $_ / $$$   the same, unnamed
//   {$$$XS, "k": $V}   a run of entries, `k: v` or `**x`; {$$$XS} alone is a set or a dict
//
// How: `$` becomes a letter that Python code does not use, so that the snippet is ordinary Python for the one parser
// there is; the metavariables are then identifiers that begin with that letter. A clause that is no program of its own (`except E: ...`, `else: ...`,
// `@decorator`) is parsed in the smallest program that may hold it. Rejected: a grammar of our own for patterns (it drifts from
// the target's), ts_query (no runs, no backtracking).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/source.h"
#include "read/syntax.h"

namespace suture {

struct Metavariable {
  std::string name;  // "X"; empty: unnamed
  bool run = false;  // $$$
  [[nodiscard]] std::string spelled() const { return (run ? "$$$" : "$") + (name.empty() && !run ? "_" : name); }
};

class Pattern {
 public:
  enum class Form {
    expression,  // one expression: matches a node anywhere
    statements,  // consecutive statements of one suite
    clause,      // an except / elif / else / finally / case clause or a decorator: matches a node
  };

  [[nodiscard]] Form form() const { return form_; }
  [[nodiscard]] const Source& source() const { return *source_; }
  [[nodiscard]] const Tree& tree() const { return tree_; }
  // The nodes that are matched: one (expression, clause) or the statements.
  [[nodiscard]] const std::vector<NodeId>& roots() const { return roots_; }

  // The metavariable that this node IS (an identifier, or a node that only wraps one, such as the statement `$X`);
  // nullptr for code.
  [[nodiscard]] const Metavariable* metavariable(NodeId node) const;
  // All named metavariables, in order of first appearance.
  [[nodiscard]] const std::vector<Metavariable>& names() const { return names_; }
  [[nodiscard]] bool binds(const std::string& name) const;
  [[nodiscard]] bool has_runs() const { return has_runs_; }            // has a $$$
  [[nodiscard]] bool repeats_names() const { return repeats_names_; }  // a name occurs twice

  // Whether the root, a compound statement, also matches one that has clauses which the pattern does not name
  // (add_branch: the branch itself may be there).
  void allow_other_clauses() { other_clauses_ = true; }
  [[nodiscard]] bool other_clauses() const { return other_clauses_; }

  // The runs that a statement lists, where it lists nothing else: `from a import $$$X, $$$Y`, `del $$$X`. There is no such
  // statement without a name, so where the runs are empty it stands for no statement at all. Empty: it is no such statement.
  [[nodiscard]] std::vector<NodeId> only_runs(NodeId statement) const;

  // The text of a node with its `$` back.
  [[nodiscard]] std::string spelled(NodeId node) const { return spelled(tree_.range(node)); }
  [[nodiscard]] std::string spelled(Range range) const;
  // The whole pattern as it was written.
  [[nodiscard]] const std::string& written() const { return written_; }

 private:
  friend class PatternCompiler;
  std::string written_;
  std::shared_ptr<const Source> source_;
  Tree tree_;
  Form form_ = Form::expression;
  bool other_clauses_ = false, has_runs_ = false, repeats_names_ = false;
  std::vector<NodeId> roots_;
  std::map<NodeId, Metavariable> metavariables_;
  std::vector<Metavariable> names_;
};

// What is wrong with a pattern, at a byte of the text that was given.
struct PatternProblem {
  std::string message, hint;
  std::uint32_t begin = 0, end = 0;
};

// Compiles `text`; common indentation and blank lines around it are dropped.
std::optional<Pattern> compile_pattern(const std::string& text, PatternProblem* problem);

// `$` as it stands in compiled snippets, and the way back.
std::string with_placeholders(std::string_view text);
std::string without_placeholders(std::string_view text);

}  // namespace suture
