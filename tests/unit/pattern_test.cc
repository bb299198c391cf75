// What a pattern is, and every way in which a text is none.
#include "engine/pattern.h"

#include <gtest/gtest.h>

#include <string>

#include "support/engine_fixture.h"

namespace suture {
namespace {

std::string form(const std::string& text) {
  const auto pattern = compile_pattern(text, nullptr);
  if (!pattern) return "none";
  switch (pattern->form()) {
    case Pattern::Form::expression:
      return "expression";
    case Pattern::Form::statements:
      return std::to_string(pattern->roots().size()) + " statements";
    case Pattern::Form::clause:
      return "clause " + std::string(kind_name(pattern->tree()[pattern->roots()[0]].kind));
  }
  return "?";
}
// "message @ what is underlined"
std::string problem(const std::string& text) {
  PatternProblem out;
  if (compile_pattern(text, &out)) return "fine";
  return out.message + " @ " + text.substr(out.begin, out.end - out.begin);
}

TEST(Pattern, ItsFormIsSeenFromItsText) {
  const std::pair<const char*, const char*> cases[] = {
      {"f($X)", "expression"},
      {"$X", "expression"},
      {"a, b", "1 statements"},
      {"k = $V", "1 statements"},
      {"k += $V", "1 statements"},
      {"k: int", "1 statements"},
      {"a()\nb()", "2 statements"},
      {"a(); b()", "2 statements"},
      {"return $X", "1 statements"},
      {"if $C: $$$B", "1 statements"},
      {"def f($$$): $$$", "1 statements"},
      {"class C: $$$", "1 statements"},
      {"lambda $$$A: $B", "expression"},
      {"[$X for $X in $Y]", "expression"},
      {"except $E: $$$", "clause except_clause"},
      {"except: $$$", "clause except_clause"},
      {"finally: $$$", "clause finally_clause"},
      {"elif $C: $$$", "clause elif_clause"},
      {"else: $$$", "clause else_clause"},
      {"@d($X)", "clause decorator"},
      {"case $P: $$$", "clause case_clause"},
      {"case [$A, *$_]: $$$", "clause case_clause"},
      {"case (A, B): $$$", "clause case_clause"},
      {"case[$X]", "expression"},
      {"match $X:\n    case 1: $$$", "1 statements"},
      {"from a import $X", "1 statements"},
      {"import $X", "1 statements"},
      {"await $X", "expression"},
      {"yield", "expression"},
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(form(text), want) << text;
}

TEST(Pattern, WhatIsNoPatternIsAnErrorThatPointsThere) {
  EXPECT_EQ(problem("f(\n"), "the pattern is not valid Python @ f(");
  EXPECT_EQ(problem("f($X))"), "the pattern is not valid Python @ f($X))");
  EXPECT_EQ(problem("$x"), "a metavariable is written in capital letters @ $x");
  EXPECT_EQ(problem("f($Xy)"), "a metavariable is written in capital letters @ $Xy");
  EXPECT_EQ(problem("f($$X)"), "this is no metavariable @ $$X");
  EXPECT_EQ(problem("f($)"), "this is no metavariable @ $");
  EXPECT_EQ(problem("f($$$$X)"), "this is no metavariable @ $$$$X");
  EXPECT_EQ(problem("").substr(0, 20), "the pattern is empty");
  EXPECT_EQ(problem("# only a comment").substr(0, 28), "the pattern holds no code @ ");
  EXPECT_EQ(problem("if $X").substr(0, 31), "the pattern is not valid Python");
  EXPECT_EQ(problem("a_$X").substr(0, 37), "a metavariable must be a whole name @");
  EXPECT_EQ(problem(std::string(300, '(') + "x" + std::string(300, ')')).substr(0, 39),
            "the code is nested more than 250 levels");
}

TEST(Pattern, ADollarInAStringIsADollar) {
  EXPECT_EQ(problem("f('$x costs $5')"), "fine");
  EXPECT_EQ(matches("f('$x')", "f('$x')\nf('x')\n"), std::vector<std::string>{"f('$x')"});
}

TEST(Pattern, MetavariablesAreCollectedOnce) {
  const Pattern pattern = pattern_of("f($X, $Y, $X, $$$R, $_, $$$)");
  std::string names;
  for (const Metavariable& mv : pattern.names()) names += mv.spelled() + " ";
  EXPECT_EQ(names, "$X $Y $$$R ");
  EXPECT_TRUE(pattern.binds("R"));
  EXPECT_FALSE(pattern.binds("Z"));
  EXPECT_EQ(pattern.spelled(pattern.roots()[0]), "f($X, $Y, $X, $$$R, $_, $$$)");
}

TEST(Pattern, IndentationAroundItIsDropped) {
  EXPECT_EQ(pattern_of("\n    a()\n    if b:\n        c()\n\n").written(), "a()\nif b:\n    c()");
}

}  // namespace
}  // namespace suture
