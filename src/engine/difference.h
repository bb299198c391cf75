// How code differs from a pattern that it does not match, in one line that a person can act on: "has one argument more:
// copy=False", "argument 2 is `dtype`, expected `q.dtype`", "the callee is `pool.get_rows`, expected `$POOL.get`".
//
// Pattern and code are walked together; where both are lists (arguments, elements, statements, clauses) the cheapest
// alignment says which belongs to which. The first difference in the order of the pattern is told, and only that one:
// a rule is mended one step at a time. Rejected: a diff of the two texts (says nothing of structure, and a
// metavariable is different from everything), all differences at once (the first often explains the rest).
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "engine/match.h"
#include "engine/pattern.h"

namespace suture {

// The difference between the pattern and the node, or the statements that begin at it; empty where none can be told:
// it matches, or only the whole does not hold together (a name that stands for different code, an order).
std::string difference(const Pattern& pattern, const CodeView& target, NodeId node);

// Code of a node as messages show it: on one line, shortened, in backquotes.
std::string quoted_code(const CodeView& target, NodeId node);
std::string quoted_code(const Pattern& pattern, NodeId node);
// The whole pattern.
std::string quoted_code(const Pattern& pattern);

// What a pattern is recognised by, apart from its structure: its own tokens without metavariables and punctuation, in
// order, and the names that it calls.
struct Features {
  std::vector<std::string> tokens;
  std::set<std::string> callees;
  std::set<std::string> names;  // of all tokens those that are no keyword and no operator
  // The callees that lead somewhere: short ones (`to`, `get`) only where the pattern has no other.
  [[nodiscard]] std::set<std::string> telling() const;
  [[nodiscard]] std::uint32_t weight() const;  // of all tokens
};
Features features_of(const Pattern& pattern);

struct Likeness {
  std::uint32_t weight = 0;  // of the tokens that code and pattern have in common, in order; a callee counts thrice
  std::uint32_t tokens = 0;  // of the code
  bool callee = false;       // a telling name that the pattern calls is in the code
  bool named = false;        // one of the pattern's names is
};
Likeness likeness(const Features& features, const CodeView& target, const std::vector<NodeId>& nodes);

}  // namespace suture
