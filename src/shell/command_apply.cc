// suture apply: write patches into a tree, all or none of them.
//
// The plan is made twice. First without the lock to write: a tree that needs nothing (the entry point of an image that was
// patched when it was built, run by a user who may not write) is answered without touching it. Else again under the lock,
// after what a crash left is put right: another process may have been at work. That second plan is the one that is
// written.
#include <algorithm>
#include <utility>

#include "shell/planning.h"
#include "shell/writing.h"

namespace suture {
namespace {

// One line a rule, in its own words: only for patches that are written now. Success that changed no byte is no success.
void ok_lines(const Session& session, const std::vector<Planned>& all, Report& report) {
  for (const Planned& planned : all) {
    for (const PatchOutcome& outcome : planned.plan.outcomes) {
      if (!would_change(outcome)) continue;
      for (const RuleOutcome& rule : outcome.rules) {
        if (rule.state == RuleState::idle) {
          note(session, report, "note: " + outcome.patch + ": rule " + rule.rule + " has nothing to do here\n");
        } else if (!session.options().quiet) {
          report.out += "OK: " + rule.ok + "\n";
        }
      }
    }
  }
}

Report dry_run(const Session& session, const std::vector<Planned>& all) {
  Report report;
  report_plans(session, all, true, report);
  if (report.exit == Exit::ok) ok_lines(session, all, report);
  if (report.exit == Exit::ok && writes(all)) note(session, report, "dry run: nothing was written\n");
  return report;
}

void say_refused(const Session& session, const std::vector<Planned>& all, Report& report) {
  if (writes(all) || session.options().names.size() > 1) note(session, report, "nothing was written\n");
}

bool changes_anything(const std::vector<Planned>& all) {
  return std::any_of(all.begin(), all.end(), [](const Planned& planned) {
    return differs(planned.target.state, planned.plan.after, planned.plan.changes);
  });
}

bool crash_left_something(const std::vector<Planned>& all) {
  return std::any_of(all.begin(), all.end(), [](const Planned& planned) { return planned.target.interrupted; });
}

// Under the lock: the plans are written, package by package.
void write_plans(const Session& session, const std::vector<Planned>& all, std::vector<TreeLock>& locks,
                 Report& report) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& [target, plan] = all[i];
    if (!write_target(session, target, locks[i], plan.after, plan.changes, report.trees[i], report)) return;
  }
  ok_lines(session, all, report);
  if (writes(all)) hint_restart(session, report);
}

Report apply_locked(const Session& session, const Catalog& catalog, const std::vector<const Patch*>& patches,
                    std::vector<TreeLock> locks, Report report) {
  Result<std::vector<Planned>> all = plan_patches(session, catalog, patches, Lock::held);
  if (!all) return report.fail(all.error()), report;
  report_plans(session, *all, false, report);
  if (refused(*all, session.options().flag("--strict"))) {
    say_refused(session, *all, report);
  } else {
    write_plans(session, *all, locks, report);
  }
  return report;
}

// The locks of all trees, in the order of `all`.
Result<std::vector<TreeLock>> lock_all(const Session& session, const std::vector<Planned>& all, Report& report) {
  std::vector<TreeLock> locks;
  for (const Planned& planned : all) {
    Result<TreeLock> lock = lock_to_write(session, planned.target.tree, report);
    if (!lock) return lock.error();
    locks.push_back(std::move(*lock));
  }
  return locks;
}

Report run(const Session& session) {
  Report report;
  Result<Catalog> catalog = session.open_catalog();
  if (!catalog) return report.fail(catalog.error()), report;
  Result<std::vector<const Patch*>> patches = choose(*catalog, session.options().names);
  if (!patches) return report.fail(patches.error()), report;
  if (!session.options().flag("--dry-run")) {
    if (const std::optional<Error> refused_wheel = refuse_wheel(session)) return report.fail(*refused_wheel), report;
  }
  Result<std::vector<Planned>> all = plan_patches(session, *catalog, *patches);
  if (!all) return report.fail(all.error()), report;
  if (session.options().flag("--dry-run")) return dry_run(session, *all);

  const bool any_refused = refused(*all, session.options().flag("--strict"));
  if (any_refused || changes_anything(*all) || crash_left_something(*all)) {
    Result<std::vector<TreeLock>> locks = lock_all(session, *all, report);
    if (locks) return apply_locked(session, *catalog, *patches, std::move(*locks), std::move(report));
    // A tree that nobody may write to, and nothing would be written anyway: the verdict is the better answer.
    if (!any_refused) return report.fail(locks.error()), report;
  }
  report_plans(session, *all, false, report);
  if (any_refused) say_refused(session, *all, report);
  return report;
}

}  // namespace

Command apply_command() {
  return {
      .name = "apply",
      .summary = "write patches into a tree: all of them, or nothing",
      .details =
          "Prints one OK line for each rule. The bytes that were there are kept in the package folder, in\n"
          ".suture, and revert restores them. A patch that is in place already is nothing to do, exit 0.",
      .positionals = {"PATCH", 1, kAnyNumber},
      .trees = Command::Trees::one,
      .options = {{"--dry-run", "", "print the diff and the lines that apply would print; write nothing", false},
                  {"--strict", "", "superseded is a failure, and so is an edit anywhere in a file to be written",
                   false},
                  with_option()},
      .run = run,
  };
}

}  // namespace suture
