// The three ways to attend over an FP8 pool with a kernel that reads BF16, and the errors that can be planted in them.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "machine.h"

namespace verify {

enum class Way {
  whole,   // the reference: cast every slot, attend by slots
  gather,  // cast the named slots into rows 0, 1, 2, ...; attend by 0, 1, 2, ...
  shadow,  // cast the named slots at their own places; attend by slots
};
inline constexpr Way kWays[] = {Way::whole, Way::gather, Way::shadow};

enum class Plant { none, off_by_one, stale_index, stale_count, wrong_scale, compact_under_graph, missing_slot };

struct PlantWords {
  Plant plant;
  std::string_view name;
  std::string_view what;
};
const std::vector<PlantWords>& plants();
std::optional<Plant> plant_named(std::string_view name);

constexpr const char* name_of(Way way) {
  return way == Way::whole ? "whole" : way == Way::gather ? "gather" : "shadow";
}

// Whether the plant changes anything of this way, run eagerly or from a graph: there it must be caught.
bool is_planted(Plant plant, Way way, bool in_graph);

// One layer in this way. `in_graph`: to be captured.
Layer layer_of(Way way, Plant plant, bool in_graph);

}  // namespace verify
