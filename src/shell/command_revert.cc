// suture revert: restore the bytes that were there, by the receipts in the tree alone. The catalog only says how the
// patches that remain are judged; a patch that left the catalog, or was in another one's, is reverted too.
#include <algorithm>
#include <map>
#include <utility>

#include "base/printable.h"
#include "base/text.h"
#include "engine/revert.h"
#include "shell/planning.h"
#include "shell/writing.h"

namespace suture {
namespace {

// One package, and which of the names asked for are to be reverted in it.
struct Part {
  Target target;
  std::vector<std::string> names;
};

bool has_receipt(const Target& target, const std::string& name) {
  return target.state.receipt.find(name) != nullptr;
}

Result<std::vector<Part>> load_parts(const Session& session, const Catalog& catalog, Lock lock) {
  std::vector<Part> parts;
  const std::string tree = session.options().value("--tree");
  for (const PackageGroup& group : with_patched(session, group_by_package(all_patches(catalog)), tree)) {
    Result<Target> target = load_target(session, catalog, group, tree, lock);
    // A receipt that cannot be read is no obstacle to reverting what is in another package.
    if (!target && group.patches.empty() && !session.options().flag("--all")) continue;
    if (!target) return target.error();
    parts.push_back({std::move(*target), {}});
  }
  return parts;
}

// What nobody knows: neither the catalog nor a receipt.
Error unknown_name(const Catalog& catalog, const std::vector<Part>& parts, const std::string& name) {
  std::vector<std::string> known;
  for (const Patch& patch : catalog.patches) known.push_back(patch.name);
  for (const Part& part : parts) {
    for (const ReceiptEntry& entry : part.target.state.receipt.patches) known.push_back(entry.patch);
  }
  const std::optional<std::string> near = nearest(name, known);
  return {Exit::usage, "there is no patch \"" + name + "\", and no receipt of it in this tree", std::nullopt,
          near ? "the nearest known one is " + *near : "suture status says what is applied"};
}

Error absent(const Session& session, const Target& target) {
  return {Exit::unfit,
          "there is no package " + target.group.package + " in " + target.state.display + " (" + target.tree.how + ")",
          std::nullopt,
          session.options().flag("--tree")
              ? "give the package's folder, or the environment that it is installed in, to --tree"
              : "say with --tree where it is"};
}

// Gives each name to the package that has a receipt of it, else to the package that the patch is for.
std::optional<Error> assign_names(const Session& session, const Catalog& catalog, std::vector<Part>& parts) {
  for (const std::string& name : session.options().names) {
    auto part =
        std::find_if(parts.begin(), parts.end(), [&name](const Part& each) { return has_receipt(each.target, name); });
    if (part == parts.end()) {
      const Patch* patch = catalog.find(name);
      if (patch == nullptr) return unknown_name(catalog, parts, name);
      part = std::find_if(parts.begin(), parts.end(), [patch](const Part& each) {
        return each.target.group.package == patch->package.value && each.target.group.folder == patch->import_folder();
      });
      if (!part->target.state.present) return absent(session, part->target);
    }
    if (std::find(part->names.begin(), part->names.end(), name) == part->names.end()) part->names.push_back(name);
  }
  return std::nullopt;
}

// The parts that the command is about: with --all those that hold a receipt, else those with a name.
Result<std::vector<Part>> choose_parts(const Session& session, const Catalog& catalog, Lock lock) {
  Result<std::vector<Part>> parts = load_parts(session, catalog, lock);
  if (!parts) return parts;
  if (session.options().flag("--all")) {
    const bool any = std::any_of(parts->begin(), parts->end(), [](const Part& part) {
      return part.target.state.present || !part.target.state.receipt.empty();
    });
    if (!any && !parts->empty()) return absent(session, parts->front().target);
    std::erase_if(*parts,
                  [](const Part& part) { return part.target.state.receipt.empty() && !part.target.interrupted; });
    return parts;
  }
  if (auto error = assign_names(session, catalog, *parts)) return *error;
  std::erase_if(*parts, [](const Part& part) { return part.names.empty(); });
  return parts;
}

RevertPlan plan_part(const Session& session, const Catalog& catalog, const Part& part) {
  const Judge judge_one = [&catalog](const TreeState& state, const std::string& name) {
    const Patch* patch = catalog.find(name);
    return patch != nullptr ? judge(state, *patch, catalog.patches) : judge_receipt(state, name);
  };
  return plan_revert(part.target.state, part.names, session.options().flag("--all"), judge_one);
}

void report_part(const Session& session, const Target& target, const RevertPlan& plan, Report& report) {
  TreeReport tree = report_on(target);
  tree.reverts = plan.outcomes;
  for (const RevertOutcome& outcome : plan.outcomes) {
    using Kind = RevertOutcome::Kind;
    const bool failed =
        outcome.kind == Kind::touched || outcome.kind == Kind::no_receipt || outcome.kind == Kind::refused;
    if (failed) {
      report.worsen(Exit::refused);
      report.err += revert_message(outcome);
    } else {
      note(session, report, revert_message(outcome));
    }
  }
  report.trees.push_back(std::move(tree));
}

void ok_lines(const Session& session, const RevertPlan& plan, Report& report) {
  for (const RevertOutcome& outcome : plan.outcomes) {
    if (outcome.kind == RevertOutcome::Kind::reverted && !session.options().quiet) {
      report.out += "OK: " + printable(outcome.patch) + " is reverted\n";
    }
  }
}

struct Reverting {
  std::vector<Part> parts;
  std::vector<RevertPlan> plans;
};

Result<Reverting> plan_all(const Session& session, const Catalog& catalog, Lock lock) {
  Result<std::vector<Part>> parts = choose_parts(session, catalog, lock);
  if (!parts) return parts.error();
  Reverting all{std::move(*parts), {}};
  for (const Part& part : all.parts) all.plans.push_back(plan_part(session, catalog, part));
  return all;
}

bool needs_lock(const Reverting& all) {
  for (std::size_t i = 0; i < all.parts.size(); ++i) {
    const Target& target = all.parts[i].target;
    if (target.interrupted || all.plans[i].refused() ||
        differs(target.state, all.plans[i].after, all.plans[i].changes)) {
      return true;
    }
  }
  return false;
}

bool refused(const Reverting& all) {
  return std::any_of(all.plans.begin(), all.plans.end(), [](const RevertPlan& plan) { return plan.refused(); });
}

void report_all(const Session& session, const Reverting& all, Report& report) {
  for (std::size_t i = 0; i < all.parts.size(); ++i) report_part(session, all.parts[i].target, all.plans[i], report);
  if (all.parts.empty()) note(session, report, "there is no receipt of suture here, nothing to do\n");
  if (refused(all)) note(session, report, "nothing was written\n");
}

using Locks = std::map<std::string, TreeLock>;  // by package folder

void write_all(const Session& session, const Reverting& all, Locks& locks, Report& report) {
  bool reverted = false;
  for (std::size_t i = 0; i < all.parts.size(); ++i) {
    const Target& target = all.parts[i].target;
    const RevertPlan& plan = all.plans[i];
    const auto lock = locks.find(target.tree.package_folder);
    if (lock == locks.end()) {
      report.fail({Exit::file_system, target.state.display + " was changed by another process meanwhile", std::nullopt,
                   "run suture revert again"});
      return;
    }
    if (!write_target(session, target, lock->second, plan.after, plan.changes, report.trees[i], report)) return;
    ok_lines(session, plan, report);
    reverted = reverted || std::any_of(plan.outcomes.begin(), plan.outcomes.end(), [](const RevertOutcome& each) {
                 return each.kind == RevertOutcome::Kind::reverted;
               });
  }
  if (reverted) hint_restart(session, report);
}

Report revert(const Session& session, const Catalog& catalog) {
  Report report;
  Result<Reverting> all = plan_all(session, catalog, Lock::share);
  if (!all) return report.fail(all.error()), report;
  if (!needs_lock(*all)) return report_all(session, *all, report), report;

  Locks locks;
  for (const Part& part : all->parts) {
    Result<TreeLock> lock = lock_to_write(session, part.target.tree, report);
    // A tree that nobody may write to, and nothing would be written anyway: why it is refused is the better answer.
    if (!lock && refused(*all)) return report_all(session, *all, report), report;
    if (!lock) return report.fail(lock.error()), report;
    locks.emplace(part.target.tree.package_folder, std::move(*lock));
  }
  Result<Reverting> locked = plan_all(session, catalog, Lock::held);
  if (!locked) return report.fail(locked.error()), report;
  report_all(session, *locked, report);
  if (!refused(*locked)) write_all(session, *locked, locks, report);
  return report;
}

Report run(const Session& session) {
  Report report;
  const bool all = session.options().flag("--all");
  if (all != session.options().names.empty()) {
    report.fail({Exit::usage, all ? "revert --all takes no PATCH" : "revert needs a PATCH, or --all", std::nullopt,
                 "suture status says what is applied"});
    return report;
  }
  Result<Catalog> catalog = session.open_catalog();
  if (!catalog) return report.fail(catalog.error()), report;
  if (const std::optional<Error> refused_wheel = refuse_wheel(session)) return report.fail(*refused_wheel), report;
  return revert(session, *catalog);
}

}  // namespace

Command revert_command() {
  return {
      .name = "revert",
      .summary = "take patches back: restore the bytes that were there",
      .details =
          "Goes by the receipts in the tree. Lines that you changed yourself stay; where you changed the very\n"
          "lines that a patch wrote, it refuses, shows the difference, and writes nothing.",
      .positionals = {"PATCH", 0, kAnyNumber},
      .trees = Command::Trees::one,
      .options = {{"--all", "", "every patch that is applied here", false}},
      .run = run,
  };
}

}  // namespace suture
