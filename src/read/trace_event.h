// One event of a profiler trace (Chrome's trace event format, as Kineto writes it), as views into the text that it was read from.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace suture {

enum class TraceKind {
  cpu_op,          // an operator of the framework on the CPU
  annotation,      // record_function, ProfilerStep#N
  gpu_annotation,  // the same as a span on the GPU
  kernel,
  memory_copy,
  memory_set,
  launch,  // a call of the CUDA or HIP runtime or driver
  python,  // a Python function (with_stack)
  other,
};

// Views are valid during the call that hands the event over. Texts are raw: strings without their quotes, escapes as they stand.
struct TraceEvent {
  TraceKind kind = TraceKind::other;
  char phase = 'X';                          // X: complete; B, E: begin and end
  std::string_view name, pid, tid;           // pid and tid: numbers or strings
  std::optional<std::int64_t> start_ns;      // "ts"
  std::optional<std::int64_t> duration_ns;   // "dur"; from 0 to 13 days
  std::optional<std::uint64_t> external;     // args: "External id"
  std::optional<std::uint64_t> correlation;  // args
  std::string_view device, stream;           // args; numbers
  std::string_view dims, types, strides;     // args: "Input Dims", "Input type", "Input Strides"; empty: not recorded
  std::string_view grid, block;              // args: [x, y, z]
  std::string_view bytes;                    // args, of a copy
  // Where it is the same in two events of a reading, and not 0, so is all of them but the optional numbers and the offset.
  std::uint32_t form = 0;
  std::uint64_t offset = 0;  // of its `{` in the (decompressed) bytes
};

}  // namespace suture
