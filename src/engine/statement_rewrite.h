// Rewriting statements: lists are aligned first, then tokens inside pairs; what is new as a whole is rendered as lines.
#pragma once

#include <vector>

#include "engine/rewrite.h"

namespace suture {

struct StatementRewrite {
  CodeView target;
  const Pattern* pattern = nullptr;
  const Match* match = nullptr;
  const Pattern* replacement = nullptr;
  Comments comments = Comments::refuse;
  bool afresh = false;  // what matched in another order is written anew (TokenRewrite::Way::afresh)
};

// `have` (statements of the pattern, matched in `suite` of the target) become `want` (statements of the replacement).
// *in_order: false where tokens stand in another order than the pattern has them (TokenMap::in_order).
Rewrite rewrite_statements(const StatementRewrite& job, const std::vector<NodeId>& have,
                           const std::vector<NodeId>& want, NodeId suite, bool* in_order);

}  // namespace suture
