// What a pattern matches, and what it must not: each line of the contract with several cases, half of them refusals.
#include "engine/match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/engine_fixture.h"

namespace suture {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Texts = std::vector<std::string>;

struct Case {
  const char* pattern;
  const char* code;
  Texts found;
};
void check(const std::vector<Case>& cases) {
  for (const Case& c : cases) EXPECT_EQ(matches(c.pattern, c.code), c.found) << c.pattern << "  in  " << c.code;
}

TEST(Match, EveryChildOfTheNodeIsAccountedFor) {
  check({
      {"from a import b", "from a import b, c\n", {}},
      {"from a import b", "from a import c, b\n", {}},
      {"from a import b", "from a import b as c\n", {}},
      {"from a import b", "from .a import b\n", {}},
      {"from a import b", "from a import (b)\n", {"from a import (b)"}},
      {"import a", "import a, b\n", {}},
      {"import a", "import a.b\n", {}},
      {"if a: b()", "if a: b()\nelse: c()\n", {}},
      {"if a: b()", "if a:\n    b()\nelif c:\n    d()\n", {}},
      {"if a: b()", "if a:\n    b()\n    c()\n", {}},
      {"if a: b()", "if a:\n    b()\n", {"if a:\n    b()"}},
      {"while a: b()", "while a: b()\nelse: c()\n", {}},
      {"for a in b: c()", "for a in b: c()\nelse: d()\n", {}},
      {"try: a()\nexcept E: b()", "try: a()\nexcept E: b()\nfinally: c()\n", {}},
      {"try: a()\nexcept E: b()", "try: a()\nexcept E: b()\nelse: c()\n", {}},
      {"try: a()\nexcept E: b()", "try: a()\nexcept E as e: b()\n", {}},
      {"try: a()\nexcept E: b()", "try: a()\nexcept* E: b()\n", {}},
      {"raise A", "raise A from b\n", {}},
      {"raise", "raise A\n", {}},
      {"return", "return 1\n", {}},
      {"x: int", "x: int = 1\n", {}},
      {"x: int", "x: int\n", {"x: int"}},
      {"x = 1", "x = y = 1\n", {}},
      {"x = 1", "x += 1\n", {}},
      {"x += 1", "x -= 1\n", {}},
      {"f(a)", "f(a, b)\n", {}},
      {"f(a)", "f(a, *b)\n", {}},
      {"f()", "f(a)\n", {}},
      {"a + b", "a - b\n", {}},
      {"a < b", "a < b < c\n", {}},
      {"a is b", "a is not b\n", {}},
      {"a in b", "a not in b\n", {}},
      {"a[b]", "a[b:]\n", {}},
      {"a[b:]", "a[b:c]\n", {}},
      {"a[b:]", "a[:b]\n", {}},
      {"a[b, c]", "a[b, c, d]\n", {}},
      {"with a: b()", "with a, c: b()\n", {}},
      {"with a: b()", "with a as c: b()\n", {}},
      {"assert a", "assert a, b\n", {}},
      {"lambda: a", "lambda b: a\n", {}},
      {"yield a", "yield from a\n", {}},
      {"[a for a in b]", "[a for a in b if c]\n", {}},
      {"[a for a in b]", "[a async for a in b]\n", {"[a async for a in b]"}},
      {"{**a}", "{**a, 'b': c}\n", {}},
      {"del a", "del a, b\n", {}},
      {"global a", "global a, b\n", {}},
      {"a if b else c", "a if b else d\n", {}},
      {"not a", "a\n", {}},
      {"-a", "+a\n", {}},
      {"match a:\n  case 1: b()", "match a:\n  case 1: b()\n  case 2: c()\n", {}},
      {"match a:\n  case 1: b()", "match a:\n  case 1 if d: b()\n", {}},
      {"class C: x = 1", "class C:\n    x = 1\n    y = 2\n", {}},
      {"def f(): pass", "def f(a): pass\n", {}},
      {"def f(a): pass", "def f(a, b): pass\n", {}},
      {"def f(a): pass", "def f(*a): pass\n", {}},
      {"def f(a): pass", "def f(a, /): pass\n", {}},
      {"def f(a, b): pass", "def f(a, *, b): pass\n", {}},
  });
}

TEST(Match, RunsAreLazyAndBacktrack) {
  check({
      {"f($$$A, 1, c)", "f(a, 1, b, 1, c)\n", {"f(a, 1, b, 1, c)"}},
      {"f($$$A, 1, c)", "f(1, c)\n", {"f(1, c)"}},
      {"f($$$A, 1, c)", "f(a, 1, b)\n", {}},
      {"f($$$A, k=$K, $$$B)",
       "f(k=2)\nf(1, k=2,)\nf(1, 2, k=3, *a, **b)\n",
       {"f(k=2)", "f(1, k=2,)", "f(1, 2, k=3, *a, **b)"}},
      {"f($$$A, k=$K, $$$B)", "f(1, j=2)\n", {}},
      {"f($$$)", "f()\nf(1)\nf(*a, b=1)\nf(x for x in y)\n", {"f()", "f(1)", "f(*a, b=1)", "f(x for x in y)"}},
      {"[$$$A, 0, $$$B]", "[0]\n[1, 0]\n[0, 1, 0]\n[1]\n", {"[0]", "[1, 0]", "[0, 1, 0]"}},
      {"def f($$$A): $$$B",
       "def f(): pass\ndef f(a, *b, c=1) -> int: return 1\n",
       {"def f(): pass", "def f(a, *b, c=1) -> int: return 1"}},
      {"class C: $$$B", "class C(Base): x = 1\nclass D: pass\n", {"class C(Base): x = 1"}},
      {"class C($$$A): $$$B",
       "class C: pass\nclass C(): pass\nclass C(A, m=B): pass\n",
       {"class C: pass", "class C(): pass", "class C(A, m=B): pass"}},
      {"class C(Base): $$$B", "class C: pass\nclass C(Base, Other): pass\n", {}},
      {"a()\n$$$X\nb()", "a()\nb()\n", {"a()\nb()"}},
      {"a()\n$$$X\nb()", "a()\nc()\nb()\nb()\n", {"a()\nc()\nb()"}},
      {"a()\n$$$X\nb()", "if x:\n    a()\nb()\n", {}},
      {"from a import $$$X, b, $$$Y",
       "from a import c, b\nfrom a import b\nfrom a import c\n",
       {"from a import c, b", "from a import b"}},
      {"with $$$A: $$$B", "with a, b as c: pass\n", {"with a, b as c: pass"}},
      {"try: $$$A\nexcept $E: $$$B",
       "try:\n  a()\n  b()\nexcept (A, B):\n  pass\n",
       {"try:\n  a()\n  b()\nexcept (A, B):\n  pass"}},
      {"f($$$A, $X)", "f()\nf(1)\nf(1, 2)\n", {"f(1)", "f(1, 2)"}},
  });
  EXPECT_EQ(bindings("f($$$A, $X, $$$B)", "f(1, 2)\n"), "A= B=2 X=1");
  EXPECT_EQ(bindings("f($$$A, 1, $$$B, 1, $$$C)", "f(0, 1, 2, 3, 1)\n"), "A=0 B=2, 3 C=");
  EXPECT_EQ(bindings("$$$A\nb()\n$$$B", "a()\nb()\nc()\nd()\n"), "A=a() B=");  // nothing behind it makes it take more
}

TEST(Match, KeywordsGoByNameAndPositionalsInOrder) {
  check({
      {"f(a=$A, b=$B)", "f(b=2, a=1)\n", {"f(b=2, a=1)"}},
      {"f(a=1, b=2)", "f(b=1, a=2)\n", {}},
      {"f($X, a=$A)", "f(a=1, *x)\n", {}},
      {"f($X, $Y)", "f(1, b=2)\n", {}},
      {"f($X, *$R, a=$A)", "f(1, *r, a=2)\n", {"f(1, *r, a=2)"}},
      {"f(*$R, a=$A)", "f(a=2, *r)\n", {}},
      {"f(a=$A, *$R)", "f(a=2, *r)\n", {"f(a=2, *r)"}},
      {"f(a=$A, **$K)", "f(**k, a=2)\n", {}},
      {"f(a=$A, **$K)", "f(a=2, **k)\n", {"f(a=2, **k)"}},
      {"f(1, 2)", "f(2, 1)\n", {}},
      {"f($_, $_)", "f(*a, b)\n", {}},
      {"f(a=$A)", "f(a=1, b=2)\n", {}},
      {"f(a=$A, $$$)", "f(b=2, a=1)\n", {"f(b=2, a=1)"}},
  });
  EXPECT_EQ(bindings("f(a=$A, b=$B)", "f(b=2, a=1)\n"), "A=1 B=2");
  EXPECT_EQ(bindings("f($$$P, b=$B, $$$Q)", "f(1, a=2, b=3, c=4)\n"), "B=3 P=1, a=2 Q=c=4");
  EXPECT_EQ(bindings("f(a=$A, $$$R)", "f(x, a=1)\n"), "A=1 R=x");
}

TEST(Match, LayoutDoesNotCount) {
  check({
      {"f(a, b)", "f(\n    a,  # one\n    # two\n    b,\n)\n", {"f(\n    a,  # one\n    # two\n    b,\n)"}},
      {"f(a, b)", "f(a, \\\n  b)\n", {"f(a, \\\n  b)"}},
      {"x = a + b", "x = a + \\\n    b\n", {"x = a + \\\n    b"}},
      {"a + b", "(a) + ((b))\n", {"(a) + ((b))"}},
      {"f((a))", "f(a)\n", {"f(a)"}},
      {"(a + b) * c", "a + b * c\n", {}},
      {"'a'", "x = \"a\", '''a''', r'a', 'b'\n", {"\"a\"", "'''a'''"}},
      {"b'a'", "x = B\"a\", 'a'\n", {"B\"a\""}},
      {"rb'a'", "x = bR'a'\n", {"bR'a'"}},
      {"'\\x41'", "x = 'A'\n", {}},
      {"'a' 'b'", "x = ('a'\n     \"b\")\n", {"'a'\n     \"b\""}},
      {"'ab'", "x = 'a' 'b'\n", {}},
      {"return a, b", "return (a, b)\n", {"return (a, b)"}},
      {"return (a, b)", "return a, b\n", {"return a, b"}},
      {"x = a, b", "x = (a, b)\n", {"x = (a, b)"}},
      {"for a, b in c: d()", "for (a, b) in c: d()\n", {"for (a, b) in c: d()"}},
      {"a, b = c", "(a, b) = c\n", {"(a, b) = c"}},
      {"x = (a,)", "x = a,\n", {"x = a,"}},
      {"x = (a)", "x = (a,)\n", {}},
      {"[a, b]", "[a, b,]\n", {"[a, b,]"}},
      {"if a:\n    b()\n    c()", "if a: b(); c()\n", {"if a: b(); c()"}},
      {"if a: b()", "if a:  # why\n    # so\n    b()\n", {"if a:  # why\n    # so\n    b()"}},
      {"def f(): a()", "def f():\n    # note\n    a()\n", {"def f():\n    # note\n    a()"}},
      {"a()\nb()", "a()\n\n# between\n\nb()\n", {"a()\n\n# between\n\nb()"}},
      {"from a import b", "from a import (\n    b,  # why\n)\n", {"from a import (\n    b,  # why\n)"}},
      {"from a import b, c", "from a import b, \\\n    c\n", {"from a import b, \\\n    c"}},
      {"f(a)", "f(a)\r\n", {"f(a)"}},
      {"1_000", "x = 1000\n", {}},
  });
}

TEST(Match, WhatThePatternDoesNotNameIsIgnored) {
  check({
      {"def f(a): pass", "async def f(a: int = 1) -> str: pass\n", {"async def f(a: int = 1) -> str: pass"}},
      {"async def f(): pass", "def f(): pass\n", {}},
      {"def f() -> int: pass", "def f() -> str: pass\n", {}},
      {"def f() -> int: pass", "def f(): pass\n", {}},
      {"def f(a: int): pass", "def f(a: str): pass\ndef f(a): pass\n", {}},
      {"def f(a: int): pass", "def f(a: int = 1): pass\n", {"def f(a: int = 1): pass"}},
      {"def f(a=1): pass", "def f(a: int = 1): pass\ndef f(a): pass\ndef f(a=2): pass\n", {"def f(a: int = 1): pass"}},
      {"def f(*a, **b): pass", "def f(*a: int, **b: str): pass\n", {"def f(*a: int, **b: str): pass"}},
      {"def f(): pass", "@d\ndef f(): pass\n", {"@d\ndef f(): pass"}},  // the statement with its wrapper
      {"@d\ndef f(): pass", "def f(): pass\n", {}},
      {"@d\ndef f(): pass", "@e\ndef f(): pass\n", {}},
      {"class C: pass", "@d\nclass C(A, B): pass\n", {"@d\nclass C(A, B): pass"}},
      {"x = 1", "x: int = 1\n", {"x: int = 1"}},
      {"x: int = 1", "x = 1\n", {}},
      {"for a in b: c()", "async for a in b: c()\n", {"async for a in b: c()"}},
      {"async for a in b: c()", "for a in b: c()\n", {}},
      {"with a: b()", "async with a: b()\n", {"async with a: b()"}},
      {"def f(a): pass", "def f[T](a: T): pass\n", {"def f[T](a: T): pass"}},
      {"class C: pass", "class C[T]: pass\n", {"class C[T]: pass"}},
  });
}

TEST(Match, MetavariablesStandForOneNode) {
  check({
      {"f($X)", "f(a)\nf(a=1)\nf(*a)\nf(**a)\nf()\nf(a, b)\nf(lambda: 1)\n", {"f(a)", "f(lambda: 1)"}},
      {"f($X)", "f(x for x in y)\n", {"f(x for x in y)"}},
      {"$X.y", "a.y\na().y\na.b.y\nx.z\n", {"a.y", "a().y", "a.b.y"}},
      {"$F($$$)", "f(1)(2)\n", {"f(1)(2)", "f(1)"}},
      {"$X + $X",
       "a + a\na + b\n(a) + a\nf(1) + f( 1, )\n'a' + \"a\"\n",
       {"a + a", "(a) + a", "f(1) + f( 1, )", "'a' + \"a\""}},
      {"f($$$A, $$$A)", "f(1, 1)\nf(1, 2)\nf()\n", {"f(1, 1)", "f()"}},
      {"$X = $Y", "a = 1\na, b = c\na.b = c\nx += 1\n", {"a = 1", "a, b = c", "a.b = c"}},
      {"x = $V", "x = y = 1\nx = 1\n", {"x = 1"}},
      {"$X: $T = $Y", "a: int = 1\na = 1\n", {"a: int = 1"}},
      {"if $C:\n    $X",
       "if a: b()\nif a: b(); c()\nif a:\n    for d in e: f()\n",
       {"if a: b()", "if a:\n    for d in e: f()"}},
      {"import $X", "import a\nimport a.b\nimport a as b\n", {"import a", "import a.b", "import a as b"}},
      {"from $M import $N",
       "from a.b import c\nfrom . import d\nfrom a import b, c\n",
       {"from a.b import c", "from . import d"}},
      {"def $F($$$): $$$", "def a(): pass\nclass B: pass\n", {"def a(): pass"}},
      {"def f($X): pass",
       "def f(a): pass\ndef f(a=1): pass\ndef f(*a): pass\n",
       {"def f(a): pass", "def f(a=1): pass", "def f(*a): pass"}},
      {"@$D\ndef f(): pass", "@a.b(1)\ndef f(): pass\n", {"@a.b(1)\ndef f(): pass"}},
      {"x[$I]", "x[1]\nx[1, 2]\nx[1:2]\n", {"x[1]", "x[1:2]"}},
      {"lambda $$$A: $B", "lambda: 1\nlambda a, b=1: a\n", {"lambda: 1", "lambda a, b=1: a"}},
      {"f'a{$X}'", "f\"a{b}\"\nf'a{b!r}'\nf'{b}'\nF'a{ c + 1 }'\n", {"f\"a{b}\"", "F'a{ c + 1 }'"}},
      {"for $I in $X: $$$", "for a, b in c: pass\n", {"for a, b in c: pass"}},
      {"with $C: $$$", "with a as b: pass\nwith c: pass\n", {"with c: pass"}},
      {"with $C as $N: $$$", "with a() as b: pass\nwith a(): pass\n", {"with a() as b: pass"}},
      {"$A < $B", "a < b\na < b < c\na > b\n", {"a < b"}},
      {"$A and $B", "a and b and c\n", {"a and b and c", "a and b"}},
      {"global $X", "global a\n", {"global a"}},
      {"raise $E", "raise\nraise A('b')\nraise A from b\n", {"raise A('b')"}},
      {"return $X", "return\nreturn a\nreturn a, b\n", {"return a", "return a, b"}},
      {"await $X", "await a()\n", {"await a()"}},
      {"{$K: $V}", "{a: b}\n{**a}\n{a: b, c: d}\n", {"{a: b}"}},
  });
}

TEST(Match, ClausesMatchAsTheyAreWritten) {
  check({
      {"except $E: $$$B", "try: a()\nexcept A: b()\nexcept: c()\n", {"except A: b()"}},
      {"except $E: $$$B", "try: a()\nexcept A as e: b()\n", {}},
      {"except $E as $N: $$$B", "try: a()\nexcept A as e: b()\n", {"except A as e: b()"}},
      {"case $P: $$$B", "match a:\n    case [x] as y: b()\n", {"case [x] as y: b()"}},
      {"except: $$$B", "try: a()\nexcept A: b()\nexcept: c()\n", {"except: c()"}},
      {"finally: $$$B", "try: a()\nfinally:\n    b()\n", {"finally:\n    b()"}},
      {"elif $C: $$$B", "if a: b()\nelif c: d()\nelif e: f()\n", {"elif c: d()", "elif e: f()"}},
      {"else: $$$B", "if a: b()\nelse: c()\n", {"else: c()"}},
      {"@cache", "@cache\n@other\ndef f(): pass\n", {"@cache"}},
      {"case $P: $$$B", "match a:\n    case 1: b()\n    case _: c()\n", {"case 1: b()", "case _: c()"}},
      {"case [$A, *$_]: $$$B", "match a:\n    case [x, *y]: b()\n    case [x]: c()\n", {"case [x, *y]: b()"}},
  });
}

TEST(Match, NestedExpressionsAllCountAndStatementsDoNotOverlap) {
  check({
      {"f($X)", "f(f(f(1)))\n", {"f(f(f(1)))", "f(f(1))", "f(1)"}},
      {"a()\na()", "a()\na()\na()\na()\na()\n", {"a()\na()", "a()\na()"}},
      {"a()", "if x:\n    a()\nelse:\n    a()\n", {"a()", "a()"}},
      {"$A\n$B", "x()\ny()\nz()\n", {"x()\ny()"}},
  });
}

TEST(Match, ASyntaxErrorMarksTheMatchAndHidesNoOther) {
  const Pattern pattern = pattern_of("f($$$)");
  const Code code("def a():\n    x = f(1)\n\ndef b(:\n    f(2 3)\n\ndef c():\n    y = f(4)\n");
  ASSERT_TRUE(code.tree.broken());
  std::vector<std::string> whole;
  for (const Match& m : find_all(Search{&pattern, code.view(), {}}, 0)) {
    if (!m.broken) whole.emplace_back(code.source->text(m.range(code.tree)));
  }
  EXPECT_THAT(whole, testing::AllOf(testing::Contains("f(1)"), testing::Contains("f(4)"),
                                    testing::Not(testing::Contains("f(2 3)"))));
}

TEST(Match, BindingsGivenAreHeldTo) {
  const Pattern pattern = pattern_of("f($X, $Y)");
  const Code code("f(a, b)\nf(c, a)\nf(a, d)\n");
  Bindings given;
  given["Y"] = Binding{false, {code.node("a")}};
  const auto found = find_all(Search{&pattern, code.view(), given}, 0);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(code.source->text(found[0].range(code.tree)), "f(c, a)");
}

TEST(Match, ACallerMayRejectAWayAndGetsTheNext) {
  const Pattern pattern = pattern_of("f($$$A, $X, $$$B)");
  const Code code("f(1, 2, 3)\n");
  Texts seen;
  const auto admit = [](const std::string&, const Binding&) { return true; };
  const auto accept = [&](const Match& m) {
    seen.push_back(code.text(m.bindings.at("X").nodes[0]));
    return false;
  };
  EXPECT_TRUE(find_all(Search{&pattern, code.view(), {}}, 0, Admit(admit), Accept(accept)).empty());
  EXPECT_THAT(seen, ElementsAre("1", "2", "3"));
}

// --- hostile targets
// ----------------------------------------------------------------------------------------------------

std::string nested(const std::string& open, const std::string& core, const std::string& close, int depth) {
  std::string out;
  for (int i = 0; i < depth; ++i) out += open;
  out += core;
  for (int i = 0; i < depth; ++i) out += close;
  return out;
}

TEST(Match, DeepNestingCostsNoStack) {
  const std::string lists = nested("[", "x", "]", 4000);
  EXPECT_EQ(matches("f($A, $A)", "f(" + lists + ", " + lists + ")\n").size(), 1U);
  EXPECT_EQ(matches("f($A, $A)", "f(" + lists + ", " + nested("[", "y", "]", 4000) + ")\n").size(), 0U);
  EXPECT_EQ(matches("[[x]]", lists + "\n").size(), 1U);
  EXPECT_EQ(matches("(x)", nested("(", "x", ")", 4000) + "\n").size(), 1U);
  const std::string sum = "x" + nested("", "", "+x", 2000);
  EXPECT_EQ(matches("f($A, $A)", "f(" + sum + ", " + sum + ")\n").size(), 1U);
}

TEST(Match, RunsCostAPolynomial) {
  std::string many = "f(";
  for (int i = 0; i < 120; ++i) many += "1, ";
  EXPECT_THAT(matches("f($$$A, 1, $$$B, 1, $$$C, 1, $$$D, 1, $$$E, 2)", many + ")\n"), IsEmpty());
  EXPECT_EQ(matches("f($$$A, 1, $$$B, 1, $$$C, 1, $$$D, 1, $$$E, 2)", many + "2)\n").size(), 1U);
  std::string lines;
  for (int i = 0; i < 400; ++i) lines += "a()\n";
  EXPECT_THAT(matches("a()\n$$$A\na()\n$$$B\nb()", lines), IsEmpty());
}

}  // namespace
}  // namespace suture
