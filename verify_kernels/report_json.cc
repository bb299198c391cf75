#include <nlohmann/json.hpp>

#include "report.h"

namespace verify {
namespace {

using Json = nlohmann::ordered_json;

Json json_of_case(const CaseReport& c) {
  Json findings = Json::array();
  for (const Finding& finding : c.findings) {
    findings.push_back(
        {{"way", name_of(finding.way)}, {"graph", finding.in_graph}, {"step", finding.step}, {"what", finding.what}});
  }
  return {{"case", c.name},
          {"type", name_of(c.type)},
          {"heads", c.heads},
          {"seed", c.seed},
          {"comparisons", c.comparisons},
          {"max_error", c.exact.largest_error},
          {"share_of_bound", c.exact.largest_share},
          {"relative_l2", c.exact.relative_l2},
          {"tolerance", c.exact.tolerance},
          {"findings", findings}};
}

Json json_of_part(const PartReport& part, Plant plant) {
  Json json = {{"part", part.name}, {"cases", Json::array()}};
  for (const Report& report : part.seeds) {
    for (const CaseReport& c : report.cases) json["cases"].push_back(json_of_case(c));
  }
  if (plant == Plant::none) return json;
  json["caught"] = Json::array();
  for (const Catch& found : part.caught) {
    json["caught"].push_back({{"way", name_of(found.way)}, {"graph", found.in_graph}, {"cases", found.caught}});
  }
  return json;
}

Json json_of_bench(const Bench& bench, const Options& options) {
  Json casts = Json::array();
  for (const CastTime& time : bench.casts) {
    casts.push_back({{"slots", time.slots},
                     {"order", time.order},
                     {"us_a_layer", time.us},
                     {"move_us", time.move_us},
                     {"ratio", time.us / time.move_us},
                     {"bytes", time.bytes},
                     {"gb_s", time.bytes / time.us / 1000},
                     {"share_of_copy", time.bytes / time.us / 1000 / bench.copy_gb_s},
                     {"ms_a_step", time.us * options.layers / 1000},
                     {"shape", time.shape},
                     {"move_shape", time.move_shape},
                     {"default_shape_us", time.default_us}});
  }
  Json layers = Json::array();
  for (const LayerTime& time : bench.layers) {
    Json ways = Json::object();
    for (const Way way : kWays) {
      const auto i = static_cast<std::size_t>(way);
      ways[name_of(way)] = {{"cast_us", time.cast_us[i]},
                            {"attention_us", time.attention_us[i]},
                            {"ms_a_step", (time.cast_us[i] + time.attention_us[i]) * options.layers / 1000}};
    }
    layers.push_back({{"batch", time.batch}, {"heads", time.heads}, {"slots", time.slots}, {"ways", ways}});
  }
  return {{"layers", options.layers},
          {"repeats", options.repeats},
          {"pool_slots", options.slots},
          {"copy_gb_s", bench.copy_gb_s},
          {"whole_cast_us", bench.whole_us},
          {"casts", casts},
          {"one_shape", bench.one_shape},
          {"one_shape_ratio", bench.one_shape_ratio},
          {"batches", layers}};
}

}  // namespace

std::string json_of(const RunReport& run, const Options& options, Exit exit) {
  Json json = {{"program", "verify_kernels"}, {"exit", static_cast<int>(exit)}, {"seed", options.seed}};
  for (const PlantWords& words : plants()) {
    if (words.plant == options.plant) json["plant"] = words.name;
  }
  if (run.gpu) {
    json["gpu"] = {{"name", run.gpu->name},
                   {"compute_capability", run.gpu->compute_capability},
                   {"multiprocessors", run.gpu->multiprocessors},
                   {"driver", run.gpu->driver},
                   {"cuda_runtime", run.gpu->runtime}};
  }
  if (!run.skipped.empty()) json["skipped"] = run.skipped;
  json["parts"] = Json::array();
  for (const PartReport& part : run.parts) json["parts"].push_back(json_of_part(part, options.plant));
  if (run.bench) json["bench"] = json_of_bench(*run.bench, options);
  return json.dump(2) + "\n";
}

}  // namespace verify
