// Elements put into and taken out of a list with commas: arguments, parameters, elements of a literal, names of an import.
// The list stays well formed, and its layout is its own: where an element has a line of its own, so has a new one, with the
// siblings' indentation and trailing comma.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "engine/match.h"
#include "engine/revert.h"  // Splice

namespace suture {

// The list that `element` is one of; its node has the commas and the brackets as children, where it has brackets.
struct CommaList {
  NodeId node = kNone;
  std::vector<NodeId> elements;
};
// nullopt: the node stands in no such list.
std::optional<CommaList> list_of(const Tree& tree, NodeId element);
// The list that the node is: a list, tuple, set, dictionary, argument list, the index of a subscript, or `a, b` without brackets.
CommaList list_at(const Tree& tree, NodeId node);

// The code of the new element for a line with that indentation; its own first line has none.
using ElementText = FunctionRef<std::string(const std::string& indentation)>;

// Behind the element `after`; kNone: in front of all.
std::vector<Splice> insert_element(const CodeView& target, const CommaList& list, NodeId after, ElementText text);

// The elements from `first` to `last`, neighbours, with their commas. `problem`: what is left would be something else.
struct Removal {
  std::vector<Splice> splices;
  std::string problem;
};
Removal remove_elements(const CodeView& target, const CommaList& list, NodeId first, NodeId last);

}  // namespace suture
