// A suite that is left empty gets `pass`, whoever empties it.
#include "engine/empty_suites.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "engine/plan.h"
#include "support/engine_fixture.h"

namespace suture {
namespace {

const std::string kA = "match: a()\ndelete: true\napplied: {match: 'def f(): $$$', not_has: a()}";
const std::string kB = "match: b()\ndelete: true\napplied: {match: 'def f(): $$$', not_has: b()}";
const std::string kImport = "remove_import: import c";

TEST(EmptySuites, SeveralRulesThatEmptyOneLeaveOnePass) {
  const std::vector<std::pair<std::string, std::string>> all = {
      {"def f():\n    a()\n    b()\n", "def f():\n    pass\n"},
      {"def f():\n    b()\n    a()\n", "def f():\n    pass\n"},
      {"def f():\n    # one\n    a()\n\n    # two\n    b()\n\n\nx = 1\n",
       "def f():\n    # one\n    pass\n\n    # two\n\n\nx = 1\n"},
      {"def f():\n    a()\n    b()", "def f():\n    pass\n"},
      {"def f():\r\n\ta()\r\n\tb()\r\n", "def f():\r\n\tpass\r\n"},
      {"def f(): a(); b()\n", "def f(): pass\n"},
      {"def f(): a(); b()  # end\n", "def f(): pass  # end\n"},
      {"def f():\n    a(); b()\n", "def f():\n    pass\n"},
      {"def f():\n    if x:\n        a()\n    else:\n        b()\n",
       "def f():\n    if x:\n        pass\n    else:\n        pass\n"},
      {"def f():\n    a()\n    b()\n    return 1\n", "def f():\n    return 1\n"},
      {"def f():\n    a()\n    return 1\n    b()\n", "def f():\n    return 1\n"},
  };
  for (const auto& [code, wanted] : all) {
    EXPECT_EQ(after_patch({kA, kB}, code), wanted) << code;
    EXPECT_EQ(after_patch({kB, kA}, code), wanted) << code;
  }
}

TEST(EmptySuites, AnImportAndAStatement) {
  EXPECT_EQ(after_patch({kA, kImport}, "try:\n    import c\n    def f(): a()\nexcept E: d()\n"),
            "try:\n    def f(): pass\nexcept E: d()\n");
  EXPECT_EQ(after_patch({"match: a()\ndelete: true\napplied: {match: 'if x: $$$', not_has: a()}", kImport},
                        "if x:\n    import c\n    a()\n"),
            "if x:\n    pass\n");
}

TEST(EmptySuites, WhatAnotherRulePutsThereFillsIt) {
  EXPECT_EQ(after_patch({kA, "in: f\nappend_body: z()"}, "def f():\n    a()\n\n\ny = 1\n"),
            "def f():\n    z()\n\n\ny = 1\n");
  EXPECT_EQ(after_patch({kA, "match: y = 1\ninsert_before: z = 1"}, "def f():\n    a()\ny = 1\n"),
            "def f():\n    pass\nz = 1\ny = 1\n");
  EXPECT_EQ(after_patch({kA, "match: b()\nreplace: c()"}, "def f():\n    a()\n    b()\n"), "def f():\n    c()\n");
}

// `pass` that is all of a class goes with the first member.
TEST(EmptySuites, TwoMembersInThePlaceOfPass) {
  const std::vector<std::string> fields = {"in: C\nadd_member: x = 1", "in: C\nadd_member: y = 2"};
  EXPECT_EQ(after_patch(fields, "class C:\n    pass\n"), "class C:\n    x = 1\n    y = 2\n");
  EXPECT_EQ(after_patch(fields, "class C: pass\n"), "class C:\n    x = 1\n    y = 2\n");
  EXPECT_EQ(after_patch({fields[0], "in: C\nadd_member: 'def f(self): return 1'"}, "class C:\n    pass"),
            "class C:\n    x = 1\n    def f(self): return 1");
}

TEST(EmptySuites, ASuiteThatGoesWithItsStatementIsNone) {
  EXPECT_EQ(after_patch({"match: 'if x: a()'\ndelete: true\napplied: {match: 'def f(): $$$', not_has: a()}", kB},
                        "def f():\n    if x:\n        a()\n    b()\n"),
            "def f():\n    pass\n");
}

}  // namespace
}  // namespace suture
