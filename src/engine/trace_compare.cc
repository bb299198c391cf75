// See trace_compare.h. Tests: tests/unit/trace_compare_test.cc.
#include "engine/trace_compare.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/trace_shapes.h"

namespace suture {
namespace {

struct Key {
  std::string name, inputs;
  auto operator<=>(const Key&) const = default;  // NOLINT(modernize-use-nullptr)
};

struct Time {
  double us = 0, calls = 0;
};

std::map<Key, Time> times_of(const AnalysedTrace& it, double divisor) {
  std::map<Key, Time> times;
  const auto add = [&times, divisor](Key key, const RowTimes& row) {
    Time& time = times[std::move(key)];
    time.us += static_cast<double>(row.self_ns) / 1000 / divisor;
    time.calls += static_cast<double>(row.calls) / divisor;
  };
  for (const OpRow& row : it.table.op_rows) {
    const TraceOp& op = it.table.ops[row.op];
    if (row.times.self_ns > 0 && !op.inferred) add({op.name, short_inputs(op)}, row.times);
  }
  // What no operator is recorded for is compared kernel by kernel.
  for (const KernelRow& row : it.table.kernel_rows) {
    if (row.op != kNone && !it.table.ops[row.op].inferred) continue;
    const GpuWork& work = it.trace.works[row.work];
    add({short_kernel_name(work.name), work.grid.empty() ? "" : "grid " + work.grid}, row.times);
  }
  return times;
}

double step_us(const TraceSteps& steps) {
  return steps.steps.empty() ? 0 : static_cast<double>(steps.steps[steps.typical()].wall_ns()) / 1000;
}

}  // namespace

TraceChange compare_traces(const AnalysedTrace& before, const AnalysedTrace& after) {
  TraceChange change;
  change.per_step = !before.steps.steps.empty() && !after.steps.steps.empty();
  const double before_divisor = change.per_step ? before.steps.count() : 1;
  const double after_divisor = change.per_step ? after.steps.count() : 1;
  change.before_step_us = step_us(before.steps);
  change.after_step_us = step_us(after.steps);
  change.before_gpu_us = static_cast<double>(before.table.gpu_ns) / 1000 / before_divisor;
  change.after_gpu_us = static_cast<double>(after.table.gpu_ns) / 1000 / after_divisor;
  const std::map<Key, Time> old_times = times_of(before, before_divisor), new_times = times_of(after, after_divisor);
  std::map<Key, ChangedRow> rows;
  for (const auto& [key, time] : old_times) {
    ChangedRow& row = rows[key];
    row.before_us = time.us;
    row.before_calls = time.calls;
  }
  for (const auto& [key, time] : new_times) {
    ChangedRow& row = rows[key];
    row.after_us = time.us;
    row.after_calls = time.calls;
  }
  for (auto& [key, row] : rows) {
    row.name = key.name;
    row.inputs = key.inputs;
    change.rows.push_back(std::move(row));
  }
  std::stable_sort(change.rows.begin(), change.rows.end(), [](const ChangedRow& a, const ChangedRow& b) {
    return std::fabs(a.change_us()) > std::fabs(b.change_us());
  });
  return change;
}

}  // namespace suture
