// The words of `suture trace`, for a terminal. See trace_report.h. Tests: tests/trace/words_test.py.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "engine/trace_shapes.h"
#include "shell/trace_report.h"
#include "shell/words.h"

namespace suture {
namespace {

std::string percent(double share) {
  return fixed(share * 100, 1) + " %";
}

std::string milliseconds(double us) {
  return fixed(us / 1000, us < 10'000 ? 3 : 1) + " ms";
}

std::string bytes_words(double bytes) {
  return bytes >= 1e9   ? fixed(bytes / 1e9, 2) + " GB"
         : bytes >= 1e6 ? fixed(bytes / 1e6, 1) + " MB"
                        : fixed(bytes / 1e3, 1) + " KB";
}

std::string count_words(double a_step) {
  return a_step <= 0 ? "-" : fixed(a_step, a_step == static_cast<double>(static_cast<std::uint64_t>(a_step)) ? 0 : 1);
}

// Names are cut in the middle: both ends tell.
std::string cut(const std::string& text, std::size_t width) {
  const std::string shown = printable(text);
  if (count_characters(shown) <= width || shown.size() <= width) return shown;
  const std::size_t half = (width - 3) / 2;
  return shown.substr(0, width - 3 - half) + "..." + shown.substr(shown.size() - half);
}

struct Column {
  std::string_view head;
  std::size_t width;
};
constexpr std::array<Column, 9> kColumns = {{{"calls", 8},
                                             {"a step", 8},
                                             {"self ms", 11},
                                             {"total ms", 11},
                                             {"median us", 11},
                                             {"p99 us", 10},
                                             {"share", 8},
                                             {"of wall", 8},
                                             {"GB/s", 7}}};

std::string head_line(std::string_view name, std::size_t width) {
  std::string line = pad(name, width);
  for (const Column& column : kColumns) line += pad_left(column.head, column.width);
  return line + "\n";
}

std::string times_line(const RowTimes& times) {
  const std::array<std::string, 9> cells = {grouped(times.calls),
                                            count_words(times.calls_a_step),
                                            fixed(static_cast<double>(times.self_ns) / 1e6, 3),
                                            fixed(static_cast<double>(times.total_ns) / 1e6, 3),
                                            times.median_us > 0 ? fixed(times.median_us, 2) : "-",
                                            times.p99_us > 0 ? fixed(times.p99_us, 2) : "-",
                                            percent(times.share),
                                            percent(times.wall_share),
                                            times.gigabytes_a_second > 0 ? fixed(times.gigabytes_a_second, 0) : "-"};
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) line += pad_left(cells[i], kColumns[i].width);
  return line + "\n";
}

// Names take what the terminal leaves beside the figures; 72 characters where there is none.
constexpr std::size_t kFiguresWidth = 82, kLeast = 40, kUsual = 72;
std::size_t name_width(Style style) {
  return style.width == 0
             ? kUsual
             : std::clamp<std::size_t>(style.width, kFiguresWidth + kLeast, kFiguresWidth + 120) - kFiguresWidth;
}

std::string rest_line(std::size_t shown, std::size_t all) {
  return shown < all ? "  and " + std::to_string(all - shown) + " more (--top N, --json)\n" : "";
}

std::string op_lines(const TraceReport& report, std::size_t most, std::size_t width) {
  std::string text = head_line("operator", width);
  std::size_t shown = 0, all = 0;
  for (const OpRow& row : report.table.op_rows) {
    if (row.times.total_ns == 0) continue;
    if (++all > most) continue;
    ++shown;
    const TraceOp& op = report.table.ops[row.op];
    const std::string inputs = op.inferred && op.dims.empty() ? "" : short_inputs(op);
    text += pad(cut((op.inferred ? "~" : "") + op.name + (inputs.empty() ? "" : " " + inputs), width - 1), width) +
            times_line(row.times);
  }
  if (all == 0) return "";
  text += rest_line(shown, all);
  if (report.table.without_operator > 0)
    text += "  ~ inferred: " + grouped(report.table.without_operator) +
            (report.table.without_operator == 1 ? " call names" : " calls name") +
            " no operator; it is told by the kernel's name and launch shape\n";
  return text;
}

std::string kernel_lines(const TraceReport& report, std::size_t most, std::size_t width) {
  if (report.table.kernel_rows.empty()) return "";
  std::string text = head_line("kernel", width);
  std::size_t shown = 0;
  for (const KernelRow& row : report.table.kernel_rows) {
    if (shown == most) break;
    ++shown;
    const GpuWork& work = report.trace.works[row.work];
    const std::string grid = work.grid.empty() ? "" : " " + work.grid;
    text += pad(cut(short_kernel_name(work.name) + grid, width - 1), width) + times_line(row.times);
  }
  return text + rest_line(shown, report.table.kernel_rows.size());
}

// A run without a GPU: what the operators took on the CPU.
std::string cpu_lines(const TraceReport& report, std::size_t most, std::size_t width) {
  std::string text =
      pad("operator", width) + pad_left("calls", 8) + pad_left("CPU self ms", 13) + pad_left("CPU total ms", 14) + "\n";
  std::size_t shown = 0;
  for (const OpRow& row : report.table.op_rows) {
    if (shown == most) break;
    ++shown;
    const TraceOp& op = report.table.ops[row.op];
    text += pad(cut(op.name + " " + short_inputs(op), width - 1), width) + pad_left(grouped(row.times.calls), 8) +
            pad_left(fixed(static_cast<double>(row.cpu_self_ns) / 1e6, 3), 13) +
            pad_left(fixed(static_cast<double>(row.cpu_ns) / 1e6, 3), 14) + "\n";
  }
  return text + rest_line(shown, report.table.op_rows.size());
}

std::string stack_lines(const Finding& finding) {
  std::string text;
  for (std::size_t i = 0; i < finding.stacks.size() && i < 2; ++i) {
    const CallStack& stack = finding.stacks[i];
    text += "     called from (" + count_of(stack.calls, "call", "calls") + " looked at):\n";
    // The innermost say most.
    const std::size_t from = stack.frames.size() > 6 ? stack.frames.size() - 6 : 0;
    for (std::size_t k = from; k < stack.frames.size(); ++k) text += "       " + cut(stack.frames[k], 110) + "\n";
  }
  return text;
}

std::string finding_lines(const TraceReport& report) {
  if (report.findings.empty())
    return report.on_gpu()
               ? "findings: none. No cast of a whole pool, no gather larger than its pool, no copy without a change "
                 "above the threshold.\n"
           : report.all_lost() ? "findings: none can be told, for no call on the GPU has a time.\n"
                               : "findings: none, for nothing ran on a GPU.\n";
  std::string text = "findings:\n";
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    const Finding& finding = report.findings[i];
    text += "  " + std::to_string(i + 1) + ". " + std::string(finding_name(finding.kind)) + ": " +
            finding_words(report, finding) + "\n";
    text += stack_lines(finding);
    for (const CodeSite& site : finding.sites)
      text += "     " + printable(site.path) + ":" + std::to_string(site.line) + ": " + printable(site.text) + "\n";
    if (!finding.patches.empty())
      text += "     taken out by: " + join(finding.patches, ", ", " or ") + " (suture explain " +
              finding.patches.front() + ")\n";
  }
  return text + "  " + outlook_words(report) + "\n";
}

}  // namespace

std::string steps_words(const TraceSteps& steps) {
  using How = TraceSteps::How;
  const std::string count = count_of(steps.steps.size(), "step", "steps");
  switch (steps.how) {
    case How::none:
      return "no steps found (--steps N, or --steps NAME of their annotations, says what they are)";
    case How::given:
      return count + " as told by --steps";
    case How::profiler_step:
      return count + " (ProfilerStep annotations)";
    case How::annotation:
      return count + " (annotations " + printable(steps.name) + ")";
    case How::graph_launch:
      return count + " (" + steps.name + ")";
    case How::pattern:
      return count + " by the repeating pattern (what " + short_kernel_name(printable(steps.name)) +
             " begins; if that is a layer and no step, say --steps N)";
  }
  return "";
}

std::string reading_words(const TraceReport& report) {
  std::string text = grouped(report.reading.events) + " events, " + steps_words(report.steps) + ", " +
                     grouped(report.table.kernels) + " kernels, " + grouped(report.trace.cpu_ops) +
                     " operators on the CPU";
  if (report.all_lost())
    return text + "; " + grouped(report.reading.lost_gpu_calls) +
           " calls on the GPU, none with a time that can be used";
  if (!report.on_gpu()) return text + "; nothing ran on a GPU";
  text += ". GPU time " + milliseconds(static_cast<double>(report.table.gpu_ns) / 1000) + " in all; busy " +
          percent(report.table.wall_ns > 0 ? report.table.busy_ns / report.table.wall_ns : 0) + " of " +
          milliseconds(report.table.wall_ns / 1000) + " (overlapping streams counted once)";
  if (report.steps.steps.empty()) return text;
  return text + ". A step takes " + milliseconds(report.step_us()) +
         " (median, from its first kernel to the next step's)";
}

std::string finding_words(const TraceReport& report, const Finding& finding) {
  const RowTimes& times = finding.times;
  std::string what;
  const std::string pool = finding.columns > 0
                               ? "[" + std::to_string(finding.slots) + " x " + std::to_string(finding.columns) + "]"
                               : "of unknown shape";
  if (finding.kind == Finding::Kind::whole_pool_cast) {
    const std::string from = finding.from.empty() ? "" : " from " + finding.from;
    what = "a whole pool " + pool + " is cast" + from + (finding.to.empty() ? "" : " to " + finding.to);
    if (finding.inferred)
      what += " (inferred from " + short_kernel_name(report.trace.works[finding.work].name) + ", grid " +
              report.trace.works[finding.work].grid +
              (finding.columns > 0 ? ", with " + std::to_string(finding.columns) + " columns" : "") + ")";
  } else if (finding.kind == Finding::Kind::oversized_gather) {
    what = "a gather reads " + grouped(static_cast<std::uint64_t>(finding.rows)) + " rows of a pool " + pool;
  } else {
    what = "a copy of " + pool + " " + finding.to +
           " changes neither type nor layout (clone, contiguous or to that had nothing to do)";
  }
  std::string text = what + ", " + grouped(times.calls) + " times";
  if (times.calls_a_step > 0) text += " (" + count_words(times.calls_a_step) + " a step)";
  text += ", median " + fixed(times.median_us, 2) + " us";
  if (times.bytes > 0) text += ", " + bytes_words(static_cast<double>(times.bytes)) + " each";
  if (times.gigabytes_a_second > 0) text += " at " + fixed(times.gigabytes_a_second, 0) + " GB/s";
  return text + ": " + milliseconds(static_cast<double>(times.self_ns) / 1000) + ", " + percent(times.share) +
         " of the GPU time";
}

std::string outlook_words(const TraceReport& report) {
  if (report.findings.empty()) return "";
  const std::string share = percent(report.found_share());
  if (report.step_us() <= 0)
    return "Without them the GPU would have " + share +
           " less to do in this trace; a server, which waits for more than its GPU, gains less.";
  const double left = std::max(0.0, report.step_us() - report.found_step_us());
  return "Without them a step of this trace would go from " + milliseconds(report.step_us()) + " to " +
         milliseconds(left) + " at best (" + percent(report.found_step_us() / report.step_us()) +
         " of it); a server's step has more in it than the trace's GPU, so what it gains is less: suture cost "
         "--step-ms, --after-ms.";
}

std::string trace_text(const TraceReport& report, std::size_t rows, Style style) {
  const std::size_t width = name_width(style);
  std::string text = printable(report.file) + ": " + reading_words(report) + "\n";
  if (report.reading.damage)
    text += "INCOMPLETE: what is behind byte " + std::to_string(report.reading.damage->offset) + " is not counted\n";
  text += "\n";
  if (report.on_gpu()) {
    const std::string ops = op_lines(report, rows, width);
    if (!ops.empty()) text += ops + "\n";
    text += kernel_lines(report, rows, width) + "\n";
  } else if (!report.table.op_rows.empty()) {
    text += cpu_lines(report, rows, width) + "\n";
  }
  return text + finding_lines(report);
}

std::string change_text(const TraceReport& before, const TraceReport& after, const TraceChange& change,
                        std::size_t rows, Style style) {
  const std::size_t width = name_width(style);
  const std::string each = change.per_step ? " a step" : " in all";
  std::string text = "\n" + printable(after.file) + " against " + printable(before.file) + ": GPU time" + each +
                     " from " + milliseconds(change.before_gpu_us) + " to " + milliseconds(change.after_gpu_us);
  if (change.before_step_us > 0 && change.after_step_us > 0)
    text += ", a step from " + milliseconds(change.before_step_us) + " to " + milliseconds(change.after_step_us);
  text += "\n" + pad("operator or kernel, us" + each, width) + pad_left("before", 12) + pad_left("after", 12) +
          pad_left("change", 12) + pad_left("calls", 14) + "\n";
  std::size_t shown = 0;
  for (const ChangedRow& row : change.rows) {
    if (shown == rows) break;
    ++shown;
    const std::string sign = row.change_us() > 0 ? "+" : "";
    text += pad(cut(row.name + (row.inputs.empty() ? "" : " " + row.inputs), width - 1), width) +
            pad_left(row.before_calls > 0 ? fixed(row.before_us, 1) : "-", 12) +
            pad_left(row.after_calls > 0 ? fixed(row.after_us, 1) : "-", 12) +
            pad_left(sign + fixed(row.change_us(), 1), 12) +
            pad_left(count_words(row.before_calls) + " > " + count_words(row.after_calls), 14) + "\n";
  }
  return text + rest_line(shown, change.rows.size());
}

std::string trace_warnings(const TraceReport& report) {
  std::string text;
  for (const TraceWarning& each : report.reading.warnings)
    text += "warning: " + printable(report.file) + ": " + each.what + ": " + grouped(each.count) + ", first at byte " +
            std::to_string(each.offset) + "\n";
  return text;
}

}  // namespace suture
