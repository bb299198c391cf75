// Whether an expression needs parentheses where it is put.
#pragma once

#include "base/source.h"
#include "read/syntax.h"

namespace suture {

// How tightly the expression binds: 0 (`:=`, `yield`, a bare tuple) ... 16 (a name, a call, anything in brackets).
int precedence(const Source& source, const Tree& tree, NodeId node);

// The least precedence that fits, without parentheses, in the place where `node` stands.
int precedence_wanted(const Source& source, const Tree& tree, NodeId node);

}  // namespace suture
