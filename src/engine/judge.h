// The verdict of one patch on one state: the rows of the verdict table in their order, the first that holds.
#pragma once

#include <vector>

#include "engine/plan.h"
#include "engine/run.h"

namespace suture {

struct Judgement {
  PatchOutcome outcome;
  PatchRun run;  // what applying would start from
};

Judgement judge_patch(Workbench& bench, const TreeState& state, const Patch& patch, const std::vector<Patch>& all,
                      const PlanOptions& options);

}  // namespace suture
