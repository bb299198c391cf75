// What a verdict says of the code: candidates, both readings, differences. Values in, values out.
#include "engine/evidence.h"

#include <gtest/gtest.h>

#include "base/sha256.h"
#include "engine/foreign_diff.h"
#include "engine/nearest.h"
#include "support/engine_fixture.h"

namespace suture {
namespace {

PatchOutcome judged(const std::map<std::string, std::string>& files, const std::vector<std::string>& rules,
                    const std::string& keys = "") {
  const Patch patch = patch_from_yaml("p", rules, keys);
  return judge(state_with(files), patch, {patch});
}

// "line: text | detail" of each.
std::vector<std::string> shown(const std::vector<Evidence>& all) {
  std::vector<std::string> out;
  for (const Evidence& each : all)
    out.push_back(each.path + ":" + std::to_string(each.where.line) + ": " + each.text +
                  (each.detail.empty() ? "" : " | " + each.detail));
  return out;
}
using Lines = std::vector<std::string>;

// --- candidates in the file

TEST(Candidates, TheRulesScopeComesFirst) {
  const std::string code = R"(class A:
    def g(self):
        return self.pool.get(1).to(int)

    def f(self):
        return self.pool.get(1).view(int)
)";
  const PatchOutcome out = judged({{"m.py", code}}, {"in: A.f\nmatch: $P.get($L).to($D)\nreplace: $P.cast($L, $D)"});
  ASSERT_EQ(out.verdict, Verdict::drifted);
  EXPECT_EQ(shown(out.rules[0].candidates),
            (Lines{"m.py:6: in A.f: self.pool.get(1) | is followed by `.view(int)`, expected `.to($D)`",
                   "m.py:3: in A.g: self.pool.get(1).to(int) | matches in full, but not in A.f"}));
}

TEST(Candidates, AtMostThreeBestFirst) {
  const std::string code = "f(1, 2)\nf(a=1)\ng(f)\nf(1, 2, 3)\nf()\n";
  const PatchOutcome out = judged({{"m.py", code}}, {"match: f(1)\nreplace: g(1)"});
  EXPECT_EQ(shown(out.rules[0].candidates), (Lines{"m.py:1: in <module>: f(1, 2) | has one argument more: 2",
                                                   "m.py:2: in <module>: f(a=1) | argument 1 is `a=1`, expected `1`",
                                                   "m.py:4: in <module>: f(1, 2, 3) | has 2 arguments more: 2, 3"}));
}

TEST(Candidates, AStatementOfTheSameKind) {
  const std::string code = "def f(a):\n    x = 1\n    if a.ready:\n        go(a)\n    else:\n        stop()\n";
  const PatchOutcome out =
      judged({{"m.py", code}}, {"in: f\nmatch: |\n  if $A.ready:\n      go($A)\nreplace: went($A)"});
  EXPECT_EQ(shown(out.rules[0].candidates),
            (Lines{"m.py:3: in f: if a.ready: go(a) else: stop() | has an else branch"}));
}

TEST(Candidates, TheNarrowingThatRejects) {
  const std::string code = "def f(a):\n    if self.dcp:\n        go(a.b)\n";
  const auto only = [&](const std::string& narrowing) {
    const PatchOutcome out = judged({{"m.py", code}}, {"in: f\nmatch: go($X)\nreplace: went($X)\n" + narrowing});
    return out.rules[0].candidates.size() == 1 ? out.rules[0].candidates[0].detail : "not one candidate";
  };
  EXPECT_EQ(only("not_inside: \"if self.dcp: $$$\""), "is inside `if self.dcp: $$$`");
  EXPECT_EQ(only("inside: \"with $C: $$$\""), "is not inside `with $C: $$$`");
  EXPECT_EQ(only("where: {X: {kind: identifier}}"), "$X is `a.b`, which is not of kind identifier");
  EXPECT_EQ(only("where: {X: {regex: \"^c\"}}"), "$X is `a.b`, which does not match the regex ^c");
  EXPECT_EQ(only("where: {X: {one_of: [c, d]}}"), "$X is `a.b`, which is none of `c`, `d`");
  EXPECT_EQ(only("where: {X: {match: $Y.c}}"), "$X is `a.b`, which is not `$Y.c`");
  EXPECT_EQ(only("has: c"), "does not contain `c`");
  EXPECT_EQ(only("not_has: b"), "contains `b`");
  EXPECT_EQ(only("after: start()"), "is not after `start()`");
  EXPECT_EQ(only("before: stop()"), "is not before `stop()`");
}

TEST(Candidates, ARenamedScope) {
  const std::string code = "class B:\n    def f(self):\n        go(1)\n";
  const PatchOutcome out = judged({{"m.py", code}, {"n.py", "x = 1\n"}}, {"in: A.f\nmatch: go($X)\nreplace: went($X)",
                                                                          "file: n.py\nmatch: x = $X\nreplace: x = 2"});
  ASSERT_EQ(out.verdict, Verdict::drifted);
  EXPECT_TRUE(out.rules[0].lost);
  EXPECT_EQ(shown(out.rules[0].candidates), (Lines{"m.py:2: def f(self): | this is B.f, expected A.f",
                                                   "m.py:3: in B.f: go(1) | matches in full, but not in A.f"}));
}

TEST(Candidates, ShapesThatDoNotHold) {
  const PatchOutcome out = judged({{"m.py", "def f(a):\n    go(a, 3)\n"}},
                                  {"in: f\nmatch: go($$$)\nany_of:\n  - {match: \"go($A, 1)\", replace: went($A)}\n"
                                   "  - {match: \"go($A, 2)\", replace: \"went($A, 2)\"}"});
  ASSERT_EQ(out.verdict, Verdict::drifted);
  EXPECT_EQ(shown(out.evidence), (Lines{"m.py:2: go(a, 3) | argument 2 is `3`, expected `1`"}));
}

// --- the rest of the package

std::vector<std::string> moved(const std::map<std::string, std::string>& elsewhere, const std::string& rule) {
  const Patch patch = patch_from_yaml("p", {rule});
  PatchOutcome out = judge(state_with({{"other.py", ""}}), patch, {patch});
  const Traces traces(out, patch);
  EXPECT_FALSE(traces.empty());
  std::map<std::string, std::string> found;
  for (const auto& [path, bytes] : elsewhere) {
    if (traces.rank(path, bytes) > 0) found.emplace(path, bytes);
  }
  add_moved_candidates(out, patch, found);
  return shown(out.rules[0].candidates);
}

TEST(Moved, TheScopeInAnotherFile) {
  const std::string rule = "in: A.f\nmatch: go($X)\nreplace: went($X)";
  EXPECT_EQ(moved({{"new/place.py", "class A:\n    def f(self):\n        go(1)\n"}, {"unrelated.py", "x = 1\n"}}, rule),
            (Lines{"new/place.py:3: in A.f: go(1) | matches in full; the rule does not look in this file"}));
  EXPECT_EQ(
      moved({{"new/place.py", "class A:\n    def f(self):\n        go(1, 2)\n"}}, rule),
      (Lines{"new/place.py:3: in A.f: go(1, 2) | has one argument more: 2; the rule does not look in this file"}));
  EXPECT_EQ(moved({{"new/place.py", "class A:\n    def f(self):\n        pass\n"}}, rule),
            (Lines{"new/place.py:2: def f(self): | this is A.f; the rule does not look in this file"}));
}

TEST(Moved, TheVeryScopeBeforeAnotherOneOfItsName) {
  EXPECT_EQ(moved({{"a.py", "class B:\n    def f(self):\n        go(1)\n"},
                   {"b.py", "class A:\n    def f(self):\n        go(1)\n"},
                   {"c.py", "def f():\n    pass\n"}},
                  "in: A.f\nmatch: go($X)\nreplace: went($X)"),
            (Lines{"b.py:3: in A.f: go(1) | matches in full; the rule does not look in this file",
                   "a.py:2: def f(self): | this is B.f, expected A.f; the rule does not look in this file",
                   "c.py:1: def f(): | this is f, expected A.f; the rule does not look in this file"}));
}

TEST(Moved, AFileOfTheSameName) {
  EXPECT_EQ(moved({{"deep/m.py", "launch(2)\n"}, {"deep/n.py", "x = 1\n"}}, "match: launch(1)\nreplace: went(1)"),
            (Lines{"deep/m.py:1: in <module>: launch(2) | argument 1 is `2`, expected `1`"}));
  EXPECT_EQ(moved({{"deep/m.py", "x = 1\n"}}, "match: launch(1)\nreplace: went(1)"),
            (Lines{"deep/m.py:0: a file of the same name | nothing in it is like what the rule looks for"}));
}

TEST(Moved, AnotherFileOnlyWhereAllOfTheCodeIsThere) {
  EXPECT_EQ(moved({{"n.py", "launch(2)\n"}, {"o.py", "x = launch(1)\n"}}, "match: launch(1)\nreplace: went(1)"),
            (Lines{"o.py:1: in <module>: launch(1) | matches in full; the rule does not look in this file"}));
}

TEST(Candidates, DeepNestingEndsTheSearch) {
  std::string code;
  for (int i = 0; i < 60; ++i) {
    for (int k = 0; k < 300; ++k) code += "go(";
    code += std::string(300, ')') + "\n";
  }
  const PatchOutcome out = judged({{"m.py", code}}, {"match: go(1, 2)\nreplace: went(1)"});
  EXPECT_EQ(out.verdict, Verdict::drifted);
  EXPECT_EQ(out.rules[0].candidates.size(), 3U);
}

TEST(Moved, NothingIsLookedForWhereTheScopeStands) {
  const Patch patch = patch_from_yaml("p", {"in: f\nmatch: go($X)\nreplace: went($X)"});
  const PatchOutcome out = judge(state_with({{"m.py", "def f():\n    pass\n"}}), patch, {patch});
  ASSERT_EQ(out.verdict, Verdict::drifted);
  EXPECT_TRUE(Traces(out, patch).empty());
}

// --- all rules that fail

TEST(Drift, EveryFailingRuleIsNamedAndEqualReasonsAreOne) {
  const PatchOutcome out = judged(
      {{"m.py", "a(1)\nb(1)\nb(2)\n"}},
      {"match: a(2)\nreplace: z(2)", "match: b($X)\nreplace: z($X)", "file: gone.py\nmatch: c($X)\nreplace: z($X)",
       "file: gone.py\nmatch: d($X)\nreplace: z($X)", "match: a(1)\nreplace: z(1)"});
  ASSERT_EQ(out.verdict, Verdict::drifted);
  EXPECT_EQ(out.reason,
            "rule p-1: expected 1 site, found 0 of `a(2)`; rule p-2: expected 1 site, found 2 of `b($X)`; "
            "rules p-3 and p-4: none of its files is there: gone.py");
}

// --- ambiguous

TEST(Ambiguous, EachReadingAndWhatItWouldWrite) {
  const PatchOutcome out = judged({{"m.py", "def f(a):\n    x = a.go(1,\n             2)\n"}},
                                  {"in: f\nany_of:\n  - {match: \"$A.go(1, $X)\", replace: \"first($A, $X)\"}\n"
                                   "  - {match: \"a.go($$$X)\", replace: \"second($$$X)\"}"});
  ASSERT_EQ(out.verdict, Verdict::ambiguous);
  EXPECT_EQ(out.reason, "rule p-1: 2 of its shapes hold at one site");
  EXPECT_EQ(shown(out.evidence), (Lines{"m.py:2: shape 1, `$A.go(1, $X)`: a.go(1, 2) | it would write `first(a, 2)`",
                                        "m.py:2: shape 2, `a.go($$$X)`: a.go(1, 2) | it would write `second(1, 2)`"}));
  EXPECT_EQ(out.evidence[0].where.column, 9U);
  EXPECT_TRUE(out.evidence[0].column);
}

// --- foreign edits

TreeState left_and_edited(const std::string& left, const std::string& now) {
  TreeState state = state_with({{"m.py", left}});
  const Patch patch = patch_from_yaml("other", {"match: marker\nreplace: marked"});
  Plan plan = plan_apply(state, {&patch}, {patch});
  EXPECT_TRUE(plan.writes());
  edit_by_hand(plan.after, "m.py", now);
  return plan.after;
}

TEST(ForeignDiff, FromWhatSutureLeft) {
  const TreeState state = left_and_edited("marker\na = 1\n", "marked\na = 2\n");
  const auto diff = foreign_diff(state, "m.py", {});
  ASSERT_TRUE(diff);
  EXPECT_EQ(diff->text, "--- a/pkg/m.py\n+++ b/pkg/m.py\n@@ -1,2 +1,2 @@\n marked\n-a = 1\n+a = 2\n");
  EXPECT_EQ(diff->note, "");
  EXPECT_FALSE(foreign_diff(state_with({{"m.py", "a"}}), "m.py", {}));
}

TEST(ForeignDiff, OnlyTheHunksThatAreNearAndNoMoreThanSomeDozens) {
  std::string left = "marker\n", now = "marked\n";
  for (int i = 0; i < 200; ++i) {
    left += "a" + std::to_string(i) + "\n";
    now += (i == 3 || i >= 100 ? "b" : "a") + std::to_string(i) + "\n";
  }
  const TreeState state = left_and_edited(left, now);
  const auto near = foreign_diff(state, "m.py", {{8, 20}});
  ASSERT_TRUE(near);
  EXPECT_NE(near->text.find("+b3\n"), std::string::npos);
  EXPECT_EQ(near->text.find("+b100\n"), std::string::npos);
  EXPECT_EQ(near->note, "not shown of the difference: 1 change elsewhere in the file");
  const auto all = foreign_diff(state, "m.py", {});
  ASSERT_TRUE(all);
  EXPECT_LE(std::count(all->text.begin(), all->text.end(), '\n'), 52);
  EXPECT_NE(all->note.find("lines of the rest"), std::string::npos) << all->note;
}

TEST(ForeignEdit, TheVerdictCarriesTheDifference) {
  TreeState state = left_and_edited("marker\n\n\ndef f():\n    go(1)\n", "marked\n\n\ndef f():\n    go(2)\n");
  const Patch patch = patch_from_yaml("p", {"in: f\nmatch: go(1)\nreplace: went(1)"});
  const PatchOutcome out = judge(state, patch, {patch});
  ASSERT_EQ(out.verdict, Verdict::foreign_edit);
  EXPECT_NE(out.diff.find("-    go(1)\n+    go(2)\n"), std::string::npos) << out.diff;
  EXPECT_NE(out.reason.find("m.py was edited by hand (it is not as suture left it)"), std::string::npos);
}

TEST(ForeignEdit, WithoutTheBytesItSaysHowToGetThem) {
  TreeState state = state_with({{"m.py", "go(1)\n"}});
  edit_by_hand(state, "m.py", "go(2)\n");
  const Patch patch = patch_from_yaml("p", {"match: go(1)\nreplace: went(1)"});
  const PatchOutcome out = judge(state, patch, {patch});
  ASSERT_EQ(out.verdict, Verdict::foreign_edit);
  EXPECT_EQ(out.diff, "");
  EXPECT_EQ(out.hints, (Lines{"what was shipped is known by its hash alone: pip download --no-deps pkg==1.0 brings the "
                              "bytes to compare with",
                              "undo the edit, or put the package's own files back: pip install --force-reinstall "
                              "--no-deps pkg==1.0"}));
}

// --- conditions

TEST(Superseded, QuotesWhatProvesIt) {
  const std::string keys = "superseded:\n  - {file: m.py, match: new($$$), not_match: old($$$)}";
  const PatchOutcome out = judged({{"m.py", "new(1)\n"}}, {"match: old($X)\nreplace: new($X)"}, keys);
  ASSERT_EQ(out.verdict, Verdict::superseded);
  EXPECT_EQ(out.reason, "upstream already does it: `new($$$)` stands in m.py and `old($$$)` does not stand in m.py");
  EXPECT_EQ(shown(out.evidence), (Lines{"m.py:1: new(1)"}));
}

}  // namespace
}  // namespace suture
