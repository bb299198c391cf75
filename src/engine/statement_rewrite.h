// Rewriting statements: lists are aligned first, then tokens inside pairs; what is new as a whole is rendered as lines.
#pragma once

#include <vector>

#include "engine/rewrite.h"

namespace suture {

// `have` (statements of the pattern, matched in `suite` of the target) become `want` (statements of the replacement).
Rewrite rewrite_statements(const CodeView& target, const Pattern& pattern, const Match& match,
                           const Pattern& replacement, Comments comments, const std::vector<NodeId>& have,
                           const std::vector<NodeId>& want, NodeId suite);

}  // namespace suture
