// See trace_collect.h; the joins are in trace_join.cc. Tests: tests/unit/trace_collect_test.cc.
#include "engine/trace_collect.h"

#include <algorithm>
#include <limits>

#include "read/json_text.h"

namespace suture {
namespace {

constexpr char kSeparator = '\x1F';  // in no JSON string
constexpr std::int64_t kOpen = std::numeric_limits<std::int64_t>::max();

// A list of numbers and strings as it is written, without the blanks between them, which whoever wrote the file chose.
void append_list(std::string& out, std::string_view list) {
  bool inside = false;  // of a string
  for (std::size_t at = 0; at < list.size(); ++at) {
    const char c = list[at];
    if (!inside && (c == ' ' || c == '\t' || c == '\r' || c == '\n')) continue;
    out += c;
    if (c == '"') inside = !inside;
    if (c == '\\' && inside && at + 1 < list.size()) out += list[++at];
  }
}

bool puts_work_on_gpu(std::string_view name) {
  return name.find("Launch") != std::string_view::npos || name.find("Memcpy") != std::string_view::npos ||
         name.find("Memset") != std::string_view::npos;
}

}  // namespace

void set_thread_key(std::string& key, const TraceEvent& event) {
  key.assign(event.pid).append(1, kSeparator).append(event.tid);
}

void TraceCollector::take(const TraceEvent& event) {
  if (event.phase == 'B') return begin(event);
  if (event.phase == 'E') return end(event);
  if (event.phase != 'X' || !event.start_ns) return;
  switch (event.kind) {
    case TraceKind::cpu_op:
      return take_op(event);
    case TraceKind::kernel:
    case TraceKind::memory_copy:
    case TraceKind::memory_set:
      return take_work(event);
    case TraceKind::launch:
      return take_launch(event);
    case TraceKind::annotation:
    case TraceKind::gpu_annotation:
      return take_span(event);
    case TraceKind::python:
      ++trace_.python_functions;
      return;
    case TraceKind::other:
      return;
  }
}

void TraceCollector::cover(std::int64_t start_ns, std::int64_t end_ns) {
  trace_.begin_ns = any_time_ ? std::min(trace_.begin_ns, start_ns) : start_ns;
  trace_.end_ns = any_time_ ? std::max(trace_.end_ns, end_ns) : end_ns;
  any_time_ = true;
}

void TraceCollector::warn(const std::string& what, std::uint64_t offset) {
  for (TraceWarning& each : trace_.warnings) {
    if (each.what != what) continue;
    ++each.count;
    return;
  }
  trace_.warnings.push_back({what, 1, offset});
}

std::uint32_t TraceCollector::thread_of(const TraceEvent& event) {
  const std::string& last = last_thread_.first;
  if (last_thread_.second != kNone && last.size() == event.pid.size() + 1 + event.tid.size() &&
      last.compare(0, event.pid.size(), event.pid) == 0 && last[event.pid.size()] == kSeparator &&
      last.compare(event.pid.size() + 1, std::string::npos, event.tid) == 0)
    return last_thread_.second;
  set_thread_key(last_thread_.first, event);
  last_thread_.second = threads_.id(last_thread_.first);
  if (last_thread_.second >= open_.size()) open_.resize(last_thread_.second + 1);
  return last_thread_.second;
}

template <class Find>
TraceCollector::Known TraceCollector::known(const TraceEvent& event, Find find) {
  Known& known = known_[event.form % kKnown];
  if (event.form == 0 || known.form != event.form) known = find();
  return known;
}

// --- operators -------------------------------------------------------------------------------------------------------

std::uint32_t TraceCollector::op_of(const TraceEvent& event) {
  key_.assign(event.name).append(1, kSeparator);
  append_list(key_, event.dims);
  append_list(key_.append(1, kSeparator), event.types);
  key_.append(1, kSeparator);
  // How an input lies in memory matters for copies, and would tell apart calls of every other operator for nothing.
  if (event.name.find("copy") != std::string_view::npos) append_list(key_, event.strides);
  return ops_.id(key_);
}

std::uint32_t TraceCollector::child(std::uint32_t parent, std::uint32_t op) {
  const std::uint64_t key = std::uint64_t{parent} << 32U | op;
  const auto [found, added] = children_.try_emplace(key, static_cast<std::uint32_t>(trace_.paths.size()));
  if (added) trace_.paths.push_back({.parent = parent, .op = op});
  return found->second;
}

void TraceCollector::close_op(Thread& thread) {
  const OpenOp op = thread.ops.back();
  thread.ops.pop_back();
  if (op.end_ns == kOpen) return;
  const std::int64_t duration = op.end_ns - op.start_ns;
  OpPath& path = trace_.paths[op.path];
  path.cpu_ns += duration;
  path.cpu_self_ns += duration - op.inside_ns;
  if (!thread.ops.empty()) thread.ops.back().inside_ns += duration;
}

void TraceCollector::take_op(const TraceEvent& event) {
  const std::int64_t end_ns = *event.start_ns + event.duration_ns.value_or(0);
  const Known what = known(event, [&] { return Known{event.form, thread_of(event), 0, op_of(event)}; });
  Thread& thread = open_[what.thread];
  if (*event.start_ns < thread.last_start) {
    if (!trace_.flat_ops)
      warn("operators are not in the order of time: which one called which is not known from here on", event.offset);
    trace_.flat_ops = true;
  }
  thread.last_start = *event.start_ns;
  while (!thread.ops.empty() && (thread.ops.back().end_ns <= *event.start_ns || thread.ops.back().end_ns < end_ns))
    close_op(thread);
  open_op(event, end_ns, thread, what.what);
  cover(*event.start_ns, end_ns);
}

void TraceCollector::open_op(const TraceEvent& event, std::int64_t end_ns, Thread& thread, std::uint32_t op) {
  const std::uint32_t parent = thread.ops.empty() || trace_.flat_ops ? kNone : thread.ops.back().path;
  const std::uint32_t path = child(parent, op);
  ++trace_.paths[path].calls;
  ++trace_.cpu_ops;
  thread.ops.push_back({*event.start_ns, end_ns, 0, path});
  if (event.external) op_log_.add({*event.external, path});
}

// --- the GPU ---------------------------------------------------------------------------------------------------------

std::uint32_t TraceCollector::work_of(const TraceEvent& event) {
  key_.assign(1, event.kind == TraceKind::kernel ? 'k' : event.kind == TraceKind::memory_copy ? 'c' : 's');
  key_.append(event.name).append(1, kSeparator);
  append_list(key_, event.grid);
  append_list(key_.append(1, kSeparator), event.block);
  key_.append(1, kSeparator).append(event.bytes);
  return works_.id(key_);
}

// A kernel's pid and tid are its device and stream where args do not say.
std::uint32_t TraceCollector::stream_of(const TraceEvent& event) {
  key_.assign(event.device.empty() ? event.pid : event.device).append(1, kSeparator);
  key_.append(event.stream.empty() ? event.tid : event.stream);
  return streams_.id(key_);
}

void TraceCollector::take_work(const TraceEvent& event) {
  if (!event.duration_ns) return;
  const Known what = known(event, [&] {
    const std::uint32_t work = work_of(event);
    return Known{event.form, 0, stream_of(event), work};
  });
  const std::uint64_t external = event.external.value_or(0), correlation = event.correlation.value_or(0);
  trace_.calls.push_back({*event.start_ns, *event.duration_ns, static_cast<std::uint32_t>(external),
                          static_cast<std::uint32_t>(external >> 32U), static_cast<std::uint32_t>(correlation),
                          static_cast<std::uint32_t>(correlation >> 32U), what.what, what.stream});
  cover(*event.start_ns, *event.start_ns + *event.duration_ns);
}

void TraceCollector::take_launch(const TraceEvent& event) {
  if (!event.correlation) return;
  const Known what = known(event, [&] {
    const bool launches = puts_work_on_gpu(event.name);
    return Known{event.form, launches ? thread_of(event) : 0, 0, launches ? 1U : 0U};
  });
  if (what.what == 0) return;
  launch_log_.add({*event.correlation, static_cast<std::uint64_t>(*event.start_ns), what.thread});
}

void TraceCollector::take_span(const TraceEvent& event) {
  if (!event.duration_ns) return;
  trace_.spans.push_back({span_names_.id(event.name), *event.start_ns, *event.start_ns + *event.duration_ns,
                          event.kind == TraceKind::gpu_annotation});
  cover(*event.start_ns, *event.start_ns + *event.duration_ns);
}

// --- events in two parts ---------------------------------------------------------------------------------------------

void TraceCollector::begin(const TraceEvent& event) {
  if (!event.start_ns) return;
  Thread& thread = open_[thread_of(event)];
  thread.begun.push_back({event.kind, span_names_.id(event.name), *event.start_ns, event.offset});
  if (event.kind == TraceKind::cpu_op) {
    while (!thread.ops.empty() && thread.ops.back().end_ns <= *event.start_ns) close_op(thread);
    open_op(event, kOpen, thread, op_of(event));
  }
}

void TraceCollector::end(const TraceEvent& event) {
  if (!event.start_ns) return;
  Thread& thread = open_[thread_of(event)];
  if (thread.begun.empty()) return warn("ends (E) have no beginning (B) and are left out", event.offset);
  const Begun begun = thread.begun.back();
  thread.begun.pop_back();
  cover(begun.start_ns, *event.start_ns);
  if (begun.kind == TraceKind::cpu_op) {
    while (!thread.ops.empty() && thread.ops.back().end_ns != kOpen) close_op(thread);
    if (thread.ops.empty()) return;
    thread.ops.back().end_ns = std::max(thread.ops.back().start_ns, *event.start_ns);
    close_op(thread);
  } else if (begun.kind == TraceKind::annotation || begun.kind == TraceKind::gpu_annotation) {
    trace_.spans.push_back({begun.name, begun.start_ns, *event.start_ns, begun.kind == TraceKind::gpu_annotation});
  }
}

// --- the end ---------------------------------------------------------------------------------------------------------

Trace TraceCollector::finish() {
  for (Thread& thread : open_) {
    for (const Begun& begun : thread.begun) warn("beginnings (B) have no end (E) and are left out", begun.offset);
    while (!thread.ops.empty()) close_op(thread);
  }
  sort_calls();
  join_ops();
  join_launches();
  name_all();
  return std::move(trace_);
}

void TraceCollector::name_all() {
  const auto parts_of = [](std::string_view key) {
    std::vector<std::string> parts(1);
    for (const char c : key) {
      if (c == kSeparator) {
        parts.emplace_back();
      } else {
        parts.back() += c;
      }
    }
    return parts;
  };
  for (std::uint32_t id = 0; id < ops_.size(); ++id) {
    const std::vector<std::string> parts = parts_of(ops_.text(id));
    trace_.ops.push_back({unescaped(parts[0]), parts[1], parts[2], parts[3]});
  }
  for (std::uint32_t id = 0; id < works_.size(); ++id) {
    const std::vector<std::string> parts = parts_of(works_.text(id));
    const TraceKind kind = parts[0][0] == 'k'   ? TraceKind::kernel
                           : parts[0][0] == 'c' ? TraceKind::memory_copy
                                                : TraceKind::memory_set;
    trace_.works.push_back({kind, unescaped(std::string_view(parts[0]).substr(1)), parts[1], parts[2],
                            whole_number(parts[3]).value_or(0)});
  }
  for (std::uint32_t id = 0; id < streams_.size(); ++id) {
    const std::vector<std::string> parts = parts_of(streams_.text(id));
    trace_.streams.push_back({parts[0], parts[1]});
  }
  for (std::uint32_t id = 0; id < span_names_.size(); ++id)
    trace_.span_names.push_back(unescaped(span_names_.text(id)));
  for (std::uint32_t id = 0; id < threads_.size(); ++id) trace_.threads.emplace_back(threads_.text(id));
}

}  // namespace suture
