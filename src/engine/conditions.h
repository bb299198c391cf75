// `requires:` and `superseded:`: whether a condition of patch.yaml holds in a tree, and the proof.
#pragma once

#include <optional>
#include <string>

#include "engine/run.h"

namespace suture {

struct ConditionResult {
  bool holds = false;
  std::string why;                 // one sentence: what holds, or what is missing
  std::vector<Evidence> evidence;  // the line that proves it, or the places that were searched
  std::optional<Error> error;      // the condition is wrong as written
};

ConditionResult check_condition(Workbench& bench, const TreeState& state, const Patch& patch,
                                const Condition& condition);

}  // namespace suture
