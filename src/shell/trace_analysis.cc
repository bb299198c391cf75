// A file of a trace, read and analysed. See trace_report.h. Tests: tests/trace.
#include <algorithm>
#include <chrono>

#include "effects/byte_stream.h"
#include "effects/windows_ahead.h"
#include "engine/trace_collect.h"
#include "engine/trace_stacks.h"
#include "shell/trace_report.h"
#include "shell/words.h"

namespace suture {
namespace {

// "reading trace.json.gz: 42 %" on a terminal, a few times a second, over itself; gone when the file is read.
class Progress {
 public:
  Progress(const Session& session, const std::string& file)
      : session_(session),
        file_(file),
        shown_(session.err().width > 0 && !session.options().quiet && !session.options().json) {
    last_ = std::chrono::steady_clock::now();
  }
  ~Progress() {
    if (any_) session_.say("\r\033[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void tick(const ByteStream& stream) {
    if (!shown_ || stream.file_size() == 0 || ++events_ % 4096 != 0) return;
    const auto now = std::chrono::steady_clock::now();
    if (now - last_ < std::chrono::milliseconds(200)) return;
    last_ = now;
    any_ = true;
    const std::uint64_t size = std::max<std::uint64_t>(1, stream.file_size());
    session_.say("\rreading " + printable(file_) + ": " + std::to_string(stream.file_read() * 100 / size) + " %\033[K");
  }

 private:
  const Session& session_;
  const std::string& file_;
  bool shown_, any_ = false;
  std::uint64_t events_ = 0;
  std::chrono::steady_clock::time_point last_;
};

Error named(const std::string& file, Error error) {
  error.message = file + " " + error.message;
  return error;
}

// One pass over the file; `take` gets every event.
Result<TraceReading> pass(const Session& session, const std::string& file, TraceReport& report,
                          FunctionRef<void(const TraceEvent&)> take) {
  Result<std::unique_ptr<ByteStream>> stream = open_stream(session.fs(), file);
  if (!stream) return stream.error();
  report.packing = (*stream)->packing();
  report.from_pipe = (*stream)->is_pipe();
  Progress progress(session, file);
  const auto counted = [&](const TraceEvent& event) {
    progress.tick(**stream);
    take(event);
  };
  WindowsAhead windows(**stream);
  Result<TraceReading> reading = read_trace(windows, counted);
  if (!reading) return named(file, reading.error());
  if (const std::uint64_t garbage = (*stream)->garbage_at(); garbage != Inflater::npos)
    reading->warnings.push_back(
        {"bytes behind the compressed stream are no further one and are not read; the offset is of the file",
         (*stream)->file_read() - garbage, garbage});
  return reading;
}

Status add_stacks(const Session& session, TraceReport& report) {
  if (report.trace.python_functions == 0 || report.findings.empty()) return Nothing{};
  StackCollector stacks(report.trace, report.table, report.findings);
  if (!stacks.wanted()) return Nothing{};
  if (report.from_pipe) {
    report.reading.warnings.push_back(
        {"Python functions are not told, for that takes a second pass, and this is a pipe",
         report.trace.python_functions, 0});
    return Nothing{};
  }
  const Result<TraceReading> again =
      pass(session, report.file, report, [&stacks](const TraceEvent& event) { stacks.take(event); });
  if (!again) return again.error();
  stacks.finish(report.findings);
  return Nothing{};
}

}  // namespace

Result<TraceReport> analyse_trace(const Session& session, const std::string& file, const TraceRequest& request) {
  TraceReport report;
  report.file = file;
  TraceCollector collector;
  Result<TraceReading> reading =
      pass(session, file, report, [&collector](const TraceEvent& event) { collector.take(event); });
  if (!reading) return reading.error();
  report.reading = std::move(*reading);
  report.trace = collector.finish();
  for (TraceWarning& each : report.trace.warnings) report.reading.warnings.push_back(std::move(each));
  report.trace.warnings.clear();
  Result<TraceSteps> steps = find_steps(report.trace, request.steps);
  if (!steps) return steps.error();
  report.steps = std::move(*steps);
  report.table = make_table(report.trace, report.steps);
  report.findings = find_waste(report.trace, report.steps, report.table, request.findings);
  if (Status added = add_stacks(session, report); !added) return added.error();
  return report;
}

std::optional<Error> damage_of(const TraceReport& report) {
  const auto& damage = report.reading.damage;
  if (!damage && report.all_lost())
    return Error{Exit::file_system,
                 report.file + ": none of its " + grouped(report.reading.lost_gpu_calls) +
                     " calls on the GPU has a time that can be used",
                 std::nullopt, "ts and dur are microseconds; the warnings say what is wrong with these"};
  if (!damage) return std::nullopt;
  return Error{Exit::file_system,
               report.file + " is damaged at byte " + std::to_string(damage->offset) + ": " + damage->why, std::nullopt,
               ""};
}

double TraceReport::found_share() const {
  double share = 0;
  for (const Finding& finding : findings) share += finding.times.share;
  return share;
}

double TraceReport::found_step_us() const {
  if (steps.steps.empty()) return 0;
  const auto step = static_cast<std::uint32_t>(steps.typical());
  std::int64_t ns = 0;
  for (const GpuCall& call : trace.calls) {
    const auto found = [&](const Finding& each) { return is_of(each, trace, table, call); };
    if (call.step == step && std::any_of(findings.begin(), findings.end(), found)) ns += call.duration_ns;
  }
  return static_cast<double>(ns) / 1000;
}

double TraceReport::step_us() const {
  return steps.steps.empty() ? 0 : static_cast<double>(steps.steps[steps.typical()].wall_ns()) / 1000;
}

}  // namespace suture
