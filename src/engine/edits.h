// From old sites to splices: what each edit of a rule does at one site.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/compiled_rule.h"
#include "engine/rewrite.h"
#include "engine/sites.h"

namespace suture {

// Splices of the rule's edit at one of its old sites, ascending; or why it cannot be made there.
Rewrite edit_site(const CompiledRule& rule, const CodeView& target, const Site& site);

// Two rules touch the same bytes: overlapping removals, or insertions at one point. Imports may share a point, and so may
// additions (Splice::addition), which become one splice.
struct Overlap {
  std::string first, second;  // rule ids
  Range at;                   // of the target
};
// All splices of a file: sorts them (imports at one point keep their order), looks for overlaps, and fills suites that they leave
// empty. What stands between two statements that both go (`;`) goes once.
std::optional<Overlap> order_splices(const CodeView& target, std::vector<Splice>& splices);

}  // namespace suture
