// Matching a pattern against a target tree.
//
// Exact: every named child of the matched node is accounted for; what the pattern does not name is either ignored by a
// stated rule (below) or makes the match fail. Ignored, and always kept by the rewriter: comments, line continuations, trailing commas, quote
// style, redundant parentheses; and, unless the pattern names them, `async`, decorators, annotations, return types, bases.
//
// Runs ($$$) are lazy with full backtracking: the matcher is written in continuation-passing style, so a narrowing that rejects
// one set of bindings makes it try the next. Keyword arguments match by name in any order, positionals in order; `*x` and `**x` that
// the pattern names keep their order relative to the keywords. Failures that depend on positions alone are memoised, so that runs
// cost a polynomial and not an exponential; a step budget ends the rest.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/function_ref.h"
#include "base/source.h"
#include "engine/code.h"
#include "engine/pattern.h"
#include "read/syntax.h"

namespace suture {

// What a metavariable stands for: one node, or a run of siblings (may be empty, and, among arguments, interrupted by
// keywords that matched by name).
struct Binding {
  bool run = false;
  std::vector<NodeId> nodes;
};
using Bindings = std::map<std::string, Binding>;

struct Match {
  std::vector<NodeId> nodes;  // the node, or the statements from first to last
  Bindings bindings;
  // Which pattern node matched which target node, runs apart: what the rewriter aligns tokens by.
  std::vector<std::pair<NodeId, NodeId>> pairs;
  std::vector<std::pair<NodeId, std::vector<NodeId>>> runs;
  bool broken = false;     // overlaps an ERROR or MISSING node, or is misread: never edited
  NodeId misread = kNone;  // what Python reads otherwise (engine/unread.h)

  [[nodiscard]] Range range(const Tree& tree) const { return {tree[nodes.front()].begin, tree[nodes.back()].end}; }
};

// Called for each way to match, until it returns true ("take this one").
using Accept = FunctionRef<bool(const Match&)>;
// Called when a named metavariable is bound; false rejects the binding.
using Admit = FunctionRef<bool(const std::string& name, const Binding& binding)>;

struct Search {
  const Pattern* pattern = nullptr;
  CodeView target;
  Bindings given;  // bindings that hold already
};

// The pattern at exactly this node (expression, clause, or a one-statement pattern at a statement). For patterns of
// several statements: beginning at this statement.
bool match_at(const Search& search, NodeId node, Admit admit, Accept accept);

// Every match in the subtree of `scope` (a definition that is the scope is one of its own matches), in source order; nested expression matches all count, statement matches do not overlap
// (leftmost wins). accept decides per match; what it takes is returned.
std::vector<Match> find_all(const Search& search, NodeId scope, Admit admit, Accept accept);
std::vector<Match> find_all(const Search& search, NodeId scope);

// Whether one part of the pattern, a node of its tree, matches at this node by itself: what a difference is told by.
bool part_matches(const Search& search, NodeId part, NodeId node);

}  // namespace suture
