// `requires:` and `superseded:`: whether a condition holds, why, and the line that proves it.
#include "engine/conditions.h"

#include <gtest/gtest.h>

#include <string>

#include "support/engine_fixture.h"

namespace suture {
namespace {

// "holds: why [path:line text]..."
std::string told(const std::string& condition) {
  const TreeState state =
      state_with({{"m.py", "old(1)\n"},
                  {"w.py", "import z\n\nclass W:\n    def plan(self, a, new_arg=1):\n        return a\n"},
                  {"b.py", "def f(:\n"}});
  const Patch patch = patch_from_yaml("p", {"match: old($X)\nreplace: new($X)"}, "requires:\n  - " + condition);
  Workbench bench;
  const ConditionResult result = check_condition(bench, state, patch, patch.needs.at(0));
  std::string out = (result.error ? "error: " : result.holds ? "holds: " : "not: ") + result.why;
  for (const Evidence& e : result.evidence)
    out += " [" + e.path + ":" + std::to_string(e.where.line) + " " + e.text + "]";
  return out;
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
  EXPECT_EQ(told("{file: w.py, in: W.plan}"), "holds: W.plan stands in w.py");
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

TEST(Conditions, AllOfOneMustHold) {
  EXPECT_EQ(told("{file: w.py, versions: '>=2', literal: new_arg}"), "not: pkg is 1.0, wanted is >=2");
  EXPECT_EQ(told("{file: w.py, literal: new_arg, in: W.run}").substr(0, 32), "not: there is no W.run in w.py [");
}

}  // namespace
}  // namespace suture
