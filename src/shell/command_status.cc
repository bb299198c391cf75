// suture status: a verdict for each patch and tree.
#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "base/printable.h"
#include "engine/revert.h"
#include "shell/planning.h"

namespace suture {
namespace {

// One package of one tree, judged; or why it could not be.
struct Judged {
  std::string asked;  // the --tree that was given
  PackageGroup group;
  TreeReport report;
  bool present = false;
  bool interrupted = false;
  std::optional<Error> journal_problem{};
  LocatedTree located;
  std::optional<Error> error;
};

bool asked_for(const Session& session, const std::string& patch) {
  const std::vector<std::string>& names = session.options().names;
  return names.empty() || std::find(names.begin(), names.end(), patch) != names.end();
}

// What the receipts say that no longer count: pip put the package's own files back since.
std::string void_words(const TreeState& state, const std::string& patch) {
  const ReceiptEntry* entry = state.receipt.find(patch);
  const std::string version = entry == nullptr || entry->version.empty() ? "" : " to " + entry->version;
  return patch + " was applied" + version +
         "; the package was reinstalled, upgraded or removed since: revert removes what is left of it";
}

Judged judge_group(const Session& session, const Catalog& catalog, const PackageGroup& group, const std::string& tree) {
  Judged judged;
  judged.asked = tree;
  judged.group = group;
  Result<Target> target = load_target(session, catalog, group, tree);
  if (!target) {
    judged.error = target.error();
    return judged;
  }
  const PlanOptions options{.strict = session.options().flag("--strict")};
  judged.report = report_on(*target);
  judged.present = target->state.present;
  // A line or a cell of a table shows no candidates.
  const bool places = session.options().verbose || session.options().json;
  for (const Patch* patch : group.patches) {
    judged.report.patches.push_back(judge(target->state, *patch, catalog.patches, options));
    if (places) look_elsewhere(session, *target, *patch, judged.report.patches.back());
  }
  std::vector<std::string> dropped;
  for (const ReceiptEntry& entry : live_receipt(target->state, &dropped).patches) {
    if (catalog.find(entry.patch) != nullptr || !asked_for(session, entry.patch)) continue;
    judged.report.patches.push_back(judge_receipt(target->state, entry.patch));
  }
  for (const std::string& patch : dropped) {
    if (asked_for(session, patch)) judged.report.notes.push_back(void_words(target->state, patch));
  }
  judged.located = target->tree;
  judged.interrupted = target->interrupted;
  judged.journal_problem = target->journal_problem;
  return judged;
}

bool conflict(const Patch& a, const Patch& b) {
  const auto lists = [](const Patch& one, const Patch& other) {
    return std::any_of(one.conflicts.begin(), one.conflicts.end(),
                       [&other](const Text& name) { return name.value == other.name; });
  };
  return lists(a, b) || lists(b, a);
}

// A patch that stands back because another one is applied is as it should be, where no patch was asked for by name.
bool yields_to_applied(const Judged& judged, std::size_t index) {
  if (judged.report.patches[index].verdict != Verdict::conflicting) return false;  // so it is in the catalog
  for (std::size_t i = 0; i < judged.group.patches.size(); ++i) {
    if (judged.report.patches[i].verdict == Verdict::applied &&
        conflict(*judged.group.patches[i], *judged.group.patches[index])) {
      return true;
    }
  }
  return false;
}

// The exit code of --check.
Exit check(const Session& session, const Judged& judged) {
  const bool named = !session.options().names.empty();
  Report worst;
  for (std::size_t i = 0; i < judged.report.patches.size(); ++i) {
    const PatchOutcome& outcome = judged.report.patches[i];
    if (!named && yields_to_applied(judged, i)) continue;
    worst.worsen(would_change(outcome) ? Exit::would_change : exit_of(outcome, session.options().flag("--strict")));
  }
  return worst.exit;
}

std::string version_cell(const Judged& judged, bool several_packages) {
  const std::string version =
      judged.report.assumed.empty() ? judged.report.version.value_or("-") : judged.report.assumed + " (assumed)";
  return several_packages ? judged.group.package + " " + version : version;
}

std::string table_of(const Session& session, const std::vector<Judged>& all) {
  std::set<std::string> packages;  // of the trees that could be read
  for (const Judged& judged : all) {
    if (!judged.error) packages.insert(judged.group.package);
  }
  std::vector<StatusRow> rows;
  std::vector<std::string> patches;
  for (const Judged& judged : all) {
    StatusRow row;
    row.tree = printable(judged.asked);
    row.version = version_cell(judged, packages.size() > 1);
    if (judged.error) row.problem = "cannot be read";
    for (const PatchOutcome& outcome : judged.report.patches) {
      const std::string patch = printable(outcome.patch);
      row.verdicts.emplace_back(patch, outcome.verdict);
      if (std::find(patches.begin(), patches.end(), patch) == patches.end()) patches.push_back(patch);
    }
    rows.push_back(std::move(row));
  }
  std::string text = status_table(std::move(rows), patches, session.out());
  if (!session.options().verbose) return text;
  for (const Judged& judged : all) {
    if (!judged.error)
      text += "\n" + printable(judged.report.tree) + "\n" + status_lines(judged.report, true, session.out());
  }
  return text;
}

// Every package of one tree, those that only receipts speak of included. Where no patch was named, a package that is not in the tree is left out beside one that
// is: patches for other packages have nothing to say there.
std::vector<Judged> judge_tree(const Session& session, const Catalog& catalog, const std::vector<PackageGroup>& groups,
                               const std::string& tree) {
  std::vector<Judged> all;
  for (const PackageGroup& group : with_patched(session, groups, tree)) {
    all.push_back(judge_group(session, catalog, group, tree));
    // The error of a package that only its receipt speaks of is its own.
    if (all.back().error && !group.patches.empty())
      return {std::move(all.back())};  // the tree itself: the next package would say the same
  }
  const auto present = [](const Judged& each) { return each.present; };
  if (session.options().names.empty() && std::any_of(all.begin(), all.end(), present)) {
    std::erase_if(all, std::not_fn(present));
  }
  // Of a package that no patch of this run is for there is nothing to say where no receipt counts.
  const auto silent = [](const Judged& each) {
    return each.group.patches.empty() && each.report.patches.empty() && !each.error;
  };
  std::erase_if(all, silent);
  return all;
}

bool any_judged(const std::vector<Judged>& all, const std::string& patch) {
  return std::any_of(all.begin(), all.end(), [&patch](const Judged& judged) {
    return std::any_of(judged.report.patches.begin(), judged.report.patches.end(),
                       [&patch](const PatchOutcome& outcome) { return outcome.patch == patch; });
  });
}

void report_judged(const Session& session, const Judged& judged, bool lines, Report& report) {
  if (judged.error) {
    report.fail(*judged.error);
    return;
  }
  report.trees.push_back(judged.report);
  note_where(session, judged.located, report);
  if (judged.interrupted) note_interrupted(session, judged.report.tree, judged.journal_problem, report);
  for (const std::string& words : judged.report.notes) note(session, report, "note: " + words + "\n");
  for (const PatchOutcome& outcome : judged.report.patches) {
    if (!outcome.fatal) continue;
    report.fail(*outcome.fatal);
  }
  if (lines) report.out += status_lines(judged.report, session.options().verbose, session.out());
  if (session.options().flag("--check")) report.worsen(check(session, judged));
}

Report run(const Session& session) {
  Report report;
  Result<Catalog> catalog = session.open_catalog();
  if (!catalog) return report.fail(catalog.error()), report;
  std::vector<const Patch*> named;
  std::vector<std::string> unknown;  // to the catalog: receipts may know them
  for (const std::string& name : session.options().names) {
    const Patch* patch = catalog->find(name);
    if (patch == nullptr) {
      unknown.push_back(name);
    } else if (std::find(named.begin(), named.end(), patch) == named.end()) {
      named.push_back(patch);
    }
  }
  const std::vector<PackageGroup> groups =
      group_by_package(session.options().names.empty() ? all_patches(*catalog) : named);
  std::vector<std::string> trees = session.options().values("--tree");
  if (trees.empty()) trees.emplace_back();

  std::vector<Judged> all;
  for (const std::string& tree : trees) {
    for (Judged& judged : judge_tree(session, *catalog, groups, tree)) all.push_back(std::move(judged));
  }
  for (const std::string& name : unknown) {
    if (!any_judged(all, name)) return report.fail(unknown_patch(*catalog, name)), report;
  }
  for (const Judged& judged : all) report_judged(session, judged, trees.size() == 1, report);
  if (trees.size() > 1) report.out = table_of(session, all);
  return report;
}

}  // namespace

Command status_command() {
  return {
      .name = "status",
      .summary = "a verdict for each patch and tree; writes nothing",
      .details =
          "With one tree: a line for each patch: verdict, name, reason. With several --tree: a table.\n"
          "--verbose adds each rule, its counts and its sites.",
      .positionals = {"PATCH", 0, kAnyNumber},
      .trees = Command::Trees::several,
      .options = {{"--check", "", "set the exit code: the worst verdict's; 1 for one that apply would change", false},
                  {"--strict", "", "superseded is a failure, and so is an edit anywhere in a file to be written",
                   false},
                  with_option()},
      .run = run,
  };
}

}  // namespace suture
