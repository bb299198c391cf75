// Where the grammar reads other code than Python does. tree-sitter-python takes `print("s", *a.b())` for a call of `*a.b`, `a & b ^ c`
// for `a & (b ^ c)`, `await a ** 2` for `await (a ** 2)`. What can be set right for certain is set right here, in the arena and by moving
// nodes alone, so that patterns and targets are both read as Python reads them. What cannot is marked: a site that such a node is part of,
// or lies in, is refused (engine/match.h).
//
// tests/oracle/grammar_oracle.py holds the outcome against Python's `ast`, on generated code and on real files. Rejected: a patched
// grammar (it would have to be generated and shipped, and drifts from the public one).
#pragma once

#include <string_view>

#include "read/syntax.h"

namespace suture {

// Set right: unpacking (`*f(x)`, `*a.b`, `*a or b`), `&` beside `^`, `await` beside `**`, `x := a if b else c`, `with a if b else c as d`,
// and a union in an annotation (`a[b] | c | d`). A tree without any of these is handed back as it is.
Tree read_as_python(Tree tree);

// What the code at a marked node is to Python, in words: "an assignment to an attribute or item of type(...)". Empty for any other node.
std::string_view misreading(const Tree& tree, NodeId node);

}  // namespace suture
