// Where the steps of a trace begin: a decode step, a training step, whatever the program repeats.
//
// Tried in this order: what the caller says; ProfilerStep#N annotations (torch.profiler's schedule); annotations that differ in a
// number alone ("step[0]", "step[1]"), of those the set that covers most; launches of a CUDA graph, one a step; and what is
// repeated on the GPU: a kernel that comes at regular distances, with the same kernels between.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/trace.h"

namespace suture {

struct TraceStep {
  std::string label;
  std::int64_t begin_ns = 0,
               end_ns = 0;  // of its work on the GPU: to the beginning of the next one's; without any, on the CPU
  std::int64_t gpu_ns = 0;  // sum of its calls
  std::uint64_t calls = 0;
  [[nodiscard]] std::int64_t wall_ns() const { return end_ns - begin_ns; }
};

struct TraceSteps {
  enum class How { none, given, profiler_step, annotation, graph_launch, pattern } how = How::none;
  std::string name;  // of the annotations, numbers as "#"; of the kernel that the pattern is told by
  std::vector<TraceStep> steps;
  std::uint64_t outside = 0;  // calls on the GPU in no step

  [[nodiscard]] double count() const { return static_cast<double>(steps.size()); }
  // The step whose wall time is the median; precondition: there are some.
  [[nodiscard]] std::size_t typical() const;
};

// `told`: "", a number of steps of equal work, or what the names of the annotations begin with. Sets GpuCall::step. Error (usage): the
// trace has nothing of that kind.
Result<TraceSteps> find_steps(Trace& trace, const std::string& told = "");

}  // namespace suture
