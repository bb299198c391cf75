// A profiler trace as a value: what the GPU did, call by call; which operator launched it; and the spans that somebody named. Times are
// nanoseconds of the trace's clock.
//
// Operators on the CPU are not kept one by one: there are ten for each kernel. Their places in the tree of calls are ("paths"),
// and a call on the GPU names the path that launched it.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "read/trace_event.h"
#include "read/trace_reader.h"

namespace suture {

inline constexpr std::uint32_t kNone = static_cast<std::uint32_t>(-1);

// An operator with one set of inputs.
struct TraceOp {
  std::string name;                  // "aten::copy_"
  std::string dims, types, strides;  // JSON, as the profiler wrote it; empty: not recorded
  bool inferred = false;             // no operator was recorded: told by the kernel
};

// A place in the tree of calls of operators.
struct OpPath {
  std::uint32_t parent = kNone;  // a path; always of a lower index
  std::uint32_t op = 0;
  std::uint64_t calls = 0;
  std::int64_t cpu_ns = 0, cpu_self_ns = 0;
};

// What ran on the GPU: a kernel with one launch shape, a copy of so many bytes, or a fill.
struct GpuWork {
  TraceKind kind = TraceKind::kernel;
  std::string name;
  std::string grid, block;  // "[557496,1,1]"; empty: not recorded
  std::uint64_t bytes = 0;  // of a copy; 0: not recorded
};

struct GpuCall {
  std::int64_t start_ns = 0, duration_ns = 0;
  std::uint32_t path = kNone;     // the operator that launched it
  std::uint32_t op_call = kNone;  // equal for what one call of an operator launched
  std::uint32_t launch = kNone;   // of Trace::launches
  std::uint32_t step = kNone;     // engine/trace_steps.h fills it
  std::uint32_t work = 0;
  std::uint32_t stream = 0;  // of Trace::streams
};

// A call of the runtime that put work on the GPU. A CUDA graph's is one for all of its kernels.
struct GpuLaunch {
  std::int64_t start_ns = 0;
  std::uint32_t thread = 0;  // of Trace::threads
};

struct GpuStream {
  std::string device, stream;
};

// A named span: record_function, ProfilerStep#N.
struct TraceSpan {
  std::uint32_t name = 0;  // of Trace::span_names
  std::int64_t start_ns = 0, end_ns = 0;
  bool on_gpu = false;
};

struct Trace {
  std::vector<TraceOp> ops;
  std::vector<OpPath> paths;
  std::vector<GpuWork> works;
  // Deques: a vector that grows holds everything twice for a moment.
  std::deque<GpuCall> calls;  // in the order of their start
  std::deque<GpuLaunch> launches;
  std::vector<GpuStream> streams;
  std::vector<TraceSpan> spans;
  std::vector<std::string> span_names;
  std::vector<std::string> threads;  // their keys (engine/trace_collect.h)
  std::uint64_t cpu_ops = 0, python_functions = 0;
  std::int64_t begin_ns = 0, end_ns = 0;  // first start and last end of all of that
  // Operators that are not nested as calls are (a file that is not in the order of time): what an operator called is not known, and
  // its total is what it launched itself.
  bool flat_ops = false;
  std::vector<TraceWarning> warnings;  // beside those of the reading
};

}  // namespace suture
