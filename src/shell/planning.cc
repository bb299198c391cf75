#include "shell/planning.h"

#include <algorithm>
#include <utility>

#include "base/printable.h"
#include "effects/find_modules.h"
#include "engine/diff.h"
#include "engine/nearest.h"
#include "shell/compiling.h"

namespace suture {
namespace {

DiffSide side_of(const FileChange& change) {
  if (!change.before) return DiffSide::created;
  return change.after ? DiffSide::changed : DiffSide::removed;
}

bool any_outcome(const std::vector<Planned>& all, auto holds) {
  return std::any_of(all.begin(), all.end(), [&holds](const Planned& planned) {
    return std::any_of(planned.plan.outcomes.begin(), planned.plan.outcomes.end(), holds);
  });
}

void report_outcome(const Session& session, const PatchOutcome& outcome, bool any_refused, Report& report) {
  const bool strict = session.options().flag("--strict");
  const Exit code = exit_of(outcome, strict);
  report.worsen(code);
  if (outcome.fatal) {
    report.errors.push_back(*outcome.fatal);
    report.err += verdict_message(outcome, true, session.err());
  } else if (code != Exit::ok) {
    report.err += verdict_message(outcome, true, session.err());
  } else if (!would_change(outcome)) {
    note(session, report, verdict_message(outcome, false, session.err()));
  } else if (any_refused) {
    note(session, report, outcome.patch + ": " + verdict_phrase(outcome) + ", but held back: all or nothing\n");
  } else if (outcome.verdict == Verdict::outdated) {
    note(session, report, outcome.patch + ": " + verdict_phrase(outcome) + "; that is taken back first\n");
  }
  note(session, report, notes_of(outcome));
}

}  // namespace

Result<std::vector<Planned>> plan_patches(const Session& session, const Catalog& catalog,
                                          const std::vector<const Patch*>& patches, Lock lock) {
  const PlanOptions options{.strict = session.options().flag("--strict")};
  std::vector<Planned> all;
  for (const PackageGroup& group : group_by_package(patches)) {
    Result<Target> target = load_target(session, catalog, group, session.options().value("--tree"), lock);
    if (!target) return target.error();
    Plan plan = plan_apply(target->state, group.patches, catalog.patches, options);
    for (std::size_t i = 0; i < plan.outcomes.size(); ++i)
      look_elsewhere(session, *target, *group.patches[i], plan.outcomes[i]);
    all.push_back({std::move(*target), std::move(plan)});
  }
  if (Status compiled = check_compiles(session, all); !compiled) return compiled.error();
  return all;
}

void look_elsewhere(const Session& session, const Target& target, const Patch& patch, PatchOutcome& outcome) {
  const Verdict verdict = outcome.verdict;
  const bool about_code = verdict == Verdict::drifted || verdict == Verdict::absent || verdict == Verdict::foreign_edit;
  if (!about_code || !target.state.present || outcome.fatal) return;
  const Traces traces(outcome, patch);
  if (traces.empty()) return;
  const auto rank = [&traces](const std::string& path, const std::string& bytes) { return traces.rank(path, bytes); };
  add_moved_candidates(outcome, patch, find_modules(session.fs(), target.tree, rank));
}

Exit exit_of(const PatchOutcome& outcome, bool strict) {
  return outcome.fatal ? outcome.fatal->exit : verdict_exit(outcome.verdict, strict);
}

bool would_change(const PatchOutcome& outcome) {
  return !outcome.fatal && (outcome.verdict == Verdict::applicable || outcome.verdict == Verdict::outdated);
}

bool refused(const std::vector<Planned>& all, bool strict) {
  return any_outcome(all, [strict](const PatchOutcome& outcome) { return exit_of(outcome, strict) != Exit::ok; });
}

bool writes(const std::vector<Planned>& all) {
  return std::any_of(all.begin(), all.end(), [](const Planned& planned) { return planned.plan.writes(); });
}

std::string diff_of(const Target& target, const std::map<std::string, FileChange>& changes) {
  std::string text;
  for (const auto& [path, change] : changes) {
    text += unified_diff(shown_path(target, path), change.before ? *change.before : std::string_view(),
                         change.after ? *change.after : std::string_view(), side_of(change));
  }
  return text;
}

void report_plans(const Session& session, const std::vector<Planned>& all, bool show_diff, Report& report) {
  const bool any_refused = refused(all, session.options().flag("--strict"));
  for (const Planned& planned : all) {
    TreeReport tree = report_on(planned.target);
    tree.patches = planned.plan.outcomes;
    if (planned.target.interrupted) note_interrupted(session, tree.tree, planned.target.journal_problem, report);
    note_where(session, planned.target.tree, report);
    for (const PatchOutcome& outcome : tree.patches) report_outcome(session, outcome, any_refused, report);
    if (show_diff) {
      tree.diff = any_refused ? std::string() : diff_of(planned.target, planned.plan.changes);
      report.out += paint_diff(*tree.diff, session.out());
    }
    report.trees.push_back(std::move(tree));
  }
}

void report_files(const Target& target, const std::map<std::string, FileChange>& changes, TreeReport& report) {
  for (const auto& [path, change] : changes) {
    (change.after ? report.written : report.removed).push_back(shown_path(target, path));
  }
}

void note_interrupted(const Session& session, const std::string& tree, const std::optional<Error>& problem,
                      Report& report) {
  const std::string head = "note: " + tree + ": a run of suture was interrupted here";
  if (problem) {
    note(session, report,
         head + ", and nothing can put it right: " + problem->message + "\n" +
             (problem->hint.empty() ? "" : "  hint: " + problem->hint + "\n"));
  } else {
    note(session, report, head + "; the next apply or revert puts it right\n");
  }
}

OptionSpec with_option() {
  return {"--with", "NAME=PATH", "where a package is that patches ask for, if not beside the tree: a folder or wheel",
          true};
}

void note_where(const Session& session, const LocatedTree& tree, Report& report) {
  if (tree.present && !session.options().verbose) return;
  note(session, report, "note: " + tree.display + ": " + tree.how + "\n");
}

void note(const Session& session, Report& report, const std::string& text) {
  if (!session.options().quiet) report.err += printable_lines(text);
}

}  // namespace suture
