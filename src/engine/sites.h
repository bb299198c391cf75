// Where a rule holds in one file: its scopes, and in them the sites, each a result (the edit is in place), done (`done_if`), or old (a
// shape holds: to be edited). A node is a result before it is done before it is old; an old match that is, or lies
// inside, a result of the same rule is part of that result and is not counted; a result that is some of the statements of an old
// match is part of that.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/compiled_rule.h"
#include "engine/match.h"
#include "engine/narrow.h"
#include "read/version.h"

namespace suture {

struct Site {
  NodeId scope = kNone;
  Match match;              // for rules without `match`: the scope itself
  std::size_t shape = 0;    // index into CompiledRule::shapes (old sites)
  NodeId argument = kNone;  // argument edits: the value to change
};

struct RuleSites {
  bool scope_found = false;
  std::vector<Site> old, result, done;
  std::vector<Site> passed;      // passed over by `select`: counts for `expect` only
  std::vector<Site> unresolved;  // the rule's own match holds, no shape does
  std::vector<std::pair<Site, std::vector<std::size_t>>> ambiguous;  // several shapes hold
  std::vector<Site> broken;                                          // a syntax error overlaps the site
  std::vector<NodeId> broken_scopes;                                 // a syntax error lies in the scope
  std::vector<std::pair<Site, std::string>>
      unfit;                     // the edit's own look at the site finds something else: what (structural.h)
  std::vector<Site> not_passed;  // argument edits: a call that does not pass the argument, not even hidden behind a `*`
  std::optional<std::uint32_t> beyond;  // `select: N` is past the last of this many sites of a scope
  [[nodiscard]] bool empty() const {
    return count() == 0 && unresolved.empty() && ambiguous.empty() && broken.empty() && unfit.empty() &&
           not_passed.empty();
  }
  [[nodiscard]] std::uint32_t count() const {
    return static_cast<std::uint32_t>(old.size() + result.size() + done.size() + passed.size());
  }
};

// "A.f" in its parts.
std::vector<std::string> split_name(const std::string& name);
// The definitions that a qualified name names ("A.f", "*" matches one part); the module for an empty list.
std::vector<NodeId> find_scopes(const CodeView& target, const std::vector<std::string>& names);
// "Class.function" of a node, "<module>" at the top.
std::string scope_name(const CodeView& target, NodeId node);

// version: of the distribution, for shapes that exclude versions; nullopt: unknown (no shape is excluded).
RuleSites find_sites(const CompiledRule& rule, const CodeView& target, const std::optional<Version>& version);

// The value of the argument that the edit speaks of, by name or by position; kNone: not passed, or hidden behind a `*`.
NodeId find_argument(const CodeView& target, NodeId call, const CompiledArgument& argument);

}  // namespace suture
