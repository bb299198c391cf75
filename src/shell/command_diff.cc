// suture diff: the unified diff of what apply would write.
#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "base/text.h"
#include "shell/planning.h"

namespace suture {
namespace {

int rank(const Patch& patch) {
  return patch.recommend.value_or(std::numeric_limits<int>::max());
}

// One patch of the catalog and what it is worth in its tree.
struct Candidate {
  const Patch* patch;
  PatchOutcome outcome;
  TreeReport tree;
  LocatedTree located;
  bool package_present;
};

Result<std::vector<Candidate>> judge_all(const Session& session, const Catalog& catalog) {
  const PlanOptions options{.strict = session.options().flag("--strict")};
  std::vector<Candidate> all;
  for (const PackageGroup& group : group_by_package(all_patches(catalog))) {
    Result<Target> target = load_target(session, catalog, group, session.options().value("--tree"));
    if (!target) return target.error();
    for (const Patch* patch : group.patches) {
      all.push_back({patch, judge(target->state, *patch, catalog.patches, options), report_on(*target), target->tree,
                     target->state.present});
      look_elsewhere(session, *target, *patch, all.back().outcome);
    }
  }
  // Patches for packages that are not in this tree have nothing to say beside one that is.
  const auto present = [](const Candidate& each) { return each.package_present; };
  if (std::any_of(all.begin(), all.end(), present)) {
    all.erase(std::remove_if(all.begin(), all.end(), std::not_fn(present)), all.end());
  }
  return all;
}

// No patch was named and none is applicable: nothing to do where one is in place, else why not, each.
Report none_applicable(const Session& session, const std::vector<Candidate>& all, Report report) {
  const bool strict = session.options().flag("--strict");
  const bool in_place = std::any_of(
      all.begin(), all.end(), [strict](const Candidate& each) { return exit_of(each.outcome, strict) == Exit::ok; });
  for (const Candidate& each : all) {
    if (report.trees.empty() || report.trees.back().package != each.tree.package) {
      report.trees.push_back(each.tree);
      note_where(session, each.located, report);
    }
    report.trees.back().patches.push_back(each.outcome);
    report.trees.back().diff = "";
    const Exit code = exit_of(each.outcome, strict);
    if (!in_place) {
      report.worsen(code);
      if (each.outcome.fatal) report.errors.push_back(*each.outcome.fatal);
      report.err += verdict_message(each.outcome, true, session.err());
    } else if (code == Exit::ok) {
      note(session, report, verdict_message(each.outcome, false, session.err()));
    } else {
      note(session, report, each.outcome.patch + ": " + verdict_phrase(each.outcome) + "\n");
    }
  }
  return report;
}

// The applicable patch with the lowest `recommend`; the others are named.
Result<const Patch*> recommended(const Session& session, const std::vector<Candidate>& all, Report& report) {
  std::vector<const Patch*> applicable;
  for (const Candidate& each : all) {
    if (would_change(each.outcome)) applicable.push_back(each.patch);
  }
  if (applicable.empty()) return nullptr;
  std::stable_sort(applicable.begin(), applicable.end(),
                   [](const Patch* a, const Patch* b) { return rank(*a) < rank(*b); });
  if (applicable.size() > 1) {
    std::vector<std::string> others;
    for (std::size_t i = 1; i < applicable.size(); ++i) others.push_back(applicable[i]->name);
    note(session, report,
         "note: this is " + applicable.front()->name + "; also applicable: " + join(others, ", ", " and ") + "\n");
  }
  return applicable.front();
}

Report run(const Session& session) {
  Report report;
  Result<Catalog> catalog = session.open_catalog();
  if (!catalog) return report.fail(catalog.error()), report;
  Result<std::vector<const Patch*>> patches = choose(*catalog, session.options().names);
  if (!patches) return report.fail(patches.error()), report;
  if (patches->empty()) {
    Result<std::vector<Candidate>> all = judge_all(session, *catalog);
    if (!all) return report.fail(all.error()), report;
    Result<const Patch*> best = recommended(session, *all, report);
    if (*best == nullptr) return none_applicable(session, *all, std::move(report));
    patches->push_back(*best);
  }
  Result<std::vector<Planned>> plans = plan_patches(session, *catalog, *patches);
  if (!plans) return report.fail(plans.error()), report;
  report_plans(session, *plans, true, report);
  if (report.exit == Exit::ok && writes(*plans) && session.options().flag("--exit-code")) {
    report.exit = Exit::would_change;
  }
  return report;
}

}  // namespace

Command diff_command() {
  return {
      .name = "diff",
      .summary = "show what apply would write, as a unified diff; writes nothing",
      .details =
          "With no PATCH: the applicable one that is recommended first; the others are named on stderr.\n"
          "`patch -p1` and `git apply -p1` take the diff in the folder that holds the package.",
      .positionals = {"PATCH", 0, kAnyNumber},
      .trees = Command::Trees::one,
      .options = {{"--exit-code", "", "exit with 1 where apply would change something", false},
                  {"--strict", "", "superseded is a failure, and so is an edit anywhere in a file to be written",
                   false},
                  with_option()},
      .run = run,
  };
}

}  // namespace suture
