// What an edit makes of code: each kind of fault that other tools have, and each numbered rule of the rewriter, with
// cases that must be edited rightly and cases that must be refused.
#include "engine/rewrite.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/engine_fixture.h"

namespace suture {
namespace {

struct Case {
  const char* pattern;
  const char* replacement;
  const char* code;
  std::string result;
};
void check(const std::vector<Case>& cases, Comments comments = Comments::refuse) {
  for (const Case& c : cases) {
    EXPECT_EQ(rewritten(c.pattern, c.replacement, c.code, comments), c.result) << c.pattern << "\n  =>\n"
                                                                               << c.replacement << "\n  in\n"
                                                                               << c.code;
  }
}
const std::string kComment = "refused: a comment stands where code is replaced";

TEST(Rewrite, WhatThePatternDoesNotNameStays) {
  check({
      {"def f($$$A): $$$B", "def g($$$A): $$$B",
       "@deco(1)\nasync def f(a: int, *, b=2) -> int:\n    \"\"\"Doc.\"\"\"\n    return a  # r\n",
       "@deco(1)\nasync def g(a: int, *, b=2) -> int:\n    \"\"\"Doc.\"\"\"\n    return a  # r\n"},
      {"def f($X): return $Y", "def f($X): return g($Y)", "def f(a: int) -> int: return a\n",
       "def f(a: int) -> int: return g(a)\n"},
      {"def f(a, $$$B): $$$C", "def f(a, z, $$$B): $$$C", "def f(a: int, b: str = \"x\") -> None: pass\n",
       "def f(a: int, z, b: str = \"x\") -> None: pass\n"},
      {"class C: $$$B", "class D: $$$B", "class C(Base, m=M):\n    x = 1\n    # hi\n    y = 2\n",
       "class D(Base, m=M):\n    x = 1\n    # hi\n    y = 2\n"},
      {"x = $V", "x = $V + 1", "x: Dict[str, int] = 5  # c\n", "x: Dict[str, int] = 5 + 1  # c\n"},
      {"for $I in $X: $$$B", "for $I in list($X): $$$B", "async for a, b in c:\n    # hello\n    d()\n",
       "async for a, b in list(c):\n    # hello\n    d()\n"},
      {"with $C: $$$B", "with other($C): $$$B", "async with a:\n\tb()\n", "async with other(a):\n\tb()\n"},
      {"from a import b", "from a import z", "from a import (\n    b,  # why\n)\n",
       "from a import (\n    z,  # why\n)\n"},
      {"from a import b", "from a import z", "from a import b, c\n", "no site"},
      {"if $A: $B()", "if $A: other()", "if a: b()\nelse: c()\n", "no site"},
      {"raise $E", "raise $E from None", "raise A(1)\n", "raise A(1) from None\n"},
      {"raise $E", "raise $E from None", "raise A(1) from e\n", "no site"},
      {"x: $T", "x: Optional[$T]", "x: int = 1\n", "no site"},
      {"try: $$$A\nexcept E: $$$B", "try: $$$A\nexcept F: $$$B",
       "try:\n    a()\nexcept E:\n    b()\nfinally:\n    c()\n", "no site"},
      {"try: $$$A\nexcept E: $$$B", "try: $$$A\nexcept F: $$$B", "try:\n    a()  # 1\nexcept E:  # 2\n    b()\n",
       "try:\n    a()  # 1\nexcept F:  # 2\n    b()\n"},
  });
}

TEST(Rewrite, ArgumentListsStayWellFormed) {
  check({
      {"f($$$A, 1, c)", "g($$$A, 1, c)", "f(a, 1, b, 1, c)\n", "g(a, 1, b, 1, c)\n"},
      {"f($$$A, 1, c)", "g($$$A, 1, c)", "f(1, c)\n", "g(1, c)\n"},
      {"f($$$A, k=$K, $$$B)", "g($$$A, k=$K, $$$B)", "f(1, k=2,)\n", "g(1, k=2,)\n"},
      {"f($$$P, a=$A, $$$Q)", "f($$$P, $$$Q, z=$A)", "f(a=1)\nf(0, a=1)\nf(a=1, b=2)\nf(0, a=1, b=2,)\n",
       "f(z=1)\nf(0, z=1)\nf(b=2, z=1)\nf(0, b=2, z=1,)\n"},
      {"f($$$P, a=$A, $$$Q)", "g($$$P, $$$Q)", "f(a=1)\nf(0, a=1)\nf(a=1, b=2)\nf(b=2, a=1)\nf(0, a=1, b=2,)\n",
       "g()\ng(0)\ng(b=2)\ng(b=2)\ng(0, b=2,)\n"},
      {"f($X, $$$A)", "g($$$A)", "f(1)\nf(1, 2)\nf(1, *a, **b)\nf(\n    1,\n    2,\n)\n",
       "g()\ng(2)\ng(*a, **b)\ng(\n    2,\n)\n"},
      {"f($$$A, $X)", "g($$$A)", "f(1)\nf(1, 2)\nf(1, 2,)\n", "g()\ng(1)\ng(1,)\n"},
      {"f($$$A)", "g(1, $$$A)", "f()\nf(2)\nf(x for x in y)\nf(*a, **b)\n",
       "g(1)\ng(1, 2)\ng(1, (x for x in y))\ng(1, *a, **b)\n"},
      {"f($$$A)", "g($$$A, 1)", "f()\nf(2)\nf(2,)\nf(x for x in y)\n",
       "g(1)\ng(2, 1)\ng(2, 1,)\ng((x for x in y), 1)\n"},
      {"[$$$A, 0, $$$B]", "[$$$A, 7, $$$B]", "x = [0]\ny = [1, 0, 2,]\n", "x = [7]\ny = [1, 7, 2,]\n"},
      {"k[$$$A, 0, $$$B]", "j[$$$A, $$$B]", "k[1, 0]\nk[0, 1]\nk[1, 0, 2]\n", "j[1]\nj[1]\nj[1, 2]\n"},
      {"($A, $B)", "($A,)", "x = (1, 2,)\ny = (1, 2)\n", "x = (1,)\ny = (1,)\n"},
      {"f($X, $Y)", "g($Y, $X)", "f(a.b, c(d))\n", "g(c(d), a.b)\n"},
      {"class C($$$A): $$$B", "class D($$$A, M): $$$B", "class C(A, m=B): pass\n", "class D(A, m=B, M): pass\n"},
      {"class C($$$A): $$$B", "class D($$$A): $$$B", "class C:\n    x = 1\n", "class D():\n    x = 1\n"},
      {"def f($$$A): $$$B", "def f($$$A, z=1): $$$B\nlast()", "def f(): pass\n", "def f(z=1): pass\nlast()\n"},
  });
}

TEST(Rewrite, KeywordsInAnotherOrderStayThere) {
  check({
      {"f(a=$A, b=$B)", "g(a=$A, bb=$B)", "f(b=2, a=1)\n", "g(bb=2, a=1)\n"},
      {"f(a=$A, b=$B)", "f(a=$A, b=$B, c=1)", "f(b=2, a=1)\n", "f(b=2, c=1, a=1)\n"},
      {"f(a=$A, b=$B)", "g(a=h($A), b=$B)", "f(b=2, a=1,)\n", "g(b=2, a=h(1),)\n"},
      {"f(a=$A, b=$B)", "g(b=$B)", "f(a=1, b=2)\n", "g(b=2)\n"},
      {"f(a=$A, b=$B)", "f(a=$A, b=$B, c=1)", "f(\n    a=1,  # one\n    b=2,  # two\n)\n",
       "f(\n    a=1,  # one\n    b=2,  # two\n    c=1,\n)\n"},
  });
}

TEST(Rewrite, CommentsOutsideOfWhatChangesStay) {
  check({
      {"f($A, $B)", "g($A, $B)", "f(  # one\n    1,  # two\n    # three\n    2,  # four\n)  # five\n",
       "g(  # one\n    1,  # two\n    # three\n    2,  # four\n)  # five\n"},
      {"f($A)", "g($A)", "f(\n    # note\n    x\n    + y,  # end\n)\n", "g(\n    # note\n    x\n    + y,  # end\n)\n"},
      {"a()\nb()", "a()\nc()", "a()\n\n# between\nb()  # tail\n", "a()\n\n# between\nc()  # tail\n"},
      {"if $C: $$$B", "if $C and d: $$$B", "if (a or\n        b):  # why\n    # first\n    foo()\n    # last\n",
       "if (a or\n        b) and d:  # why\n    # first\n    foo()\n    # last\n"},
  });
}

TEST(Rewrite, ACommentInWhatGoesIsRefusedKeptOrDropped) {
  const char* call = "x = f(\n    1,  # one\n    2,\n)\n";
  check({{"f(1, 2)", "g()", call, kComment}});
  check({{"f(1, 2)", "g()", call, "x = g(\n)\n"}}, Comments::drop);
  const char* lines = "def f():\n    a = 1\n    # note\n    return a\n";
  check({{"a = 1\nreturn a", "if q: return 1", lines, kComment}});
  check({{"a = 1\nreturn a", "if q: return 1", lines, "def f():\n    if q: return 1\n"}}, Comments::drop);
  check({{"a = 1\nreturn a", "if q: return 1", lines, "def f():\n    # note\n    if q: return 1\n"}}, Comments::keep);
  const char* behind = "def f():\n    x = 1  # why\n    y()\n";
  check({{"x = 1", "if c:\n    x = 1\nelse:\n    x = 2", behind, kComment}});
  check({{"x = 1", "if c:\n    x = 1\nelse:\n    x = 2", behind,
          "def f():\n    # why\n    if c:\n        x = 1\n    else:\n        x = 2\n    y()\n"}},
        Comments::keep);
  check({{"x = 1", "if c:\n    x = 1\nelse:\n    x = 2", behind,
          "def f():\n    if c:\n        x = 1\n    else:\n        x = 2\n    y()\n"}},
        Comments::drop);
  check({{"x = 1\ny()", "z()", behind, "def f():\n    z()  # why\n"}});
  check({{"x = 1", "if c: pass", behind, "def f():\n    if c: pass  # why\n    y()\n"}});
}

TEST(Rewrite, StatementsAreAlignedAndNoneIsLost) {
  check({
      {"x = 1\nb($A)\ny = 1", "b($A)\nreturn y", "def f():\n    x = 1\n    b(1)  # kept\n    y = 1\n",
       "def f():\n    b(1)  # kept\n    return y\n"},
      {"a()\n$$$X\nb()", "a()\n$$$X\nb()\nc()", "a()\nx()\n# n\nb()\nd()\n", "a()\nx()\n# n\nb()\nc()\nd()\n"},
      {"def f(): $$$B", "def f():\n    first()\n    $$$B", "def f():\n    # note\n    a()\n",
       "def f():\n    # note\n    first()\n    a()\n"},
      {"$$$A\nmark()", "begin()\n$$$A\nend()", "mark()\n", "begin()\nend()\n"},
      {"a = $A\nb = $B", "a = $B\nc = 1\nb = $A", "if 1:\n\ta = (1,\n\t   2)\n\tb = 2\n\td = 4\n",
       "if 1:\n\ta = 2\n\tc = 1\n\tb = (1,\n\t   2)\n\td = 4\n"},
      {"return $X", "y = $X\nreturn y", "def f():\n    if x: return 3\n    return 4  # no\n",
       "def f():\n    if x:\n        y = 3\n        return y\n    y = 4\n    return y  # no\n"},
      {"foo($X)", "if c:\n    foo($X, 1)", "def f():\n  foo(1)\n  x = 2\n",
       "def f():\n  if c:\n    foo(1, 1)\n  x = 2\n"},
  });
}

TEST(Rewrite, StatementsThatShareALineGetLinesOfTheirOwn) {
  check({
      {"a()", "a()\nb()", "if x: a()\n", "if x:\n    a()\n    b()\n"},
      {"a()", "a()\nb()", "if x: a(); c()\n", "if x:\n    a()\n    b()\n    c()\n"},
      {"a()", "a()\nb()", "if x: c(); a()\n", "if x:\n    c(); a()\n    b()\n"},
      {"a()", "b()\na()", "if x: c(); a()\n", "if x:\n    c()\n    b()\n    a()\n"},
      {"a()", "b()\na()", "if x: a()  # note\nelse: d()\n", "if x:\n    b()\n    a()  # note\nelse: d()\n"},
      {"a()", "a()\nb()", "a(); c()\n", "a()\nb()\nc()\n"},
      {"a()", "if cond:\n    a(1)", "if x: a()\n", "if x:\n    if cond:\n        a(1)\n"},
      {"a()", "if cond:\n    a(1)", "c(); a(); d()\n", "c()\nif cond:\n    a(1)\nd()\n"},
      {"a()", "if cond:\n    a(1)", "while y:\n\tif x: c(); a()\n",
       "while y:\n\tif x:\n\t\tc()\n\t\tif cond:\n\t\t\ta(1)\n"},
      {"a()", "x = 1", "if x: a(); b()\n", "if x: x = 1; b()\n"},
      {"a()\nb()", "c()", "a(); b()\n", "c()\n"},
      {"a()\nb()", "c()", "if x: a(); b(); d()\n", "if x: c(); d()\n"},
      {"a()\nb()", "c()", "if x: d(); a(); b()\n", "if x: d(); c()\n"},
      {"return $X", "y = $X\nreturn y", "class C:\n  def m(self): return 1\n",
       "class C:\n  def m(self):\n    y = 1\n    return y\n"},
  });
}

TEST(Rewrite, WrappedStatementsAreIndentedInTheirBlocksOwnUnit) {
  const char* wrap = "with lock:\n    a()\n    $X\n    b()";
  check({
      {"a()\n$X\nb()", wrap, "a()\nc(1,\n  2)\nb()\n", "with lock:\n    a()\n    c(1,\n      2)\n    b()\n"},
      {"a()\n$X\nb()", wrap, "def f():\n  a()\n  x = \"\"\"\n raw\n  text\n\"\"\"\n  b()\n",
       "def f():\n  with lock:\n    a()\n    x = \"\"\"\n raw\n  text\n\"\"\"\n    b()\n"},
      {"a()\n$X\nb()", wrap, "def f():\n\ta()\n\tif z:\n\t\tq()\n\tb()\n",
       "def f():\n\twith lock:\n\t\ta()\n\t\tif z:\n\t\t\tq()\n\t\tb()\n"},
      {"a()\n$X\nb()", wrap, "def f():\r\n  a()\r\n  c()\r\n  b()\r\n",
       "def f():\r\n  with lock:\r\n    a()\r\n    c()\r\n    b()\r\n"},
      {"a()\n$$$X\nb()", "try:\n    a()\n    $$$X\nfinally:\n    b()",
       "def f():\n    a()\n    # one\n    c()\n\n    # two\n    d()\n    b()\n",
       "def f():\n    try:\n        a()\n        # one\n        c()\n\n        # two\n        d()\n    finally:\n      "
       "  b()\n"},
      {"a()\n$$$X\nb()", "try:\n    a()\n    $$$X\nfinally:\n    b()",
       "def f():\n    a()\n    c()\n    # of b\n    b()\n", kComment},
      {"a()\n$$$X\nb()", "try:\n    a()\n    $$$X\nfinally:\n    b()",
       "def f():\n    a()\n    c()\n\n    # two\n    d()\n    b()\n",
       "def f():\n    try:\n        a()\n        c()\n\n        # two\n        d()\n    finally:\n        b()\n"},
      {"a()\n$$$X\nb()", "try:\n    a()\n    $$$X\nfinally:\n    b()", "a()\nb()\n",
       "try:\n    a()\nfinally:\n    b()\n"},
      {"a()", "if c:\n    x = '''\n  in\n'''", "def f():\n\ta()\n", "def f():\n\tif c:\n\t\tx = '''\n  in\n'''\n"},
  });
}

TEST(Rewrite, CrlfNoFinalNewlineBomAndFormFeedSurvive) {
  check({
      {"a()", "a()\nb()", "a()\r\nc()\r\n", "a()\r\nb()\r\nc()\r\n"},
      {"a()", "a()\nb()", "a()", "a()\nb()"},
      {"a()", "a()\nb()", "if x:\r\n  a()", "if x:\r\n  a()\r\n  b()"},
      {"a()", "b()\na()",
       "\xEF\xBB\xBF"
       "a()\n",
       "\xEF\xBB\xBF"
       "b()\na()\n"},
      {"a()", "b(1)",
       "\xEF\xBB\xBF"
       "a()",
       "\xEF\xBB\xBF"
       "b(1)"},
      {"f($A)", "g($A, 1)", "x = f(\r\n  a\r\n)\r\n", "x = g(\r\n  a,\r\n  1\r\n)\r\n"},
      {"f($A)", "g($A)", "x = 'é' + f('ü')\n", "x = 'é' + g('ü')\n"},
  });
}

TEST(Rewrite, LinesThatLeaveTheirBracketsGetOthers) {
  check({
      {"f($A)", "$A + 1", "x = f(\n    a\n    or b\n)\n", "x = (a\n    or b) + 1\n"},
      {"f($A)", "$A + 1", "x = f(\n    a\n    * b\n)\n", "x = (a\n    * b + 1)\n"},
      {"f($A)", "$A + 1", "x = [f(\n    a\n    * b\n)]\n", "x = [a\n    * b + 1]\n"},
      {"f($A)", "$A + 1", "x = f(\n    y\n)\n", "x = y + 1\n"},
      {"x = f($A)", "x = -$A", "x = f(\n    a.b\n    .c\n)\n", "x = -(a.b\n    .c)\n"},
      {"f($A)", "return $A", "def q():\n    f(a\n      .b)\n", "def q():\n    return (a\n      .b)\n"},
      {"f($A, $B)", "return $A + $B", "def q():\n    f(a,\n      b)\n", "def q():\n    return a + b\n"},
      {"x = f($A, $B)", "x = $A + $B", "x = f(a,\n      b)\n", "x = a + b\n"},
      {"f($A)", "$A + 1", "x = f(a + \\\n  b)\n", "x = a + \\\n  b + 1\n"},
      {"f($A)", "$A + 1", "x = f((a,\n  b))\n", "x = (a,\n  b) + 1\n"},
  });
}

TEST(Rewrite, FormattedStringsAreCode) {
  check({
      {"f\"a{$X}b\"", "f\"a{g($X)}b\"", "x = F'a{ y + 1!r:>10}b'\n", "no site"},
      {"f\"a{$X}b\"", "f\"a{g($X)}b\"", "x = f'a{y}b', f'a{d[\"k\"]}b'\n", "x = f'a{g(y)}b', f'a{g(d[\"k\"])}b'\n"},
      {"print($X)", "log(f\"v {$X} !\")", "print(a)\n", "log(f\"v {a} !\")\n"},
      {"print($X)", "log(f\"{$X}\")", "print(a if b else c)\nprint(lambda: 1)\n",
       "log(f\"{a if b else c}\")\nlog(f\"{(lambda: 1)}\")\n"},
      {"print($X)", "log(f\"{$X}\")", "print({a})\n", "log(f\"{({a})}\")\n"},
      {"f($X)", "g($X)", "x = f'{f(1)} {y}'\n", "x = f'{g(1)} {y}'\n"},
      {"print($X)", "log(f\"{$X}\")", "print(a['b'])\n", "log(f\"{a['b']}\")\n"},
  });
  const std::string quotes =
      "refused: $X cannot stand in the braces of an f-string here: it holds its quotes, a backslash or a newline";
  check({
      {"print($X)", "log(f\"{$X}\")", "print(\"a\")\n", quotes},
      {"print($X)", "log(f\"{$X}\")", "print(a[\"b\"])\n", quotes},
      {"print($X)", "log(f\"{$X}\")", "print('\\n')\n", quotes},
      {"print($X)", "log(f\"{$X}\")", "print(a +\n  b)\n", quotes},
      {"print($X)", "if q:\n    log(f\"{$X}\")", "print(\"a\")\n", quotes},
  });
}

TEST(Rewrite, DecoratorsComeGoAndAreRewrittenAsLines) {
  const char* one = "class C:\n    @one\n    async def f(self, a: int) -> int:\n        # hi\n        return a\n";
  const char* none = "class C:\n    async def g(self, a: int) -> int:\n        # hi\n        return a\n";
  check({
      {"@one\ndef f($$$A): $$$B", "def g($$$A): $$$B", one, none},
      {"def g($$$A): $$$B", "@one\ndef f($$$A): $$$B", none, one},
      {"def f($$$A): $$$B", "@one\ndef g($$$A): $$$B", "@two\ndef f(): pass\n",
       "unstable: @one\n@two\ndef g(): pass\n"},
      {"@one\ndef f($$$A): $$$B", "@one\n@two(1)\ndef g($$$A): $$$B", "@one  # 1\ndef f(): pass\n",
       "@one  # 1\n@two(1)\ndef g(): pass\n"},
      {"@one\n@two\ndef f($$$A): $$$B", "@two\ndef g($$$A): $$$B", "@one\n@two  # 2\ndef f(): pass\n",
       "@two  # 2\ndef g(): pass\n"},
      {"@one\ndef f($$$A): $$$B", "def g($$$A): $$$B", "@one  # 1\ndef f(): pass\n", kComment},
      {"@a($X)\nclass C: $$$B", "@b($X, 1)\nclass C: $$$B", "@a(\n    z\n)\nclass C(B):\n    x = 1  # c\n",
       "@b(\n    z,\n    1\n)\nclass C(B):\n    x = 1  # c\n"},
  });
}

TEST(Rewrite, CommentsGoWithTheStatementsThatTheySpeakOf) {
  check({
      {"if a: $$$B\nelse: $$$C", "if not a: $$$C\nelse: $$$B",
       "if a:\n    # one\n    x()  # two\n    # three\n    y()\nelse:\n    z()  # four\n",
       "if not a:\n    # one\n    z()  # four\nelse:\n    x()  # two\n    # three\n    y()\n"},
      {"if a: $$$B", "start()\n$$$B",
       "def f():\n    if a:\n        # one\n        x()\n\n        # two\n        y()  # three\n    z()\n",
       "def f():\n    start()\n    # one\n    x()\n\n    # two\n    y()  # three\n    z()\n"},
      {"if a: $$$B", "start()\n$$$B", "if a:  # why\n    x()\n", kComment},
      {"$A = f()\n$B = g()", "with q:\n    $A, $B = h()", "x = f()\n# note\ny = g()\n", kComment},
      {"a()\n$X\n$Y\nb()", "with q:\n    $X\n    $Y", "a()\n# one\nx()  # two\n# three\ny()  # four\nb()\n",
       "with q:\n    # one\n    x()  # two\n    # three\n    y()  # four\n"},
      {"a()\n$X\n$Y\nb()", "$Y\nif q:\n    $X", "a()\nif x:\n    y()\n    # deep\nz()\nb()\n",
       "z()\nif q:\n    if x:\n        y()\n        # deep\n"},
      {"a()\n$X\nb()", "c($X)", "a()\nx()\n# of b\nb()\n", kComment},
  });
}

TEST(Rewrite, RunsOfEntriesOfADict) {
  check({
      {"{$$$A, \"k\": $V}", "{$$$A, \"k\": f($V)}", "x = {'a': 1, **b, \"k\": 2}\ny = {'k': 3}\n",
       "x = {'a': 1, **b, \"k\": f(2)}\ny = {'k': f(3)}\n"},
      {"{$$$A, \"k\": $V, $$$B}", "{$$$A, \"k\": $V, \"n\": 1, $$$B}",
       "x = {\n    \"a\": 1,\n    \"k\": 2,  # two\n    **c,\n}\n",
       "x = {\n    \"a\": 1,\n    \"k\": 2,  # two\n    \"n\": 1,\n    **c,\n}\n"},
      {"{$$$A, \"k\": $V, $$$B}", "{$$$A, \"z\": $V, $$$B}", "x = {k: 1}\ny = {\"k\"}\n", "no site"},
      {"{\"k\": $V, $$$}", "g($V)", "x = {\"k\": 1, \"l\": {\"m\": 2}}\n", "x = g(1)\n"},
      {"f({$$$A})", "g({$$$A})", "f({})\nf({1})\nf({1: 2, **a})\nf({a for a in b})\n",
       "g({})\ng({1})\ng({1: 2, **a})\nf({a for a in b})\n"},
      {"f({$$$A})", "f({$$$A, \"k\": 1})", "f({})\n", "f({\"k\": 1})\n"},
      {"f($$$A)", "g({$$$A, \"k\": [1, {2: 3}]}, \"{$$$A: 1\")", "f(1)\n",
       "unstable: g({1, \"k\": [1, {2: 3}]}, \"{$$$A: 1\")\n"},
  });
}

TEST(Rewrite, ClausesComeAndGoAsLines) {
  check({
      {"if a: $$$B", "if a: $$$B\nelse: c()", "def f():\n    if a:  # why\n        b()\n        # last\n    d()\n",
       "def f():\n    if a:  # why\n        b()\n        # last\n    else: c()\n    d()\n"},
      {"if a: $$$B\nelse: $$$C", "if a: $$$B", "if a:\n    b()\nelse:\n    c()\nd()\n", "if a:\n    b()\nd()\n"},
      {"if a: $$$B\nelse: $$$C", "if z: $$$B", "if a:\n    b()\nelse:\n    # why\n    c()\n", kComment},
      {"if a: $$$B\nelse: $$$C", "if z:\n    $$$C\n    $$$B", "if a:\n    b()\nelse:\n    # why\n    c()\n",
       "if z:\n    # why\n    c()\n    b()\n"},
      {"if a: $$$B\nelse: $$$C", "if a: $$$B\nelif x: $$$C\nelse: y()", "if a: b()\nelse:\n    c()\n    d()",
       "if a: b()\nelif x:\n    c()\n    d()\nelse:\n    y()"},
      {"try: $$$A\nexcept A: $$$B\nexcept C: $$$D", "try: $$$A\nexcept C: $$$D\nfinally: z()",
       "try:\n    a()\nexcept A:\n    b()\nexcept C:  # c\n    d()\n",
       "try:\n    a()\nexcept C:  # c\n    d()\nfinally: z()\n"},
      {"for $I in $X: $$$A", "for $I in $X: $$$A\nelse:\n    z()", "async for i in x:\r\n\ta()\r\n",
       "async for i in x:\r\n\ta()\r\nelse:\r\n\tz()\r\n"},
      {"match x:\n    case 1: $$$A", "match x:\n    case 1: $$$A\n    case 2: b()",
       "match x:\n  case 1:  # one\n    a()\n", "match x:\n  case 1:  # one\n    a()\n  case 2: b()\n"},
  });
}

TEST(Rewrite, WhatNeedsLinesGetsThemInAOneLineSuite) {
  check({
      {"a()\n$$$B\nz()", "if q: $$$B", "a()\nb()\nc()\nz()\n", "if q:\n    b()\n    c()\n"},
      {"a()\n$$$B\nz()", "if q: $$$B", "a()\nb()\nz()\n", "if q: b()\n"},
      {"a()\n$B\nz()", "if q: $B", "def f():\n\ta()\n\tfor x in y: b()\n\tz()\n",
       "def f():\n\tif q:\n\t\tfor x in y: b()\n"},
  });
}

TEST(Rewrite, ACommentBehindAnElementStaysThere) {
  check({
      {"[$$$A, 2]", "[$$$A, 2, 3]", "x = [\n    1,\n    2,  # two\n]\n", "x = [\n    1,\n    2,  # two\n    3,\n]\n"},
      {"[$$$A, 2]", "[$$$A, 2, 3]", "x = [\n    1,\n    2  # two\n]\n", "x = [\n    1,\n    2,  # two\n    3\n]\n"},
      {"f($$$A, 2)", "f($$$A, 2, k=3)", "f(1, 2,  # two\n  )\n", "f(1, 2,  # two\n    k=3,\n  )\n"},
      {"f($$$A)", "f($$$A, k=3)", "f(\n    1,\n    2,  # two\n)\n", "f(\n    1,\n    2,  # two\n    k=3,\n)\n"},
      {"f($$$A)", "f($$$A, k=3)", "f(\n    1,\n    2  # two\n)\n", "f(\n    1,\n    2,  # two\n    k=3\n)\n"},
      {"f($$$A)", "f($$$A, k=3)", "f(\n    1, 2,  # two\n)\n", "f(\n    1, 2,  # two\n    k=3,\n)\n"},
      {"[$A, $B]", "[$A, $B, 3]", "x = [\n    1,\n    2,  # two\n]\n", "x = [\n    1,\n    2,  # two\n    3,\n]\n"},
      {"[1, 2]", "[1, 3, 2]", "x = [\n    1,  # one\n    2,\n]\n", "x = [\n    1,  # one\n    3,\n    2,\n]\n"},
      {"[$$$A, 1]", "[0, $$$A, 1]", "x = [  # all\n    1,\n]\n", "x = [  # all\n    0,\n    1,\n]\n"},
      {"[1, 2, 3]", "[1, 3]", "x = [\n    1,  # one\n    2,\n    3,  # three\n]\n",
       "x = [\n    1,  # one\n    3,  # three\n]\n"},
      {"[1, 2]", "[1]", "x = [\n    1,  # one\n    2,\n]\n", "x = [\n    1,  # one\n]\n"},
      {"[1, 2]", "[1]", "x = [\n    1,  # one\n    2,  # two\n]\n", kComment},
      {"[1, 2]", "[1]", "x = [\n    1, 2,  # both\n]\n", "x = [\n    1,  # both\n]\n"},
      {"[1, 2, 3]", "[1, 3]", "x = [\n    1,\n    # two\n    2,\n    3,\n]\n", kComment},
      {"f(a, $B)", "f(a, g($B))", "f(a,  # one\n  b)\n", "f(a,  # one\n  g(b))\n"},
  });
}

TEST(Rewrite, ParenthesesOfACaptureThatBecomesTheOnlyArgumentAreTheCalls) {
  check({
      {"x = $B", "x = float($B)", "x = (n)\n", "x = float(n)\n"},
      {"x = $B", "x = float($B)", "x = (\n    a  # one\n    + b\n)\n", "x = float(\n    a  # one\n    + b\n)\n"},
      {"x = $B", "x = float($B).y + 1", "x = (n)\n", "x = float(n).y + 1\n"},
      {"x = $B", "x = f(g($B))", "x = (n)\n", "x = f(g(n))\n"},
      {"x = $B", "x = f($B, 1)", "x = (n)\n", "x = f((n), 1)\n"},
      {"x = $B", "x = f(k=$B)", "x = (n)\n", "x = f(k=(n))\n"},
      {"x = $B", "x = f($B)", "x = (1, 2)\n", "x = f((1, 2))\n"},
      {"x = $B", "x = f($B)", "x = (yield)\n", "x = f((yield))\n"},
      {"g($B)", "f($B)", "g((n))\n", "f((n))\n"},  // as it was
  });
  EXPECT_EQ(edited(rule_from_yaml("match: x = $B\nreplace: {B: float($B)}"), "x = (n)\n"), "x = float(n)\n");
}

TEST(Rewrite, RedundantParenthesesStayAroundWhatStays) {
  check({
      {"return a", "return f(a)", "def q():\n    return (a)\n", "def q():\n    return (f(a))\n"},
      {"return $A", "return f($A)", "def q():\n    return (\n        a\n    )\n",
       "def q():\n    return f(\n        a\n    )\n"},
      {"x = a", "x = b", "x = (\n    a  # why\n)\n", kComment},
  });
}

TEST(Rewrite, BlanksAroundWhatIsReplacedStay) {
  check({
      {"def f(a, x=1): $$$B", "def f(a, x=2): $$$B", "def f(a, x: int = 1) -> int: pass\n",
       "def f(a, x: int = 2) -> int: pass\n"},
      {"f(1)", "f(2)", "f( 1 )\n", "f( 2 )\n"},
      {"a + 1", "a + 2", "x = a+1\n", "x = a+2\n"},
  });
}

TEST(Rewrite, NewLinesOfAReplacementAreWritten) {
  check({
      {"f($A)", "new(\n    $A,\n    2,\n)", "def q():\n    x = f(1)\n",
       "def q():\n    x = new(\n        1,\n        2,\n    )\n"},
      {"f($A)", "new(\n    $A,\n    g(\n        2\n    ),\n)", "if q:\n\tx = f(1)\n",
       "if q:\n\tx = new(\n\t\t1,\n\t\tg(\n\t\t\t2\n\t\t),\n\t)\n"},
      {"f($A)", "new(\n    $A,\n    2,\n)", "x = f(\n  1\n)\n", "x = new(\n  1,\n  2,\n)\n"},
      {"f($A)", "[\n    $A\n]", "x = f(1)\r\ny = 2\r\n", "x = [\r\n    1\r\n]\r\ny = 2\r\n"},
      {"x = $A", "x = (\n    $A +\n    1\n)", "x = 3\n", "x = (\n    3 +\n    1\n)\n"},
  });
}

TEST(Rewrite, AnEditedSiteIsNoSiteAgain) {
  const std::vector<Case> growing = {
      {"f($X)", "g(f($X))", "f(1)\n", ""},
      {"x = $V", "x = $V\ny()", "x = 1\n", ""},
      {"f($X)", "f(f($X))", "f(1)\n", ""},
  };
  for (const Case& c : growing) {
    const std::string once = rewritten(c.pattern, c.replacement, c.code);
    EXPECT_EQ(rewritten(c.pattern, c.replacement, once), "no site") << once;
  }
}

TEST(Rewrite, StatementsDoNotGoIntoExpressions) {
  check({
      {"f($X)", "if $X: g()", "y = f(1)\n", "refused: statements cannot stand in the place of an expression"},
      {"f($X)", "if $X: g()", "f(1)\n", "if 1: g()\n"},
      {"f($X)", "return $X", "def q():\n    f(a)\n", "def q():\n    return a\n"},
  });
}

TEST(Rewrite, ClausesAreEditedInPlace) {
  check({
      {"except $E: $$$B", "except ($E, OSError): $$$B", "try:\n    a()\nexcept E:  # c\n    b()\nfinally:\n    d()\n",
       "try:\n    a()\nexcept (E, OSError):  # c\n    b()\nfinally:\n    d()\n"},
      {"elif $C: $$$B", "elif $C or d: $$$B", "if a: b()\nelif c: e()\nelse: f()\n",
       "if a: b()\nelif c or d: e()\nelse: f()\n"},
      {"@old", "@new(1)", "@old\n@other\ndef f(): pass\n", "@new(1)\n@other\ndef f(): pass\n"},
      {"case $P: $$$B", "case $P if ok: $$$B", "match a:\n    case 1: b()\n", "match a:\n    case 1 if ok: b()\n"},
  });
}

TEST(Rewrite, OneSimpleStatementBecomesAnother) {
  EXPECT_EQ(rewritten("raise E($$$A)", "log($$$A)", "raise E(\n    'a'  # why\n    ' b',\n)  # c\n"),
            "log(\n    'a'  # why\n    ' b',\n)  # c\n");
  EXPECT_EQ(rewritten("return $X", "y = [$X]", "return a, b\n"), "y = [(a, b)]\n");
  EXPECT_EQ(rewritten("$X = f($A)", "return g($A)", "y: int = f(1)\n"), "return g(1)\n");
}

}  // namespace
}  // namespace suture
