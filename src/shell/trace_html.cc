// The page of `suture trace --html`: one file, no network, readable without its script. See trace_report.h.
// Tests: tests/trace/page_test.py; in a browser: `make test-page`.
#include <algorithm>
#include <map>

#include "engine/trace_shapes.h"
#include "shell/trace_page.h"
#include "shell/trace_report.h"
#include "shell/words.h"

namespace suture {
namespace {

constexpr std::size_t kColours = 8;
constexpr std::size_t kMostCalls = 6000;  // of the timeline; what is behind is said to be left out
constexpr std::size_t kMostRows = 200;
constexpr int kTicks = 5;

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string file_of(std::string_view name) {
  for (const NamedBytes& file : trace_page_files()) {
    if (file.path.ends_with(name)) return file.bytes;
  }
  return "";
}

std::string ms(double us) {
  return fixed(us / 1000, us < 10'000 ? 3 : 1) + " ms";
}
std::string percent(double share) {
  return fixed(share * 100, 1) + " %";
}

// An operator with its inputs, or a kernel that none is known of.
std::string part_name(const TraceReport& report, std::uint32_t op, std::uint32_t work) {
  return op != kNone ? report.table.ops[op].name + " " + short_inputs(report.table.ops[op])
                     : short_kernel_name(report.trace.works[work].name);
}

// A colour for each of the largest, the same in every picture of the page.
class Colours {
 public:
  void add(const TraceReport& report) {
    for (const KernelRow& row : report.table.kernel_rows)
      time_[part_name(report, row.op, row.work)] += static_cast<double>(row.times.self_ns);
  }
  void settle() {
    std::vector<std::pair<double, std::string>> order;
    for (const auto& [name, time] : time_) order.emplace_back(-time, name);
    std::sort(order.begin(), order.end());
    for (std::size_t i = 0; i < order.size() && i < kColours; ++i) {
      colours_[order[i].second] = i;
      names_.push_back(order[i].second);
    }
  }
  [[nodiscard]] std::size_t of(const std::string& name) const {
    const auto found = colours_.find(name);
    return found == colours_.end() ? kColours : found->second;
  }
  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  static std::string css(std::size_t colour) { return colour < kColours ? "f" + std::to_string(colour) : "fo"; }

 private:
  std::map<std::string, double> time_;
  std::map<std::string, std::size_t> colours_;
  std::vector<std::string> names_;
};

// --- the bar ---------------------------------------------------------------------------------------------------------

// Widths are of `scale_us`, so that two bars compare.
std::string bar(const TraceReport& report, const Colours& colours, double scale_us) {
  std::vector<double> us(kColours + 1);
  const double divisor = report.steps.steps.empty() ? 1 : report.steps.count();
  for (const KernelRow& row : report.table.kernel_rows)
    us[colours.of(part_name(report, row.op, row.work))] += static_cast<double>(row.times.self_ns) / 1000 / divisor;
  std::string html = "<div class=\"bar\" role=\"img\" aria-label=\"parts of a step; the table below has the numbers\">";
  for (std::size_t i = 0; i <= kColours; ++i) {
    if (us[i] <= 0) continue;
    const double part = us[i] / scale_us;
    const std::string name = i < kColours ? colours.names()[i] : "others";
    html += "<span class=\"" + Colours::css(i) + (part < 0.06 ? " thin" : "") +
            "\" style=\"width:" + fixed(part * 100, 3) + "%\" title=\"" + escaped(name) + ": " + ms(us[i]) + "\">" +
            (part < 0.06 ? "" : ms(us[i])) + "</span>";
  }
  return html + "</div>";
}

double scale_of(const TraceReport& report) {
  const double divisor = report.steps.steps.empty() ? 1 : report.steps.count();
  const double sum = static_cast<double>(report.table.gpu_ns) / 1000 / divisor;
  const double wall = report.steps.steps.empty() ? report.table.wall_ns / 1000 : report.step_us();
  return std::max({sum, wall, 1e-9});
}

std::string legend(const Colours& colours) {
  std::string html = "<ul class=\"legend\">";
  for (std::size_t i = 0; i < colours.names().size(); ++i)
    html += "<li><span class=\"swatch " + Colours::css(i) + "\"></span><span class=\"name\">" +
            escaped(colours.names()[i]) + "</span></li>";
  return html +
         "<li><span class=\"swatch fo\"></span>others</li><li><span class=\"swatch fi\"></span>nothing runs on the "
         "GPU</li></ul>\n";
}

std::string step_bars(const TraceReport& report, const TraceReport* before, const Colours& colours) {
  const std::string each = report.steps.steps.empty() ? "The whole trace" : "A step";
  std::string html = "<h2>" + each + ", by operator</h2>\n";
  const double scale = before == nullptr ? scale_of(report) : std::max(scale_of(report), scale_of(*before));
  if (before == nullptr) {
    html += bar(report, colours, scale) + "\n";
  } else {
    html += "<div class=\"bars\"><span>before</span>" + bar(*before, colours, scale) + "<span>after</span>" +
            bar(report, colours, scale) + "</div>\n";
  }
  html += legend(colours);
  return html + "<p class=\"soft\">GPU time on average; the whole width is " + ms(scale) +
         (report.steps.steps.empty() ? ""
                                     : ", a step's median wall time or the sum of its calls, whichever is longer") +
         ".</p>\n";
}

// --- the timeline ----------------------------------------------------------------------------------------------------

std::string rectangles(const TraceReport& report, std::size_t step, const Colours& colours,
                       std::vector<std::uint32_t>& lanes, std::size_t& left_out) {
  const TraceStep& shown = report.steps.steps[step];
  std::string html;
  std::size_t calls = 0;
  for (const GpuCall& call : report.trace.calls) {
    if (call.step != step) continue;
    if (++calls > kMostCalls) {
      ++left_out;
      continue;
    }
    auto lane = std::find(lanes.begin(), lanes.end(), call.stream);
    if (lane == lanes.end()) lane = lanes.insert(lanes.end(), call.stream);
    const std::string name = part_name(report, report.table.op_of(report.trace, call), call.work);
    const double x = static_cast<double>(call.start_ns - shown.begin_ns) / 1000;
    html += "<rect class=\"" + Colours::css(colours.of(name)) + "\" x=\"" + fixed(x, 2) + "\" y=\"" +
            std::to_string((lane - lanes.begin()) * 30 + 2) + "\" width=\"" +
            fixed(static_cast<double>(call.duration_ns) / 1000, 2) + "\" height=\"24\"><title>" + escaped(name) + ", " +
            fixed(static_cast<double>(call.duration_ns) / 1000, 2) + " us at " + fixed(x, 1) + " us</title></rect>";
  }
  return html;
}

std::string axis(double length_us) {
  std::string html = "<div class=\"axis\" aria-hidden=\"true\">";
  for (int i = 0; i <= kTicks; ++i) html += "<span>" + ms(length_us * i / kTicks) + "</span>";
  return html + "</div>\n";
}

// `id`: of the drawing, another one for each trace of the page.
std::string timeline(const TraceReport& report, const Colours& colours, const std::string& id) {
  if (report.steps.steps.empty() || !report.on_gpu()) return "";
  const std::size_t step = report.steps.typical();
  const double length = std::max(1.0, static_cast<double>(report.steps.steps[step].wall_ns()) / 1000);
  std::vector<std::uint32_t> lanes;
  std::size_t left_out = 0;
  const std::string calls = rectangles(report, step, colours, lanes, left_out);
  const std::string height = std::to_string(std::max<std::size_t>(1, lanes.size()) * 30);
  const std::string box =
      "viewBox=\"0 0 " + fixed(length, 2) + " " + height + "\" preserveAspectRatio=\"none\" height=\"" + height + "\"";
  // About four pixels for a call, within reason.
  const double wide = std::clamp(static_cast<double>(report.steps.steps[step].calls) * 8, 1300.0, 16000.0);
  std::string html = "<h2>One step, in time</h2>\n<p>Step <code>" + escaped(report.steps.steps[step].label) +
                     "</code>, " + ms(length) + ", the one of median length; a row for each of " +
                     count_of(lanes.size(), "stream", "streams") +
                     ". The whole step, then the same drawn wider, to be scrolled (with the arrow keys too).</p>\n";
  html += "<div class=\"scroll\"><svg role=\"img\" aria-label=\"the whole step\" width=\"100%\" " + box +
          "><use href=\"#" + id + "\"/></svg></div>\n" + axis(length);
  html +=
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"the step drawn wider; scroll sideways\" "
      "style=\"margin-top:.5rem\"><svg width=\"" +
      fixed(wide, 0) + "\" " + box + "><g id=\"" + id + "\">" + calls + "</g></svg></div>\n";
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const GpuStream& stream = report.trace.streams[lanes[i]];
    html += "<p class=\"soft\">row " + std::to_string(i + 1) + ": device " + escaped(stream.device) + ", stream " +
            escaped(stream.stream) + "</p>\n";
  }
  if (left_out > 0)
    html += "<p class=\"soft\">The last " + grouped(left_out) + " calls of the step are not drawn.</p>\n";
  return html;
}

// --- tables ----------------------------------------------------------------------------------------------------------

std::string cell(double value, int decimals, bool known = true) {
  return known ? "<td data-v=\"" + fixed(value, 6) + "\">" + fixed(value, decimals) + "</td>"
               : "<td data-v=\"-1\">-</td>";
}

std::string times_cells(const RowTimes& times) {
  return "<td data-v=\"" + std::to_string(times.calls) + "\">" + grouped(times.calls) + "</td>" +
         cell(times.calls_a_step, 1, times.calls_a_step > 0) + cell(static_cast<double>(times.self_ns) / 1e6, 3) +
         cell(static_cast<double>(times.total_ns) / 1e6, 3) + cell(times.median_us, 2, times.median_us > 0) +
         cell(times.p99_us, 2, times.p99_us > 0) + cell(times.share * 100, 1) + cell(times.wall_share * 100, 1) +
         cell(times.gigabytes_a_second, 0, times.gigabytes_a_second > 0);
}

constexpr std::string_view kTimesHeads =
    "<th scope=\"col\">calls</th><th scope=\"col\">a step</th><th scope=\"col\">self ms</th><th scope=\"col\">total "
    "ms</th>"
    "<th scope=\"col\">median us</th><th scope=\"col\">p99 us</th><th scope=\"col\">share %</th><th scope=\"col\">of "
    "wall %</th>"
    "<th scope=\"col\">GB/s</th></tr></thead>\n<tbody>\n";

std::string table_begin(std::string_view caption, std::string_view first) {
  return "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" + std::string(first) +
         "s\"><table class=\"sortable\"><caption>" + std::string(caption) + "</caption><thead><tr><th scope=\"col\">" +
         std::string(first) + "</th>" + std::string(kTimesHeads);
}

std::string op_rows(const TraceReport& report) {
  std::string html;
  std::size_t rows = 0;
  for (const OpRow& row : report.table.op_rows) {
    if (report.on_gpu() && row.times.total_ns == 0) continue;
    if (++rows > kMostRows) break;
    const TraceOp& op = report.table.ops[row.op];
    html += "<tr><td><span class=\"name\">" + escaped(op.name) + "</span>" + (op.inferred ? " (inferred)" : "") +
            " <span class=\"name inputs\">" + escaped(short_inputs(op)) + "</span></td>" + times_cells(row.times) +
            "</tr>\n";
  }
  return html;
}

std::string kernel_rows(const TraceReport& report) {
  std::string html;
  std::size_t rows = 0;
  for (const KernelRow& row : report.table.kernel_rows) {
    if (++rows > kMostRows) break;
    const GpuWork& work = report.trace.works[row.work];
    html += "<tr><td><span class=\"name\" title=\"" + escaped(work.name) + "\">" +
            escaped(short_kernel_name(work.name)) + "</span> <span class=\"name inputs\">" + escaped(work.grid) +
            "</span></td>" + times_cells(row.times) + "</tr>\n";
  }
  return html;
}

std::string tables(const TraceReport& report) {
  constexpr std::string_view end = "</tbody></table></div>\n";
  std::string html;
  if (const std::string rows = op_rows(report); !rows.empty()) {
    html +=
        "<h2>Operators</h2>\n" +
        table_begin(
            "Self: kernels that the operator launched itself; total: with the operators that it called. Share: of the "
            "sum of "
            "all calls on the GPU; of wall: of the time from the first to the last, overlapping streams counted once.",
            "operator") +
        rows + std::string(end);
  }
  if (const std::string rows = kernel_rows(report); !rows.empty())
    html += "<h2>Kernels</h2>\n" + table_begin("Each with its launch shape; copies and fills too.", "kernel") + rows +
            std::string(end);
  return html;
}

std::string change_table(const TraceChange& change) {
  const std::string each = change.per_step ? "a step" : "in all";
  std::string html = "<h2>Before and after</h2>\n<p>GPU time " + each + " went from " + ms(change.before_gpu_us) +
                     " to " + ms(change.after_gpu_us) + "." +
                     (change.before_step_us > 0 && change.after_step_us > 0
                          ? " A step went from " + ms(change.before_step_us) + " to " + ms(change.after_step_us) + "."
                          : "") +
                     "</p>\n";
  html +=
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"what changed\"><table "
      "class=\"sortable\"><caption>Microseconds " +
      each +
      ", matched by name and inputs, the largest change first.</caption><thead><tr><th scope=\"col\">operator or "
      "kernel</th>"
      "<th scope=\"col\">before</th><th scope=\"col\">after</th><th scope=\"col\">change</th><th scope=\"col\">calls "
      "before</th>"
      "<th scope=\"col\">calls after</th></tr></thead>\n<tbody>\n";
  std::size_t rows = 0;
  for (const ChangedRow& row : change.rows) {
    if (++rows > kMostRows) break;
    const char* how = row.change_us() > 0 ? "slower" : "faster";
    html += "<tr><td><span class=\"name\">" + escaped(row.name) + "</span> <span class=\"name inputs\">" +
            escaped(row.inputs) + "</span></td>" + cell(row.before_us, 1, row.before_calls > 0) +
            cell(row.after_us, 1, row.after_calls > 0) + "<td class=\"" + how + "\" data-v=\"" +
            fixed(row.change_us(), 6) + "\">" + (row.change_us() > 0 ? "+" : "") + fixed(row.change_us(), 1) + "</td>" +
            cell(row.before_calls, 1, row.before_calls > 0) + cell(row.after_calls, 1, row.after_calls > 0) + "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

// --- words -----------------------------------------------------------------------------------------------------------

std::string facts(const TraceReport& report) {
  std::string html = "<dl class=\"facts\">";
  const auto fact = [&html](std::string_view name, const std::string& value) {
    html += "<div><dt>" + std::string(name) + "</dt><dd>" + value + "</dd></div>";
  };
  fact("steps", report.steps.steps.empty() ? "none found" : std::to_string(report.steps.steps.size()));
  if (report.step_us() > 0) fact("a step (median)", ms(report.step_us()));
  if (report.on_gpu()) {
    fact("GPU time in all", ms(static_cast<double>(report.table.gpu_ns) / 1000));
    fact("GPU busy", percent(report.table.wall_ns > 0 ? report.table.busy_ns / report.table.wall_ns : 0));
  }
  fact("kernels", grouped(report.table.kernels));
  fact("operators on the CPU", grouped(report.trace.cpu_ops));
  if (!report.findings.empty()) fact("wasted, of GPU time", percent(report.found_share()));
  return html + "</dl>\n";
}

std::string finding_card(const TraceReport& report, const Finding& finding) {
  std::string html = "<section class=\"finding\"><h3>" + std::string(finding_name(finding.kind)) + "</h3>\n<p>" +
                     escaped(finding_words(report, finding)) + ".</p>\n";
  for (std::size_t i = 0; i < finding.stacks.size() && i < 2; ++i) {
    html += "<details><summary>called from (" + count_of(finding.stacks[i].calls, "call", "calls") +
            " looked at)</summary><ol class=\"stack\">";
    for (const std::string& frame : finding.stacks[i].frames) html += "<li><code>" + escaped(frame) + "</code></li>";
    html += "</ol></details>\n";
  }
  for (const CodeSite& site : finding.sites)
    html += "<p><code>" + escaped(site.path) + ":" + std::to_string(site.line) + "</code>: <code>" +
            escaped(site.text) + "</code></p>\n";
  if (!finding.patches.empty()) {
    html += "<p>Taken out by ";
    for (std::size_t i = 0; i < finding.patches.size(); ++i)
      html += (i > 0 ? " or " : "") + ("<code>suture apply " + escaped(finding.patches[i]) + "</code>");
    html += ".</p>\n";
  }
  return html + "</section>\n";
}

std::string findings(const TraceReport& report) {
  std::string html = "<h2>Findings</h2>\n";
  if (report.findings.empty())
    return html +
           "<p>None: no cast of a whole pool, no gather larger than its pool, no copy without a change above the "
           "threshold.</p>\n";
  for (const Finding& finding : report.findings) html += finding_card(report, finding);
  return html + "<p>" + escaped(outlook_words(report)) + "</p>\n";
}

std::string warnings(const TraceReport& report) {
  std::string html;
  if (report.reading.damage)
    html += "<p class=\"warn\" role=\"alert\">The file is damaged at byte " +
            std::to_string(report.reading.damage->offset) + ": " + escaped(report.reading.damage->why) +
            ". What is behind it is not counted.</p>\n";
  for (const TraceWarning& each : report.reading.warnings)
    html += "<p class=\"warn\">" + escaped(each.what) + ": " + grouped(each.count) + ", first at byte " +
            std::to_string(each.offset) + ".</p>\n";
  return html;
}

std::string trace_section(const TraceReport& report, const TraceReport* before, const TraceChange* change,
                          std::size_t index) {
  Colours colours;
  colours.add(report);
  if (before != nullptr) colours.add(*before);
  colours.settle();
  std::string html = "<h1>" + escaped(report.file) + "</h1>\n";
  if (before != nullptr) html += "<p>against <code>" + escaped(before->file) + "</code></p>\n";
  html += warnings(report);
  if (before != nullptr) html += warnings(*before);
  html += "<p class=\"soft\">" + escaped(reading_words(report)) + ".</p>\n" + facts(report) + findings(report);
  if (report.on_gpu()) html += step_bars(report, before, colours);
  if (change != nullptr) html += change_table(*change);
  return html + timeline(report, colours, "calls-" + std::to_string(index)) + tables(report);
}

}  // namespace

std::string trace_page(const std::vector<TraceReport>& reports, const TraceReport* before, const TraceChange* change) {
  std::string html =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      // Nothing may be fetched, whatever a name in a trace says.
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'; img-src data:\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n<title>suture trace: " +
      escaped(reports.front().file) + "</title>\n<style>\n" + file_of("page.css") +
      "</style>\n</head>\n<body>\n<main>\n";
  for (std::size_t i = 0; i < reports.size(); ++i) html += trace_section(reports[i], before, change, i);
  return html + "</main>\n<footer><p class=\"soft\">suture " SUTURE_VERSION "</p></footer>\n<script>\n" +
         file_of("page.js") + "</script>\n</body>\n</html>\n";
}

}  // namespace suture
