// suture trace: where a profiler trace loses its time.
#include <charconv>

#include "effects/output_file.h"
#include "shell/planning.h"
#include "shell/trace_report.h"
#include "shell/words.h"

namespace suture {
namespace {

Error usage(std::string message, std::string hint) {
  return {Exit::usage, std::move(message), std::nullopt, std::move(hint)};
}

Result<TraceRequest> request_of(const Session& session) {
  TraceRequest request;
  request.steps = session.options().value("--steps");
  const Result<int> threshold = number_option(session, "--threshold", 64, 0, 1'000'000);
  if (!threshold) return threshold.error();
  request.findings.threshold = std::int64_t{*threshold} << 20U;
  const Result<int> columns = number_option(session, "--columns", 576, 1, 1'000'000);
  if (!columns) return columns.error();
  request.findings.columns = *columns;
  return request;
}

// The patches that take out what was found, and where their rules find that code in --tree; where they find none, why.
Status add_patches(const Session& session, std::vector<TraceReport>& reports, Report& out) {
  const Result<Catalog> catalog = session.open_catalog();
  if (!catalog) return catalog.error();
  const bool in_tree = session.options().flag("--tree") || session.options().flag("--python");
  std::map<std::string, std::vector<CodeSite>> sites;  // by patch
  for (TraceReport& report : reports) {
    for (Finding& finding : report.findings) {
      finding.patches = patches_for(finding, catalog->patches);
      if (!in_tree || finding.patches.empty()) continue;
      const std::string& name = finding.patches.front();
      if (!sites.contains(name)) {
        const Patch& patch = *catalog->find(name);
        const PackageGroup group = group_by_package({&patch}).front();
        Result<Target> target = load_target(session, *catalog, group, session.options().value("--tree"));
        if (!target) return target.error();
        note_where(session, target->tree, out);
        const PatchOutcome outcome = judge(target->state, patch, catalog->patches);
        sites[name] = sites_of(finding.kind, outcome, patch, group.folder);
        if (sites[name].empty())
          note(session, out, "note: " + target->state.display + ": " + name + ": " + verdict_phrase(outcome) + "\n");
      }
      finding.sites = sites[name];
    }
  }
  if (in_tree && sites.empty())
    note(session, out, "note: the tree was not looked at: no patch takes out what was found, or nothing was found\n");
  return Nothing{};
}

// A damaged trace is told, and is a failure: its figures are those of a part.
void tell_damage(const TraceReport& each, Report& report) {
  std::optional<Error> error = damage_of(each);
  if (!error) return;
  if (error->hint.empty()) error->hint = "what comes before is reported; the figures are of that part";
  report.fail(std::move(*error));
}

// A page over a trace that it is made of would cost the trace.
std::optional<Error> page_over_trace(const Session& session, const std::string& against) {
  const std::string page = session.options().value("--html");
  if (page.empty()) return std::nullopt;
  const auto same = [&](const std::string& file) {
    return !file.empty() && lead_to_one_file(session.fs(), page, file);
  };
  for (const std::string& file : session.options().names) {
    if (same(file)) return usage("--html " + page + " is the trace " + file + " itself", "give the page another name");
  }
  if (same(against)) return usage("--html " + page + " is the trace of --against itself", "give the page another name");
  return std::nullopt;
}

Report run(const Session& session) {
  Report report;
  const Options& options = session.options();
  const Result<TraceRequest> request = request_of(session);
  if (!request) return report.fail(request.error()), report;
  const Result<int> top = number_option(session, "--top", 12, 1, 100'000);
  if (!top) return report.fail(top.error()), report;
  const std::string against = options.value("--against");
  if (!against.empty() && options.names.size() > 1)
    return report.fail(usage("--against compares one FILE with another, and several are given", "give one FILE")),
           report;
  if (auto error = page_over_trace(session, against)) return report.fail(std::move(*error)), report;

  std::vector<TraceReport> reports;
  for (const std::string& file : options.names) {
    Result<TraceReport> one = analyse_trace(session, file, *request);
    if (!one) {
      report.fail(one.error());
      continue;
    }
    reports.push_back(std::move(*one));
  }
  std::optional<TraceReport> before;
  if (!against.empty() && !reports.empty()) {
    Result<TraceReport> one = analyse_trace(session, against, *request);
    if (!one) return report.fail(one.error()), report;
    before = std::move(*one);
  }
  if (Status added = add_patches(session, reports, report); !added) return report.fail(added.error()), report;

  std::optional<TraceChange> change;
  if (before) change = compare_traces(before->analysed(), reports.front().analysed());
  for (const TraceReport& each : reports) {
    if (!options.quiet) report.err += trace_warnings(each);
    tell_damage(each, report);
  }
  if (before) {
    if (!options.quiet) report.err += trace_warnings(*before);
    tell_damage(*before, report);
  }
  if (options.json) {
    report.traces = trace_json(reports);
    if (change) report.comparison = change_json(*before, reports.front(), *change);
  } else {
    for (const TraceReport& each : reports)
      report.out += (report.out.empty() ? "" : "\n") + trace_text(each, static_cast<std::size_t>(*top), session.out());
    if (change)
      report.out += change_text(*before, reports.front(), *change, static_cast<std::size_t>(*top), session.out());
  }
  if (const std::string page = options.value("--html"); !page.empty() && !reports.empty()) {
    const Status written =
        write_output(session.fs(), page, trace_page(reports, before ? &*before : nullptr, change ? &*change : nullptr));
    if (!written) return report.fail(written.error()), report;
    note(session, report, "note: wrote " + page + "\n");
  }
  return report;
}

}  // namespace

Command trace_command() {
  return {
      .name = "trace",
      .summary = "where a profiler trace loses its time, and which patch takes that out",
      .details =
          "FILE is a trace of torch.profiler (export_chrome_trace), plain, .gz or .zst, of any size.\n"
          "Tables of operators and kernels, then what is wasted: casts of a whole pool, gathers that are larger than\n"
          "the pool, copies that change nothing. With --tree or --python: where that code is. A damaged file is\n"
          "reported as far as it can be read, with exit code 6.",
      .positionals = {"FILE", 1, kAnyNumber},
      .trees = Command::Trees::one,
      .options = {{"--against", "FILE", "compare with this trace, as it was before: what became faster and slower",
                   false},
                  {"--steps", "WHAT", "a number of steps, or what the names of their annotations begin with", false},
                  {"--top", "N", "rows of a table (12)", false},
                  {"--threshold", "MIB", "what a call must move at least to be a finding (64)", false},
                  {"--columns", "N", "columns of the pool, where no operator tells its shape (576)", false},
                  {"--html", "FILE", "write a page with bar, timeline, tables and findings", false}},
      .run = run,
  };
}

}  // namespace suture
