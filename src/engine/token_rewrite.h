// Rewriting a list of tokens in place: see rewrite.h for the rules.
#pragma once

#include <vector>

#include "engine/rewrite.h"
#include "engine/token_map.h"

namespace suture {

struct TokenRewrite {
  CodeView target;
  const Bindings* bindings = nullptr;
  const Pattern* pattern = nullptr;
  const Pattern* replacement = nullptr;
  std::vector<NodeId> replacement_roots;  // the part of the replacement that is aligned
  Comments comments = Comments::refuse;
  // The node that is rewritten as a whole: gets parentheses where its place in the target needs them. kNone: a part of a statement.
  NodeId whole = kNone;
  // Insertions at the edge of redundant parentheses go outside of them or inside: only one of the two is right, and the
  // structure of the result tells which. afresh: nothing of the match stays in place, the replacement is written with
  // copies of the captures (where keywords stand in another order than the pattern has them, say).
  enum class Way { outside, inside, afresh } way = Way::outside;
};

Rewrite rewrite_tokens(const TokenRewrite& job, const TokenMap& map);

}  // namespace suture
