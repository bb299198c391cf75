// What a receipt alone says of a patch.
#pragma once

#include "engine/plan.h"
#include "engine/state.h"

namespace suture {

// applied or partial: whether the bytes that the entry's patch wrote stand. Fills verdict, reason and hints; `outcome.patch` is set.
void judge_standing(const TreeState& state, const ReceiptEntry& entry, PatchOutcome& outcome);

}  // namespace suture
