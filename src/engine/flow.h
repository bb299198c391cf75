// Where a value comes from, within one function: what `comes_from`, `element_of` and `parameter` of a where clause ask.
//
// Followed: names back to the assignments that may reach them (chains, `a, b = f()`, `a = b = c`, `x := e`), both ways of a conditional
// expression, and what `through` names ($FROM.view(...)). Not followed: indexing (`kv[0]` is an element of kv, any other index is
// another value), attributes, calls, and what another function does. Where branches assign differently, one of them is enough.
#pragma once

#include "engine/compiled_rule.h"
#include "engine/match.h"

namespace suture {

// admit: of the metavariables that the flow's own patterns bind.
bool comes_from(const CodeView& target, NodeId value, const CompiledFlow& flow, Admit admit);

// What an identifier may stand for at the place where it is used.
struct Definition {
  NodeId value = kNone;             // the expression; kNone: something that is not followed
  std::optional<std::size_t> part;  // the element of `value` that it is
  NodeId parameter = kNone;         // the parameter that it is
};
std::vector<Definition> definitions_of(const CodeView& target, NodeId identifier);

}  // namespace suture
