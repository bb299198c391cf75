// What is not parsed for want of a way from where a value comes from to where it is used: no site may be lost by it.
#include "engine/word_flow.h"

#include <gmock/gmock.h>

#include <random>
#include <string>

#include "support/audit_rules.h"

namespace suture {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A rule that asks for all that a flow may be, compiled.
class Casts : public CompiledAudit {
 public:
  Casts()
      : CompiledAudit(
            "rules:\n  - id: c\n    kind: cast\n    message: m\n    any_of:\n      - match: $B.to($$$)\n      - match: "
            "$B.half()\n"
            "      - match: $Q.$F($B, $$$)\n        where: {F: {regex: '^dequantize(_all)?$'}}\n"
            "    where:\n      B:\n        comes_from: ['$P.$G($$$)', 'pool()', '$S.k_buffer[$L]']\n"
            "        element_of: ['pair()', '$P.get_both($$$)']\n        through: ['$FROM.view($$$)', "
            "'$FROM.detach()']\n"
            "        parameter: '(^|_)kept$'\n      G: {regex: '^get_(one|two)$'}\n      L: {not_regex: ':'}\n") {}

  // LINE:SCOPE:TEXT of the sites.
  std::vector<std::string> sites(const std::string& code) const {
    return CompiledAudit::sites(
        code, [](const AuditSite& s) { return std::to_string(s.line) + ":" + s.scope + ":" + s.text; });
  }
  bool parsed(const std::string& code) const { return audit_file(*audit, "a.py", code).parsed; }
};

TEST(WordFlow, PassesOverWhatCastsSomethingElse) {
  const Casts casts;
  for (const std::string body :
       {"    a = x.get_one(1)\n    b.to(1)\n", "    a = x.get_one(b)\n    b.to(1)\n",
        "    self.a = x.get_one(1)\n    self.b.to(1)\n", "    f(a=x.get_one(1), b=1)\n    a.to(b)\n",
        "    if a == x.get_one(1):\n        a.to(1)\n", "    a = x.get_one(1)\n    self.a.to(1)\n",
        "    a = x.get_one(1)\n    b.to(a.dtype)\n", "    a = x.get_one(1)\n    s = a.shape\n    s.to(1)\n",
        "    a = x.get_one(1)\n    s = g(1, a)\n    s.to(1)\n", "    a = x.get_one(1)\n    g(a, b.c(1).to(2))\n",
        "    a = x.get_one(1)\n    ab.to(1)\n"}) {
    const std::string code = "def f(self, b):\n" + body;
    EXPECT_FALSE(casts.parsed(code)) << code;
    EXPECT_THAT(casts.sites(code), IsEmpty());
  }
}

TEST(WordFlow, FollowsEveryBinding) {
  const Casts casts;
  for (const std::string body : {"    a = x.get_one(1)\n    a.to(1)\n",
                                 "    a: T = x.get_one(1)\n    a.to(1)\n",
                                 "    a = b = x.get_one(1)\n    a.to(1)\n",
                                 "    a, b = pair()\n    b.to(1)\n",
                                 "    [a, b] = x.get_one(1), 2\n    a.to(1)\n",
                                 "    if (a := x.get_one(1)):\n        a.to(1)\n",
                                 "    f(a \\\n  := x.get_one(1))\n    a.to(1)\n",
                                 "    if c: a = x.get_one(1)\n    a.to(1)\n",
                                 "    c = 1; a = x.get_one(1)\n    a.to(1)\n",
                                 "    a = ( # why\n  x.get_one(1)\n  )\n    a.to(1)\n",
                                 "    a = \\\n  x.get_one(1)\n    a.to(1)\n",
                                 "    f'{(a := x.get_one(1))}'\n    a.to(1)\n",
                                 "    p = pair()\n    a = p[0].view(1)\n    b = a\n    b.half()\n",
                                 "    while c:\n        a = b\n        a.to(1)\n        b = x.get_one(1)\n    b = "
                                 "x.get_one(1)\n    a = b\n    a.to(1)\n",
                                 "    a = self.k_buffer[3]\n    q.dequantize(a.detach(), 1)\n",
                                 "    print = x.get_one(1)\n    print.to(1)\n",
                                 "    a = lambda: 1\n    a = x.get_one(lambda b=1: b)\n    a.to(1)\n",
                                 "    a = x.get_one(1)\n    b = ( # f(\n  a)\n    b.to(1)\n",
                                 "    a = x.get_one(1)\n    b = (')' if c else a)\n    b.to(1)\n",
                                 "    a = x.get_one(1)\n    (a # c\n  .view(1) # )\n  ).to(1)\n",
                                 "    a = x.get_one(1)\n    a \\\n  .to(1)\n",
                                 "    a = x.get_one(1)\n    b = a\n    ...\n    b.to(1)\n",
                                 "    a = x.get_one(1)\n    b = g((c := a))\n    c.to(1)\n",
                                 "    a = x.get_one(1)\n    b = f'{(c := a)}'\n    c.to(1)\n",
                                 "    a = x.get_one(1)\n    (x.y(a), a)[1].to(1) or (a if c else 1).to(1)\n",
                                 "    a = x.get_one(a == 1)\n    a.to(1)\n",
                                 "    a = x.get_one(f'{c:=^9}')\n    a.to(1)\n"}) {
    EXPECT_FALSE(casts.sites("def f(self, x):\n" + body).empty()) << body;
  }
  EXPECT_THAT(casts.sites("def f(my_kept):\n    a = my_kept\n    a.to(1)\n"), ElementsAre("3:f:a.to(1)"));
  EXPECT_THAT(casts.sites("\xEF\xBB\xBF"
                          "def f(x):\r\n\ta = x.get_two(1)\r\n\ta.to(1)\r\n"),
              ElementsAre("3:f:a.to(1)"));
  EXPECT_THAT(casts.sites("def f(x):\n    é = x.get_two(1)\n    é.to(1)\n"), ElementsAre("3:f:é.to(1)"));
  EXPECT_THAT(casts.sites("x.get_two(1).to(1)\n"), ElementsAre("1:<module>:x.get_two(1).to(1)"));
}

// What a default is read in is the code around the function.
TEST(WordFlow, DefaultsAreOfTheCodeAround) {
  const Casts casts;
  EXPECT_THAT(casts.sites("a = pool()\ndef f(b=a.to(1)):\n    pass\n"), IsEmpty());
  EXPECT_THAT(casts.sites("def g(x):\n    a = pool()\n    def f(b=a.to(1)):\n        pass\n"),
              ElementsAre("3:g.f:a.to(1)"));
}

// --- random code -----------------------------------------------------------------------------------------------------

class Coder {
 public:
  explicit Coder(unsigned seed) : random_(seed) {}

  std::string file() {
    std::string out = pick({"", "import x\n", "'''a = pool()\na.to(1)'''\n", "k = pool()\n"});
    for (int i = below(3); i >= 0; --i) out += function(pick({"", "", "    "}).size(), true);
    if (below(6) != 0) return out;
    std::string crlf;
    for (const char c : out) crlf += c == '\n' ? "\r\n" : std::string(1, c);
    return crlf;
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  std::string pick(const std::vector<std::string>& from) { return from[random_() % from.size()]; }
  std::string name() { return pick({"a", "b", "k", "kept", "k_kept", "ab", "é", "print", "match"}); }

  std::string value(int depth = 0) {
    const std::string v = pick({"pool()",
                                "x.get_one(1)",
                                "x.get_both(1)",
                                "pair()",
                                "s.k_buffer[i]",
                                "s.k_buffer[i:j]",
                                "NAME",
                                "NAME",
                                "NAME",
                                "1",
                                "g(NAME)",
                                "g(x, VALUE)",
                                "NAME.shape",
                                "NAME # f(\n .view(1)",
                                "(NAME # ')'\n)",
                                "x[VALUE]",
                                "g((NAME := VALUE))",
                                "VALUE.view(1)",
                                "(VALUE)",
                                "VALUE[0]",
                                "VALUE if c else VALUE",
                                "(NAME := VALUE)",
                                "x.get_one( # pool()\n  2)",
                                "f'{VALUE}'",
                                "'pool()'",
                                "x.get_one(a=NAME)",
                                "lambda: VALUE",
                                "lambda b=1: VALUE",
                                "[VALUE, VALUE]",
                                "(pool)()",
                                "x \\\n .get_two (3)",
                                "NAME == VALUE"});
    return filled(v, depth);
  }
  std::string filled(const std::string& form, int depth) {
    std::string out;
    for (std::size_t i = 0; i < form.size();) {
      if (form.compare(i, 4, "NAME") == 0) {
        out += name();
        i += 4;
      } else if (form.compare(i, 5, "VALUE") == 0) {
        out += depth < 3 ? value(depth + 1) : name();
        i += 5;
      } else {
        out += form[i++];
      }
    }
    return out;
  }
  std::string statement() {
    return filled(pick({"NAME = VALUE",
                        "NAME = VALUE",
                        "NAME: T = VALUE",
                        "NAME = NAME = VALUE",
                        "NAME, NAME = VALUE",
                        "NAME, NAME = VALUE, VALUE",
                        "(NAME) = VALUE",
                        "[NAME, NAME] = VALUE",
                        "*NAME, NAME = VALUE",
                        "NAME = 1; NAME = VALUE",
                        "if NAME: NAME = VALUE",
                        "NAME += VALUE",
                        "self.NAME = VALUE",
                        "NAME[0] = VALUE",
                        "global NAME",
                        "for NAME in VALUE: pass",
                        "with VALUE as NAME: pass",
                        "NAME = \\\n  VALUE",
                        "NAME.to(1)",
                        "NAME.to(1)",
                        "(NAME).to(1)",
                        "NAME \\\n  .to(1)",
                        "VALUE.to(1)",
                        "VALUE.to(1)",
                        "(VALUE\n .to(1))",
                        "NAME. to(1)",
                        "g(NAME, VALUE.to(NAME.dtype))",
                        "NAME.half()",
                        "f'{NAME.to(1)}'",
                        "'NAME.to(1)'",
                        "# NAME.to(1)\n",
                        "q.dequantize(VALUE, 1)",
                        "q.dequantize_all(NAME)",
                        "f(lambda: NAME.to(1))",
                        "NAME = NAME.to(VALUE)",
                        "(NAME if c else VALUE).to(1)",
                        "return NAME.to(1)",
                        "assert NAME, VALUE"}),
                  0);
  }
  std::string function(std::size_t indent, bool outer) {
    const std::string margin(indent, ' ');
    std::string out = indent > 0 && outer ? "class A:\n" : "";
    if (below(4) == 0) out += margin + "@d(NAME=pool())\n";
    out +=
        margin + "def f(self, x, " + pick({"a", "kept", "b=pool()", "k_kept=None", "b=k.to(1)", "b=a.to(1)"}) + "):\n";
    for (int i = below(7) + 1; i >= 0; --i) {
      const int how = below(8);
      if (how == 0 && indent < 12) {
        out += function(indent + 4, false);
      } else if (how == 1) {
        out += margin + "    if c:\n" + margin + "        " + statement() + "\n" + margin + "        pass\n";
      } else {
        out += margin + "    " + statement() + "\n";
      }
    }
    return out + margin + "    pass\n";
  }

  std::mt19937 random_;
};

TEST(WordFlow, LosesNoSiteOfRandomCode) {
  const Casts casts;
  std::size_t found = 0, passed_over = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    const std::string code = Coder(seed).file();
    found += casts.sites(code).size();
    if (!casts.parsed(code)) ++passed_over;
    if (HasFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(found, 1000U);
  EXPECT_GT(passed_over, 50U);
}

}  // namespace
}  // namespace suture
