#include "ways.h"

namespace verify {

const std::vector<PlantWords>& plants() {
  static const std::vector<PlantWords> words = {
      {Plant::off_by_one, "off-by-one", "each slot is cast into the row behind its own"},
      {Plant::stale_index, "stale-index", "the cast reads the indices of the first plan, the attention this step's"},
      {Plant::stale_count, "stale-count", "the cast reads the number of slots of the first plan"},
      {Plant::wrong_scale, "wrong-scale", "the cast multiplies by 2"},
      {Plant::compact_under_graph, "compact-under-graph",
       "in a graph, the rows are gathered, but the attention reads the buffer that each replay refills with slots"},
      {Plant::missing_slot, "missing-slot", "the last slot that is named is not cast"},
  };
  return words;
}

std::optional<Plant> plant_named(std::string_view name) {
  for (const PlantWords& words : plants()) {
    if (words.name == name) return words.plant;
  }
  return std::nullopt;
}

bool is_planted(Plant plant, Way way, bool in_graph) {
  if (plant == Plant::none || way == Way::whole) return false;
  return plant != Plant::compact_under_graph || (way == Way::gather && in_graph);
}

Layer layer_of(Way way, Plant plant, bool in_graph) {
  Layer layer;
  CastLaunch& cast = layer.cast;
  switch (way) {
    case Way::whole:
      cast.all = true;
      break;
    case Way::gather:
      cast.to = Keys::compact;
      cast.compact = true;
      layer.attention = {Keys::compact, Ids::sequential};
      break;
    case Way::shadow:
      cast.to = Keys::shadow;
      layer.attention = {Keys::shadow, Ids::slots};
      break;
  }
  if (!is_planted(plant, way, in_graph)) return layer;
  switch (plant) {
    case Plant::none:
      break;
    case Plant::off_by_one:
      cast.rows_late = 1;
      break;
    case Plant::stale_index:
      cast.ids = Ids::saved;
      break;
    case Plant::stale_count:
      cast.count = Count::saved;
      break;
    case Plant::wrong_scale:
      cast.factor = 2;
      break;
    case Plant::compact_under_graph:
      layer.attention.ids = Ids::slots;
      break;
    case Plant::missing_slot:
      cast.left_out = 1;
      break;
  }
  return layer;
}

}  // namespace verify
