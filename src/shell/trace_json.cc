// `suture trace --json`. Its fields are a promise: docs/json-schema/trace.schema.json. Tests: tests/trace.
#include <nlohmann/json.hpp>

#include "engine/trace_shapes.h"
#include "shell/trace_report.h"

namespace suture {
namespace {

using Json = nlohmann::ordered_json;

double us_of(std::int64_t ns) {
  return static_cast<double>(ns) / 1000;
}

Json known(double value) {
  return value > 0 ? Json(value) : Json();
}

Json times_json(const RowTimes& times) {
  Json json = {{"calls", times.calls}, {"calls_per_step", known(times.calls_a_step)}};
  json["self_us"] = us_of(times.self_ns);
  json["total_us"] = us_of(times.total_ns);
  json["step_us"] = known(times.step_us);
  json["median_us"] = known(times.median_us);
  json["p99_us"] = known(times.p99_us);
  json["share"] = times.share;
  json["wall_share"] = times.wall_share;
  json["bytes"] = times.bytes > 0 ? Json(times.bytes) : Json();
  json["gb_per_s"] = known(times.gigabytes_a_second);
  return json;
}

// JSON that the profiler wrote, as JSON; what is not there is null.
Json as_json(const std::string& text) {
  if (text.empty()) return {};
  const Json json = Json::parse(text, nullptr, false);
  return json.is_discarded() ? Json() : json;
}

Json inputs_json(const TraceOp& op) {
  Json json = Json::object();
  json["dims"] = as_json(op.dims);
  json["types"] = as_json(op.types);
  return json;
}

std::string_view how_name(TraceSteps::How how) {
  using How = TraceSteps::How;
  switch (how) {
    case How::none:
      return "none";
    case How::given:
      return "given";
    case How::profiler_step:
      return "profiler-step";
    case How::annotation:
      return "annotation";
    case How::graph_launch:
      return "graph-launch";
    case How::pattern:
      return "pattern";
  }
  return "";
}

Json steps_json(const TraceReport& report) {
  Json json = {
      {"count", report.steps.steps.size()}, {"found_by", how_name(report.steps.how)}, {"name", report.steps.name}};
  json["median_us"] = known(report.step_us());
  json["calls_outside"] = report.steps.outside;
  json["steps"] = Json::array();
  for (const TraceStep& step : report.steps.steps) {
    json["steps"].push_back({{"label", step.label},
                             {"wall_us", us_of(step.wall_ns())},
                             {"gpu_us", us_of(step.gpu_ns)},
                             {"calls", step.calls}});
  }
  return json;
}

Json finding_json(const TraceReport& report, const Finding& finding) {
  Json json = {{"finding", finding_name(finding.kind)},
               {"words", finding_words(report, finding)},
               {"inferred", finding.inferred}};
  json["slots"] = finding.slots > 0 ? Json(finding.slots) : Json();
  json["columns"] = finding.columns > 0 ? Json(finding.columns) : Json();
  if (finding.rows > 0) json["rows"] = finding.rows;
  json["from"] = finding.from.empty() ? Json() : Json(finding.from);
  json["to"] = finding.to.empty() ? Json() : Json(finding.to);
  json["times"] = times_json(finding.times);
  json["steps"] = finding.in_steps;
  json["patches"] = finding.patches;
  json["stacks"] = Json::array();
  for (const CallStack& stack : finding.stacks)
    json["stacks"].push_back({{"frames", stack.frames}, {"calls", stack.calls}});
  json["sites"] = Json::array();
  for (const CodeSite& site : finding.sites) {
    json["sites"].push_back(
        {{"patch", site.patch}, {"rule", site.rule}, {"path", site.path}, {"line", site.line}, {"text", site.text}});
  }
  return json;
}

Json report_json(const TraceReport& report) {
  Json json = {{"file", report.file}, {"compression", packing_name(report.packing)}};
  json["events"] = report.reading.events;
  json["bytes"] = report.reading.bytes;
  json["cpu_ops"] = report.trace.cpu_ops;
  json["python_functions"] = report.trace.python_functions;
  json["kernels"] = report.table.kernels;
  json["kernel_us"] = us_of(report.table.kernel_ns);
  json["gpu_us"] = us_of(report.table.gpu_ns);
  json["busy_us"] = report.table.busy_ns / 1000;
  json["wall_us"] = report.table.wall_ns / 1000;
  json["without_operator"] = report.table.without_operator;
  json["steps"] = steps_json(report);
  json["operators"] = Json::array();
  for (const OpRow& row : report.table.op_rows) {
    const TraceOp& op = report.table.ops[row.op];
    Json each = {{"operator", op.name}, {"inputs", inputs_json(op)}, {"inferred", op.inferred}};
    each.update(times_json(row.times));
    each["cpu_us"] = us_of(row.cpu_ns);
    each["cpu_self_us"] = us_of(row.cpu_self_ns);
    json["operators"].push_back(std::move(each));
  }
  json["kernel_rows"] = Json::array();
  for (const KernelRow& row : report.table.kernel_rows) {
    const GpuWork& work = report.trace.works[row.work];
    Json each = {{"kernel", work.name}, {"short", short_kernel_name(work.name)}};
    each["grid"] = as_json(work.grid);
    each["block"] = as_json(work.block);
    each["operator"] = row.op == kNone ? Json() : Json(report.table.ops[row.op].name);
    each.update(times_json(row.times));
    json["kernel_rows"].push_back(std::move(each));
  }
  json["findings"] = Json::array();
  for (const Finding& finding : report.findings) json["findings"].push_back(finding_json(report, finding));
  json["outlook"] = outlook_words(report);
  json["complete"] = !report.reading.damage.has_value();
  if (report.reading.damage)
    json["damage"] = {{"offset", report.reading.damage->offset}, {"why", report.reading.damage->why}};
  json["warnings"] = Json::array();
  for (const TraceWarning& each : report.reading.warnings)
    json["warnings"].push_back({{"what", each.what}, {"count", each.count}, {"offset", each.offset}});
  return json;
}

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string trace_json(const std::vector<TraceReport>& reports) {
  Json json = Json::array();
  for (const TraceReport& report : reports) json.push_back(report_json(report));
  return dumped(json);
}

std::string change_json(const TraceReport& before, const TraceReport& after, const TraceChange& change) {
  Json json = {{"before", before.file}, {"after", after.file}, {"per_step", change.per_step}};
  json["step_us"] = {{"before", known(change.before_step_us)}, {"after", known(change.after_step_us)}};
  json["gpu_us"] = {{"before", change.before_gpu_us}, {"after", change.after_gpu_us}};
  json["rows"] = Json::array();
  for (const ChangedRow& row : change.rows) {
    json["rows"].push_back({{"name", row.name},
                            {"inputs", row.inputs},
                            {"before_us", row.before_us},
                            {"after_us", row.after_us},
                            {"change_us", row.change_us()},
                            {"before_calls", row.before_calls},
                            {"after_calls", row.after_calls}});
  }
  json["before_complete"] = !before.reading.damage.has_value();
  return dumped(json);
}

}  // namespace suture
