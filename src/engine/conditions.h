// `requires:` and `superseded:`: whether a condition of patch.yaml holds in a tree, and the proof. What it means: Condition in
// read/patch.h.
#pragma once

#include <optional>
#include <string>

#include "engine/run.h"

namespace suture {

struct ConditionResult {
  bool holds = false;
  std::string why;     // one sentence: what holds, or what is missing and where it was searched
  std::string hint{};  // where the package itself is missing: how to name it
  // The lines that prove it, or the first lines of what was searched. Paths of another package begin with its folder.
  std::vector<Evidence> evidence;
  std::optional<Error> error;  // the condition is wrong as written
};

ConditionResult check_condition(Workbench& bench, const TreeState& state, const Patch& patch,
                                const Condition& condition);

}  // namespace suture
