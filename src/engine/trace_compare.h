// Two traces side by side: what became faster and what slower, for each step where both have steps, else over the whole.
#pragma once

#include <string>
#include <vector>

#include "engine/trace_table.h"

namespace suture {

// Matched by name and inputs (operators), by name and launch shape (kernels without an operator).
struct ChangedRow {
  std::string name, inputs;
  double before_us = 0, after_us = 0;        // self time a step, or in all
  double before_calls = 0, after_calls = 0;  // a step, or in all
  [[nodiscard]] double change_us() const { return after_us - before_us; }
};

struct TraceChange {
  bool per_step = false;
  double before_step_us = 0, after_step_us = 0;  // median wall time of a step; 0: no steps
  double before_gpu_us = 0, after_gpu_us = 0;    // GPU time a step, or in all
  std::vector<ChangedRow> rows;                  // the largest change first
};

struct AnalysedTrace {
  const Trace& trace;
  const TraceSteps& steps;
  const TraceTable& table;
};

TraceChange compare_traces(const AnalysedTrace& before, const AnalysedTrace& after);

}  // namespace suture
