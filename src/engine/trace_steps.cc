// See trace_steps.h. Tests: tests/unit/trace_steps_test.cc.
#include "engine/trace_steps.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <unordered_map>

namespace suture {
namespace {

using How = TraceSteps::How;

// Digits as "#": names that differ in a number alone are one.
std::string without_numbers(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (c < '0' || c > '9') {
      out += c;
    } else if (out.empty() || out.back() != '#') {
      out += '#';
    }
  }
  return out;
}

struct Group {
  std::vector<const TraceSpan*> spans;  // in the order of time
  std::int64_t covered = 0;
};

// Spans that lie one behind the other.
bool is_sequence(Group& group) {
  std::sort(group.spans.begin(), group.spans.end(),
            [](const TraceSpan* a, const TraceSpan* b) { return a->start_ns < b->start_ns; });
  for (std::size_t i = 1; i < group.spans.size(); ++i) {
    if (group.spans[i]->start_ns < group.spans[i - 1]->end_ns) return false;
  }
  return true;
}

// The calls of step `i` are those that are launched in spans[i]; one whose launch is not known goes with the call before it.
void assign_by_launch(Trace& trace, const std::vector<const TraceSpan*>& spans) {
  std::uint32_t last = kNone;
  for (GpuCall& call : trace.calls) {
    if (call.launch == kNone) {
      call.step = last;
      continue;
    }
    const std::int64_t at = trace.launches[call.launch].start_ns;
    const auto behind = std::upper_bound(
        spans.begin(), spans.end(), at, [](std::int64_t time, const TraceSpan* span) { return time < span->start_ns; });
    call.step = behind == spans.begin() || at >= (*(behind - 1))->end_ns
                    ? kNone
                    : static_cast<std::uint32_t>(behind - spans.begin() - 1);
    last = call.step;
  }
}

// Times and sums of `labels.size()` steps, from GpuCall::step.
void measure(Trace& trace, TraceSteps& steps) {
  std::vector<std::int64_t> ends(steps.steps.size());
  for (const GpuCall& call : trace.calls) {
    if (call.step == kNone) {
      ++steps.outside;
      continue;
    }
    TraceStep& step = steps.steps[call.step];
    if (step.calls == 0) step.begin_ns = call.start_ns;
    std::int64_t& end = ends[call.step];
    end = step.calls == 0 ? call.start_ns + call.duration_ns : std::max(end, call.start_ns + call.duration_ns);
    step.gpu_ns += call.duration_ns;
    ++step.calls;
  }
  for (std::size_t i = 0; i < ends.size(); ++i) {
    TraceStep& step = steps.steps[i];
    if (step.calls == 0) continue;
    const bool next = i + 1 < ends.size() && steps.steps[i + 1].calls > 0;
    step.end_ns = next ? std::max(step.begin_ns, steps.steps[i + 1].begin_ns) : ends[i];
  }
}

TraceSteps from_spans(Trace& trace, const Group& group, How how, const std::string& name) {
  TraceSteps steps{how, name, {}, 0};
  for (const TraceSpan* span : group.spans)
    steps.steps.push_back({trace.span_names[span->name], span->start_ns, span->end_ns, 0, 0});
  assign_by_launch(trace, group.spans);
  measure(trace, steps);
  // Spans around no work (the profiler's own last step, a warm-up) are no steps, where there is work at all.
  if (trace.calls.empty()) return steps;
  std::vector<std::uint32_t> renumbered(steps.steps.size(), kNone);
  std::vector<TraceStep> kept;
  for (std::size_t i = 0; i < steps.steps.size(); ++i) {
    if (steps.steps[i].calls == 0) continue;
    renumbered[i] = static_cast<std::uint32_t>(kept.size());
    kept.push_back(steps.steps[i]);
  }
  for (GpuCall& call : trace.calls) {
    if (call.step != kNone) call.step = renumbered[call.step];
  }
  steps.steps = std::move(kept);
  return steps;
}

std::map<std::string, Group> groups_of(const Trace& trace) {
  std::map<std::string, Group> groups;
  for (const TraceSpan& span : trace.spans) {
    if (span.on_gpu) continue;
    Group& group = groups[without_numbers(trace.span_names[span.name])];
    group.spans.push_back(&span);
    group.covered += span.end_ns - span.start_ns;
  }
  return groups;
}

std::optional<TraceSteps> by_annotation(Trace& trace) {
  std::map<std::string, Group> groups = groups_of(trace);
  if (const auto found = groups.find("ProfilerStep#"); found != groups.end() && is_sequence(found->second)) {
    TraceSteps steps = from_spans(trace, found->second, How::profiler_step, "ProfilerStep#");
    if (!steps.steps.empty()) return steps;
  }
  const std::string* best = nullptr;
  for (auto& [name, group] : groups) {
    if (group.spans.size() < 2 || !is_sequence(group)) continue;
    if (best == nullptr || group.covered > groups[*best].covered) best = &name;
  }
  if (best == nullptr) return std::nullopt;
  TraceSteps steps = from_spans(trace, groups[*best], How::annotation, *best);
  if (steps.steps.size() < 2) return std::nullopt;
  return steps;
}

// --- without annotations ---------------------------------------------------------------------------------------------

TraceSteps from_cuts(Trace& trace, const std::vector<std::size_t>& cuts, How how, std::string name) {
  TraceSteps steps{how, std::move(name), {}, 0};
  for (std::size_t i = 0; i < cuts.size(); ++i) steps.steps.push_back({std::to_string(i), 0, 0, 0, 0});
  std::size_t step = 0;
  for (std::size_t i = 0; i < trace.calls.size(); ++i) {
    while (step < cuts.size() && cuts[step] <= i) ++step;
    trace.calls[i].step = step == 0 ? kNone : static_cast<std::uint32_t>(step - 1);
  }
  measure(trace, steps);
  return steps;
}

// A launch that put dozens of kernels on the GPU is a graph's; graphs of the same size are replays of one.
std::optional<TraceSteps> by_graph_launch(Trace& trace) {
  constexpr std::uint64_t a_graph = 16;
  std::vector<std::uint64_t> sizes(trace.launches.size());
  for (const GpuCall& call : trace.calls) {
    if (call.launch != kNone) ++sizes[call.launch];
  }
  std::map<std::uint64_t, std::uint64_t> work;  // by size: how much of the trace
  for (const std::uint64_t size : sizes) {
    if (size >= a_graph) work[size] += size;
  }
  if (work.empty()) return std::nullopt;
  const auto most =
      std::max_element(work.begin(), work.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most->second == most->first || most->second * 2 < trace.calls.size()) return std::nullopt;
  std::vector<std::size_t> cuts;
  std::vector<char> begun(sizes.size());
  for (std::size_t i = 0; i < trace.calls.size(); ++i) {
    const std::uint32_t launch = trace.calls[i].launch;
    if (launch == kNone || sizes[launch] != most->first || begun[launch] != 0) continue;
    begun[launch] = 1;
    cuts.push_back(i);
  }
  return from_cuts(trace, cuts, How::graph_launch,
                   "replays of a CUDA graph of " + std::to_string(most->first) + " calls");
}

// Whether nine tenths of the stretches between `places` hold the same calls as the one before.
bool is_regular(const Trace& trace, const std::vector<std::size_t>& places) {
  std::size_t same = 0;
  for (std::size_t i = 0; i + 2 < places.size(); ++i) {
    const std::size_t length = places[i + 1] - places[i];
    if (places[i + 2] - places[i + 1] != length) continue;
    bool equal = true;
    for (std::size_t k = 0; k < length && equal; ++k)
      equal = trace.calls[places[i] + k].work == trace.calls[places[i + 1] + k].work;
    same += equal ? 1 : 0;
  }
  return places.size() >= 3 && same * 10 >= (places.size() - 2) * 9;
}

// The rarest kernel that comes regularly.
std::optional<TraceSteps> by_pattern(Trace& trace) {
  std::vector<std::vector<std::size_t>> places(trace.works.size());
  for (std::size_t i = 0; i < trace.calls.size(); ++i) places[trace.calls[i].work].push_back(i);
  std::vector<std::uint32_t> order;
  for (std::uint32_t work = 0; work < places.size(); ++work) {
    if (places[work].size() >= 3) order.push_back(work);
  }
  std::stable_sort(order.begin(), order.end(), [&places](std::uint32_t a, std::uint32_t b) {
    return places[a].size() != places[b].size() ? places[a].size() < places[b].size() : places[a][0] < places[b][0];
  });
  for (const std::uint32_t work : order) {
    if (is_regular(trace, places[work])) return from_cuts(trace, places[work], How::pattern, trace.works[work].name);
  }
  return std::nullopt;
}

Error no_steps(const std::string& told, const std::string& why, const std::string& hint) {
  return {Exit::usage, "--steps " + told + ": " + why, std::nullopt, hint};
}

Result<TraceSteps> as_told(Trace& trace, const std::string& told) {
  std::size_t count = 0;
  const auto [end, error] = std::from_chars(told.data(), told.data() + told.size(), count);
  if (error == std::errc() && end == told.data() + told.size()) {
    if (count == 0 || count > trace.calls.size())
      return no_steps(told, "the trace has " + std::to_string(trace.calls.size()) + " calls on the GPU",
                      "give a number of steps from 1 to that");
    std::vector<std::size_t> cuts;
    for (std::size_t i = 0; i < count; ++i) cuts.push_back(i * trace.calls.size() / count);
    return from_cuts(trace, cuts, How::given, "");
  }
  Group group;
  for (const TraceSpan& span : trace.spans) {
    if (!span.on_gpu && trace.span_names[span.name].starts_with(told)) group.spans.push_back(&span);
  }
  if (group.spans.empty())
    return no_steps(told, "no annotation of the trace begins with that", "without --steps they are looked for");
  if (!is_sequence(group))
    return no_steps(told, "annotations that begin with that overlap",
                    "name them more exactly, or give a number of steps");
  TraceSteps steps = from_spans(trace, group, How::given, told);
  if (steps.steps.empty())
    return no_steps(told, "nothing on the GPU was launched within these annotations",
                    "name others, or give a number of steps");
  return steps;
}

}  // namespace

std::size_t TraceSteps::typical() const {
  std::vector<std::size_t> order(steps.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [this](std::size_t a, std::size_t b) { return steps[a].wall_ns() < steps[b].wall_ns(); });
  return order[(order.size() - 1) / 2];
}

Result<TraceSteps> find_steps(Trace& trace, const std::string& told) {
  if (!told.empty()) return as_told(trace, told);
  if (auto steps = by_annotation(trace)) return std::move(*steps);
  if (auto steps = by_graph_launch(trace)) return std::move(*steps);
  if (auto steps = by_pattern(trace)) return std::move(*steps);
  for (GpuCall& call : trace.calls) call.step = kNone;
  TraceSteps none;
  none.outside = trace.calls.size();
  return none;
}

}  // namespace suture
