// See trace_table.h. Tests: tests/unit/trace_table_test.cc, tests/trace/figures_test.py.
#include "engine/trace_table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "engine/trace_shapes.h"

namespace suture {

double median_of(const std::vector<double>& sorted) {
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

double p99_of(const std::vector<double>& sorted) {
  const auto rank = static_cast<std::size_t>(std::ceil(0.99 * static_cast<double>(sorted.size())));
  return sorted[std::max<std::size_t>(rank, 1) - 1];
}

namespace {

// GPU work without an operator: the operator that launched the same work elsewhere in the trace, else the one that its name tells.
void infer_ops(const Trace& trace, TraceTable& table) {
  table.ops = trace.ops;
  table.op_of_work.assign(trace.works.size(), kNone);
  std::vector<char> needed(trace.works.size());
  for (const GpuCall& call : trace.calls) {
    if (call.path == kNone) {
      needed[call.work] = 1;
      ++table.without_operator;
    } else {
      table.op_of_work[call.work] = trace.paths[call.path].op;
    }
  }
  std::map<std::string, std::uint32_t> inferred;
  for (std::uint32_t work = 0; work < trace.works.size(); ++work) {
    if (needed[work] == 0) continue;
    TraceOp op;
    if (table.op_of_work[work] != kNone) {
      op = table.ops[table.op_of_work[work]];
    } else {
      op.name = trace.works[work].kind == TraceKind::kernel ? operator_by_kernel(trace.works[work].name) : "";
    }
    if (op.name.empty()) continue;
    op.inferred = true;
    // One row for each launch shape: it stands for the shape of the inputs, which nobody recorded.
    const std::string key = op.name + op.dims + op.types + (op.dims.empty() ? trace.works[work].grid : "");
    const auto [found, added] = inferred.try_emplace(key, static_cast<std::uint32_t>(table.ops.size()));
    if (added) table.ops.push_back(std::move(op));
    table.op_of_work[work] = found->second;
  }
}

// Hands out the durations, sorted, of each row that has some. `row_of(call)`: kNone, or below `rows`; calls of one row that are equal by
// `call_of(index)` are one duration. Indices are sorted and not the calls: there may be a million of them.
template <class RowOf, class CallOf, class Take>
void by_row(const Trace& trace, std::size_t rows, RowOf row_of, CallOf call_of, Take take) {
  std::vector<std::uint32_t> ends(rows + 1);
  for (const GpuCall& call : trace.calls) {
    if (const std::uint32_t row = row_of(call); row != kNone) ++ends[row + 1];
  }
  for (std::size_t i = 1; i < ends.size(); ++i) ends[i] += ends[i - 1];
  std::vector<std::uint32_t> order(ends.back());
  for (std::uint32_t i = 0; i < trace.calls.size(); ++i) {
    if (const std::uint32_t row = row_of(trace.calls[i]); row != kNone) order[ends[row]++] = i;
  }
  const auto before = [&call_of](std::uint32_t a, std::uint32_t b) { return call_of(a) < call_of(b); };
  std::vector<double> values;
  for (std::uint32_t row = 0; row < rows; ++row) {
    const auto begin = order.begin() + (row == 0 ? 0 : ends[row - 1]), end = order.begin() + ends[row];
    if (begin == end) continue;
    if (!std::is_sorted(begin, end, before)) std::sort(begin, end, before);
    values.clear();
    for (auto at = begin; at != end;) {
      const std::uint32_t call = call_of(*at);
      std::int64_t ns = 0;
      for (; at != end && call_of(*at) == call; ++at) ns += trace.calls[*at].duration_ns;
      values.push_back(static_cast<double>(ns) / 1000);
    }
    std::sort(values.begin(), values.end());
    take(row, values);
  }
}

// The part of each moment that each row has: taken by `give(call, ns)`.
template <class Give>
void sweep_device(const Trace& trace, const std::vector<char>& streams, TraceTable& table, Give give) {
  std::vector<std::pair<std::int64_t, const GpuCall*>> running;  // by their end
  std::int64_t now = 0, first = 0, last = 0;
  bool any = false;
  const auto advance = [&](std::int64_t until) {
    while (!running.empty() && now < until) {
      const auto next = std::min_element(running.begin(), running.end());
      const std::int64_t to = std::min(until, next->first);
      const double part = static_cast<double>(to - now) / static_cast<double>(running.size());
      for (const auto& [end, call] : running) give(*call, part);
      table.busy_ns += static_cast<double>(to - now);
      now = to;
      std::erase_if(running, [now](const auto& each) { return each.first <= now; });
    }
    now = until;
  };
  for (const GpuCall& call : trace.calls) {
    if (streams[call.stream] == 0) continue;
    if (!any) now = first = call.start_ns;
    any = true;
    advance(call.start_ns);
    if (call.duration_ns > 0) running.emplace_back(call.start_ns + call.duration_ns, &call);
    last = std::max(last, call.start_ns + call.duration_ns);
    if (last < call.start_ns) last = call.start_ns;
  }
  if (!any) return;
  advance(last);
  table.wall_ns += static_cast<double>(last - first);
}

template <class Give>
void sweep(const Trace& trace, TraceTable& table, Give give) {
  std::map<std::string, std::vector<char>> devices;
  for (std::size_t i = 0; i < trace.streams.size(); ++i) {
    std::vector<char>& streams = devices[trace.streams[i].device];
    streams.resize(trace.streams.size());
    streams[i] = 1;
  }
  for (const auto& [device, streams] : devices) sweep_device(trace, streams, table, give);
}

// Self and total time of operators, from the paths that launched.
void add_paths(const Trace& trace, const TraceTable& table, std::vector<OpRow>& rows) {
  std::vector<std::int64_t> of_path(trace.paths.size());
  for (const GpuCall& call : trace.calls) {
    if (call.path != kNone) {
      of_path[call.path] += call.duration_ns;
    } else if (table.op_of_work[call.work] != kNone) {
      OpRow& row = rows[table.op_of_work[call.work]];
      row.times.self_ns += call.duration_ns;
      row.times.total_ns += call.duration_ns;
      ++row.times.calls;
    }
  }
  std::vector<std::uint32_t> seen;
  for (std::uint32_t path = 0; path < trace.paths.size(); ++path) {
    const OpPath& place = trace.paths[path];
    OpRow& row = rows[place.op];
    row.times.calls += place.calls;
    row.cpu_ns += place.cpu_ns;
    row.cpu_self_ns += place.cpu_self_ns;
    row.times.self_ns += of_path[path];
    if (of_path[path] == 0) continue;
    seen.clear();  // an operator within itself counts once
    for (std::uint32_t at = path; at != kNone; at = trace.paths[at].parent) {
      const std::uint32_t op = trace.paths[at].op;
      if (std::find(seen.begin(), seen.end(), op) != seen.end()) continue;
      seen.push_back(op);
      rows[op].times.total_ns += of_path[path];
    }
  }
}

void finish_row(RowTimes& times, const TraceTable& table, const TraceSteps& steps) {
  if (table.gpu_ns > 0) times.share = static_cast<double>(times.self_ns) / static_cast<double>(table.gpu_ns);
  if (table.wall_ns > 0) times.wall_share /= table.wall_ns;
  if (!steps.steps.empty()) {
    times.calls_a_step = static_cast<double>(times.calls) / steps.count();
    times.step_us = static_cast<double>(times.self_ns) / 1000 / steps.count();
  }
  if (times.bytes > 0 && times.median_us > 0)
    times.gigabytes_a_second = static_cast<double>(times.bytes) / times.median_us / 1000;
}

void set_statistics(RowTimes& times, const std::vector<double>& values) {
  times.median_us = median_of(values);
  times.p99_us = p99_of(values);
}

void sort_rows(TraceTable& table) {
  const bool gpu = !table.kernel_rows.empty();
  std::stable_sort(table.op_rows.begin(), table.op_rows.end(), [gpu](const OpRow& a, const OpRow& b) {
    return gpu ? std::pair(a.times.self_ns, a.times.total_ns) > std::pair(b.times.self_ns, b.times.total_ns)
               : a.cpu_self_ns > b.cpu_self_ns;
  });
  std::stable_sort(table.kernel_rows.begin(), table.kernel_rows.end(),
                   [](const KernelRow& a, const KernelRow& b) { return a.times.self_ns > b.times.self_ns; });
}

}  // namespace

TraceTable make_table(const Trace& trace, const TraceSteps& steps) {
  TraceTable table;
  infer_ops(trace, table);
  std::vector<OpRow> ops(table.ops.size());
  std::vector<KernelRow> kernels(trace.works.size());
  for (std::uint32_t i = 0; i < ops.size(); ++i) ops[i].op = i;
  for (const GpuCall& call : trace.calls) {
    KernelRow& row = kernels[call.work];
    row.op = table.op_of(trace, call);
    row.times.self_ns += call.duration_ns;
    ++row.times.calls;
    ++table.gpu_calls;
    table.gpu_ns += call.duration_ns;
    if (trace.works[call.work].kind != TraceKind::kernel) continue;
    ++table.kernels;
    table.kernel_ns += call.duration_ns;
  }
  add_paths(trace, table, ops);
  sweep(trace, table, [&](const GpuCall& call, double ns) {
    kernels[call.work].times.wall_share += ns;
    const std::uint32_t op = table.op_of(trace, call);
    if (op != kNone) ops[op].times.wall_share += ns;
  });
  by_row(
      trace, ops.size(), [&](const GpuCall& call) { return table.op_of(trace, call); },
      [&trace](std::uint32_t i) { return trace.calls[i].op_call; },
      [&ops](std::uint32_t row, const std::vector<double>& values) { set_statistics(ops[row].times, values); });
  by_row(
      trace, kernels.size(), [](const GpuCall& call) { return call.work; }, [](std::uint32_t i) { return i; },
      [&kernels](std::uint32_t row, const std::vector<double>& values) { set_statistics(kernels[row].times, values); });
  for (OpRow& row : ops) {
    row.times.bytes = table.ops[row.op].inferred ? 0 : bytes_moved(table.ops[row.op]).value_or(0);
    finish_row(row.times, table, steps);
    if (row.times.calls > 0) table.op_rows.push_back(row);
  }
  for (std::uint32_t work = 0; work < kernels.size(); ++work) {
    KernelRow& row = kernels[work];
    row.work = work;
    row.times.total_ns = row.times.self_ns;
    row.times.bytes = static_cast<std::int64_t>(trace.works[work].bytes);
    finish_row(row.times, table, steps);
    if (row.times.calls > 0) table.kernel_rows.push_back(row);
  }
  sort_rows(table);
  return table;
}

}  // namespace suture
