// A suite that becomes empty gets `pass`, whatever number of sites, edits and rules empties it: that is seen where all splices of a
// file are together, and nowhere else.
#pragma once

#include <vector>

#include "engine/code.h"
#include "engine/revert.h"  // Splice

namespace suture {

// The splice that takes out the first statement of such a suite leaves a `pass`. Precondition: ascending, not overlapping.
void fill_empty_suites(const CodeView& target, std::vector<Splice>& splices);

}  // namespace suture
