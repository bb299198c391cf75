// Scopes, narrowings, shapes, selection; what is old, done, a result.
#include "engine/sites.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/engine_fixture.h"

namespace suture {
namespace {

using Texts = std::vector<std::string>;

Texts scopes(const Texts& names, const std::string& code) {
  const Code target(code);
  Texts out;
  for (const NodeId scope : find_scopes(target.view(), names))
    out.push_back(scope_name(target.view(), scope) + "@" +
                  std::to_string(target.source->line_of(target.tree[scope].begin) + 1));
  return out;
}

TEST(Scopes, AreQualifiedNames) {
  const std::string code =
      "def f():\n    def g(): pass\nclass A:\n    def f(self): pass\n    class B:\n        @d\n        def f(self): "
      "pass\n"
      "if x:\n    def f(): pass\nelse:\n    async def f(): pass\n";
  EXPECT_EQ(scopes({"f"}, code), (Texts{"f@1", "f@9", "f@11"}));
  EXPECT_EQ(scopes({"A.f"}, code), (Texts{"A.f@4"}));
  EXPECT_EQ(scopes({"A.*"}, code), (Texts{"A.f@4", "A.B@5"}));
  EXPECT_EQ(scopes({"*.B.f"}, code), (Texts{"A.B.f@7"}));
  EXPECT_EQ(scopes({"f.g"}, code), (Texts{"f.g@2"}));
  EXPECT_EQ(scopes({"g"}, code), Texts{});
  EXPECT_EQ(scopes({"A.B.f", "A.f"}, code), (Texts{"A.f@4", "A.B.f@7"}));
  EXPECT_EQ(scopes({}, code), (Texts{"<module>@1"}));
}

// "old/result/done/passed/unresolved/ambiguous/broken" of a rule in code.
std::string counts(const std::string& keys, const std::string& code, const std::string& version = "") {
  const Rule rule = rule_from_yaml(keys);
  const auto compiled = compile_rule(rule);
  if (!compiled) return to_text(compiled.error());
  const Code target(code);
  const RuleSites s = find_sites(*compiled, target.view(), version.empty() ? std::nullopt : parse_version(version));
  std::string out;
  for (const std::size_t n : {s.old.size(), s.result.size(), s.done.size(), s.passed.size(), s.unresolved.size(),
                              s.ambiguous.size(), s.broken.size()})
    out += (out.empty() ? "" : "/") + std::to_string(n);
  return out;
}

TEST(Sites, AResultThatIsPartOfAnOldMatchIsPartOfThat) {
  const std::string rule = "match: \"a()\\nb()\"\nreplace: b()";
  EXPECT_EQ(counts(rule, "a()\nb()\n"), "1/0/0/0/0/0/0");
  EXPECT_EQ(counts(rule, "b()\n"), "0/1/0/0/0/0/0");
  EXPECT_EQ(counts(rule, "a()\nb()\nx()\nb()\n"), "1/1/0/0/0/0/0");
  EXPECT_EQ(edited(rule_from_yaml(rule), "a()\nb()\n"), "b()\n");
  EXPECT_EQ(edited(rule_from_yaml("match: \"a()\\nb()\"\nreplace: \"b()\\na()\""), "a()\nb()\n"), "b()\na()\n");
}

TEST(Sites, ADefinitionThatIsTheScopeIsOneOfItsMatches) {
  const std::string rule = "in: A.f\nmatch: \"def f($$$P): $$$B\"\nreplace: \"def f($$$P, x=None): $$$B\"";
  EXPECT_EQ(edited(rule_from_yaml(rule), "class A:\n    @d\n    def f(self) -> int:\n        # c\n        return 1\n"),
            "class A:\n    @d\n    def f(self, x=None) -> int:\n        # c\n        return 1\n");
  EXPECT_EQ(counts(rule, "class B:\n    def f(self): pass\n"), "0/0/0/0/0/0/0");
}

TEST(Sites, AResultComesBeforeDoneBeforeOld) {
  const std::string rule = "match: f($X)\nreplace: g(f($X), 1)\ndone_if: h(f($X))";
  EXPECT_EQ(counts(rule, "f(1)\n"), "1/0/0/0/0/0/0");
  EXPECT_EQ(counts(rule, "g(f(1), 1)\n"), "0/1/0/0/0/0/0");
  EXPECT_EQ(counts(rule, "h(f(1))\n"), "0/0/1/0/0/0/0");
  EXPECT_EQ(counts(rule, "f(1)\ng(f(1), 1)\nh(f(1))\n"), "1/1/1/0/0/0/0");
  EXPECT_EQ(counts(rule, "h(g(f(1), 1))\n"), "0/1/0/0/0/0/0");
  EXPECT_EQ(counts(rule, "x()\n"), "0/0/0/0/0/0/0");
}

TEST(Sites, NarrowingsAreSearchedWhereTheySay) {
  const std::string code = "def a(p):\n    with lock:\n        f(p)\n    z(p)\ndef b(q):\n    y(q)\n    f(q)\n";
  const std::string rule = "match: f($X)\nreplace: g($X)\n";
  EXPECT_EQ(counts(rule, code), "2/0/0/0/0/0/0");
  EXPECT_EQ(counts(rule + "inside: 'with $L: $$$'", code), "1/0/0/0/0/0/0");
  EXPECT_EQ(counts(rule + "not_inside: 'with $L: $$$'", code), "1/0/0/0/0/0/0");
  EXPECT_EQ(counts(rule + "inside: 'def b($X): $$$'", code), "1/0/0/0/0/0/0");
  EXPECT_EQ(counts(rule + "inside: 'def b($Z): $$$'\nwhere: {Z: {regex: '^r'}}", code), "0/0/0/0/0/0/0");
  EXPECT_EQ(counts(rule + "after: y($X)", code), "1/0/0/0/0/0/0");
  EXPECT_EQ(counts(rule + "after: z($X)", code), "0/0/0/0/0/0/0");
  EXPECT_EQ(counts(rule + "before: z($X)", code), "1/0/0/0/0/0/0");
  EXPECT_EQ(counts(rule + "not_before: z($X)", code), "1/0/0/0/0/0/0");
  EXPECT_EQ(counts(rule + "has: q", code), "1/0/0/0/0/0/0");
  EXPECT_EQ(counts(rule + "has: $X", code), "2/0/0/0/0/0/0");
  EXPECT_EQ(counts(rule + "not_has: q", code), "1/0/0/0/0/0/0");
  EXPECT_EQ(counts(rule + "not_has: [p, q]", code), "0/0/0/0/0/0/0");
  EXPECT_EQ(counts(rule + "in: a\ninside: 'def a($Y): $$$'", code), "1/0/0/0/0/0/0");
}

TEST(Sites, WhereLooksAtWhatIsBound) {
  const std::string code = "f(a)\nf(a.b)\nf('x')\nf(1)\nf(a, b)\nf(g(a))\n";
  const auto with = [&](const std::string& where) {
    return counts("match: f($X)\nreplace: h($X)\nwhere: {X: {" + where + "}}", code);
  };
  EXPECT_EQ(with("kind: identifier"), "1/0/0/0/0/0/0");
  EXPECT_EQ(with("kind: call"), "1/0/0/0/0/0/0");
  EXPECT_EQ(with("regex: a"), "3/0/0/0/0/0/0");
  EXPECT_EQ(with("regex: '^a$'"), "1/0/0/0/0/0/0");
  EXPECT_EQ(with("not_regex: a"), "2/0/0/0/0/0/0");
  EXPECT_EQ(with("match: g($$$)"), "1/0/0/0/0/0/0");
  EXPECT_EQ(with("has: a"), "3/0/0/0/0/0/0");
  EXPECT_EQ(with("one_of: ['\"x\"', a]"), "2/0/0/0/0/0/0");
  EXPECT_EQ(with("kind: integer, regex: 2"), "0/0/0/0/0/0/0");
  EXPECT_EQ(counts("match: f($$$A, b)\nreplace: h($$$A)\nwhere: {A: {regex: a}}", code), "1/0/0/0/0/0/0");
}

TEST(Sites, AWhereMakesTheMatcherTryTheNextWay) {
  EXPECT_EQ(counts("match: f($$$, $X, $$$)\nreplace: g($X)\nwhere: {X: {kind: integer}}", "f(a, 'b', 1, c)\nf(a)\n"),
            "1/0/0/0/0/0/0");
}

TEST(Sites, ShapesAreToldApartByStructure) {
  const std::string rule =
      "match: f($$$)\nany_of:\n  - {match: 'f($A)', replace: 'g($A)'}\n  - {match: 'f($A, $B)', replace: 'g($B, "
      "$A)'}\n";
  EXPECT_EQ(counts(rule, "f(1)\nf(1, 2)\n"), "2/0/0/0/0/0/0");
  EXPECT_EQ(counts(rule, "f(1)\nf(1, 2, 3)\n"), "1/0/0/0/1/0/0");
  EXPECT_EQ(counts(rule, "g(1)\nf(1)\n"), "1/1/0/0/0/0/0");
  const std::string two = "any_of:\n  - {match: 'f($A)', replace: 'g($A)'}\n  - {match: 'f(1)', replace: 'h()'}\n";
  EXPECT_EQ(counts(two, "f(2)\n"), "1/0/0/0/0/0/0");
  EXPECT_EQ(counts(two, "f(1)\n"), "0/0/0/0/0/1/0");
  const std::string versions =
      "any_of:\n  - {match: 'f($A)', replace: 'g($A)'}\n  - {match: 'f(1)', replace: 'h()', versions: '<2'}\n";
  EXPECT_EQ(counts(versions, "f(1)\n", "2.0"), "1/0/0/0/0/0/0");
  EXPECT_EQ(counts(versions, "f(1)\n", "1.0"), "0/0/0/0/0/1/0");
}

TEST(Sites, SelectPicksAndCountsTheRest) {
  const std::string rule = "match: f($X)\nreplace: g($X)\napplied: g($X)\nselect: ";
  EXPECT_EQ(counts(rule + "first", "f(1)\nf(2)\nf(3)\n"), "1/0/0/2/0/0/0");
  EXPECT_EQ(edited(rule_from_yaml(rule + "first"), "f(1)\nf(2)\n"), "g(1)\nf(2)\n");
  EXPECT_EQ(edited(rule_from_yaml(rule + "last"), "f(1)\nf(2)\n"), "f(1)\ng(2)\n");
  EXPECT_EQ(edited(rule_from_yaml(rule + "1"), "f(1)\nf(2)\nf(3)\n"), "f(1)\ng(2)\nf(3)\n");
  EXPECT_EQ(counts(rule + "5", "f(1)\n"), "0/0/0/1/0/0/0");
  EXPECT_EQ(counts(rule + "first", "g(1)\nf(2)\n"), "0/1/0/1/0/0/0");
}

TEST(Sites, ASyntaxErrorAtTheSiteIsTold) {
  EXPECT_EQ(counts("in: a\nmatch: f($$$)\nreplace: g()", "def a():\n    f(1)\ndef b(:\n    pass\n").substr(0, 1), "1");
  EXPECT_NE(counts("match: f($$$)\nreplace: g()", "f(1 2)\n").substr(0, 2), "1/");
}

TEST(Sites, AnArgumentIsFoundByNameOrPlace) {
  const CompiledArgument second{"k", 1, pattern_of("w($ARG)")};
  const auto argument = [&](const std::string& code) {
    const Code target(code + "\n");
    const NodeId call = target.tree.named_children(target.node(code))[0];
    const NodeId node = find_argument(target.view(), call, second);
    return node == kNone ? std::string("none") : target.text(node);
  };
  EXPECT_EQ(argument("f(a, b)"), "b");
  EXPECT_EQ(argument("f(a, k=b)"), "b");
  EXPECT_EQ(argument("f(k=b, j=c)"), "b");
  EXPECT_EQ(argument("f(a)"), "none");
  EXPECT_EQ(argument("f(*a, b)"), "none");  // nobody knows which one b is
  EXPECT_EQ(argument("f(*a, k=b)"), "b");
  EXPECT_EQ(argument("f(x for x in y)"), "none");
}

}  // namespace
}  // namespace suture
