// What `status` says of a patch is what `apply` then does: a site that cannot be edited is told by the verdict, and what is wrong with
// the rules by the same error.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/plan.h"
#include "support/engine_fixture.h"

namespace suture {
namespace {

struct Told {
  PatchOutcome judged, planned;
};

Told told(const std::vector<std::string>& edits, const std::string& code) {
  std::vector<std::string> rules;
  for (const std::string& edit : edits) rules.push_back("file: m.py\nexpect: 1\n" + edit);
  const TreeState state = state_with({{"m.py", code}});
  const Patch patch = patch_from_yaml("p", rules);
  const Plan plan = plan_apply(state, {&patch}, {patch});
  EXPECT_TRUE(plan.changes.empty() || !plan.outcomes.front().fatal);
  return {judge(state, patch, {patch}), plan.outcomes.front()};
}

TEST(NotEditable, WhatTheTreeHasIsDriftedInStatusAndApply) {
  struct Case {
    const char* rule;
    const char* code;
    const char* why;
    std::uint32_t line;
  };
  const std::vector<Case> all = {
      {"match: f(1, 2)\nreplace: g()", "x = 1\nf(1,  # one\n  2)\n", "a comment stands where code is replaced", 2},
      {"match: go($X)\nwrap: |\n  if $X:\n      $MATCH", "y = go(1)\n",
       "an expression within a statement cannot be wrapped", 1},
      {"match: a()\ndelete: true\napplied: {match: 'def f(): $$$', not_has: a()}", "def f():\n    x = a()\n",
       "this is part of an expression", 2},
      {"in: f\nprepend_body: a()", "def f():\n    # to do\nx = 1\n", "there is no statement in the body", 1},
  };
  for (const Case& each : all) {
    const Told outcome = told({each.rule}, each.code);
    for (const PatchOutcome* one : {&outcome.judged, &outcome.planned}) {
      EXPECT_FALSE(one->fatal) << each.rule;
      EXPECT_EQ(one->verdict, Verdict::drifted) << each.rule;
      EXPECT_THAT(one->reason, testing::HasSubstr(each.why));
      ASSERT_EQ(one->evidence.size(), 1U) << each.rule;
      EXPECT_EQ(one->evidence[0].path, "m.py");
      EXPECT_EQ(one->evidence[0].where.line, each.line) << each.rule;
    }
  }
}

TEST(NotEditable, WhatIsWrongWithTheRulesIsAnErrorInStatusToo) {
  const std::vector<std::pair<std::vector<std::string>, const char*>> all = {
      {{"match: f($X)\nreplace: g($X)", "match: f(1)\nreplace: h(1)"}, "edit the same bytes"},
      {{"match: f($X)\nreplace: g($X)\napplied: k($X)"}, "the code is not what these rules call a result"},
  };
  for (const auto& [rules, why] : all) {
    const Told outcome = told(rules, "f(1)\n");
    for (const PatchOutcome* one : {&outcome.judged, &outcome.planned}) {
      ASSERT_TRUE(one->fatal) << why;
      EXPECT_EQ(one->fatal->exit, Exit::bad_rule);
      EXPECT_THAT(one->fatal->message, testing::HasSubstr(why));
      EXPECT_EQ(one->verdict, Verdict::applicable);
      EXPECT_EQ(one->reason, one->fatal->message);
    }
  }
}

// A rule that need not find anything may have no file at all.
TEST(NotEditable, ARuleWithoutAFileHasNothingToEdit) {
  const TreeState state = state_with({{"m.py", "f(1)\n"}});
  const Patch patch = patch_from_yaml("p", {"file: m.py\nexpect: 1\nmatch: f($X)\nreplace: g($X)",
                                            "file: n.py\nexpect: {min: 0, max: 1}\nmatch: h($X)\nreplace: g($X)"});
  EXPECT_EQ(judge(state, patch, {patch}).verdict, Verdict::applicable);
  EXPECT_TRUE(plan_apply(state, {&patch}, {patch}).writes());
}

TEST(NotEditable, AFileThatWasEditedByHandIsForeign) {
  TreeState state = state_with({{"m.py", "f(1)\n"}});
  const std::string shipped = state.files.at("m.py").sha256;
  state = state_with({{"m.py", "f(  # mine\n  1)\n"}});
  state.dist.record["m.py"] = shipped;
  const Patch patch = patch_from_yaml("p", {"file: m.py\nexpect: 1\nmatch: f(1)\nreplace: g()"});
  EXPECT_EQ(judge(state, patch, {patch}).verdict, Verdict::foreign_edit);
}

}  // namespace
}  // namespace suture
