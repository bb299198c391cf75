// What is refused when a rule or patch file loads; and everything that is shipped passes.
#include "engine/check.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "read/catalog.h"
#include "support/engine_fixture.h"

namespace suture {
namespace {

// The message's first sentence, without file and line.
std::string problem(const std::string& keys) {
  const std::string all = rule_problem(keys);
  const auto begin = all.find("error: ");
  return begin == std::string::npos ? all : all.substr(begin + 7, all.find('\n') - begin - 7);
}
const std::string kOwn = "what this rule leaves of its own pattern is not what it calls a result";

TEST(Check, AllThatIsShippedPasses) {
  CatalogInput input;
  input.shipped = embedded_files();
  const auto catalog = build_catalog(input);
  ASSERT_TRUE(catalog) << to_text(catalog.error());
  EXPECT_GE(catalog->patches.size(), 2U);
  for (const auto& [id, rule] : catalog->rules) {
    const Status status = check_rule(rule);
    EXPECT_TRUE(status) << (status ? "" : to_text(status.error()));
    for (const ExampleReport& report : run_examples(rule)) EXPECT_EQ(report.verdict, ExampleVerdict::passed) << id;
  }
  for (const Patch& patch : catalog->patches) {
    const Status status = check_patch(patch);
    EXPECT_TRUE(status) << (status ? "" : to_text(status.error()));
  }
}

TEST(Check, GoodRulesPass) {
  for (const char* rule : {
           "match: f($X)\nreplace: g($X)",
           "match: f($X)\nreplace: g(f($X))",
           "match: f($X)\nreplace: f(f($X))",
           "match: $W.plan($$$)\nargument: {name: k, position: 0, becomes: 'w($ARG)'}",
           "match: 'if $C: $$$B'\nreplace: 'if $C and d: $$$B'",
           "in: f\nprepend_body: x()",
           "add_import: from a import b",
           "match: a()\ninsert_after: b()",
           "match: f($X, $Y)\nreplace: {X: 'g($X)'}",
       }) {
    EXPECT_EQ(rule_problem(rule), "") << rule;
  }
}

TEST(Check, ARuleThatCannotWorkIsRefused) {
  EXPECT_EQ(problem("match: f(\nreplace: g()"), "the pattern is not valid Python");
  EXPECT_EQ(problem("match: f($X)\nreplace: g($Y)"), "the edit uses $Y, which no pattern of this rule binds");
  EXPECT_EQ(problem("match: f($_)\nreplace: g($_)"), "the edit uses $_, which stands for nothing in particular");
  EXPECT_EQ(problem("match: f($X)\nreplace: $X"),
            "a replacement that is one metavariable leaves nothing to recognise it by");
  EXPECT_EQ(problem("match: f($X)\nreplace: ($X)"),
            "a replacement that is one metavariable leaves nothing to recognise it by");
  EXPECT_EQ(problem("match: f($X)\nreplace: {Y: g()}"), "`replace` names $Y, which `match` does not bind");
  EXPECT_EQ(problem("match: f($X)\nreplace: g($X)\nwhere: {Z: {kind: identifier}}"),
            "`where` speaks of $Z, which no pattern of this rule binds");
  EXPECT_EQ(problem("match: f($X)\nreplace: g($X)\nwhere: {X: {kind: identifer}}"),
            "the Python grammar has no node kind \"identifer\"");
  EXPECT_EQ(problem("match: f($X)\nreplace: g($X)\nwhere: {X: {regex: '('}}").substr(0, 30),
            "this is no regular expression:");
  EXPECT_EQ(problem("match: f($X, $Y)\nreplace: f($Y, $X)"),
            "this rule takes its own pattern for its result: it would never edit anything");
  EXPECT_EQ(problem("match: f($X, $$$A)\nreplace: f($$$A)"),
            "this rule takes its own pattern for its result: it would never edit anything");
  EXPECT_EQ(problem("match: |\n  a()\n  b()\nreplace: b()"), "");
  EXPECT_EQ(problem("match: f($X)\nreplace: $X\napplied: h($X)"), kOwn);
  EXPECT_EQ(problem("match: f()\nreplace: pass\napplied: {match: 'def g($$$): $$$', not_has: f()}"), "");
  EXPECT_EQ(problem("match: f()\nreplace: pass\napplied: 'if a: pass'"), "");
  EXPECT_EQ(problem("match: f($X)\ninsert_before: 'else: pass'"), "a clause cannot be inserted as a statement");
  EXPECT_EQ(problem("match: f($X)\nreplace: g($X)\ninside: |\n  a()\n  b()"),
            "`inside` takes one statement or expression, not several");
}

TEST(Check, WhatADeletionLeavesIsToldFromWhatItFinds) {
  const std::string rule = "match: f()\ndelete: true\nexamples: [{before: \"a()\\nf()\", after: a()}]\napplied: ";
  EXPECT_EQ(problem(rule + "{match: a(), not_before: f()}"), "");
  EXPECT_EQ(problem(rule + "a()").substr(0, 59), "example 1 of r is broken: `applied` holds already, beside t");
}

TEST(Check, ADictionaryThatLosesAnEntryIsNoResultByItself) {
  const std::string takes_its_own = "this rule takes its own pattern for its result: it would never edit anything";
  EXPECT_EQ(problem("match: \"D = {$$$A, 'fax': $V, $$$B}\"\nreplace: \"D = {$$$A, $$$B}\""), takes_its_own);
  EXPECT_EQ(problem("match: \"D = {$$$A, 'fax': $V, $$$B}\"\nreplace: \"D = {$$$A, 'fax': f($V), $$$B}\""), "");
}

TEST(Check, AnAppliedAroundTheMatchIsNotLookedForInIt) {
  EXPECT_EQ(problem("match: \"with lock: $$$B\"\nreplace: $$$B\napplied: {match: \"def f($$$): $$$\", not_has: \"with "
                    "lock: $$$\"}"),
            "");
}

TEST(Check, ExamplesSayHowTheyFail) {
  const auto example = [](const std::string& text) {
    return problem("match: f($X)\nreplace: g($X)\nexamples:\n  - " + text);
  };
  EXPECT_EQ(example("{before: f(1), after: g(1)}"), "");
  EXPECT_EQ(example("{before: \"f( 1 , )\", after: g(1)}"), "");
  EXPECT_EQ(example("{before: \"f( 1 , )\", after: g(1), exact: true}"),
            "example 1 of r is wrong: the result is not `after`");
  EXPECT_EQ(example("{before: f(1), after: g(2)}"), "example 1 of r is wrong: the result is not `after`");
  EXPECT_EQ(example("{before: h(1), after: g(1)}"), "example 1 of r is missing: the rule finds nothing to edit here");
  EXPECT_EQ(example("{same: h(1)}"), "");
  EXPECT_EQ(example("{same: f(1)}"), "example 1 of r is noisy: the rule edits what should stay the same");
  EXPECT_EQ(example("{before: f(, after: g()}").substr(0, 24), "example 1 of r is broken");
  EXPECT_EQ(
      problem("match: f($X)\nreplace: g($X)\napplied: k($X)\nexamples:\n  - {before: f(1), after: g(1)}").substr(0, 26),
      "example 1 of r is unstable");
}

TEST(Check, APatchMustFindSomething) {
  Patch patch =
      patch_from_yaml("p", {"match: f($X)\nreplace: g($X)", "match: h($X)\nreplace: k($X)\nexpect: {min: 0, max: 2}"});
  EXPECT_TRUE(check_patch(patch));
  patch.rules[0].expect.min = 0;
  EXPECT_FALSE(check_patch(patch));
}

TEST(Check, ThePatchsExamplesRunAllItsRules) {
  Patch patch = patch_from_yaml("p", {"match: f($X)\nreplace: g($X)", "match: h()\nreplace: k()"});
  const auto verdict = [&patch](const std::string& before, const std::string& after) {
    patch.examples = {Example{Text{before, {}}, Text{after, {}}, std::nullopt, std::nullopt, false}};
    return run_examples(patch).at(0).verdict;
  };
  EXPECT_EQ(verdict("f(1)\nh()", "g(1)\nk()"), ExampleVerdict::passed);
  EXPECT_EQ(verdict("f(1)\nh()", "g(1)\nh()"), ExampleVerdict::wrong);
  EXPECT_EQ(verdict("x()", "y()"), ExampleVerdict::missing);
  patch.examples = {Example{std::nullopt, std::nullopt, Text{"h()", {}}, std::nullopt, false}};
  EXPECT_EQ(run_examples(patch).at(0).verdict, ExampleVerdict::noisy);
  EXPECT_FALSE(check_patch(patch));
  EXPECT_TRUE(check_patch(patch, Examples::left_out));
}

}  // namespace
}  // namespace suture
