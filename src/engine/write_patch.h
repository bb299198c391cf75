// From a patch that is applicable to the state with it written.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/revert.h"  // Splice
#include "engine/run.h"

namespace suture {

// The splices of the patch by file, as its rules' old sites and missing imports ask for. What is wrong with the rules (two of them
// edit the same bytes) is an Error with exit 3. What the tree has and a rule cannot edit (a comment in replaced code, an expression
// within a statement) is one with exit 4: the verdict `drifted`, as judge_patch says it.
using Splices = std::map<std::string, std::vector<Splice>>;
Result<Splices> patch_splices(const TreeState& state, const PatchRun& run);

// The state with the patch written to it, its receipt included; Error (exit 3) where the result is not what the rules call a result.
Result<TreeState> write_patch(Workbench& bench, const TreeState& state, const Patch& patch, const PatchRun& run);

}  // namespace suture
