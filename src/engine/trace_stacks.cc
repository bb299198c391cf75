// See trace_stacks.h. Tests: tests/unit/trace_findings_test.cc.
#include "engine/trace_stacks.h"

#include <algorithm>

#include "engine/trace_collect.h"
#include "read/json_text.h"

namespace suture {
namespace {

// "<built-in method to of Tensor object at 0x7fb829abf930>" is another one for each tensor.
std::string without_address(std::string name) {
  const std::size_t at = name.find(" at 0x");
  if (at == std::string::npos) return name;
  std::size_t end = at + 6;
  while (end < name.size() && std::isxdigit(static_cast<unsigned char>(name[end])) != 0) ++end;
  return name.erase(at, end - at);
}

// Every so many calls, so that the samples are spread over the trace.
std::size_t stride_for(std::uint64_t calls, std::size_t samples) {
  return std::max<std::size_t>(1, static_cast<std::size_t>(calls) / std::max<std::size_t>(1, samples));
}

}  // namespace

StackCollector::StackCollector(const Trace& trace, const TraceTable& table, const std::vector<Finding>& findings,
                               std::size_t samples) {
  for (std::size_t i = 0; i < findings.size(); ++i) {
    const std::size_t stride = stride_for(findings[i].times.calls, samples);
    std::size_t seen = 0, taken = 0;
    for (const GpuCall& call : trace.calls) {
      if (taken == samples || call.launch == kNone || !is_of(findings[i], trace, table, call)) continue;
      if (seen++ % stride != 0) continue;
      ++taken;
      const GpuLaunch& launch = trace.launches[call.launch];
      threads_[trace.threads[launch.thread]].push_back({launch.start_ns, i, {}});
    }
  }
  for (auto& [thread, all] : threads_) {
    std::stable_sort(all.begin(), all.end(), [](const Sample& a, const Sample& b) { return a.at_ns < b.at_ns; });
  }
}

void StackCollector::take(const TraceEvent& event) {
  if (event.kind != TraceKind::python || event.phase != 'X' || !event.start_ns || !event.duration_ns) return;
  set_thread_key(key_, event);
  const auto thread = threads_.find(key_);
  if (thread == threads_.end()) return;
  const std::int64_t end = *event.start_ns + *event.duration_ns;
  auto sample = std::lower_bound(thread->second.begin(), thread->second.end(), *event.start_ns,
                                 [](const Sample& each, std::int64_t time) { return each.at_ns < time; });
  for (; sample != thread->second.end() && sample->at_ns <= end; ++sample)
    sample->frames.push_back({*event.start_ns, end, without_address(unescaped(event.name))});
}

void StackCollector::finish(std::vector<Finding>& findings) {
  std::vector<std::map<std::vector<std::string>, std::uint64_t>> counted(findings.size());
  for (auto& [thread, samples] : threads_) {
    for (Sample& sample : samples) {
      std::stable_sort(sample.frames.begin(), sample.frames.end(), [](const Frame& a, const Frame& b) {
        return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.end_ns > b.end_ns;
      });
      std::vector<std::string> names;
      for (Frame& frame : sample.frames) names.push_back(std::move(frame.name));
      if (!names.empty()) ++counted[sample.finding][std::move(names)];
    }
  }
  for (std::size_t i = 0; i < findings.size(); ++i) {
    for (const auto& [frames, calls] : counted[i]) findings[i].stacks.push_back({frames, calls});
    std::stable_sort(findings[i].stacks.begin(), findings[i].stacks.end(),
                     [](const CallStack& a, const CallStack& b) { return a.calls > b.calls; });
  }
}

}  // namespace suture
