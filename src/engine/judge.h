// The verdict of one patch on one state: the rows of the verdict table in their order, the first that holds.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/plan.h"
#include "engine/run.h"

namespace suture {

struct Judgement {
  PatchOutcome outcome;
  PatchRun run;  // what applying would start from
};

// planned: patches that the very plan which this is part of writes; for the words of a conflict.
Judgement judge_patch(Workbench& bench, const TreeState& state, const Patch& patch, const std::vector<Patch>& all,
                      const PlanOptions& options, const std::set<std::string>& planned = {});

}  // namespace suture
