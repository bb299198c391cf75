// See cost_text.h. Tests: tests/cli/cost_test.py.
#include "shell/cost_text.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "shell/words.h"

namespace suture {
namespace {

using Json = nlohmann::ordered_json;

std::string size_words(std::int64_t bytes) {
  const auto value = static_cast<double>(bytes);
  if (bytes == 0) return "0";
  if (value >= 1e9) return fixed(value / 1e9, 1) + " GB";
  if (value >= 1e8) return fixed(value / 1e6, 1) + " MB";
  return value >= 1e5 ? fixed(value / 1e6, 3) + " MB" : fixed(value / 1e3, 1) + " KB";
}

std::string percent(double share) {
  return fixed(share * 100, 1) + " %";
}

std::string way_lines(const WayOut& way) {
  std::string text =
      pad("  " + way_name(way.kind), 32) + pad_left(size_words(way.layer_bytes), 11) +
      pad_left(size_words(way.step_bytes), 11) + pad_left(way.step_ms ? fixed(*way.step_ms, 3) : "-", 11) +
      pad_left(size_words(way.memory_bytes), 11) + (way.fits ? pad_left(*way.fits ? "fits" : "no room", 9) : "") + "\n";
  if (way.memory_bytes > 0) text += "      memory: " + way.memory + "\n";
  text += "      needs: " + way.needs + "\n";
  if (!way.patch.empty()) text += "      patch: " + way.patch + "\n";
  if (!way.unfit.empty()) text += "      NOT HERE: " + way.unfit + "\n";
  return text;
}

}  // namespace

std::string share_words(const Cost& cost) {
  if (!has_cast(cost.of)) return "A BF16 pool is read as it is: there is no cast, and nothing to take out.";
  if (!cost.trace_share) return "";
  const double step = *cost.of.step_ms, cast = *cost.cast_step_ms, best = *cost.best_step_ms;
  const std::string in_trace = fixed(cast, 1) + " of " + fixed(step, 1) + " ms";
  if (cast > step) return "The casts add up to more than a step (" + in_trace + "): these are not of the same run.";
  if (!cost.server_share)
    return "By the trace the cast is " + percent(*cost.trace_share) + " of a step (" + in_trace +
           "), so a step takes " + fixed(best, 1) +
           " ms at best without it; what a server gains is less where that time is spent waiting all the same.";
  return "By the trace the cast is " + percent(*cost.trace_share) + " of a step (" + in_trace +
         "), by the server, whose step went from " + fixed(step, 1) + " to " + fixed(*cost.of.after_ms, 1) +
         " ms and not to " + fixed(best, 1) + ", it was " + percent(*cost.server_share) + " (" +
         fixed(step - *cost.of.after_ms, 1) + " ms): the rest of that time the server spends all the same.";
}

std::string cost_text(const Cost& cost, const std::string& from) {
  const CostCase& of = cost.of;
  if (!has_cast(of)) return share_words(cost) + "\n";
  std::string text =
      "A pool of " + grouped(static_cast<std::uint64_t>(of.slots)) + " slots x " + std::to_string(of.columns) + ", " +
      count_of(static_cast<std::size_t>(of.layers), "layer", "layers") + ", of which a step reads " +
      grouped(static_cast<std::uint64_t>(of.active)) + " slots" +
      (of.active > of.slots ? ", more than there are: with shared prefixes a slot is read more than once, "
                              "and is counted each time by the gather alone."
                            : ".");
  if (!from.empty()) text += " " + from;
  text += "\n\n" + pad("  way", 32) + pad_left("a layer", 11) + pad_left("a step", 11) + pad_left("ms a step", 11) +
          pad_left("memory", 11) + "\n";
  for (const WayOut& way : cost.ways) text += way_lines(way);
  text += "\n  bytes: what the cast reads and writes. ms: " +
          (of.gigabytes_a_second ? "at " + fixed(*of.gigabytes_a_second, 0) + " GB/s" +
                                       (of.measured_bandwidth ? ", as measured of the whole cast"
                                        : of.cast_us          ? ", the whole cast as measured"
                                                              : "") +
                                       ", launches not counted"
                                 : std::string("needs --bandwidth, --cast-us or --from-trace")) +
          ".\n";
  text += "  A BF16 pool is " + size_words(cost.wide_pool_bytes) + " in all.\n";
  for (const WayOut& way : cost.ways) {
    if (!way.break_even) continue;
    text += "  break-even: " + way_name(way.kind) + " moves as much as the whole cast from " +
            grouped(static_cast<std::uint64_t>(*way.break_even)) + " active slots on" +
            (way.kind == WayOut::Kind::active_slots ? " (the whole pool), and never more" : "") + ".\n";
  }
  const std::string share = share_words(cost);
  return share.empty() ? text : text + "\n  " + share + "\n";
}

std::string cost_json(const Cost& cost, const std::string& from) {
  const auto maybe = [](const auto& value) { return value ? Json(*value) : Json(); };
  const CostCase& of = cost.of;
  Json json = {{"slots", of.slots}, {"columns", of.columns}, {"layers", of.layers}, {"active", of.active}};
  json["from"] = from;
  json["gb_per_s"] = maybe(of.gigabytes_a_second);
  json["cast_us"] = maybe(of.cast_us);
  json["wide_pool_bytes"] = cost.wide_pool_bytes;
  json["ways"] = Json::array();
  for (const WayOut& way : cost.ways) {
    Json each = {{"way", way_name(way.kind)}, {"layer_bytes", way.layer_bytes}, {"step_bytes", way.step_bytes}};
    each["step_ms"] = maybe(way.step_ms);
    each["memory_bytes"] = way.memory_bytes;
    each["memory"] = way.memory;
    each["fits"] = maybe(way.fits);
    each["needs"] = way.needs;
    each["patch"] = way.patch.empty() ? Json() : Json(way.patch);
    each["unfit"] = way.unfit.empty() ? Json() : Json(way.unfit);
    each["break_even"] = maybe(way.break_even);
    json["ways"].push_back(std::move(each));
  }
  json["cast_step_ms"] = maybe(cost.cast_step_ms);
  json["step_ms"] = maybe(of.step_ms);
  json["after_ms"] = maybe(of.after_ms);
  json["trace_share"] = maybe(cost.trace_share);
  json["best_step_ms"] = maybe(cost.best_step_ms);
  json["server_share"] = maybe(cost.server_share);
  json["words"] = share_words(cost);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace suture
