// The places that a verdict speaks of: file:line and one line of text each; and why a rule's sites are not what it expects.
#pragma once

#include <string>
#include <vector>

#include "engine/plan.h"
#include "engine/run.h"

namespace suture {

Evidence evidence_at(const std::string& path, const CodeView& target, Range range, std::string text);
// The same of the range's code.
std::string first_line(const CodeView& target, Range range);
Evidence site_evidence(const std::string& path, const CodeView& target, const Site& site);

// Where the rule's code may have gone, in its own file: at most three, best first, each with what differs
// (engine/nearest.h); none that is a site.
std::vector<Evidence> nearest_candidates(const CompiledRule& rule, const std::string& path, const CodeView& target,
                                         const RuleSites& sites);

// What the rule found, place by place: its import, its sites of every kind, those in no known shape with what differs.
std::vector<Evidence> found_evidence(const RuleRun& run);

// Why a rule's sites are not what it expects, in one clause without the rule's name; empty where they are.
std::string drift_reason(const RuleRun& run);
// All of them in one sentence: "rule a: ...; rules b and c: ...".
std::string drift_reasons(const std::vector<const RuleRun*>& runs);

}  // namespace suture
