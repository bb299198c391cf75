// The times of a trace, by operator and by kernel.
//
// Two kinds of share. `share` is a row's part of the sum of all calls on the GPU. `wall_share` is its part of the time from the first
// to the last call: where calls on several streams of a device overlap, each gets an equal part of the moment, so that no moment
// counts twice and the rows and the idle time make 1.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/trace.h"
#include "engine/trace_steps.h"

namespace suture {

struct RowTimes {
  std::uint64_t calls = 0;    // of an operator: those on the CPU, or (inferred) its kernels
  double calls_a_step = 0;    // 0: there are no steps
  std::int64_t self_ns = 0;   // GPU time of what it launched itself
  std::int64_t total_ns = 0;  // and of what the operators that it called launched
  double median_us = 0,
         p99_us = 0;  // of the GPU time of one call that launched something (nearest rank; the median as usual)
  double share = 0, wall_share = 0;
  double step_us = 0;             // self time in one step, on average
  std::int64_t bytes = 0;         // one call reads and writes; 0: not known
  double gigabytes_a_second = 0;  // bytes in the median time; 0: not known
};

struct OpRow {
  std::uint32_t op = 0;  // of TraceTable::ops
  RowTimes times;
  std::int64_t cpu_ns = 0, cpu_self_ns = 0;
};

struct KernelRow {
  std::uint32_t work = 0;
  std::uint32_t op = kNone;  // which launched it, where one did; of TraceTable::ops
  RowTimes times;
};

struct TraceTable {
  std::vector<TraceOp> ops;               // of the trace, and behind them those that are inferred
  std::vector<std::uint32_t> op_of_work;  // for calls without a path; kNone: not even inferred
  std::vector<OpRow> op_rows;  // by self time, the most first; of a trace without a GPU: by own time on the CPU
  std::vector<KernelRow> kernel_rows;
  std::int64_t gpu_ns = 0;          // sum of all calls
  std::int64_t kernel_ns = 0;       // of kernels alone
  double busy_ns = 0, wall_ns = 0;  // overlap counted once; both summed over devices
  std::uint64_t kernels = 0, gpu_calls = 0, without_operator = 0;

  // The operator of a call; kNone: not known.
  [[nodiscard]] std::uint32_t op_of(const Trace& trace, const GpuCall& call) const {
    return call.path != kNone ? trace.paths[call.path].op : op_of_work[call.work];
  }
};

TraceTable make_table(const Trace& trace, const TraceSteps& steps);

// Median (the mean of the two in the middle) and 99th percentile (nearest rank) of sorted values; precondition: there are some.
double median_of(const std::vector<double>& sorted);
double p99_of(const std::vector<double>& sorted);

}  // namespace suture
