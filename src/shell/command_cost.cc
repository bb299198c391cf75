// suture cost: what each way out of the whole-pool cast would save, take and need.
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "shell/cost_text.h"
#include "shell/planning.h"
#include "shell/trace_report.h"
#include "shell/words.h"

namespace suture {
namespace {

constexpr int kMost = 2'000'000'000;

Error usage(std::string message, std::string hint) {
  return {Exit::usage, std::move(message), std::nullopt, std::move(hint)};
}

// A positive number with a fraction; nullopt: not given.
Result<std::optional<double>> decimal_option(const Session& session, std::string_view name) {
  if (!session.options().flag(name)) return std::optional<double>();
  const std::string text = session.options().value(name);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value <= 0)
    return usage(std::string(name) + " is given \"" + text + "\"", "it is a number above 0, such as 4800 or 95.6");
  return std::optional<double>(value);
}

// The cast that a trace shows: shape, count a step, time, step.
Result<std::string> fill_from_trace(const Session& session, const std::string& file, CostCase& of) {
  const Result<TraceReport> report = analyse_trace(session, file, {});
  if (!report) return report.error();
  const Finding* cast = nullptr;
  for (const Finding& finding : report->findings) {
    if (finding.kind == Finding::Kind::whole_pool_cast && finding.columns > 0 && cast == nullptr) cast = &finding;
  }
  if (cast == nullptr)
    return Error{Exit::unfit, file + " shows no cast of a whole pool", std::nullopt,
                 "suture trace " + file + " says what it shows; or give --slots, --columns and --layers"};
  of.slots = cast->slots;
  of.columns = cast->columns;
  of.layers = cast->times.calls_a_step > 0 ? std::llround(cast->times.calls_a_step) : 1;
  of.layers = std::max<std::int64_t>(1, of.layers);
  of.cast_us = cast->times.median_us;
  if (report->step_us() > 0) of.step_ms = report->step_us() / 1000;
  std::string from =
      "Shape, time and step are those of " + file + (cast->inferred ? ", inferred from its kernels" : "") + ".";
  if (report->reading.damage) from += " That trace is damaged, and read in part.";
  return from;
}

std::optional<Error> shape_options(const Session& session, CostCase& of) {
  struct Wanted {
    std::string_view name;
    std::int64_t* value;
  };
  for (const Wanted& each :
       {Wanted{"--slots", &of.slots}, Wanted{"--columns", &of.columns}, Wanted{"--layers", &of.layers}}) {
    const Result<int> given = number_option(session, each.name, static_cast<int>(*each.value), 1, kMost);
    if (!given) return given.error();
    if (*given == 0)
      return usage("cost needs " + std::string(each.name),
                   "give --slots, --columns and --layers, or --from-trace FILE");
    *each.value = *given;
  }
  const Result<int> active = number_option(session, "--active", 500, 0, kMost);
  if (!active) return active.error();
  of.active = *active;
  const Result<int> batch = number_option(session, "--batch", 1, 1, kMost);
  if (!batch) return batch.error();
  of.batch = *batch;
  // What the products below may not pass.
  if (static_cast<double>(of.slots) * static_cast<double>(of.columns) * static_cast<double>(of.layers) > 1e17)
    return usage("such a pool has more than 1e17 elements", "give the slots of one layer, its columns, and the layers");
  return std::nullopt;
}

std::optional<Error> type_option(const Session& session, CostCase& of) {
  const std::string type = session.options().value("--dtype");  // the pool's; queries are BF16
  if (type.empty() || type == "fp8_e4m3") return std::nullopt;
  if (type != "fp8_e5m2" && type != "bf16")
    return usage("--dtype does not know \"" + type + "\"",
                 "it is the pool's: fp8_e4m3 (the default), fp8_e5m2 or bf16");
  of.e4m3 = false;
  if (type == "bf16") of.pool_size = 2;
  return std::nullopt;
}

std::optional<Error> measured_options(const Session& session, CostCase& of) {
  struct Wanted {
    std::string_view name;
    std::optional<double>* value;
    double unit;
  };
  std::optional<double> bandwidth;
  for (const Wanted& each :
       {Wanted{"--bandwidth", &bandwidth, 1}, Wanted{"--cast-us", &of.cast_us, 1}, Wanted{"--step-ms", &of.step_ms, 1},
        Wanted{"--after-ms", &of.after_ms, 1}, Wanted{"--memory", &of.memory_bytes, 1e9}}) {
    const Result<std::optional<double>> given = decimal_option(session, each.name);
    if (!given) return given.error();
    if (*given) *each.value = **given * each.unit;
  }
  const double whole = static_cast<double>(of.slots * of.columns * (of.pool_size + of.query_size));
  if (bandwidth) {
    of.gigabytes_a_second = bandwidth;
  } else if (of.cast_us) {
    of.gigabytes_a_second = whole / *of.cast_us / 1000;
  }
  if (of.after_ms && !of.step_ms) return usage("--after-ms needs the step as it was before", "add --step-ms MS");
  return std::nullopt;
}

Report run(const Session& session) {
  Report report;
  CostCase of;
  std::string from;
  if (const std::string file = session.options().value("--from-trace"); !file.empty()) {
    Result<std::string> filled = fill_from_trace(session, file, of);
    if (!filled) return report.fail(filled.error()), report;
    from = *filled;
  }
  if (auto error = shape_options(session, of)) return report.fail(std::move(*error)), report;
  if (auto error = type_option(session, of)) return report.fail(std::move(*error)), report;
  if (auto error = measured_options(session, of)) return report.fail(std::move(*error)), report;
  if (of.pool_size == of.query_size) {
    report.out = "A BF16 pool is read as it is: there is no cast, and nothing to take out.\n";
    return report;
  }
  Cost cost = cost_of(of);
  const Result<Catalog> catalog = session.open_catalog();
  if (!catalog) return report.fail(catalog.error()), report;
  for (WayOut& way : cost.ways) {
    if (catalog->find(way.patch) == nullptr) way.patch.clear();
  }
  report.out = cost_text(cost, from);
  report.cost = cost_json(cost, from);
  return report;
}

}  // namespace

Command cost_command() {
  return {
      .name = "cost",
      .summary = "what each way out of the whole-pool cast would save, take and need",
      .details =
          "Arithmetic on the shape of the KV pool: bytes a layer and a step, milliseconds at a bandwidth, memory. "
          "Nothing is\n"
          "run. With --from-trace the shape, the cast's time and the step are those of a profiler trace.",
      .positionals = {"", 0, 0},
      .trees = Command::Trees::none,
      .options = {{"--slots", "N", "slots of the pool", false},
                  {"--columns", "N", "elements of a slot in one layer (MLA: 576)", false},
                  {"--layers", "N", "layers", false},
                  {"--active", "N", "slots that a step reads (500)", false},
                  {"--batch", "N", "rows that a step writes in each layer (1)", false},
                  {"--dtype", "TYPE", "of the pool: fp8_e4m3 (the default), fp8_e5m2 or bf16", false},
                  {"--bandwidth", "GB/S", "at which bytes are moved", false},
                  {"--cast-us", "US",
                   "measured: one whole cast; without --bandwidth, the bandwidth is that of this cast", false},
                  {"--step-ms", "MS", "measured: a step with the whole cast", false},
                  {"--after-ms", "MS", "measured: a server's step without it", false},
                  {"--memory", "GB", "free memory of the GPU: says which ways fit", false},
                  {"--from-trace", "FILE", "take slots, columns, layers, the cast's time and the step from a trace",
                   false}},
      .run = run,
  };
}

}  // namespace suture
