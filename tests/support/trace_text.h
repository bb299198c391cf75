// Traces as text for tests, and a source that hands bytes out in pieces of a given size.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/trace_collect.h"
#include "read/trace_reader.h"

namespace suture {

class PieceSource final : public ByteSource {
 public:
  explicit PieceSource(std::string bytes, std::size_t piece = 1U << 20U, std::optional<Error> error = std::nullopt)
      : bytes_(std::move(bytes)), piece_(piece), error_(std::move(error)) {}
  Result<std::size_t> read(char* into, std::size_t room) override {
    const std::size_t size = std::min({room, piece_, bytes_.size() - at_});
    if (size == 0 && error_) return *error_;
    std::memcpy(into, bytes_.data() + at_, size);
    at_ += size;
    return size;
  }

 private:
  std::string bytes_;
  std::size_t piece_, at_ = 0;
  std::optional<Error> error_;
};

// Every field of an event, as text.
inline std::string fields_of(const TraceEvent& event) {
  std::string all = std::to_string(event.offset) + " " + std::to_string(static_cast<int>(event.kind)) + event.phase;
  for (const std::string_view each : {event.name, event.pid, event.tid, event.dims, event.types, event.strides,
                                      event.device, event.stream, event.grid, event.block, event.bytes})
    all.append("\n").append(each);
  for (const auto& time : {event.start_ns, event.duration_ns}) all += time ? " " + std::to_string(*time) : " -";
  for (const auto& id : {event.external, event.correlation}) all += id ? " " + std::to_string(*id) : " -";
  return all;
}

// One X event. `more`: further fields, as JSON with a comma before each.
inline std::string x_event(std::string_view cat, std::string_view name, double ts, double dur,
                           std::string_view args = "", std::string_view more = "") {
  return R"({"ph": "X", "cat": ")" + std::string(cat) + R"(", "name": ")" + std::string(name) +
         R"(", "pid": 1, "tid": 1, "ts": )" + std::to_string(ts) + R"(, "dur": )" + std::to_string(dur) +
         std::string(more) + R"(, "args": {)" + std::string(args) + "}}";
}
inline std::string op(std::string_view name, double ts, double dur, int external, std::string_view args = "") {
  return x_event("cpu_op", name, ts, dur,
                 R"("External id": )" + std::to_string(external) + (args.empty() ? "" : ", ") + std::string(args));
}
inline std::string kernel(std::string_view name, double ts, double dur, int external, int correlation = 0,
                          int stream = 7, std::string_view args = "") {
  std::string all =
      R"("device": 0, "stream": )" + std::to_string(stream) + R"(, "correlation": )" + std::to_string(correlation);
  if (external != 0) all += R"(, "External id": )" + std::to_string(external);
  return x_event("kernel", name, ts, dur, all + (args.empty() ? "" : ", ") + std::string(args));
}
inline std::string launch(double ts, int correlation, std::string_view name = "cudaLaunchKernel") {
  return x_event("cuda_runtime", name, ts, 1, R"("correlation": )" + std::to_string(correlation));
}
inline std::string span(std::string_view name, double ts, double dur) {
  return x_event("user_annotation", name, ts, dur);
}

inline std::string trace_of(const std::vector<std::string>& events) {
  std::string text = "{\"schemaVersion\": 1, \"deviceProperties\": [{\"id\": 0}], \"traceEvents\": [\n";
  for (std::size_t i = 0; i < events.size(); ++i) text += events[i] + (i + 1 < events.size() ? ",\n" : "\n");
  return text + "], \"traceName\": \"t\"}\n";
}

inline Trace collected(const std::vector<std::string>& events) {
  PieceSource source(trace_of(events));
  TraceCollector collector;
  const auto take = [&collector](const TraceEvent& event) { collector.take(event); };
  (void)read_trace(source, take);
  return collector.finish();
}

}  // namespace suture
