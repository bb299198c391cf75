// Whether an expression needs parentheses where it is put.
#pragma once

#include "engine/match.h"
#include "read/syntax.h"

namespace suture {

// Whether `node` would be other code, or none, without parentheses in the place where `at` stands (of another tree,
// mostly).
bool needs_parentheses(CodeView expression, NodeId node, CodeView place, NodeId at);

// Whether a bracket around the node lets its lines break.
bool in_brackets(CodeView code, NodeId node);
// Whether a line of the node ends outside of its own brackets: it needs some around it, a backslash aside.
bool breaks_line(CodeView code, NodeId node);

}  // namespace suture
