// `requires:` and `superseded:`: whether a condition holds, why, and the line that proves it.
#include "engine/conditions.h"

#include <gtest/gtest.h>

#include <string>

#include "support/engine_fixture.h"

namespace suture {
namespace {

// "holds: why [path:line text]..."
std::string told_of(const TreeState& state, const std::string& condition) {
  const Patch patch = patch_from_yaml("p", {"match: old($X)\nreplace: new($X)"}, "requires:\n  - " + condition);
  Workbench bench;
  const ConditionResult result = check_condition(bench, state, patch, patch.needs.at(0));
  std::string out = (result.error ? "error: " : result.holds ? "holds: " : "not: ") + result.why;
  for (const Evidence& e : result.evidence)
    out += " [" + e.path + ":" + std::to_string(e.where.line) + " " + e.text + "]";
  return out;
}
std::string told(const std::string& condition) {
  return told_of(state_with({{"m.py", "old(1)\n"},
                             {"w.py", "import z\n\nclass W:\n    def plan(self, a, new_arg=1):\n        return a\n"},
                             {"b.py", "def f(:\n"}}),
                 condition);
}

// A tree beside which `kern` 0.2 is installed.
TreeState with_kern() {
  TreeState state = state_with({{"m.py", "old(1)\n"}});
  OtherPackage& kern = state.others["kern"];
  kern.present = true;
  kern.folder = "kern";
  kern.searched = {"/s"};
  kern.dist.version = "0.2";
  kern.dist.version_source = "kern-0.2.dist-info/METADATA";
  kern.files = state_with({{"w.py", "class W:\n    def plan(self, a): pass\n"}}).files;
  kern.python_files = 7;
  return state;
}

TEST(Conditions, NameTheirProof) {
  EXPECT_EQ(told("{file: w.py}"), "holds: w.py is there");
  EXPECT_EQ(told("{file: [v.py, w.py]}"), "holds: w.py is there");
  EXPECT_EQ(told("{file: v.py}"), "not: there is no v.py");
  EXPECT_EQ(told("{versions: '>=1'}"), "holds: pkg is 1.0");
  EXPECT_EQ(told("{versions: '>=2'}"), "not: pkg is 1.0, wanted is >=2");
  EXPECT_EQ(told("{file: w.py, literal: new_arg}"),
            "holds: \"new_arg\" stands in w.py [w.py:4 def plan(self, a, new_arg=1):]");
  EXPECT_EQ(told("{file: w.py, literal: gone}"), "not: \"gone\" does not stand in w.py");
  EXPECT_EQ(told("{file: w.py, not_literal: new_arg}"),
            "not: \"new_arg\" stands in w.py [w.py:4 def plan(self, a, new_arg=1):]");
  EXPECT_EQ(told("{file: w.py, in: W.plan}"), "holds: W.plan stands in w.py [w.py:4 def plan(self, a, new_arg=1):]");
  EXPECT_EQ(told("{file: w.py, in: W.run}"), "not: there is no W.run in w.py");
  EXPECT_EQ(told("{file: w.py, in: W.plan, match: return $X}"),
            "holds: `return $X` stands in W.plan of w.py [w.py:5 return a]");
  EXPECT_EQ(told("{file: w.py, in: W.plan, match: return b}").substr(0, 55),
            "not: `return b` does not stand in W.plan of w.py [w.py:");
  EXPECT_EQ(told("{file: w.py, match: return $X, where: {X: {regex: b}}}").substr(0, 4), "not:");
  EXPECT_EQ(told("{file: w.py, in: W.plan, not_match: return $X}"),
            "not: `return $X` stands in W.plan of w.py [w.py:5 return a]");
  EXPECT_EQ(told("{file: w.py, literal: gone, note: the wrapper copies}"),
            "not: \"gone\" does not stand in w.py (the wrapper copies)");
}

TEST(Conditions, SayWhatFollowsWhereTheyDoNotHold) {
  EXPECT_EQ(told("{file: w.py, literal: gone, note: it is there, otherwise: the server stops}"),
            "not: \"gone\" does not stand in w.py (it is there). Otherwise: the server stops");
  EXPECT_EQ(told("{file: w.py, literal: new_arg, otherwise: the server stops}").substr(0, 40),
            "holds: \"new_arg\" stands in w.py [w.py:4 ");
}

// The whole signature of what was searched, also over several lines; overloads are for type checkers.
TEST(Conditions, ShowTheSignatureThatWasSearched) {
  const TreeState state = state_with({{"w.py",
                                       "class W:\n"
                                       "    @overload\n"
                                       "    def run(self, q): ...\n"
                                       "    @typing.overload\n"
                                       "    def run(self, q, k): ...\n"
                                       "    @api(trace=True)\n"
                                       "    def run(\n"
                                       "        self,\n"
                                       "        q,  # queries\n"
                                       "        *, scale: float = 1.0,\n"
                                       "    ) -> Tensor:\n"
                                       "        return q\n"
                                       "    @overload\n"
                                       "    def plan(self): ...\n"}});
  EXPECT_EQ(told_of(state, "{class: W, in: W.run, has: 'def run($$$, ckv_scale, $$$): $$$'}"),
            "not: `def run($$$, ckv_scale, $$$): $$$` does not stand in W.run of w.py "
            "[w.py:7 def run( self, q, *, scale: float = 1.0, ) -> Tensor:]");
  EXPECT_EQ(told_of(state, "{class: W, in: W.run, has: 'def run($$$, scale, $$$): $$$'}").substr(0, 6), "holds:");
  EXPECT_EQ(told_of(state, "{class: W, in: W.plan, has: x}"),
            "not: `x` does not stand in W.plan of w.py [w.py:14 def plan(self):]");
}

// Of a header in C++ text is asked, and nothing else is made of it.
TEST(Conditions, TextOfAFileThatIsNotPython) {
  const TreeState state = state_with({{"k.cuh", "template <int N> void repack(T* x) {\n  \"\xff\"; }\n"}});
  EXPECT_EQ(told_of(state, "{file: k.cuh, literal: repack}"),
            "holds: \"repack\" stands in k.cuh [k.cuh:1 template <int N> void repack(T* x) {]");
  EXPECT_EQ(told_of(state, "{file: k.cuh, not_literal: repack}").substr(0, 4), "not:");
  EXPECT_EQ(told_of(state, "{file: k.cuh}"), "holds: k.cuh is there");
}

TEST(Conditions, AllOfOneMustHold) {
  EXPECT_EQ(told("{file: w.py, versions: '>=2', literal: new_arg}"), "not: pkg is 1.0, wanted is >=2");
  EXPECT_EQ(told("{file: w.py, literal: new_arg, in: W.run}").substr(0, 32), "not: there is no W.run in w.py [");
}

TEST(Conditions, HasStandsAlone) {
  EXPECT_EQ(told("{file: w.py, in: W.plan, has: return $X}"),
            "holds: `return $X` stands in W.plan of w.py [w.py:5 return a]");
  EXPECT_EQ(told("{file: w.py, in: W.plan, has: return b}").substr(0, 4), "not:");
  EXPECT_EQ(told("{file: w.py, in: W.plan, has: [return a, return b]}").substr(0, 4), "not:");
  EXPECT_EQ(told("{file: w.py, in: W.plan, not_has: return b}"), "holds: `return b` does not stand in W.plan of w.py");
  EXPECT_EQ(told("{file: w.py, in: W.plan, not_has: return a}"),
            "not: `return a` stands in W.plan of w.py [w.py:5 return a]");
  // Beside a match it narrows that.
  EXPECT_EQ(told("{file: w.py, in: W, match: 'def plan($$$): $$$', has: return a}").substr(0, 6), "holds:");
  EXPECT_EQ(told("{file: w.py, in: W, match: 'def plan($$$): $$$', not_has: return a}").substr(0, 4), "not:");
}

TEST(Conditions, NoneOfSeveralMayMatch) {
  EXPECT_EQ(told("{file: w.py, in: W.plan, not_match: [return b, return c]}").substr(0, 6), "holds:");
  EXPECT_EQ(told("{file: w.py, in: W.plan, not_match: [return b, return a]}"),
            "not: `return a` stands in W.plan of w.py [w.py:5 return a]");
  // `where` narrows the match alone.
  EXPECT_EQ(
      told("{file: w.py, in: W.plan, match: return $X, where: {X: {regex: a}}, not_match: [return b]}").substr(0, 6),
      "holds:");
  EXPECT_EQ(
      told("{file: w.py, in: W.plan, match: return $X, where: {X: {regex: a}}, not_match: [return $X]}").substr(0, 4),
      "not:");
}

TEST(Conditions, WhatIsNotThereProvesNothing) {
  EXPECT_EQ(told("{file: v.py, not_literal: x}"), "not: there is no v.py");
  EXPECT_EQ(told("{file: w.py, in: W.run, not_match: x}"), "not: there is no W.run in w.py");
  EXPECT_EQ(told("{class: V, not_has: x}"), "not: no file of pkg defines a class V (searched 0 Python files)");
  EXPECT_EQ(told("{package: kern, not_literal: x, file: w.py}"), "not: kern is not installed beside pkg");
}

TEST(Conditions, TheFirstCandidateThatDefinesTheScope) {
  const TreeState moved = state_with({{"old.py", "from .new import f\n"}, {"new.py", "def f():\n    return 1\n"}});
  EXPECT_EQ(told_of(moved, "{file: [old.py, new.py], in: f, match: return $X}"),
            "holds: `return $X` stands in f of new.py [new.py:2 return 1]");
  EXPECT_EQ(told_of(moved, "{file: [old.py, new.py], literal: import}"),
            "holds: \"import\" stands in old.py [old.py:1 from .new import f]");
  EXPECT_EQ(told_of(moved, "{file: [old.py, new.py], in: g}"), "not: there is no g in old.py, new.py");
}

TEST(Conditions, SeveralFilesOfAGlob) {
  const TreeState state = state_with({{"k/a.py", "def f(): slow(1)\n"}, {"k/b.py", "def f(): fast(1)\n"}});
  EXPECT_EQ(told_of(state, "{file: 'k/*.py', has: fast($X)}"), "holds: `fast($X)` stands in k/b.py [k/b.py:1 fast(1)]");
  EXPECT_EQ(told_of(state, "{file: 'k/*.py', not_match: slow($X)}"),
            "not: `slow($X)` stands in k/a.py [k/a.py:1 slow(1)]");
  EXPECT_EQ(told_of(state, "{file: 'k/*.py', not_literal: slower}"),
            "holds: \"slower\" does not stand in k/a.py and k/b.py");
  EXPECT_EQ(told_of(state, "{file: 'k/*.py'}"), "holds: k/a.py and k/b.py are there");
  EXPECT_EQ(told_of(state, "{file: 'l/*.py'}"), "not: there is no l/*.py");
}

TEST(Conditions, OtherPackages) {
  const TreeState state = with_kern();
  EXPECT_EQ(told_of(state, "{package: kern}"), "holds: kern is installed");
  EXPECT_EQ(told_of(state, "{package: Kern, versions: '>=0.2'}"),
            "holds: kern is 0.2 [kern-0.2.dist-info/METADATA:0 version 0.2]");
  EXPECT_EQ(told_of(state, "{package: kern, versions: '>=0.3'}"),
            "not: kern is 0.2, wanted is >=0.3 [kern-0.2.dist-info/METADATA:0 version 0.2]");
  EXPECT_EQ(told_of(state, "{package: kern, file: w.py, in: W.plan, match: pass}"),
            "holds: `pass` stands in W.plan of kern/w.py [kern/w.py:2 pass]");
  EXPECT_EQ(told_of(state, "{package: kern, file: m.py}"), "not: there is no kern/m.py, in kern 0.2");
  EXPECT_EQ(told_of(state, "{package: kern, class: W, in: W.plan}"),
            "holds: W.plan stands in kern/w.py [kern/w.py:2 def plan(self, a):]");
  EXPECT_EQ(told_of(state, "{package: kern, class: V}"),
            "not: no file of kern defines a class V (searched 7 Python files), in kern 0.2");
  TreeState unknown = state;
  unknown.others["kern"].dist.version = std::nullopt;
  unknown.others["kern"].dist.found = {"kern-0.1.dist-info", "kern-0.2.dist-info"};
  EXPECT_EQ(
      told_of(unknown, "{package: kern, versions: '>=0'}"),
      "not: the version of kern is unknown (two are recorded: kern-0.1.dist-info, kern-0.2.dist-info), wanted is >=0");
  TreeState without = state;
  without.others["kern"].present = false;
  EXPECT_EQ(told_of(without, "{package: kern}"), "not: kern is not installed beside pkg; searched: /s");
}

TEST(Conditions, ClassesWhereverTheyStand) {
  TreeState state = state_with({{"a.py", "# class W is elsewhere\ndef W(): pass\n"},
                                {"k/b.py", "if x:\n    class W:\n        def plan(self): slow(1)\n\nslow(2)\n"}});
  state.python_files = 2;
  EXPECT_EQ(told_of(state, "{class: W}"), "holds: the class W stands in k/b.py [k/b.py:2 class W:]");
  EXPECT_EQ(told_of(state, "{class: W, has: slow(1)}"),
            "holds: `slow(1)` stands in class W of k/b.py [k/b.py:3 slow(1)]");
  // What stands beside the class is not of it.
  EXPECT_EQ(told_of(state, "{class: W, not_has: slow(2)}").substr(0, 6), "holds:");
  EXPECT_EQ(told_of(state, "{class: W, literal: slow(2)}").substr(0, 52),
            "not: \"slow(2)\" does not stand in class W of k/b.py [");
  EXPECT_EQ(told_of(state, "{class: W, in: W.run}"), "not: there is no W.run in k/b.py");
  edit_by_hand(state, "c.py", "class W:\n    def plan(self): fast(1)\n");
  // Which of the two is imported is not known: each must have it.
  EXPECT_EQ(told_of(state, "{class: W, in: W.plan, has: fast(1)}").substr(0, 55),
            "not: `fast(1)` does not stand in W.plan of k/b.py [c.py");
  EXPECT_EQ(told_of(state, "{class: W, in: W.plan, has: \"def plan($$$): $$$\"}").substr(0, 6), "holds:");
  EXPECT_EQ(told_of(state, "{class: W, in: W.plan, not_has: slow(1)}"),
            "not: `slow(1)` stands in W.plan of k/b.py [k/b.py:3 slow(1)]");
  EXPECT_EQ(told_of(state, "{class: W, in: W.plan, not_has: slow(2)}"),
            "holds: `slow(2)` does not stand in W.plan of c.py and k/b.py");
}

}  // namespace
}  // namespace suture
