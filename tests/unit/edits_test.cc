// The edits of rules, and edits that meet.
#include "engine/edits.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/engine_fixture.h"

namespace suture {
namespace {

struct Case {
  const char* rule;
  const char* code;
  const char* result;
};
void check(const std::vector<Case>& cases) {
  for (const Case& c : cases)
    EXPECT_EQ(edited(rule_from_yaml(c.rule), c.code), c.result) << c.rule << "\nin\n" << c.code;
}

TEST(Edits, AnArgumentIsChangedHoweverItIsPassed) {
  const char* rule = "match: $W.plan($$$)\nargument: {name: k, position: 1, becomes: 'wrap($ARG, $W)'}";
  check({
      {rule, "w.plan(a, b, c)\n", "w.plan(a, wrap(b, w), c)\n"},
      {rule, "w.plan(a, k=b)\n", "w.plan(a, k=wrap(b, w))\n"},
      {rule, "w.plan(\n    a,\n    k=b if c else d,  # note\n)\n",
       "w.plan(\n    a,\n    k=wrap(b if c else d, w),  # note\n)\n"},
      {rule, "w.plan(a, lambda: 1)\n", "w.plan(a, wrap(lambda: 1, w))\n"},
      {rule, "w.plan(a, wrap(b, w))\n", "no site"},
      {rule, "w.plan(a, wrap(b, v))\n", "w.plan(a, wrap(wrap(b, v), w))\n"},
      {rule, "w.plan(a)\nw.plan(*a, b)\n", "no site"},
      {rule, "x.y.plan(a, b)\n", "x.y.plan(a, wrap(b, x.y))\n"},
      {"match: f(k=$K)\nargument: {name: k, becomes: '$ARG + 1'}", "f(k=a or b)\n", "f(k=(a or b) + 1)\n"},
  });
}

TEST(Edits, OneMetavariableIsReplaced) {
  check({
      {"match: f($X, $Y)\nreplace: {X: 'g($X)'}", "f(a, b)  # c\n", "f(g(a), b)  # c\n"},
      {"match: f($X, $Y)\nreplace: {X: 'g($X)', Y: 'h($Y, $X)'}", "f(a, b)\n", "f(g(a), h(b, a))\n"},
      {"match: f($X, $X)\nreplace: {X: 'g($X)'}", "f(a, a)\n", "f(g(a), g(a))\n"},
      {"match: x = $V\nreplace: {V: '$V + 1'}", "x: int = a if b else c\n", "x: int = (a if b else c) + 1\n"},
      {"match: $A * b\nreplace: {A: '$A + 1'}\napplied: ($A + 1) * b", "a * b\n", "(a + 1) * b\n"},
      {"match: f($X, $Y)\nreplace: {X: 'g($X)'}", "f(g(a), b)\n", "no site"},
  });
}

TEST(Edits, ANameIsTheSameWhereAnAsBindsIt) {
  check({
      {"match: 'with open($P) as $F: load($F)'\nreplace: 'with open($P, 1) as $F: load($F)'",
       "with open(a) as f:\n    load(f)\n", "with open(a, 1) as f:\n    load(f)\n"},
      {"match: 'with open($P) as $F: load($F)'\nreplace: 'with open($P, 1) as $F: load($F)'",
       "with open(a) as f:\n    load(g)\n", "no site"},
      {"match: |\n  def f($A: $T) -> $T:\n      $$$B\nreplace: |\n  def f($A: $T) -> list[$T]:\n      $$$B",
       "def f(a: int) -> int:\n    return a\n", "def f(a: int) -> list[int]:\n    return a\n"},
  });
}

TEST(Edits, AnImportOfNoNamesIsNoStatement) {
  const std::string guard = "try:\n    from a import b\nexcept ImportError:\n    b = None\n";
  const char* rule =
      "match: from a import $$$A, b, $$$B\nreplace: |\n  from a import $$$A, $$$B\n  try:\n      from a import b\n"
      "  except ImportError:\n      b = None\n";
  check({
      {rule, "from a import x, b, y\n", ("from a import x, y\n" + guard).c_str()},
      {rule, "from a import (\n    b,\n    x,\n)\n", ("from a import (\n    x,\n)\n" + guard).c_str()},
      {rule, "from a import b\n", guard.c_str()},
      {rule, "from a import b as c\n", "no site"},
      {rule, guard.c_str(), "no site"},
      {rule, ("from a import x\n" + guard).c_str(), "no site"},
  });
}

TEST(Edits, InsertsGoWhereTheySay) {
  const char* before = "match: a()\ninsert_before: b()";
  const char* after = "match: a()\ninsert_after: b()";
  check({
      {before, "# about a\na()\n", "# about a\nb()\na()\n"},
      {before, "def f():\n\tx = a()\n", "def f():\n\tb()\n\tx = a()\n"},
      {before, "b()\na()\n", "no site"},
      {before, "a()\nb()\n", "b()\na()\nb()\n"},
      {before, "x()\nb()\nx()\na()\n", "x()\nb()\nx()\nb()\na()\n"},
      {after, "a()  # tail\nx()\n", "a()  # tail\nb()\nx()\n"},
      {after, "a()", "a()\nb()"},
      {after, "if x: a()\nelse: y()\n", "if x:\n    a()\n    b()\nelse: y()\n"},
      {after, "if x:\n  z = [\n    a(),\n  ]\ny()\n", "if x:\n  z = [\n    a(),\n  ]\n  b()\ny()\n"},
      {after, "a(); c()\n", "a()\nb()\nc()\n"},
      {after, "a()\nb()\n", "no site"},
      {"match: 'def f($$$): $$$'\ninsert_before: mark = 1", "x = 1\n\n\n@deco\n@other\ndef f():\n    pass\n",
       "x = 1\n\n\nmark = 1\n@deco\n@other\ndef f():\n    pass\n"},
      {"match: 'def f($$$): $$$'\ninsert_after: mark = 1", "def f():\n    pass\n    # end\n\nx = 1\n",
       "def f():\n    pass\n    # end\nmark = 1\n\nx = 1\n"},
      {"match: f($X)\ninsert_before: |\n  if $X:\n      g($X, '''\n  raw''')\n", "def q():\n  f(a or\n    b)\n",
       "def q():\n  if (a or\n    b):\n    g(a or\n    b, '''\nraw''')\n  f(a or\n    b)\n"},
      {"match: f($X)\ninsert_before: x = -$X", "f(a + b)\n", "x = -(a + b)\nf(a + b)\n"},
  });
}

TEST(Edits, BodiesGrowAtTheirEnds) {
  const char* first = "in: f\nprepend_body: x()";
  const char* last = "in: f\nappend_body: x()";
  check({
      {first, "def f():\n    \"\"\"Doc.\"\"\"\n    # note\n    a()\n",
       "def f():\n    \"\"\"Doc.\"\"\"\n    x()\n    # note\n    a()\n"},
      {first, "def f():\n    # note\n    a()\n", "def f():\n    # note\n    x()\n    a()\n"},
      {first, "def f(): return 1\n", "def f():\n    x()\n    return 1\n"},
      {first, "def f(): 'doc'\n", "def f():\n    'doc'\n    x()\n"},
      {first, "class A:\n  @d\n  async def g(self): pass\n@d\nasync def f(a,\n            b):\n\ta()\n",
       "class A:\n  @d\n  async def g(self): pass\n@d\nasync def f(a,\n            b):\n\tx()\n\ta()\n"},
      {first, "def f():\n    x()\n    a()\n", "no site"},
      {first, "def f():\n    '''d'''\n    x()\n", "no site"},
      {first, "def f():\n    a()\n    x()\n", "def f():\n    x()\n    a()\n    x()\n"},
      {last, "def f():\n    a()\n    # end\ny = 1\n", "def f():\n    a()\n    x()\n    # end\ny = 1\n"},
      {last, "def f():\n    if q:\n        a()", "def f():\n    if q:\n        a()\n    x()"},
      {last, "class f: y = 1\n", "class f:\n    y = 1\n    x()\n"},
      {last, "def f():\r\n  a()\r\n", "def f():\r\n  a()\r\n  x()\r\n"},
      {last, "def g(): pass\n", "no site"},
  });
}

TEST(Edits, TwoOnTheSameBytesAreAnOverlap) {
  const auto overlap = [](std::vector<Splice> splices) {
    const Code code("f(1, 2, 3)\n");
    const auto found = order_splices(code.view(), splices);
    return found ? found->first + "+" + found->second : std::string("none");
  };
  EXPECT_EQ(overlap({{5, 9, "x", "b", false}, {1, 4, "y", "a", false}}), "none");
  EXPECT_EQ(overlap({{1, 5, "x", "a", false}, {4, 6, "y", "b", false}}), "a+b");
  EXPECT_EQ(overlap({{1, 5, "x", "a", false}, {2, 3, "y", "b", false}}), "a+b");
  EXPECT_EQ(overlap({{3, 3, "x", "a", false}, {3, 3, "y", "b", false}}), "a+b");
  EXPECT_EQ(overlap({{3, 3, "x", "a", true}, {3, 3, "y", "b", true}}), "none");
  EXPECT_EQ(overlap({{1, 3, "x", "a", false}, {3, 5, "y", "b", false}}), "none");
  EXPECT_EQ(overlap({{3, 3, "x", "a", false}, {3, 5, "y", "b", false}}), "none");
  // Nested matches of one rule are edited where their bytes are apart, else refused.
  EXPECT_EQ(rewritten("f($X)", "g($X)", "f(f(1))\n"), "g(g(1))\n");
  EXPECT_EQ(rewritten("f($X)", "h($X, $X)", "f(f(1))\n").substr(0, 8), "unstable");
}

}  // namespace
}  // namespace suture
