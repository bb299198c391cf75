// Rewriting a match token by token: the pattern and its replacement are aligned, and only what differs is touched.
//
//   1. Pattern tokens are mapped to target tokens by the match (punctuation by its place between matched siblings). What the
//      target has beyond the pattern (annotations, trailing commas, comments, `async`) is kept where it is.
//   2. Runs that are empty leave both token lists, with one comma.
//   3. The longest common subsequence of pattern and replacement says which tokens stay, go, come.
//   4. Gaps (the bytes between tokens): between two kept neighbours as it was; before a kept token, if it holds a
//      newline, as it was; else what the replacement has there.
// Statements are aligned first, tokens inside them second; a statement that is new as a whole is rendered as lines (layout.h).
// Captures keep their bytes, comments and all, and get parentheses where the precedence of their new place needs them.
//
// Rejected: printing the replacement and dropping it over the match (what most tools do): it loses comments, layout and
// everything that the pattern did not name.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "engine/match.h"
#include "engine/pattern.h"
#include "engine/revert.h"  // Splice
#include "read/rule.h"      // Comments

namespace suture {

struct RewriteProblem {
  std::string message, hint;
  Range at;  // of the target
};

struct Rewrite {
  std::vector<Splice> splices;
  std::optional<RewriteProblem> problem;
};

// The match becomes `replacement`. Bindings of narrowings count: they are in match.bindings.
Rewrite replace_match(const CodeView& target, const Pattern& pattern, const Match& match, const Pattern& replacement,
                      Comments comments);

// One node becomes `replacement` (an expression), in which $`self` stands for the node itself: `replace: {X: ...}` and `argument`.
Rewrite replace_node(const CodeView& target, NodeId node, const std::string& self, const Bindings& bindings,
                     const Pattern& replacement, Comments comments);

}  // namespace suture
