// suture cost: what each way out of the whole-pool cast would save, take and need.
#include <algorithm>
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

// What --bandwidth takes, in GB/s, and what a measured cast may make of it.
constexpr double kSlowest = 0.001, kFastest = 1e6;

// A number with a fraction, within bounds; nullopt: not given.
Result<std::optional<double>> decimal_option(const Session& session, std::string_view name, double most) {
  if (!session.options().flag(name)) return std::optional<double>();
  const std::string text = session.options().value(name);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value) || value < 0.001 ||
      value > most)
    return usage(std::string(name) + " is given \"" + text + "\"",
                 "it is a number from 0.001 to " + fixed(most, 0) + ", such as 4800 or 95.6");
  return std::optional<double>(value);
}

// The first whole-pool cast of a trace whose shape is known. A damaged trace shows a part of its steps: no basis for figures.
Result<TraceReport> read_cast(const Session& session, const std::string& file) {
  const Result<int> columns = number_option(session, "--columns", 576, 1, kMost);
  if (!columns) return columns.error();
  TraceRequest request;
  request.findings.columns = *columns;
  Result<TraceReport> report = analyse_trace(session, file, request);
  if (!report) return report;
  if (std::optional<Error> damage = damage_of(*report)) {
    if (damage->hint.empty())
      damage->hint = "suture trace " + file +
                     " reports the part before it; cost needs the whole, or --slots, --columns and --layers";
    return *damage;
  }
  const auto found = std::find_if(report->findings.begin(), report->findings.end(),
                                  [](const Finding& each) { return each.kind == Finding::Kind::whole_pool_cast; });
  const std::string hint = "suture trace " + file + " says what it shows; or give --slots, --columns and --layers";
  if (found == report->findings.end())
    return Error{Exit::unfit, file + " shows no cast of a whole pool", std::nullopt, hint};
  if (found->columns <= 0)
    return usage(
        file + " shows a cast of a whole pool, and " + std::to_string(*columns) + " columns do not divide its elements",
        "--columns says how many the pool has; " + hint);
  report->findings = {std::move(*found)};
  return report;
}

// What the options say of the pool must not contradict the trace: its times are those of its own pool.
std::optional<Error> contradiction(const Session& session, const std::string& file, const CostCase& of) {
  struct Told {
    std::string_view name;
    std::int64_t value;
  };
  for (const Told& each : {Told{"--slots", of.slots}, Told{"--columns", of.columns}, Told{"--layers", of.layers}}) {
    if (each.value == 0) continue;  // the trace does not tell
    const Result<int> given =
        number_option(session, each.name, static_cast<int>(std::min<std::int64_t>(each.value, kMost)), 1, kMost);
    if (!given) return given.error();
    if (*given != each.value && session.options().flag(each.name))
      return usage(std::string(each.name) + " " + std::to_string(*given) + " contradicts " + file + ", which shows " +
                       std::to_string(each.value),
                   "leave it out; for another pool give --slots, --columns and --layers without --from-trace");
  }
  return std::nullopt;
}

// What came from the trace, and nothing else.
std::string origin_words(const Session& session, const TraceReport& report, const CostCase& of) {
  const Finding& cast = report.findings.front();
  const auto given = [&session](const char* name) { return session.options().flag(name); };
  std::vector<std::string> taken = {of.layers > 0 ? "shape" : "slots and columns"};
  if (cast.inferred) taken = {of.layers > 0 ? "slots and layers" : "slots"};
  if (!given("--cast-us")) taken.emplace_back("the cast's time");
  if (!given("--step-ms") && of.step_ms) taken.emplace_back("the step");
  std::string words = join(taken, ", ", " and ");
  words.front() = static_cast<char>(words.front() - 'a' + 'A');
  words += taken.size() == 1 && taken[0] == "shape" ? " is that of " : " are those of ";
  words += report.file;
  if (cast.inferred)
    words += ", inferred from its kernels with " + std::to_string(of.columns) + " columns" +
             (given("--columns") ? "" : " (--columns)");
  return words + ".";
}

// The cast that a trace shows: shape, count a step, time, step.
Result<std::string> fill_from_trace(const Session& session, const std::string& file, CostCase& of) {
  const Result<TraceReport> report = read_cast(session, file);
  if (!report) return report.error();
  const Finding& cast = report->findings.front();
  of.slots = cast.slots;
  of.columns = cast.columns;
  // Without steps nobody knows how many layers its casts are of: 0, so that --layers is asked for.
  if (cast.times.calls_a_step > 0) of.layers = std::max<std::int64_t>(1, std::llround(cast.times.calls_a_step));
  of.cast_us = cast.times.median_us;
  if (report->step_us() > 0) of.step_ms = report->step_us() / 1000;
  of.e4m3 = cast.from.find("e5m2") == std::string::npos;
  if (auto error = contradiction(session, file, of)) return *error;
  const std::string type = session.options().value("--dtype");
  if (!type.empty() && !cast.from.empty() && (type == "bf16" || (type == "fp8_e5m2") == of.e4m3))
    return usage("--dtype " + type + " contradicts " + file + ", which shows casts from " + cast.from, "leave it out");
  return origin_words(session, *report, of);
}

Error missing(const Session& session, std::string_view name) {
  const bool traced = session.options().flag("--from-trace");
  return usage("cost needs " + std::string(name),
               traced ? "the trace has no steps that would tell it; suture trace says which steps it finds"
                      : "give --slots, --columns and --layers, or --from-trace FILE");
}

std::optional<Error> shape_options(const Session& session, CostCase& of) {
  struct Wanted {
    std::string_view name;
    std::int64_t* value;
  };
  for (const Wanted& each :
       {Wanted{"--slots", &of.slots}, Wanted{"--columns", &of.columns}, Wanted{"--layers", &of.layers}}) {
    if (!session.options().flag(each.name)) {
      if (*each.value == 0) return missing(session, each.name);
      continue;
    }
    const Result<int> given = number_option(session, each.name, 0, 1, kMost);
    if (!given) return given.error();
    *each.value = *given;
  }
  const Result<int> active = number_option(session, "--active", 500, 0, kMost);
  if (!active) return active.error();
  of.active = *active;
  const Result<int> batch = number_option(session, "--batch", 1, 1, kMost);
  if (!batch) return batch.error();
  of.batch = *batch;
  // What the products below may not pass.
  const double rows = static_cast<double>(of.columns) * static_cast<double>(of.layers);
  if (static_cast<double>(of.slots) * rows > 1e17)
    return usage("such a pool has more than 1e17 elements", "give the slots of one layer, its columns, and the layers");
  if (static_cast<double>(std::max(of.active, of.batch)) * rows > 1e17)
    return usage("--active or --batch of such a pool are more than 1e17 elements a step",
                 "they count slots, not bytes");
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
    double most, unit;
  };
  std::optional<double> bandwidth;
  for (const Wanted& each : {Wanted{"--bandwidth", &bandwidth, kFastest, 1}, Wanted{"--cast-us", &of.cast_us, 1e9, 1},
                             Wanted{"--step-ms", &of.step_ms, 1e9, 1}, Wanted{"--after-ms", &of.after_ms, 1e9, 1},
                             Wanted{"--memory", &of.memory_bytes, 1e9, 1e9}}) {
    const Result<std::optional<double>> given = decimal_option(session, each.name, each.most);
    if (!given) return given.error();
    if (*given) *each.value = **given * each.unit;
  }
  const double whole = static_cast<double>(of.slots * of.columns * (of.pool_size + of.query_size));
  if (bandwidth) {
    of.gigabytes_a_second = bandwidth;
  } else if (of.cast_us && has_cast(of)) {
    of.gigabytes_a_second = whole / *of.cast_us / 1000;
    of.measured_bandwidth = true;
    if (*of.gigabytes_a_second < kSlowest || *of.gigabytes_a_second > kFastest)
      return usage("a cast of this pool moves " + fixed(whole / 1e6, 3) + " MB, and in " + fixed(*of.cast_us, 3) +
                       " us that is no bandwidth that a GPU has (0.001 to 1000000 GB/s)",
                   "is it the time of one cast, in microseconds? --bandwidth says another");
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
