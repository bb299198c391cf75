// What people call the parts of Python code: "argument", "else branch", "the condition". For messages.
#pragma once

#include <string>
#include <string_view>

#include "read/syntax.h"

namespace suture {

struct Noun {
  std::string_view one, many;
};

// What the node is to its parent: an argument, an element, a statement, an else branch.
Noun noun_of(const Tree& tree, NodeId node);
// The part that a node with one place of its own is ("the condition"); empty where it has none ("an argument" is one of
// several).
std::string_view part_name(const Tree& tree, NodeId node);
// "an else branch", "a finally clause"
std::string with_article(std::string_view noun);

}  // namespace suture
