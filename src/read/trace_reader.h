// Reads a profiler trace event by event, without holding it: `{"traceEvents": [...]}` or `[...]`, of any size.
//
// Nothing is lost in silence. An event that is wrong in itself is left out and counted, with the offset of the first one; where the
// text goes on to be JSON, so does the reading. Where it does not (a file cut short, a bracket or a quote that is missing, a damaged
// stream), what came before is kept, and the damage says at which byte it is. Offsets are those of the decompressed bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/function_ref.h"
#include "base/result.h"
#include "read/byte_source.h"
#include "read/token_windows.h"
#include "read/trace_event.h"

namespace suture {

// Something odd that cost at most the events it names.
struct TraceWarning {
  std::string what;          // "events that are no JSON objects were left out"
  std::uint64_t count = 0;   // how often
  std::uint64_t offset = 0;  // of the first
};

struct TraceReading {
  std::uint64_t events = 0;          // elements of traceEvents that were read, those that were left out not among them
  std::uint64_t bytes = 0;           // decompressed, looked at so far
  std::uint64_t lost_gpu_calls = 0;  // calls on the GPU whose time or duration is missing, or none that can be
  std::vector<TraceWarning> warnings;  // by their offsets
  // Where reading ended before the trace did, and why.
  struct Damage {
    std::uint64_t offset = 0;
    std::string why;
  };
  std::optional<Damage> damage;
};

inline constexpr std::size_t kLargestEvent = std::size_t{64} << 20U;  // a larger one is damage

struct TraceReadOptions {
  std::size_t window = std::size_t{256} << 10U;  // bytes that are looked at together
  std::size_t largest_event = kLargestEvent;
  bool forms = true;  // false: every event is walked, and nothing is told by its form (read/trace_forms.h); for tests
};

// Hands each event to `take`, in the order of the file. Error (file_system): it is no trace at all (empty, no JSON, no traceEvents);
// messages begin in the middle ("is empty ..."), the caller puts the file's name before them.
Result<TraceReading> read_trace(TokenWindows& windows, FunctionRef<void(const TraceEvent&)> take,
                                const TraceReadOptions& options = {});
// The same on one thread, its windows made as it goes. What is read does not depend on their size.
Result<TraceReading> read_trace(ByteSource& source, FunctionRef<void(const TraceEvent&)> take,
                                const TraceReadOptions& options = {});

}  // namespace suture
