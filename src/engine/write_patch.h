// From a patch that is applicable to the state with it written.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/revert.h"  // Splice
#include "engine/run.h"

namespace suture {

// The splices of the patch by file, as its rules' old sites and missing imports ask for. Problems (overlapping rules, comments in
// replaced code, a site that cannot be rewritten) are Errors with exit 3.
Result<std::map<std::string, std::vector<Splice>>> patch_splices(const TreeState& state, const PatchRun& run);

// The state with the patch written to it, its receipt included; Error (exit 3) where the result is not what the rules call a result.
Result<TreeState> write_patch(Workbench& bench, const TreeState& state, const Patch& patch, const PatchRun& run);

}  // namespace suture
