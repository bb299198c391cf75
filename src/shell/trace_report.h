// What `suture trace` knows of one file, as a value, and the forms in which it is told: text, JSON, an HTML page.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/trace_compare.h"
#include "engine/trace_findings.h"
#include "read/inflate.h"
#include "shell/report_text.h"
#include "shell/session.h"

namespace suture {

struct TraceReport {
  std::string file;
  Packing packing = Packing::none;
  bool from_pipe = false;  // and so read once
  TraceReading reading;    // its warnings with those of the trace, and of the file
  Trace trace;
  TraceSteps steps;
  TraceTable table;
  std::vector<Finding> findings;

  [[nodiscard]] AnalysedTrace analysed() const { return {trace, steps, table}; }
  [[nodiscard]] bool on_gpu() const { return table.gpu_calls > 0; }
  // There were calls on the GPU, and none has a time: nothing can be said of it.
  [[nodiscard]] bool all_lost() const { return !on_gpu() && reading.lost_gpu_calls > 0; }
  // Part of the GPU time that the findings take, and their time in a step.
  [[nodiscard]] double found_share() const;
  [[nodiscard]] double found_step_us() const;  // in the step of median wall time
  [[nodiscard]] double step_us() const;        // median wall time of a step; 0: no steps
};

struct TraceRequest {
  std::string steps;
  FindingOptions findings;
};
// Reads and analyses one file. Error: it cannot be read, or is no trace. Progress goes to the session's stderr where that is a
// terminal.
Result<TraceReport> analyse_trace(const Session& session, const std::string& file, const TraceRequest& request);

// "30 steps (annotations step[#])"
std::string steps_words(const TraceSteps& steps);
// One sentence or two on what a finding is, with its numbers.
std::string finding_words(const TraceReport& report, const Finding& finding);
// What it would be without the findings, and what of that a server sees; empty: nothing was found.
std::string outlook_words(const TraceReport& report);
// What was read, in the words that stand above the tables.
std::string reading_words(const TraceReport& report);

std::string trace_text(const TraceReport& report, std::size_t rows, Style style);
std::string change_text(const TraceReport& before, const TraceReport& after, const TraceChange& change,
                        std::size_t rows, Style style);
// Warnings and damage, for stderr.
std::string trace_warnings(const TraceReport& report);

// A damaged trace is a failure: what was read of it is a part; the caller says what to do next (the hint is empty). So is one
// whose calls on the GPU have no times. nullopt: it is whole.
std::optional<Error> damage_of(const TraceReport& report);

// JSON: an array of one document a trace (docs/json-schema/trace.schema.json), and the comparison.
std::string trace_json(const std::vector<TraceReport>& reports);
std::string change_json(const TraceReport& before, const TraceReport& after, const TraceChange& change);

// One page that needs nothing else. `before` and `change`: of --against.
std::string trace_page(const std::vector<TraceReport>& reports, const TraceReport* before, const TraceChange* change);

}  // namespace suture
