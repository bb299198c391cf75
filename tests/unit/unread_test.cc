// Code that the parser does not read as Python does: a site there is refused, with what and where; elsewhere the edit goes on.
#include "engine/unread.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/parsed_file.h"
#include "support/engine_fixture.h"

namespace suture {
namespace {

struct Case {
  const char* pattern;
  const char* code;  // the site lies in the construct
  const char* why;   // LINE:COLUMN and the words
};

// Why the first match is refused; "read" where it is not.
std::string why(const char* pattern, const std::string& code) {
  const Pattern compiled = pattern_of(pattern);
  const Code target(code);
  const auto found = find_all(Search{&compiled, target.view(), {}}, 0);
  if (found.empty()) return "no match";
  if (!found.front().broken) return "read";
  const UnreadCode unread = unread_in(target.view(), found.front());
  const Location where = target.source->locate(unread.at);
  EXPECT_FALSE(unread.hint.empty());
  return std::to_string(where.line) + ":" + std::to_string(where.column) + " " + unread.what;
}

TEST(Unread, ASiteInCodeThatIsReadOtherwiseIsRefused) {
  const std::string taken = ", which the parser takes for other code";
  const std::vector<Case> all = {
      {"f($X)", "y = 1\ndef g(x: a[f(b):c:d]): pass\n", "2:11 this is a slice in an annotation"},
      {"x: $T", "x: a[b:c]\n", "read"},  // what $T stands for keeps its bytes
      {"f($X)", "a: b[f(c):]\n", "1:5 this is a slice in an annotation"},
      {"f($X)", "print >> f(a)\n", "1:1 this is a statement of Python 2"},
      {"f($X)", "with (f(a), *b): pass\n", "1:6 this is a parenthesised expression as the context of a with statement"},
      {"with $X: $$$", "with (a,): pass\n",
       "1:6 this is a parenthesised expression as the context of a with statement"},
      {"f($X)", "y = f'{a:=f(b)}'\n", "1:7 this is a format specification that begins with ="},
      {"y = $X", "y = f'{a:=10}'\n", "read"},
      {"f($X)", "match [x, y]:\n    case [1, 2]: a = f(b)\n", "1:1 this is a match statement"},
      {"a = $X", "match [x, y]:\n    case [1, 2]: a = f(b)\n", "no match"},
      {"f($X)", "type(self).x = a[f(b)]\n", "1:1 this is an assignment to an attribute or item of type(...)"},
      {"$X = $Y", "type(self).x = a[b]\n", "no match"},
  };
  for (const Case& each : all) {
    const std::string expected = std::isdigit(each.why[0]) != 0 ? each.why + taken : each.why;
    EXPECT_EQ(why(each.pattern, each.code), expected) << each.pattern << "\n" << each.code;
  }
}

TEST(Unread, ASiteInASyntaxErrorIsRefusedAndTheGapIsNamed) {
  const std::string sees = "the parser sees a syntax error here";
  const std::string takes = ", which Python takes and the parser does not";
  const std::vector<Case> all = {
      {"f($X)", "x = c, *[f(1)]\n", "1:1; it may be unpacking of something else than a name"},
      {"f($X)", "return_ = f(1), *(a, b)\n", "1:1; it may be unpacking of something else than a name"},
      {"g($X)", "y = g(f'{a:=^10}')\n", "1:13; it may be a format specification that begins with ="},
      {"f($X)", "if a:\n    x = (f(b)\n if c\n else d)\n    y\n",
       "2:5; it may be a line in brackets that is indented less than its statement"},
      {"f($$$X)", "if a:\n    x = f(y, b c)\nz\n", "2:16"},
      {"class C: $$$B", "class C[T = int]: pass\n", "1:9; it may be a default of a type parameter"},
      {"x: $T = $V", "x: b[c][d] = f(e)\n", "1:4; it may be a subscript with something behind it in an annotation"},
      {"f($X)", "a: b[:f(c):]\n", "1:1; it may be a slice in an annotation"},
      {"x = $V", "x = t\"{a}\"\n", "1:5; it may be a template string"},
      {"f($X)", "y = f(a b)\n", "1:9"},
  };
  for (const Case& each : all) {
    const std::string expected = each.why;
    const std::size_t words = std::min(expected.find(';'), expected.size());
    const std::string tail = words == expected.size() ? "" : expected.substr(words) + takes;
    EXPECT_EQ(why(each.pattern, each.code), expected.substr(0, words) + " " + sees + tail) << each.pattern << "\n"
                                                                                           << each.code;
  }
}

TEST(Unread, ElsewhereInTheFileTheEditGoesOn) {
  const std::vector<std::string> constructs = {"def g(x: a[b:c:d]): pass\n",
                                               "print >> a\n",
                                               "with (a, *b): pass\n",
                                               "z = f'{a:=10}'\n",
                                               "match [x, y]:\n    case [1, 2]: a = 1\n",
                                               "type(self).x = a[b]\n",
                                               "z = c, *[]\n",
                                               "z = f'{a:=^10}'\n",
                                               "class C[T = int]: pass\n",
                                               "z: b[c][d] = e\n",
                                               "z: a[b:c]\n"};
  for (const std::string& construct : constructs) {
    const Pattern pattern = pattern_of("h($X)");
    const Code target("y = h(1)\n" + construct + "y = h(2)\n");
    const auto found = find_all(Search{&pattern, target.view(), {}}, 0);
    ASSERT_EQ(found.size(), 2U) << construct;
    EXPECT_FALSE(found[0].broken) << construct;
    EXPECT_FALSE(found[1].broken) << construct;
  }
}

// The lines of code are Python's: a break within brackets ends none, and a CR alone is none to the parser.
TEST(Unread, ASiteOnTheErrorsLineOfCodeIsRefused) {
  for (const char* code : {"x = 1\rh(1)\n", "z = (a b\n  c) + h(1)\n", "z = h(1) + (\n  a b)\n",
                           "z = c, *[] + \\\n  h(1)\n", "if h(1) b c:\n    pass\n"}) {
    const Pattern pattern = pattern_of("h($X)");
    const Code target(code);
    const auto found = find_all(Search{&pattern, target.view(), {}}, 0);
    ASSERT_EQ(found.size(), 1U) << code;
    EXPECT_TRUE(found[0].broken) << code;
  }
}

// A captured node keeps its bytes, whatever they mean.
TEST(Unread, InsideOfACaptureItDoesNotMatter) {
  EXPECT_EQ(rewritten("if $C: $S", "if not $C: $S", "if a:\n    type(b).c = d[e]\n"),
            "if not a:\n    type(b).c = d[e]\n");
  EXPECT_EQ(rewritten("g($X)", "h($X)", "y = g(f'{a:=10}')\n"), "y = h(f'{a:=10}')\n");
  EXPECT_EQ(rewritten("y = $X", "z = $X", "y = f'{a:=10}'\n"), "z = f'{a:=10}'\n");
}

TEST(Unread, TheVerdictSaysWhatAndWhere) {
  TreeState state = state_with({{"m.py", "def g():\n    type(self).x = a[f(b)]\n"}});
  const Patch patch = patch_from_yaml("p", {"match: f($X)\nreplace: h($X)\nfile: m.py\nexpect: 1"});
  const PatchOutcome outcome = judge(state, patch, {patch});
  EXPECT_EQ(outcome.verdict, Verdict::drifted);
  EXPECT_THAT(outcome.reason, testing::HasSubstr("the parser reads the site otherwise than Python"));
  ASSERT_EQ(outcome.evidence.size(), 2U);
  EXPECT_EQ(outcome.evidence[1].where.line, 2U);
  EXPECT_EQ(outcome.evidence[1].where.column, 5U);
  EXPECT_EQ(
      outcome.evidence[1].text,
      "column 5: this is an assignment to an attribute or item of type(...), which the parser takes for other code");
  EXPECT_THAT(outcome.hints, testing::Contains("write the rule on a node beside it, or edit this place by hand"));
}

TEST(Unread, AStatementBehindALoneBackslashIsReadIntoTheWrongBlock) {
  const std::string code = "if a:\n    if b:\n        c\n    \\\n    d\n";
  const auto file = parse_file("a.py", code);
  ASSERT_TRUE(file->problem);
  EXPECT_EQ(file->problem->message, "a statement begins with a backslash alone on its line, which the parser misreads");
  EXPECT_EQ(file->problem->where->line, 4U);
  for (const char* fine :
       {"x = (a,\n    \\\n    b)\n", "x = a + \\\n    b\n", "if a and \\\n    b:\n    c\n", "f(a,\n  \\\n  b)\n"}) {
    EXPECT_FALSE(parse_file("a.py", fine)->problem) << fine;
  }
}

}  // namespace
}  // namespace suture
