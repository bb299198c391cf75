// Code as every part of the engine sees it: a source with its tree; what counts in a comparison and what does not; which statement and
// which suite a node stands in.
#pragma once

#include <string>
#include <vector>

#include "base/source.h"
#include "read/syntax.h"

namespace suture {

// Both outlive every Match that is made on them.
struct CodeView {
  const Source* source = nullptr;
  const Tree* tree = nullptr;
};

std::string text_of(const CodeView& code, NodeId node);

// --- what counts ---------------------------------------------------------------------------------------------------

// Kinds that a match takes for one: equal, or tuples with and without parentheses.
bool same_kind(const Tree& a, NodeId x, const Tree& b, NodeId y);
// The children that count in a match: all but punctuation and comments.
std::vector<NodeId> significant(const Tree& tree, NodeId id);
// Without redundant parentheses.
NodeId strip_parentheses(const Tree& tree, NodeId node);
// The same code: equal but for layout, comments, quotes and redundant parentheses.
bool equal_code(CodeView a, NodeId node_a, CodeView b, NodeId node_b);

// --- statements ----------------------------------------------------------------------------------------------------

// The statements of a suite (block or module), comments left out.
std::vector<NodeId> statements_of(const Tree& tree, NodeId suite);
// The statement that holds the node (a decorated definition as a whole); the module for the root.
NodeId statement_of(const Tree& tree, NodeId node);
// The block or module that holds the statement.
NodeId suite_of(const Tree& tree, NodeId statement);
bool is_suite(const Tree& tree, NodeId node);
// A function or a class, without its decorators.
bool is_definition(const Tree& tree, NodeId node);
// A part of a compound statement that others stand beside: elif, else, except, finally, case.
bool is_clause(const Tree& tree, NodeId node);

}  // namespace suture
