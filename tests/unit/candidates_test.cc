// Which files a rule is run on: paths, globs, and imports that follow the other rules.
#include "engine/candidates.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/text.h"
#include "engine/judge.h"
#include "support/engine_fixture.h"

namespace suture {
namespace {

using Tree = std::map<std::string, std::string>;
const std::string kGlob = "file: 'k/*.py'\nmatch: old($X)\nreplace: new($X)\n";

std::string verdict(const TreeState& state, const Patch& patch) {
  const PatchOutcome outcome = judge(state, patch, {patch});
  return std::string(verdict_name(outcome.verdict)) + (outcome.reason.empty() ? "" : ": " + outcome.reason);
}
std::string verdict_of(const Tree& tree, const std::vector<std::string>& rules) {
  return verdict(state_with(tree), patch_from_yaml("p", rules));
}
TreeState applied(const TreeState& state, const Patch& patch) {
  return plan_apply(state, {&patch}, {patch}).after;
}

// The files that the patch's rules were run on, "rule:path" each.
std::string files_of(const Tree& tree, const std::vector<std::string>& rules) {
  const Patch patch = patch_from_yaml("p", rules);
  const TreeState state = state_with(tree);
  Workbench bench;
  std::vector<std::string> out;
  for (const RuleRun& run : run_patch(bench, state, patch).rules) out.push_back(run.rule->rule->id + ":" + run.path);
  return join(out, " ");
}

TEST(Candidates, AGlobIsAllFilesInWhichTheCodeStands) {
  const Tree tree = {{"k/a.py", "old(1)\n"}, {"k/b.py", "x = 1\n"}, {"k/c.py", "new(2)\n"}, {"l/a.py", "old(1)\n"}};
  EXPECT_EQ(files_of(tree, {kGlob}), "p-1:k/a.py p-1:k/c.py");
  // With a scope it is the scope that says so, not a site in it; files that hold something like it stand behind.
  EXPECT_EQ(files_of({{"k/a.py", "def f(): pass\n"}, {"k/b.py", "def g(): old(1)\n"}}, {kGlob + "in: f"}),
            "p-1:k/a.py p-1:k/b.py");
  EXPECT_EQ(verdict_of({{"k/a.py", "def f(): old(2)\n"}, {"k/b.py", "def g(): old(1)\n"}}, {kGlob + "in: f"}),
            "applicable");
}

TEST(Candidates, TheFirstInWhichTheCodeStandsDecides) {
  const std::string rule = "file: ['k/*.py', m.py]\nmatch: old($X)\nreplace: new($X)\n";
  EXPECT_EQ(files_of({{"k/a.py", "old(1)\n"}, {"m.py", "old(1)\n"}}, {rule}), "p-1:k/a.py");
  EXPECT_EQ(files_of({{"k/a.py", "from m import f\n"}, {"m.py", "old(1)\n"}}, {rule}), "p-1:m.py");
  EXPECT_EQ(files_of({{"k/a.py", "from m import f\n"}}, {rule}), "p-1:k/a.py");
  EXPECT_EQ(files_of({{"n.py", ""}}, {rule}), "p-1:");
  const std::string paths = "file: [n.py, m.py]\nmatch: old($X)\nreplace: new($X)\n";
  EXPECT_EQ(files_of({{"n.py", "old(1)\n"}, {"m.py", "old(1)\n"}}, {paths}), "p-1:n.py");
}

TEST(Candidates, ACountIsOverTheWholeRule) {
  const Tree three = {{"k/a.py", "old(1)\n"}, {"k/b.py", "old(2)\nold(3)\n"}, {"k/c.py", "x = 1\n"}};
  EXPECT_EQ(verdict_of(three, {kGlob + "expect: 3"}), "applicable");
  EXPECT_EQ(verdict_of(three, {kGlob + "expect: 2"}),
            "drifted: rule p-1: expected 2 sites, found 3 of `old($X)`; looked at k/*.py");
  EXPECT_EQ(verdict_of({{"k/a.py", "x\n"}}, {kGlob + "expect: 2"}),
            "drifted: rule p-1: expected 2 sites, found 0 of `old($X)`; looked at k/*.py");
}

TEST(Candidates, PerFileCountsEachFile) {
  const std::string rule = kGlob + "expect: 1\nper_file: true";
  EXPECT_EQ(verdict_of({{"k/a.py", "old(1)\n"}, {"k/b.py", "old(2)\n"}, {"k/c.py", "x = 1\n"}}, {rule}), "applicable");
  EXPECT_EQ(verdict_of({{"k/a.py", "old(1)\n"}, {"k/b.py", "old(2)\nold(3)\n"}}, {rule}),
            "drifted: rule p-1: expected 1 site in each file, found 2 of `old($X)` in k/b.py; looked at k/*.py");
  EXPECT_EQ(verdict_of({{"k/a.py", "def f(): old(1)\n"}, {"k/b.py", "def f(): pass\n"}}, {rule + "\nin: f"}),
            "drifted: rule p-1: expected 1 site in each file, found 0 of `old($X)` in k/b.py; looked at k/*.py");
}

TEST(Candidates, AllFilesAreWrittenOrNone) {
  const Patch patch = patch_from_yaml("p", {kGlob + "expect: 2"});
  const TreeState state = state_with({{"k/a.py", "old(1)\n"}, {"k/b.py", "old(2)\n"}, {"k/c.py", "x = 1\n"}});
  const Plan plan = plan_apply(state, {&patch}, {patch});
  EXPECT_EQ(plan.changes.size(), 2U);
  EXPECT_EQ(bytes_at(plan.after, "k/a.py"), "new(1)\n");
  EXPECT_EQ(bytes_at(plan.after, "k/b.py"), "new(2)\n");
  EXPECT_FALSE(plan_apply(plan.after, {&patch}, {patch}).writes());
  ASSERT_EQ(plan.outcomes.at(0).rules.size(), 1U);
  EXPECT_EQ(plan.outcomes.at(0).rules[0].files, (std::vector<std::string>{"k/a.py", "k/b.py"}));
  EXPECT_EQ(plan.outcomes.at(0).rules[0].old_sites, 2U);
  EXPECT_EQ(verdict(state_with({{"k/a.py", "old(1)\n"}, {"k/b.py", "new(2)\n"}}), patch).substr(0, 7), "partial");
  EXPECT_EQ(verdict(state_with({{"k/a.py", "new(1)\n"}, {"k/b.py", "new(2)\n"}}), patch).substr(0, 7), "applied");
}

TEST(Candidates, AResultThatIsNoneInOneOfTheFilesIsNotWritten) {
  const Patch patch =
      patch_from_yaml("p", {"file: 'k/*.py'\nmatch: old($X)\nreplace: new($X)\napplied: new(1)\nexpect: 2"});
  const Plan plan = plan_apply(state_with({{"k/a.py", "old(1)\n"}, {"k/b.py", "old(2)\n"}}), {&patch}, {patch});
  ASSERT_TRUE(plan.outcomes.at(0).fatal);
  EXPECT_FALSE(plan.writes());
}

TEST(Candidates, AFileThatCannotBeReadIsADoubt) {
  const Tree tree = {{"k/a.py", "old(1)\n"}, {"k/b.py", "x = '\xE9'\n"}};
  EXPECT_EQ(verdict_of(tree, {kGlob}), "drifted: rule p-1: the file is not UTF-8, and says no other encoding");
  // A scope that it cannot hold is no reason to read it.
  EXPECT_EQ(verdict_of({{"k/a.py", "def f(): old(1)\n"}, {"k/b.py", "x = '\xE9'\n"}}, {kGlob + "in: f"}), "applicable");
  TreeState closed = state_with({{"k/a.py", "old(1)\n"}});
  const Patch deep = patch_from_yaml("p", {"file: 'k/**/*.py'\nmatch: old($X)\nreplace: new($X)\n"});
  EXPECT_EQ(verdict(closed, deep), "applicable");
  closed.files["k/private"].kind = FileState::Kind::unreadable;
  closed.files["k/private"].problem = "Permission denied";
  EXPECT_EQ(verdict(closed, deep), "drifted: rule p-1: the file cannot be read: Permission denied");
}

TEST(Candidates, AddedFilesAreNoCodeOfThePackage) {
  Patch patch = patch_from_yaml("p", {kGlob});
  AddedFile added;
  added.path.value = "k/own.py";
  added.bytes = "old(2)\n";
  patch.adds = {added};
  const TreeState after = applied(state_with({{"k/a.py", "old(1)\n"}}), patch);
  EXPECT_EQ(bytes_at(after, "k/a.py"), "new(1)\n");
  EXPECT_EQ(bytes_at(after, "k/own.py"), "old(2)\n");
  EXPECT_EQ(verdict(after, patch), "applied");
  const Patch other = patch_from_yaml("q", {"file: 'k/*.py'\nmatch: new($X)\nreplace: newer($X)\napplied: newer($X)"});
  TreeState again = after;
  edit_by_hand(again, "k/own.py", "new(2)\n");
  Workbench bench;
  EXPECT_EQ(run_patch(bench, again, other).rules.size(), 1U);
}

TEST(Candidates, LinksAreNamedOnce) {
  TreeState state = state_with({{"k/a.py", "old(1)\n"}, {"k/b.py", "old(1)\n"}});
  state.files["k/b.py"].link_to = "k/a.py";
  EXPECT_EQ(files_named(state.files, "k/*.py"), std::vector<std::string>{"k/a.py"});
  state.files["k/a.py"].link_to = state.files["k/b.py"].link_to = "old/a.py";
  EXPECT_EQ(files_named(state.files, "k/*.py"), std::vector<std::string>{"k/a.py"});
  EXPECT_EQ(files_named(state.files, "k/b.py"), std::vector<std::string>{"k/b.py"});
}

TEST(Candidates, ImportsGoWhereTheOtherRulesHaveSites) {
  const std::string import = "file: 'k/*.py'\nadd_import: from pkg.new import new";
  const Tree tree = {
      {"k/a.py", "old(1)\n"}, {"k/b.py", "x = 1\n"}, {"k/c.py", "import a\n\nold(2)\n"}, {"new.py", "new = 1\n"}};
  EXPECT_EQ(files_of(tree, {import, kGlob + "expect: 2"}), "p-1:k/a.py p-1:k/c.py p-2:k/a.py p-2:k/c.py");
  const Patch patch = patch_from_yaml("p", {import, kGlob + "expect: 2"});
  const TreeState after = applied(state_with(tree), patch);
  EXPECT_EQ(bytes_at(after, "k/a.py"), "from pkg.new import new\nnew(1)\n");
  EXPECT_EQ(bytes_at(after, "k/b.py"), "x = 1\n");
  EXPECT_EQ(bytes_at(after, "k/c.py"), "import a\nfrom pkg.new import new\n\nnew(2)\n");
  // A path that another rule uses comes first; a file in which another rule is in place needs the import too.
  EXPECT_EQ(files_of({{"k/a.py", "new(1)\n"}, {"m.py", "x = 1\n"}},
                     {"file: [m.py, 'k/*.py']\nadd_import: from pkg.new import new", kGlob}),
            "p-1:k/a.py p-2:k/a.py");
  EXPECT_EQ(verdict_of({{"k/a.py", "new(1)\n"}, {"new.py", "new = 1\n"}}, {import, kGlob}),
            "partial: its edits are in place, and an import that they need is missing");
}

TEST(Candidates, AnImportThatServesNobodyIsNotLeftOut) {
  const std::string import = "file: 'other/*.py'\nadd_import: from pkg.new import new";
  const Tree tree = {{"k/a.py", "old(1)\n"}, {"other/x.py", ""}, {"new.py", "new = 1\n"}};
  EXPECT_EQ(verdict_of(tree, {import, kGlob}),
            "drifted: rule p-1: it names no file that the import is needed in: k/a.py");
  // Nobody needs it where nothing is to be edited.
  const std::string done = kGlob + "done_if: fine($X)";
  EXPECT_EQ(verdict_of({{"k/a.py", "fine(1)\n"}, {"other/x.py", ""}}, {import, done}), "applied: nothing to do");
}

}  // namespace
}  // namespace suture
