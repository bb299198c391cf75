// Verdicts and their words, on trees in memory: candidates, counts, imports, encodings, added files, and what a revert of one patch
// would take from another.
#include "engine/judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/check.h"
#include "engine/plan.h"
#include "engine/revert.h"
#include "support/engine_fixture.h"

namespace suture {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// "drifted: why", or the error that stops the plan.
std::string said(const TreeState& state, const Patch& patch) {
  const Plan plan = plan_apply(state, {&patch}, {patch});
  const PatchOutcome& outcome = plan.outcomes.at(0);
  if (outcome.fatal)
    return "exit " + std::to_string(static_cast<int>(outcome.fatal->exit)) + ": " + outcome.fatal->message;
  return std::string(verdict_name(outcome.verdict)) + (outcome.reason.empty() ? "" : ": " + outcome.reason);
}
std::string said(const std::string& code, const std::string& rule) {
  return said(state_with({{"m.py", code}}), patch_from_yaml("p", {rule}));
}

TreeState applied(const TreeState& state, const std::vector<const Patch*>& patches) {
  std::vector<Patch> all;
  for (const Patch* patch : patches) all.push_back(*patch);
  Plan plan = plan_apply(state, patches, all);
  for (const PatchOutcome& outcome : plan.outcomes) {
    EXPECT_EQ(outcome.verdict, Verdict::applicable) << outcome.patch << ": " << outcome.reason;
    EXPECT_FALSE(outcome.fatal) << to_text(*outcome.fatal);
  }
  return plan.after;
}

Patch adding(Patch patch, const std::string& path, const std::string& bytes) {
  patch.adds.push_back(AddedFile{Text{path, {}}, Text{path, {}}, bytes, "patches/" + patch.name + "/" + path});
  return patch;
}

Judge by(const std::vector<Patch>& all) {
  return [&all](const TreeState& state, const std::string& name) {
    for (const Patch& patch : all) {
      if (patch.name == name) return judge(state, patch, all);
    }
    return judge_receipt(state, name);
  };
}

constexpr const char* kOld = "match: old($X)\nreplace: new($X)";

// --- select, arguments ----------------------------------------------------------------------------------------------------

TEST(Judge, SelectPastTheLastSiteIsDrift) {
  const std::string rule = "in: f\nmatch: old($X)\ninsert_after: z()\nexpect: 2\nselect: ";
  const std::string code = "def f():\n    old(1)\n    old(2)\n";
  EXPECT_EQ(said(code, rule + "1"), "applicable");
  EXPECT_EQ(said(code, rule + "2"), "drifted: rule p-1: it selects site 2, counted from 0, and there are 2 sites");
  EXPECT_EQ(said("def f():\n    old(1)\n", rule + "1"),
            "drifted: rule p-1: it selects site 1, counted from 0, and there is 1 site");
  EXPECT_EQ(said("def f():\n    pass\n", rule + "1"), "drifted: rule p-1: expected 2 sites, found 0 of `old($X)`");
}

TEST(Judge, AnArgumentThatACallDoesNotPass) {
  const std::string rule = "match: f($$$)\nargument: {name: k, position: 1, becomes: g($ARG)}\nexpect: ";
  EXPECT_EQ(
      said("f(1, 2)\nf(1)\n", rule + "2"),
      "drifted: rule p-1: expected 2 sites, found 1 of `f($$$)`; a call is there, and does not pass the argument k");
  EXPECT_EQ(
      said("f(1)\nf(*a)\n", rule + "1"),
      "drifted: rule p-1: expected 1 site, found 0 of `f($$$)`; 2 calls are there, and do not pass the argument k");
  EXPECT_EQ(said("f(1, 2)\nf(1)\n", rule + "1"), "applicable");
  EXPECT_EQ(said("f(1, g(2))\nf(1, k=g(3))\n", rule + "2"),
            "applied: all its edits are in place, though not by a receipt of suture");
}

// --- candidates -----------------------------------------------------------------------------------------------------------

TEST(Judge, TheCandidateInWhichTheCodeStands) {
  const std::string anywhere = std::string("file: [a.py, b.py]\n") + kOld;
  const std::string scoped = "in: f\n" + anywhere;
  const auto on = [](const std::string& a, const std::string& b, const std::string& rule) {
    return said(state_with({{"a.py", a}, {"b.py", b}}), patch_from_yaml("p", {rule}));
  };
  EXPECT_EQ(on("from pkg.b import *\n", "x = old(1)\n", anywhere), "applicable");
  EXPECT_EQ(on("from pkg.b import *\n", "x = new(1)\n", anywhere),
            "applied: all its edits are in place, though not by a receipt of suture");
  EXPECT_EQ(on("x = (\n", "x = old(1)\n", anywhere), "applicable");
  EXPECT_EQ(on("from pkg.b import *\n", "x = 1\n", anywhere),
            "drifted: rule p-1: expected 1 site, found 0 of `old($X)`; looked at a.py, b.py");
  EXPECT_EQ(on("from pkg.b import f\n", "def f():\n    old(1)\n", scoped), "applicable");
  EXPECT_EQ(on("def f():\n    pass\n", "def f():\n    old(1)\n", scoped),
            "drifted: rule p-1: expected 1 site, found 0 of `old($X)`")
      << "the scope decides";
}

// --- imports --------------------------------------------------------------------------------------------------------------

TEST(Judge, ImportsDecideWhereThereIsNothingElse) {
  const std::string import = "add_import: import os";
  EXPECT_EQ(said("x = 1\n", import), "applicable");
  EXPECT_EQ(said("import os\n", import), "applied: all its edits are in place, though not by a receipt of suture");
  const Patch two = patch_from_yaml("p", {import, "add_import: import re"});
  EXPECT_EQ(said(state_with({{"m.py", "import os\n"}}), two), "applicable")
      << "the file's own import is not the patch's";
}

TEST(Judge, AnAddedImportMustResolve) {
  const auto on = [](const std::string& statement) {
    TreeState state = state_with({{"m.py", "x = old(1)\n"}, {"z.py", "a = 1\n"}});
    state.absent_modules = {"torch"};
    return said(state, patch_from_yaml("p", {kOld, "add_import: " + statement}));
  };
  EXPECT_EQ(on("from torch import nn"),
            "blocked: `from torch import nn` would not resolve: there is no torch beside pkg");
  EXPECT_EQ(on("import torch.nn"), "blocked: `import torch.nn` would not resolve: there is no torch beside pkg");
  EXPECT_EQ(on("from numpy import array"), "applicable");
  EXPECT_EQ(on("from .z import a"), "applicable");
  EXPECT_EQ(on("from .z import b"), "blocked: `from .z import b` would not resolve: z.py does not define b");
  EXPECT_EQ(on("from ..z import a"), "blocked: `from ..z import a` would not resolve: it leaves pkg, seen from m.py");
}

// --- encodings ------------------------------------------------------------------------------------------------------------

TEST(Judge, OnlyAsciiIsWrittenToWhatIsNotUtf8) {
  const std::string rule = "match: old($X)\nreplace: new($X, 'é')";
  for (const std::string encoding : {"latin-1", "ascii", "cp1252"}) {
    EXPECT_EQ(said("# coding: " + encoding + "\nx = old(1)\n", rule),
              "exit 3: rule p-1 cannot edit this site: the file is in the encoding " + encoding +
                  ", and the code to be written is not ASCII");
  }
  EXPECT_EQ(said("# coding: utf-8\nx = old(1)\n", rule), "applicable");
  const Patch patch = patch_from_yaml("p", {kOld});
  const TreeState state = state_with({{"m.py", "# coding: latin-1\nx = old('\xE9')\n"}});
  EXPECT_EQ(bytes_at(applied(state, {&patch}), "m.py"), "# coding: latin-1\nx = new('\xE9')\n");
}

// --- added files ----------------------------------------------------------------------------------------------------------

TEST(Judge, AnAddedFileThatWasThereBeforeStays) {
  const TreeState state = state_with({{"m.py", "x = old(1)\n"}, {"z.py", "v = 1\n"}});
  const Patch p = adding(patch_from_yaml("p", {kOld}), "z.py", "v = 1\n");
  const Patch q = adding(patch_from_yaml("q", {"add_import: import os"}), "z.py", "v = 1\n");
  const TreeState both = applied(state, {&p, &q});
  EXPECT_TRUE(both.receipt.files.at("z.py").existed);
  EXPECT_EQ(bytes_at(plan_revert(both, {}, true).after, "z.py"), "v = 1\n");
  EXPECT_EQ(bytes_at(plan_revert(plan_revert(both, {"p"}, false).after, {"q"}, false).after, "z.py"), "v = 1\n");
}

TEST(Judge, AnAddedFileGoesWithTheLastOfItsPatches) {
  const TreeState state = state_with({{"m.py", "x = old(1)\n"}});
  const Patch p = adding(patch_from_yaml("p", {kOld}), "z.py", "v = 1\n");
  const Patch q = adding(patch_from_yaml("q", {"add_import: import os"}), "z.py", "v = 1\n");
  const TreeState both = applied(state, {&p, &q});
  EXPECT_FALSE(both.receipt.files.at("z.py").existed) << "the first of them wrote it";
  const TreeState one = plan_revert(both, {"p"}, false).after;
  EXPECT_EQ(bytes_at(one, "z.py"), "v = 1\n");
  EXPECT_EQ(bytes_at(plan_revert(one, {"q"}, false).after, "z.py"), "<no file>");
}

TEST(Judge, AnAddedFileMustBePython) {
  const Patch patch = patch_from_yaml("p", {kOld});
  EXPECT_TRUE(check_patch(adding(patch, "z.py", "v = 1\n")));
  EXPECT_TRUE(check_patch(adding(patch, "z.txt", "def f(:\n")));
  const Status broken = check_patch(adding(patch, "z.py", "v = 1\ndef f(:\n    pass\n"));
  ASSERT_FALSE(broken);
  EXPECT_EQ(to_text(broken.error()),
            "patches/p/z.py:2:7: error: the parser sees a syntax error in this file, which p adds\n"
            "    def f(:\n"
            "          ^\n"
            "  hint: the package would not import it; mend the file\n");
  EXPECT_EQ(check_patch(adding(patch, "z.py", "v = '\xE9'\n")).error().exit, Exit::bad_rule);
}

// --- reverting beside others ------------------------------------------------------------------------------------------------

TEST(Judge, ARevertTakesNoImportFromAnother) {
  const TreeState state = state_with({{"m.py", "x = old(1)\ny = older(2)\n"}});
  const std::vector<Patch> all = {
      adding(patch_from_yaml("p", {kOld}), "n.py", "v = 1\n"),
      patch_from_yaml("q", {"match: older($X)\nreplace: v($X)", "add_import: from pkg.n import v"})};
  const TreeState both = applied(state, {&all[0], &all[1]});
  const std::string why =
      "without p, q would lose what it needs: `from pkg.n import v` would not resolve: there is no n.py";
  const RevertPlan refused = plan_revert(both, {"p"}, false, by(all));
  EXPECT_EQ(refused.outcomes.at(0).reason, why);
  EXPECT_THAT(refused.changes, IsEmpty());
  const std::vector<Patch> none;
  EXPECT_EQ(plan_revert(both, {"p"}, false, by(none)).outcomes.at(0).reason, why) << "by the receipts alone";
  EXPECT_FALSE(plan_revert(both, {"q"}, false, by(all)).refused());
  EXPECT_FALSE(plan_revert(both, {"p", "q"}, false, by(all)).refused());
}

TEST(Judge, ARevertTakesNoRequirementFromAnother) {
  const TreeState state = state_with({{"m.py", "x = old(1)\ny = older(2)\n"}});
  const std::vector<Patch> all = {
      patch_from_yaml("p", {kOld}),
      patch_from_yaml("q", {"match: older($X)\nreplace: v($X)"}, "requires: [{file: m.py, match: new($A)}]")};
  const TreeState both = applied(state, {&all[0], &all[1]});
  EXPECT_EQ(plan_revert(both, {"p"}, false, by(all)).outcomes.at(0).reason,
            "without p, q would lose what it needs: a requirement does not hold: `new($A)` does not stand in m.py");
  EXPECT_FALSE(plan_revert(both, {"q"}, false, by(all)).refused());
}

TEST(Judge, WhatAPatchChangesItselfIsNoLoss) {
  const TreeState state = state_with({{"m.py", "x = old(1)\ny = older(2)\n"}});
  const std::vector<Patch> all = {
      patch_from_yaml("p", {kOld}),
      patch_from_yaml("q", {"match: older($X)\nreplace: v($X)"}, "requires: [{file: m.py, match: older($A)}]")};
  const TreeState both = applied(state, {&all[0], &all[1]});
  EXPECT_FALSE(plan_revert(both, {"p"}, false, by(all)).refused());
}

// --- by receipts, and without -----------------------------------------------------------------------------------------------

TEST(Judge, APatchThatTheCatalogLacks) {
  const Patch p = patch_from_yaml("p", {kOld});
  TreeState state = applied(state_with({{"m.py", "x = old(1)\n"}}), {&p});
  EXPECT_EQ(judge_receipt(state, "p").verdict, Verdict::applied);
  EXPECT_EQ(judge_receipt(state, "q").verdict, Verdict::absent);
  edit_by_hand(state, "m.py", "x = newer(1)\n");
  EXPECT_EQ(judge_receipt(state, "p").verdict, Verdict::partial);
}

TEST(Judge, AFileThatCannotBeReadIsSaid) {
  const Patch p = patch_from_yaml("p", {kOld});
  TreeState state = applied(state_with({{"m.py", "x = old(1)\n"}}), {&p});
  state.files["m.py"] = FileState{FileState::Kind::unreadable, nullptr, "", "Permission denied"};
  EXPECT_EQ(said(state, p),
            "partial: whether what suture wrote stands cannot be said: m.py cannot be read: Permission denied");
}

TEST(Judge, NothingToRevertOfAnIdlePatch) {
  const std::vector<Patch> all = {patch_from_yaml("p", {"match: old($X)\nreplace: new($X)\ndone_if: done($X)"})};
  const RevertPlan idle = plan_revert(state_with({{"m.py", "x = done(1)\n"}}), {"p"}, false, by(all));
  EXPECT_EQ(idle.outcomes.at(0).kind, RevertOutcome::Kind::not_applied);
  EXPECT_EQ(idle.outcomes.at(0).reason, "nothing of it is applied");
  const RevertPlan by_hand = plan_revert(state_with({{"m.py", "x = new(1)\n"}}), {"p"}, false, by(all));
  EXPECT_EQ(by_hand.outcomes.at(0).kind, RevertOutcome::Kind::no_receipt);
}

}  // namespace
}  // namespace suture
