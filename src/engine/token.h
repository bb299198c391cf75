// The tokens of a subtree: leaves in order, a string literal being one token. Comments and line continuations are no
// tokens: they live in the gaps.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "read/syntax.h"

namespace suture {

// A string, a leaf, a format specifier: compared and moved as one.
bool is_token(const Tree& tree, NodeId node);

// Brackets, braces, parentheses.
bool is_opening(std::string_view token);
bool is_closing(std::string_view token);

// The tokens of the nodes, in order.
std::vector<NodeId> tokens_of(const Tree& tree, const std::vector<NodeId>& nodes);

// The text by which two tokens are compared: a string's prefix in lower case and its content without the quotes, else
// the bytes.
std::string token_key(const Source& source, const Tree& tree, NodeId token);

// The source text as a list of token keys: what `examples` compare. Indentation counts as the depth of each line's
// suite.
std::vector<std::string> token_sequence(const Source& source, const Tree& tree);

}  // namespace suture
