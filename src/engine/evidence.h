// The places that a verdict speaks of: file:line and one line of text each.
#pragma once

#include <vector>

#include "engine/plan.h"
#include "engine/run.h"

namespace suture {

Evidence evidence_at(const std::string& path, const CodeView& target, Range range, std::string text);
// The code of the node's first line, blanks folded.
std::string first_line(const CodeView& target, Range range);
Evidence site_evidence(const RuleRun& run, const Site& site);

// Where the rule's code may have gone: at most three, best first: the same callee (or the same kind of statement) in the
// rule's scopes, then elsewhere in the file; each with what differs in one line.
std::vector<Evidence> nearest_candidates(const RuleRun& run);

// Why a rule's sites are not what it expects, in one sentence; empty where they are.
std::string drift_reason(const RuleRun& run);

}  // namespace suture
