// The Python functions around the calls of findings (profiled with_stack). They are read in a second pass over the file, and only of
// a few calls: a trace with stacks holds millions of functions, and which calls matter is known at the end of the first pass.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "engine/trace_findings.h"

namespace suture {

class StackCollector {
 public:
  // At most `samples` calls of each finding, spread over the trace.
  StackCollector(const Trace& trace, const TraceTable& table, const std::vector<Finding>& findings,
                 std::size_t samples = 32);
  // False: no call is known to have been launched by a thread; a pass would find nothing.
  [[nodiscard]] bool wanted() const { return !threads_.empty(); }
  void take(const TraceEvent& event);
  // Fills Finding::stacks, the most frequent first.
  void finish(std::vector<Finding>& findings);

 private:
  struct Frame {
    std::int64_t start_ns = 0, end_ns = 0;
    std::string name;
  };
  struct Sample {
    std::int64_t at_ns = 0;
    std::size_t finding = 0;
    std::vector<Frame> frames;
  };
  std::map<std::string, std::vector<Sample>, std::less<>> threads_;  // by "PID TID", each by time
  std::string key_;
};

}  // namespace suture
