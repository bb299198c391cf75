// Where the code of a rule that found too little may have gone, and what differs there: code that is like the rule's
// pattern, ranked by what the two have in common. Pure; the rest of the package is looked at only where the rule's own
// files do not hold its scope, and only in the files that the caller hands in (effects/find_modules.h).
//
// Best first, and in the same order every time: the rule's scopes; the same scope elsewhere; the same callee elsewhere
// in the file; files of the same name, and scopes of the same last name, elsewhere in the package.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/compiled_rule.h"
#include "engine/parsed_file.h"
#include "engine/plan.h"
#include "engine/sites.h"
#include "engine/state.h"

namespace suture {

inline constexpr std::size_t kMostCandidates = 3;

// In the rule's own file. known: places that the evidence shows already (the rule's sites).
std::vector<Evidence> nearest_in_file(const CompiledRule& rule, const std::string& path, const CodeView& target,
                                      const std::vector<Range>& known);

// Why a place that the rule's own match finds is in none of its shapes: what differs from the nearest.
std::string unresolved_detail(const CompiledRule& rule, const CodeView& target, const Site& site);

// What to look for in the rest of the package; empty where no rule has lost its file or its scope.
class Traces {
 public:
  Traces(const PatchOutcome& outcome, const Patch& patch);
  [[nodiscard]] bool empty() const { return rules_.empty(); }
  // How good a lead a file is, from its path and bytes alone; 0: none.
  [[nodiscard]] int rank(const std::string& path, const std::string& bytes) const;

 private:
  struct OfRule {
    std::vector<std::string> files;                // candidates of the rule: looked at already
    std::vector<std::vector<std::string>> scopes;  // qualified names in parts
    std::vector<std::string> callees;
  };
  std::vector<OfRule> rules_;
};

// Puts what stands in `files` (path -> bytes) into the candidates of the rules that lost their file or scope.
void add_moved_candidates(PatchOutcome& outcome, const Patch& patch, const std::map<std::string, std::string>& files);

}  // namespace suture
