#include "report.h"

#include <algorithm>
#include <cstdio>

namespace verify {
namespace {

std::string text(const char* format, auto... values) {
  char buffer[400];
  std::snprintf(buffer, sizeof buffer, format, values...);
  return buffer;
}

const char* how(bool in_graph) {
  return in_graph ? "graph replay" : "eager";
}

std::string finding_line(const Finding& finding) {
  return std::string("        ") + name_of(finding.way) + ", " + how(finding.in_graph) +
         (finding.step == 0 ? ", first step: " : ", second step: ") + finding.what + "\n";
}

double ms_a_step(double us, const Options& options) {
  return us * options.layers / 1000;
}

}  // namespace

int cases_in(const PartReport& part) {
  int count = 0;
  for (const Report& report : part.seeds) count += static_cast<int>(report.cases.size());
  return count;
}

int failed_in(const PartReport& part) {
  int count = 0;
  for (const Report& report : part.seeds) count += report.failed;
  return count;
}

std::string case_line(const CaseReport& c, bool planted) {
  const bool holds = c.findings.empty();
  std::string line = text("  %-6s %-6s %3d heads  ",
                          holds     ? "ok"
                          : planted ? "caught"
                                    : "FAIL",
                          name_of(c.type), c.heads) +
                     c.name;
  line += text(": error %.2e, %.2f of the bound, relative L2 %.2e (seed %llu)\n", c.exact.largest_error,
               c.exact.largest_share, c.exact.relative_l2, static_cast<unsigned long long>(c.seed));
  if (planted) return line;
  for (const Finding& finding : c.findings) line += finding_line(finding);
  return line;
}

std::string part_text(const PartReport& part, Plant plant) {
  int comparisons = 0;
  for (const Report& report : part.seeds) comparisons += report.comparisons;
  if (plant == Plant::none) {
    const int failed = failed_in(part);
    std::string line = part.name + text(" part: %d cases, %d comparisons: ", cases_in(part), comparisons);
    return line + (failed == 0 ? "all hold\n" : text("%d cases FAILED\n", failed));
  }
  std::string lines;
  for (const Catch& found : part.caught) {
    lines += part.name + text(" part, %s, %s: ", name_of(found.way), how(found.in_graph));
    lines += found.caught == 0
                 ? "NOT CAUGHT\n"
                 : text("caught in %d of %d cases; the first: ", found.caught, cases_in(part)) + found.first + "\n";
  }
  return lines;
}

std::string bench_text(const Bench& bench, const Options& options) {
  std::string out = text(
      "\nA device copy of the shadow's size: %.0f GB/s, read plus written. Whole cast by our kernel: %.1f us a "
      "layer.\n\n",
      bench.copy_gb_s, bench.whole_us);
  out += "The cast, against a kernel that moves the same bytes between the same places:\n";
  out += text("%9s  %-11s %8s %8s %7s %8s %7s %6s %9s  %s\n", "slots", "order", "us/layer", "move us", "ratio", "MB",
              "GB/s", "of copy", "ms/step", "shape");
  for (const CastTime& time : bench.casts) {
    const double gb_s = time.bytes / time.us / 1000;
    out += text("%9lld  %-11s %8.2f %8.2f %7.3f %8.1f %7.0f %5.0f %% %9.2f  %s\n", static_cast<long long>(time.slots),
                time.order.c_str(), time.us, time.move_us, time.us / time.move_us, time.bytes / 1e6, gb_s,
                100 * gb_s / bench.copy_gb_s, ms_a_step(time.us, options), time.shape.c_str());
  }
  out += text("One shape for all of them, at most %.0f %% over the best: %s.\n", 100 * (bench.one_shape_ratio - 1),
              bench.one_shape.c_str());
  out += text("\nA layer, cast + attention by this program's own kernel, us; and ms a step of %d layers:\n",
              options.layers);
  out += text("%-14s %5s %8s  %17s %17s %17s  %8s %8s %8s\n", "batch", "heads", "slots", "whole", "gather", "shadow",
              "whole", "gather", "shadow");
  for (const LayerTime& time : bench.layers) {
    out += text("%-14s %5d %8lld ", time.batch.c_str(), time.heads, static_cast<long long>(time.slots));
    for (int way = 0; way < 3; ++way) out += text(" %8.1f+%8.1f", time.cast_us[way], time.attention_us[way]);
    out += " ";
    for (int way = 0; way < 3; ++way)
      out += text(" %8.2f", ms_a_step(time.cast_us[way] + time.attention_us[way], options));
    out += "\n";
  }
  return out;
}

}  // namespace verify
