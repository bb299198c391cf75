// Code that is like a pattern: what candidates are chosen from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/difference.h"
#include "engine/match.h"
#include "read/rule.h"

namespace suture {

struct Lead {
  std::size_t shape = 0;
  std::vector<NodeId> nodes;    // a node, or as many statements as the pattern has
  std::optional<NodeId> scope;  // of the rule, that it lies in
  Likeness like;
  bool same_kind = false;  // as the pattern's root
};

// Code that calls what the pattern calls; or that has a name and, in the scopes, two fifths of the tokens in common with it, half
// elsewhere. For a pattern without names: code of its kind in the scopes.
std::vector<Lead> leads_for(const Pattern& pattern, const CodeView& target, const std::vector<NodeId>& scopes);

// `in` of a rule: its qualified names; and as a message shows them.
std::vector<std::string> scope_names(const Rule& rule);
std::string shown_scopes(const Rule& rule);

// Functions and classes of that name, at any depth.
std::vector<NodeId> definitions_called(const CodeView& target, const std::string& name);
// "def step(self, query):": its head, on one line.
std::string first_line_of_definition(const CodeView& target, NodeId node);

}  // namespace suture
