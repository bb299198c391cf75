// Each kind of sentence that a structural difference can be.
#include "engine/difference.h"

#include <gtest/gtest.h>

#include "support/engine_fixture.h"

namespace suture {
namespace {

// The difference at the first node whose text is `at`; where that is empty, at the first statement.
std::string told(const std::string& pattern, const std::string& code, const std::string& at = "") {
  const Pattern compiled = pattern_of(pattern);
  const Code target(code);
  NodeId node = at.empty() ? statements_of(target.tree, target.tree.root()).front() : target.node(at);
  const bool expression = compiled.form() == Pattern::Form::expression;
  if (at.empty() && expression && target.tree.is(node, kinds().expression_statement))
    node = target.tree.first_child(node);
  if (!at.empty() && !expression) node = statement_of(target.tree, node);
  return difference(compiled, target.view(), node);
}

TEST(Difference, NoneWhereItMatches) {
  EXPECT_EQ(told("f($X)", "f(a)"), "");
  EXPECT_EQ(told("f($$$, k=$V)", "f(k=1, *a)"), "");
  EXPECT_EQ(told("if $C: $$$", "if a:\n    b()\n    c()"), "");
}

TEST(Difference, Arguments) {
  EXPECT_EQ(told("x.to($D)", "x.to(d, non_blocking=True)"), "has one argument more: non_blocking=True");
  EXPECT_EQ(told("f($X)", "f(a, b, c=1)"), "has 2 arguments more: b, c=1");
  EXPECT_EQ(told("f($X, q.dtype)", "f(a, dtype)"), "argument 2 is `dtype`, expected `q.dtype`");
  EXPECT_EQ(told("run($X, loop=\"uvloop\")", "run(a)"), "keyword `loop` is missing");
  EXPECT_EQ(told("run($X, loop=\"uvloop\")", "run(a, loop=\"asyncio\")"),
            "argument `loop` is `\"asyncio\"`, expected `\"uvloop\"`");
  EXPECT_EQ(told("f($X, $Y)", "f(a)"), "the argument `$Y` is missing");
  EXPECT_EQ(told("f($X, $Y, z)", "f()"), "3 arguments are missing, `$X` first");
  EXPECT_EQ(told("f($X)", "f(x=a)"), "argument 1 is `x=a`, expected `$X`");
  EXPECT_EQ(told("f($$$, z)", "f(a, b, y)"), "the argument `z` is missing");
}

TEST(Difference, OfTheAlignmentsTheCheapestIsTold) {
  EXPECT_EQ(told("f(a, b, c)", "f(a, x, b, c)"), "has one argument more: x");
  EXPECT_EQ(told("f(a, b, c)", "f(a, c)"), "the argument `b` is missing");
}

TEST(Difference, Callees) {
  EXPECT_EQ(told("$POOL.get_key_buffer($L)", "pool.get_kv_buffer(i)"),
            "the callee is `pool.get_kv_buffer`, expected `$POOL.get_key_buffer`");
  // Both end in .to: it is the inner call that is another one.
  EXPECT_EQ(told("$POOL.get_key_buffer($L).to($D)", "pool.get_kv_buffer(i).to(d)"),
            "the callee is `pool.get_kv_buffer`, expected `$POOL.get_key_buffer`");
  EXPECT_EQ(told("$P.get($L).to($D)", "pool.get(i, 0).to(d)"), "has one argument more: 0");
}

TEST(Difference, APartOfThePattern) {
  EXPECT_EQ(told("$P.get($L).to($D)", "pool.get(i)"), "has no `.to($D)` behind it");
  EXPECT_EQ(told("float($P.get($L))", "pool.get(i)"), "is not an argument of `float`");
  EXPECT_EQ(told("$P.get($L) + 1", "pool.get(i)"), "is not part of `$P.get($L) + 1`");
}

TEST(Difference, Nested) {
  EXPECT_EQ(told("f(g($X), $Y)", "f(g(a, b), c)"), "argument 1 has one argument more: b");
  EXPECT_EQ(told("f(g($X), $Y)", "f(h(a), c)"), "in argument 1, the callee is `h`, expected `g`");
}

TEST(Difference, Branches) {
  EXPECT_EQ(told("if $C: return 1", "if a:\n    return 1\nelse:\n    return 2"), "has an else branch");
  EXPECT_EQ(told("if $C: return 1", "if a:\n    return 1\nelif b:\n    return 2"), "has an elif branch");
  EXPECT_EQ(told("if $C:\n    return 1\nelse:\n    return 2", "if a:\n    return 1"), "has no else branch");
  EXPECT_EQ(told("try: $$$\nexcept OSError: $$$", "try:\n    a()\nexcept OSError:\n    b()\nfinally:\n    c()"),
            "has a finally clause");
  EXPECT_EQ(told("if $C: return 1", "if a:\n    return 2"), "in statement 1, the value is `2`, expected `1`");
  EXPECT_EQ(told("if ready: $$$", "if steady:\n    a()"), "the condition is `steady`, expected `ready`");
}

TEST(Difference, Statements) {
  EXPECT_EQ(told("if $C:\n    a()\n    b()", "if c:\n    a()\n    log(1)\n    b()"),
            "the body has 3 statements where the rule has 2: `log(1)`");
  EXPECT_EQ(told("a()\nb()", "a()\nlog(1)\nb()"), "has one statement more: `log(1)`");
  EXPECT_EQ(told("a()\nb()", "a()"), "the statement `b()` is missing");
  EXPECT_EQ(told("a()\nb($X)", "a()\nb(1, 2)"), "statement 2 has one argument more: 2");
  EXPECT_EQ(told("$X = a()", "b = c()"), "the callee is `c`, expected `a`");
  EXPECT_EQ(told("x = $V", "y = 1"), "the target is `y`, expected `x`");
  EXPECT_EQ(told("x = 1", "return 1"), "it is `return 1`, expected `x = 1`");
  EXPECT_EQ(told("return a", "return b"), "the value is `b`, expected `a`");
  EXPECT_EQ(told("for $I in items: $$$", "for i in reversed(items):\n    a()"),
            "what it loops over is `reversed(items)`, expected `items`");
}

TEST(Difference, Imports) {
  EXPECT_EQ(told("from a import b", "from a import b, c"), "imports `c` too");
  EXPECT_EQ(told("from a import b, d", "from a import b"), "does not import `d`");
  EXPECT_EQ(told("from a import b", "from x import b"), "the module is `x`, expected `a`");
  EXPECT_EQ(told("from a import b", "from a import b as c"), "name 1 is `b as c`, expected `b`");
}

TEST(Difference, LiteralsAndOperators) {
  EXPECT_EQ(told("[$A, 1]", "[a, 1, 2]"), "has one element more: 2");
  EXPECT_EQ(told("{\"a\": $V}", "{\"a\": 1, \"b\": 2}"), "has one entry more: \"b\": 2");
  EXPECT_EQ(told("$A < $B", "a <= b"), "the operator is `<=`, expected `<`");
  EXPECT_EQ(told("$A + 1", "a - 1"), "the operator is `-`, expected `+`");
  EXPECT_EQ(told("x[$I]", "y[0]"), "it is `y[0]`, expected `x[$I]`");
}

TEST(Difference, Definitions) {
  EXPECT_EQ(told("def f(a): $$$", "def f(a, b=1):\n    pass"), "the parameter list has one parameter more: b=1");
  EXPECT_EQ(told("def f(a, b): $$$", "def f(a):\n    pass"), "the parameter `b` is missing");
  EXPECT_EQ(told("def f($$$): $$$", "def g():\n    pass"), "the name is `g`, expected `f`");
  // What a pattern may leave unsaid is no difference.
  EXPECT_EQ(told("def f(a): return 1", "@d\nasync def f(a: int = 2) -> int:\n    return 2"),
            "in statement 1, the value is `2`, expected `1`");
}

// Every pattern against every node: a match has no difference, and whatever is compared ends in words or in none.
TEST(Difference, IsEmptyWhereverThePatternMatches) {
  const std::vector<std::string> texts = {"f(a, *b, k=1, **c)",
                                          "x = y = f(1)",
                                          "x: int = 2",
                                          "a < b <= c",
                                          "not a and b or c",
                                          "lambda a, *b: a",
                                          "[i for i in a if i]",
                                          "{**a, 'b': 1}",
                                          "f'{a}b'",
                                          "a[1:2]",
                                          "await a",
                                          "from a import (b as c, d)",
                                          "import a.b",
                                          "del a, b",
                                          "assert a, b",
                                          "raise A from b",
                                          "with a as b, c: pass",
                                          "try:\n    a()\nexcept (A, B) as e:\n    b()",
                                          "while a:\n    b()\nelse:\n    c()",
                                          "match a:\n    case [1, b]:\n        c()\n    case _:\n        d()",
                                          "@d(1)\nclass A(B, metaclass=C):\n    @e\n    async def f(self, a: int = 1, "
                                          "/, *b, **c) -> int:\n        return a"};
  std::string all;
  for (const std::string& text : texts) all += text + "\n";
  const Code target(all);
  std::vector<std::string> patterns = {"$X",         "$X($$$)", "f($$$, k=$K, $$$)", "$X = $Y",
                                       "if $C: $$$", "$A\n$B",  "a()\n$$$\nb()",     "except $E: $$$",
                                       "else: $$$",  "@$D",     "case $P: $$$",      "def f($$$): $$$"};
  patterns.insert(patterns.end(), texts.begin(), texts.end());
  std::size_t told = 0;
  for (const std::string& text : patterns) {
    const Pattern pattern = pattern_of(text);
    for (NodeId node = 0; node < target.tree.size(); ++node) {
      if (!target.tree[node].named) continue;
      const auto any = [](const std::string&, const Binding&) { return true; };
      const auto yes = [](const Match&) { return true; };
      const bool matched = match_at(Search{&pattern, target.view(), {}}, node, Admit(any), Accept(yes));
      const std::string words = difference(pattern, target.view(), node);
      if (matched) EXPECT_EQ(words, "") << text << " at " << target.text(node);
      told += words.empty() ? 0U : 1U;
    }
  }
  EXPECT_GT(told, 1000U);
}

TEST(Difference, LongCodeIsCut) {
  const std::string words = told("f(a)", "f(" + std::string(200, 'b') + ")");
  EXPECT_LT(words.size(), 130U);
  EXPECT_NE(words.find("...`, expected `a`"), std::string::npos) << words;
}

TEST(Likeness, CalleesWeighMoreAndMetavariablesNothing) {
  const Features features = features_of(pattern_of("$P.get_rows($L).unpack(kind)"));
  EXPECT_EQ(features.tokens, (std::vector<std::string>{"get_rows", "unpack", "kind"}));
  EXPECT_EQ(features.callees, (std::set<std::string>{"get_rows", "unpack"}));
  EXPECT_EQ(features.weight(), 7U);
  const Code code("x = rows.get_rows(1).view(kind)");
  const Likeness like = likeness(features, code.view(), {code.tree.root()});
  EXPECT_EQ(like.weight, 4U);
  EXPECT_TRUE(like.callee);
}

}  // namespace
}  // namespace suture
