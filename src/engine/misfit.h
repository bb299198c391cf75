// The words of the verdicts that say: the code is not what the rules know. What failed, where, what differs, what to do.
#pragma once

#include <string>
#include <vector>

#include "engine/plan.h"
#include "engine/run.h"

namespace suture {

// The bytes differ from what the distribution shipped, and from what suture left.
bool edited_by_hand(const TreeState& state, const std::string& path);

// ambiguous: for each rule the first site that several of its shapes hold at, with each reading and what it would write.
void tell_ambiguous(PatchOutcome& outcome, const std::vector<const RuleRun*>& runs);

// drifted and foreign-edit: all rules that fail, what they found, and, for an edited file, the difference as far as its
// former bytes are known.
void tell_misfit(PatchOutcome& outcome, const TreeState& state, const Patch& patch,
                 const std::vector<const RuleRun*>& runs, Verdict verdict);

}  // namespace suture
