// suture explain: one patch in words; where a tree is named, also what it is there.
#include "shell/planning.h"

namespace suture {
namespace {

// "applicable in TREE, toycache 1.0": the verdict, why, and what to do.
std::string verdict_here(const TreeReport& tree) {
  const PatchOutcome& outcome = tree.patches.front();
  const std::string version = tree.version ? " " + *tree.version : "";
  std::string text = tree.tree + ", " + tree.package +
                     (tree.assumed.empty() ? version : " " + tree.assumed + " (assumed)") + ": " +
                     verdict_phrase(outcome) + "\n";
  for (const std::string& hint : outcome.hints) text += "hint: " + hint + "\n";
  return text;
}

// The patch as the tree stands.
Result<TreeReport> judge_here(const Session& session, const Catalog& catalog, const Patch& patch) {
  Result<Target> target =
      load_target(session, catalog, group_by_package({&patch}).front(), session.options().value("--tree"));
  if (!target) return target.error();
  TreeReport tree = report_on(*target);
  tree.patches.push_back(judge(target->state, patch, catalog.patches));
  look_elsewhere(session, *target, patch, tree.patches.back());
  return tree;
}

bool tree_asked_for(const Session& session) {
  return !session.options().value("--tree").empty() || !session.options().value("--python").empty();
}

Report run(const Session& session) {
  Report report;
  Result<Catalog> catalog = session.open_catalog();
  if (!catalog) return report.fail(catalog.error()), report;
  Result<std::vector<const Patch*>> patches = choose(*catalog, session.options().names);
  if (!patches) return report.fail(patches.error()), report;
  for (const Patch* patch : *patches) {
    report.catalog.push_back(*patch);
    std::string here;
    if (tree_asked_for(session)) {
      Result<TreeReport> tree = judge_here(session, *catalog, *patch);
      if (!tree) return report.fail(tree.error()), report;
      here = verdict_here(*tree);
      report.trees.push_back(std::move(*tree));
    }
    report.out += explain_text(*patch, here);
  }
  return report;
}

}  // namespace

Command explain_command() {
  return {
      .name = "explain",
      .summary = "one patch in words: what it edits, what it needs, when it helps; with -t, also its verdict there",
      .details = "",
      .positionals = {"PATCH", 1, 1},
      .trees = Command::Trees::one,
      .options = {with_option()},
      .run = run,
  };
}

}  // namespace suture
