// Where rules match in a parsed file, for engine/audit.cc: one walk for all shapes of all rules.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/audit.h"
#include "engine/match.h"

namespace suture {

// One shape of a rule, and the sites that it can have by the name of a callee: an attempt costs more than comparing names.
struct Seeker {
  std::size_t rule = 0;
  const CompiledShape* shape = nullptr;
  bool call = false;
  std::string callee;                     // empty: any
  std::shared_ptr<const re2::RE2> regex;  // what the name of the callee must match, where it is a metavariable
  std::string literal;                    // that the regex requires
  [[nodiscard]] bool admits(std::string_view name) const;
};

// Those of the rules that look into the file.
std::vector<Seeker> seekers_of(const std::vector<CompiledRule>& rules, const std::string& path);

struct FoundSite {
  std::size_t rule = 0;
  Match match;
};

// In source order; of rules of one kind the first that matches a node.
std::vector<FoundSite> find_audit_sites(const AuditRules& rules, const std::vector<Seeker>& seekers,
                                        const CodeView& target);

// The name of what a call calls: `b` of `a.b(...)`; kNone where it has none.
NodeId callee_name(const Tree& tree, NodeId call);

}  // namespace suture
