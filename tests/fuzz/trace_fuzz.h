// What the fuzzer of traces does with one input, and what tests/unit/trace_corpus_test.cc does with the corpus: everything that
// `suture trace` does with the bytes of a file, and what must hold whatever they are.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "engine/trace_compare.h"
#include "engine/trace_stacks.h"
#include "read/inflate.h"
#include "support/trace_text.h"

namespace suture {

struct FuzzReading {
  std::vector<std::string> events;
  bool is_trace = false;
  std::optional<TraceReading> reading;
  TraceCollector collector;
};

inline std::string told_of(const TraceReading& reading) {
  std::string all = std::to_string(reading.events) + " " + std::to_string(reading.lost_gpu_calls);
  for (const TraceWarning& each : reading.warnings)
    all += "\n" + each.what + " " + std::to_string(each.count) + " " + std::to_string(each.offset);
  return all + (reading.damage ? "\n" + std::to_string(reading.damage->offset) + " " + reading.damage->why : "");
}

inline FuzzReading read_for_fuzz(const std::string& text, std::size_t window, std::size_t piece, bool forms) {
  FuzzReading it;
  PieceSource source(text, piece);
  const auto take = [&it](const TraceEvent& event) {
    it.events.push_back(fields_of(event));
    it.collector.take(event);
  };
  Result<TraceReading> reading =
      read_trace(source, take, {.window = window, .largest_event = std::size_t{1} << 22U, .forms = forms});
  it.is_trace = reading.ok();
  if (reading) it.reading = *std::move(reading);
  return it;
}

// Aborts where something does not hold.
inline void fuzz_trace(const std::string& bytes) {
  std::string text = bytes;
  if (packing_of(bytes) != Packing::none) {
    // A bomb ends at a few MiB; the reader never holds more than a window of one.
    const std::unique_ptr<Inflater> inflater = make_inflater(packing_of(bytes));
    text.clear();
    std::string out(4096, '\0');
    std::string_view in = bytes;
    while (inflater != nullptr && text.size() < (std::size_t{4} << 20U)) {
      const Result<Inflater::Step> step = inflater->step(in, out.data(), out.size());
      if (!step || (in.empty() && step->made == 0)) break;
      in.remove_prefix(step->taken);
      text.append(out, 0, step->made);
    }
  }
  FuzzReading large = read_for_fuzz(text, std::size_t{1} << 16U, std::size_t{1} << 16U, true);
  const FuzzReading small = read_for_fuzz(text, 64, 31, false);
  // How the bytes come decides nothing, and what is told by its form is what a walk over it tells.
  if (large.is_trace != small.is_trace || large.events != small.events) std::abort();
  if (large.is_trace && told_of(*large.reading) != told_of(*small.reading)) std::abort();
  if (!large.is_trace) return;
  Trace trace = large.collector.finish();
  for (const std::string& told : {std::string(), std::string("2"), std::string("step")}) {
    Result<TraceSteps> steps = find_steps(trace, told);
    if (!steps) continue;
    const TraceTable table = make_table(trace, *steps);
    std::vector<Finding> findings = find_waste(trace, *steps, table, {.threshold = 0, .columns = 1});
    StackCollector stacks(trace, table, findings);
    stacks.finish(findings);
    (void)compare_traces({trace, *steps, table}, {trace, *steps, table});
    for (const GpuCall& call : trace.calls) {
      if (call.step != kNone && call.step >= steps->steps.size()) std::abort();
      if (call.path != kNone && call.path >= trace.paths.size()) std::abort();
    }
  }
}

}  // namespace suture
