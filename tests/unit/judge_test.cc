// The verdict table, row by row, and what a plan writes: everything or nothing.
#include "engine/judge.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "engine/plan.h"
#include "support/engine_fixture.h"

namespace suture {
namespace {

const std::string kRule = "in: f\nmatch: old($X)\nreplace: new($X)";
const std::string kCode = "def f():\n    return old(1)\n";

std::string verdict(const TreeState& state, const Patch& patch, std::vector<Patch> others = {}) {
  others.push_back(patch);
  const PatchOutcome outcome = judge(state, patch, others);
  return (outcome.fatal ? "fatal " : "") + std::string(verdict_name(outcome.verdict));
}
std::string verdict_of(const std::string& rule, const std::string& code) {
  return verdict(state_with({{"m.py", code}}), patch_from_yaml("p", {rule}));
}
TreeState applied(const TreeState& state, const Patch& patch) {
  return plan_apply(state, {&patch}, {patch}).after;
}

TEST(Verdict, FollowsTheSites) {
  EXPECT_EQ(verdict_of(kRule, kCode), "applicable");
  EXPECT_EQ(verdict_of(kRule, "def f():\n    return new(1)\n"), "applied");
  EXPECT_EQ(verdict_of(kRule, "def f():\n    return new(old(1))\n"), "applied");  // part of the result
  EXPECT_EQ(verdict_of(kRule, "def f():\n    return other(1)\n"), "drifted");
  EXPECT_EQ(verdict_of(kRule, "def f():\n    old(1)\n    old(2)\n"), "drifted");
  EXPECT_EQ(verdict_of(kRule + "\nexpect: 2", "def f():\n    old(1)\n    new(2)\n"), "partial");
  EXPECT_EQ(verdict_of(kRule, "def g():\n    return old(1)\n"), "absent");
  EXPECT_EQ(verdict_of(kRule, "def f(:\n    return old(1)\n"), "drifted");  // a syntax error in its scope
  EXPECT_EQ(verdict_of(kRule, "def g():\n    old(2)\ndef f():\n    return old(1)\n"), "applicable");
  EXPECT_EQ(verdict_of(kRule + "\ndone_if: fine($X)", "def f():\n    return fine(1)\n"), "applied");
  EXPECT_EQ(verdict_of(
                "match: old($$$)\nany_of:\n  - {match: old($A), replace: new($A)}\n  - {match: old(1), replace: one()}",
                "old(1)\n"),
            "ambiguous");
  EXPECT_EQ(verdict_of("match: old($$$)\nany_of:\n  - {match: old($A), replace: new($A)}\n  - {match: 'old($A, $B)', "
                       "replace: new()}\n",
                       "old(1, 2, 3)\n"),
            "drifted");
}

TEST(Verdict, WhatNeedNotBeThereMayBeInAFileThatIsNotThere) {
  const Patch patch =
      patch_from_yaml("p", {kRule, "file: n.py\nmatch: old($X)\nreplace: new($X)\nexpect: {min: 0, max: 1}"});
  EXPECT_EQ(verdict(state_with({{"m.py", kCode}}), patch), "applicable");
  EXPECT_EQ(verdict(applied(state_with({{"m.py", kCode}}), patch), patch), "applied");
  const TreeState both = state_with({{"m.py", kCode}, {"n.py", "old(2)\n"}});
  EXPECT_EQ(bytes_at(applied(both, patch), "n.py"), "new(2)\n");
  EXPECT_EQ(verdict(state_with({{"n.py", "old(2)\n"}}), patch),
            "drifted");  // the rule that must find something decides
}

TEST(Verdict, WhatIsTakenAwayMayNeverHaveBeenThere) {
  const std::string rule = "in: [f, g]\nremove_decorator: slow\nexpect: 2";
  EXPECT_EQ(verdict_of(rule, "@slow\ndef f(): pass\ndef g(): pass\n"), "applicable");
  EXPECT_EQ(verdict_of(rule, "def f(): pass\ndef g(): pass\n"), "applied");
  EXPECT_EQ(verdict_of(rule, "@slow\ndef f(): pass\n"), "drifted");
}

TEST(Plan, RulesMayAddAtOnePlace) {
  const auto both = [](const std::string& first, const std::string& second, const std::string& code) {
    const Patch patch = patch_from_yaml("p", {first, second});
    const TreeState state = state_with({{"m.py", code}});
    if (verdict(state, patch) != "applicable") return verdict(state, patch);
    const Plan plan = plan_apply(state, {&patch}, {patch});
    if (plan.outcomes.at(0).fatal) return "fatal: " + plan.outcomes.at(0).fatal->message;
    EXPECT_EQ(verdict(plan.after, patch), "applied");
    return bytes_at(plan.after, "m.py");
  };
  EXPECT_EQ(both("match: D = $D\nset_key: {of: D, key: b, value: 2}",
                 "match: D = $D\nset_key: {of: D, key: c, value: 3}", "D = {\n    a: 1\n}\n"),
            "D = {\n    a: 1,\n    b: 2,\n    c: 3\n}\n");
  EXPECT_EQ(both("in: C\nadd_member: 'def f(self): pass'", "in: C\nadd_member: 'def g(self): pass'", "class C: pass\n"),
            "class C:\n    def f(self): pass\n\n    def g(self): pass\n");
  EXPECT_EQ(both("match: f($$$)\nadd_argument: b=1", "match: f($$$)\nadd_argument: c=1", "f(a)\n"), "f(a, b=1, c=1)\n");
  EXPECT_EQ(both("match: X = $L\nadd_element: {of: L, element: '2'}",
                 "match: X = $L\nadd_element: {of: L, element: '3'}", "X = []\n"),
            "X = [2, 3]\n");
}

TEST(Verdict, SaysWhyAFileCannotBeRead) {
  const Patch patch = patch_from_yaml("p", {kRule});
  EXPECT_EQ(verdict(state_with({}), patch), "absent");
  EXPECT_EQ(verdict(state_with({{"m.py", "def f():\n    return old('\xE9')\n"}}), patch),
            "drifted");  // no UTF-8, no cookie
  const TreeState latin = state_with({{"m.py", "# -*- coding: latin-1 -*-\ndef f():\n    return old('\xE9')\n"}});
  EXPECT_EQ(verdict(latin, patch), "applicable");
  EXPECT_EQ(bytes_at(applied(latin, patch), "m.py"), "# -*- coding: latin-1 -*-\ndef f():\n    return new('\xE9')\n");
  const TreeState broken = state_with({{"m.py", "def g(:\n    pass\n\ndef f():\n    return old(1)\n"}});
  EXPECT_EQ(bytes_at(applied(broken, patch), "m.py"),
            "def g(:\n    pass\n\ndef f():\n    return new(1)\n");  // an error elsewhere
}

TEST(Verdict, KnowsVersionsHandsAndOthers) {
  const Patch ranged = patch_from_yaml("p", {kRule}, "package: {name: pkg, versions: '>=2'}");
  EXPECT_EQ(verdict(state_with({{"m.py", kCode}}), ranged), "out-of-range");
  EXPECT_EQ(verdict(state_with({{"m.py", kCode}}, "2.1rc1"), ranged), "applicable");
  EXPECT_EQ(verdict(state_with({{"m.py", kCode}}, "2.1+cu12"), ranged), "applicable");
  const Patch patch = patch_from_yaml("p", {kRule});
  TreeState edited_state = state_with({{"m.py", kCode}});
  edit_by_hand(edited_state, "m.py", "def f():\n    return mine(1)\n");
  EXPECT_EQ(verdict(edited_state, patch), "foreign-edit");
  edit_by_hand(edited_state, "m.py", "x = 1\n" + kCode);
  EXPECT_EQ(verdict(edited_state, patch), "applicable");  // elsewhere in the file: it is kept
  const Patch other = patch_from_yaml("q", {"in: f\nmatch: return $X\nreplace: return wrap($X)"}, "conflicts: [p]");
  const TreeState with_p = applied(state_with({{"m.py", kCode}}), patch);
  EXPECT_EQ(verdict(with_p, patch, {other}), "applied");
  EXPECT_EQ(verdict(with_p, other, {patch}), "conflicting");
}

TEST(Verdict, RequirementsAndWhatUpstreamDoes) {
  const std::map<std::string, std::string> files = {{"m.py", kCode},
                                                    {"w.py", "class W:\n    def plan(self, a, new_arg=1): pass\n"}};
  const auto with = [&](const std::string& keys) {
    return verdict(state_with(files), patch_from_yaml("p", {kRule}, keys));
  };
  EXPECT_EQ(with("requires:\n  - {file: w.py, in: W.plan}"), "applicable");
  EXPECT_EQ(with("requires:\n  - {file: w.py, in: W.run}"), "blocked");
  EXPECT_EQ(with("requires:\n  - {file: nowhere.py}"), "blocked");
  EXPECT_EQ(with("requires:\n  - {file: w.py, literal: new_arg=1}"), "applicable");
  EXPECT_EQ(with("requires:\n  - {file: w.py, not_literal: new_arg}"), "blocked");
  EXPECT_EQ(with("requires:\n  - {file: w.py, in: W, match: 'def plan($$$, new_arg, $$$): $$$'}"), "applicable");
  EXPECT_EQ(with("requires:\n  - {file: w.py, in: W, not_match: 'def plan($$$): $$$'}"), "blocked");
  EXPECT_EQ(with("superseded:\n  - {file: w.py, literal: new_arg}"), "superseded");
  EXPECT_EQ(with("superseded:\n  - {versions: '>=2'}"), "applicable");
  EXPECT_EQ(with("superseded:\n  - {versions: '>=1'}"), "superseded");
}

TEST(Verdict, AnImportMustResolveAndSupportsOnly) {
  const auto with = [&](const std::string& import, const std::map<std::string, std::string>& more,
                        const std::string& code = kCode) {
    std::map<std::string, std::string> files = {{"m.py", code},
                                                {"other.py", ""},
                                                {"other/__init__.py", ""},
                                                {"other/thing.py", ""},
                                                {"other/thing/__init__.py", ""}};
    for (auto& [path, bytes] : more) files[path] = bytes;
    TreeState state = state_with(files);
    for (auto& [path, file] : state.files) {
      if (path != "m.py" && !more.contains(path)) file = FileState{};
    }
    return verdict(state, patch_from_yaml("p", {kRule, "add_import: " + import}));
  };
  EXPECT_EQ(with("from pkg.other import thing", {{"other.py", "def thing(): pass\n"}}), "applicable");
  EXPECT_EQ(with("from pkg.other import thing", {{"other.py", "x = 1\n"}}), "blocked");
  EXPECT_EQ(with("from pkg.other import thing", {}), "blocked");
  EXPECT_EQ(with("from pkg.other import thing", {{"other/__init__.py", ""}, {"other/thing.py", ""}}), "applicable");
  EXPECT_EQ(with("from pkg.other import thing", {{"other.py", "thing = 1\n"}}, "thing = 1\n" + kCode), "drifted");
  EXPECT_EQ(with("from pkg.other import thing", {{"other.py", "thing = 1\n"}}, "from pkg.other import thing\n" + kCode),
            "applicable");
  EXPECT_EQ(with("from pkg.other import thing", {{"other.py", "thing = 1\n"}}, "def f():\n    return new(1)\n"),
            "partial");
}

TEST(Plan, WritesAllRulesOfAPatchOrNone) {
  const Patch patch =
      patch_from_yaml("p", {"match: a($X)\nreplace: b($X)", "match: c($X)\nreplace: d($X)\nfile: n.py"});
  const TreeState both = state_with({{"m.py", "a(1)\n"}, {"n.py", "c(2)\n"}});
  const Plan plan = plan_apply(both, {&patch}, {patch});
  EXPECT_EQ(plan.changes.size(), 2U);
  EXPECT_EQ(bytes_at(plan.after, "m.py"), "b(1)\n");
  EXPECT_EQ(bytes_at(plan.after, "n.py"), "d(2)\n");
  EXPECT_FALSE(plan_apply(plan.after, {&patch}, {patch}).writes());  // a second run
  for (const char* drifted : {"x(2)\n", "c(1)\nc(2)\n"}) {
    const Plan none = plan_apply(state_with({{"m.py", "a(1)\n"}, {"n.py", drifted}}), {&patch}, {patch});
    EXPECT_EQ(verdict_name(none.outcomes.at(0).verdict), "drifted");
    EXPECT_FALSE(none.writes()) << drifted;
  }
  const Plan half = plan_apply(state_with({{"m.py", "b(1)\n"}, {"n.py", "c(2)\n"}}), {&patch}, {patch});
  EXPECT_EQ(verdict_name(half.outcomes.at(0).verdict), "partial");
  EXPECT_FALSE(half.writes());
}

TEST(Plan, AllEditsOfAFileComeFromOneParse) {
  const Patch patch = patch_from_yaml("p", {"match: a($X)\nreplace: longer_name($X, 1)",
                                            "match: b($X)\ninsert_after: z()", "match: c($X)\nreplace: d()"});
  const Plan plan = plan_apply(state_with({{"m.py", "a(1); b(2)\nc(3)\n"}}), {&patch}, {patch});
  EXPECT_EQ(bytes_at(plan.after, "m.py"), "longer_name(1, 1); b(2)\nz()\nd()\n");
}

TEST(Plan, RulesThatMeetAreAnErrorNamingBoth) {
  const Patch patch =
      patch_from_yaml("p", {"match: a($X)\nreplace: b()\napplied: b()", "match: k($Y)\nreplace: l($Y)"});
  const Plan plan = plan_apply(state_with({{"m.py", "a(k(1))\n"}}), {&patch}, {patch});
  ASSERT_TRUE(plan.outcomes.at(0).fatal);
  EXPECT_NE(plan.outcomes.at(0).fatal->message.find("p-1 and p-2"), std::string::npos)
      << plan.outcomes.at(0).fatal->message;
  EXPECT_FALSE(plan.writes());
  // Two rules may edit one statement, where their bytes are apart.
  const Patch apart =
      patch_from_yaml("p", {"match: a($X)\nreplace: b($X)\napplied: b($X)", "match: k($Y)\nreplace: l($Y)"});
  EXPECT_EQ(bytes_at(applied(state_with({{"m.py", "a(k(1))\n"}}), apart), "m.py"), "b(l(1))\n");
}

TEST(Plan, AResultThatIsNoResultIsNotWritten) {
  const Patch patch = patch_from_yaml("p", {"match: a($X)\nreplace: b($X)\napplied: c($X)"});
  const Plan plan = plan_apply(state_with({{"m.py", "a(1)\n"}}), {&patch}, {patch});
  EXPECT_TRUE(plan.outcomes.at(0).fatal);
  EXPECT_FALSE(plan.writes());
}

TEST(Plan, ACommentThatWouldGoIsDriftAndNothingIsWritten) {
  const Patch patch = patch_from_yaml("p", {"match: 'a(1, 2)'\nreplace: b()"});
  const Plan plan = plan_apply(state_with({{"m.py", "a(1,  # why\n  2)\n"}}), {&patch}, {patch});
  EXPECT_FALSE(plan.outcomes.at(0).fatal);
  EXPECT_EQ(plan.outcomes.at(0).verdict, Verdict::drifted);
  EXPECT_FALSE(plan.writes());
}

TEST(Plan, MovedFilesAreFoundAndShimsPassedOver) {
  const std::string rule = "file: [new/m.py, m.py]\n" + kRule;
  const Patch patch = patch_from_yaml("p", {rule});
  EXPECT_EQ(bytes_at(applied(state_with({{"m.py", "from .new.m import f\n"}, {"new/m.py", kCode}}), patch), "new/m.py"),
            "def f():\n    return new(1)\n");
  EXPECT_EQ(bytes_at(applied(state_with({{"m.py", kCode}, {"new/m.py", "from ..m import f\n"}}), patch), "m.py"),
            "def f():\n    return new(1)\n");
  EXPECT_EQ(bytes_at(applied(state_with({{"m.py", kCode}}), patch), "m.py"), "def f():\n    return new(1)\n");
}

}  // namespace
}  // namespace suture
