// From a rule's texts to patterns: what is derived, and where an error points.
#include "engine/compiled_rule.h"

#include <gtest/gtest.h>

#include <string>

#include "support/engine_fixture.h"

namespace suture {
namespace {

std::string derived(const std::string& keys) {
  const Rule rule = rule_from_yaml(keys);
  const auto compiled = compile_rule(rule);
  if (!compiled) return to_text(compiled.error());
  const auto& applied = compiled->shapes.at(0).applied;
  return applied && applied->match ? applied->match->written() : "none";
}

TEST(CompiledRule, WhatAResultLooksLikeIsDerived) {
  EXPECT_EQ(derived("match: f($X)\nreplace: g($X)"), "g($X)");
  EXPECT_EQ(derived("match: f($X)\nreplace: g($X)\napplied: h($X)"), "h($X)");
  EXPECT_EQ(derived("match: f($X, $Y)\nreplace: {X: 'g($X)'}"), "f((g($X)), $Y)");
  EXPECT_EQ(derived("match: f($X)\ninsert_before: g()"), "none");  // compared in place
  EXPECT_EQ(derived("match: f($X)\nargument: {name: a, position: 0, becomes: 'g($ARG)'}"), "none");
}

TEST(CompiledRule, ADerivedResultKeepsWhereItStandsAndDropsWhatTheEditChanges) {
  const Rule rule = rule_from_yaml(
      "match: f($X, $Y)\nreplace: {X: 'g($X)'}\ninside: 'def a($$$): $$$'\nafter: b()\nhas: c\nwhere: {X: {kind: "
      "identifier}, Y: {kind: integer}}");
  const auto compiled = compile_rule(rule);
  ASSERT_TRUE(compiled) << to_text(compiled.error());
  const CompiledNarrowing& applied = *compiled->shapes.at(0).applied;
  EXPECT_EQ(applied.inside.size(), 1U);
  EXPECT_EQ(applied.after.size(), 1U);
  EXPECT_EQ(applied.has.size(), 0U);
  ASSERT_EQ(applied.where.size(), 1U);
  EXPECT_EQ(applied.where[0].name, "Y");
}

TEST(CompiledRule, ImportsAreTakenApart) {
  const auto import = [](const std::string& statement) {
    const Rule rule = rule_from_yaml("add_import: " + statement);
    const auto compiled = compile_rule(rule);
    if (!compiled || compiled->import() == nullptr) return std::string("none");
    const CompiledImport& i = *compiled->import();
    return i.module + "|" + i.name + "|" + i.alias + "|" + i.bound() + "|" + i.statement;
  };
  EXPECT_EQ(import("from a.b import c"), "a.b|c||c|from a.b import c");
  EXPECT_EQ(import("from a import b as c"), "a|b|c|c|from a import b as c");
  EXPECT_EQ(import("import a.b"), "a.b|||a|import a.b");
  EXPECT_EQ(import("import a.b as c"), "a.b||c|c|import a.b as c");
}

TEST(CompiledRule, AnErrorPointsIntoTheYaml) {
  EXPECT_EQ(rule_problem("match: f($X)\nreplace: g($X, $YY)").substr(0, 17), "rules.yaml:6:20: ");
  EXPECT_EQ(rule_problem("match: |\n  a()\n  b(\nreplace: g()").substr(0, 13), "rules.yaml:7:");
  EXPECT_EQ(rule_problem("match: 'f($x)'\nreplace: g()").substr(0, 17), "rules.yaml:5:15: ");
}

}  // namespace
}  // namespace suture
