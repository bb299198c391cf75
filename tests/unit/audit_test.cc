// The parts of suture audit, each by itself: searching literals, what a rule needs to stand in a text, outlines, where a value comes
// from, what a receiver is, signatures.
#include "engine/audit.h"

#include <gmock/gmock.h>

#include <string>

#include "effects/wrapper_source.h"
#include "engine/outline.h"
#include "engine/plan_site.h"
#include "support/audit_rules.h"

namespace suture {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Literal, FindsWhereStdStringDoes) {
  std::string text;
  for (int i = 0; i < 400; ++i) text += static_cast<char>("abpln_. \n"[(i * 7 + i / 5) % 9]);
  text += "plan";
  for (const std::string word : {"p", "pl", "plan", "an", "b.", "\n"}) {
    const Literal literal(word);
    for (std::size_t from = 0; from <= text.size(); ++from)
      ASSERT_EQ(literal.find(text, from), text.find(word, from)) << word << " from " << from;
  }
}

TEST(Prefilter, LiteralsThatARegexRequires) {
  EXPECT_EQ(required_literal("^get_\\w*buffer$"), "buffer");
  EXPECT_EQ(required_literal("(^|_)k_cache$"), "k_cache");
  EXPECT_EQ(required_literal("abc?d"), "ab");
  EXPECT_EQ(required_literal("ab+cd"), "ab");
  EXPECT_EQ(required_literal("[xy]ab{0,2}cde"), "cde");
  EXPECT_EQ(required_literal("a(b|c)\\.de"), "de");
  EXPECT_EQ(required_literal("abc|abd"), "");
  EXPECT_EQ(required_literal("(?i)abc"), "");
  EXPECT_EQ(required_literal("\\w+"), "");
}

struct Compiled : CompiledAudit {
  using CompiledAudit::CompiledAudit;
  // LINE:TEXT of the sites.
  std::vector<std::string> sites(const std::string& code) const {
    return CompiledAudit::sites(code, [](const AuditSite& s) { return std::to_string(s.line) + ":" + s.text; });
  }
};

Compiled calls() {
  return Compiled(
      "rules:\n  - id: plans\n    kind: plan\n    message: m\n    any_of:\n      - match: $X.plan($$$)\n"
      "      - match: plan($$$)\n");
}

TEST(Prefilter, WhatMayStandBetweenANameAndItsCall) {
  const Compiled rules = calls();
  EXPECT_THAT(rules.sites("(a.plan) (1)\n"), ElementsAre("1:(a.plan) (1)"));
  EXPECT_THAT(rules.sites("x = (a.plan # why\n     (1))\n"), ElementsAre("1:a.plan # why (1)"));
  EXPECT_THAT(rules.sites("a.plan \\\n  (1)\n"), ElementsAre("1:a.plan \\ (1)"));
  EXPECT_THAT(rules.sites("f'{a.plan(1)}'\n"), ElementsAre("1:a.plan(1)"));
  EXPECT_THAT(rules.sites("def plan(a): pass\nplanner(1)\nmy_plan(1)\n'plan(1)'\n# plan(1)\na.plan\n"), IsEmpty());
}

TEST(Audit, ReadsOnlyTheDefinitionOfASite) {
  const Compiled rules = calls();
  const std::string before = "class A:\n    def f(self):\n        return 1\n";
  const std::string code = before + "    @d\n    def g(self):\n        a.plan(1)\n" + std::string(200, '#') + "\n";
  const FileAudit audit = audit_file(*rules.audit, "a.py", code);
  ASSERT_EQ(audit.sites.size(), 1U);
  EXPECT_EQ(audit.sites[0].scope, "A.g");
  EXPECT_EQ(audit.sites[0].line, 6U);
  EXPECT_LT(audit.parsed_bytes, 80U);
  EXPECT_FALSE(audit_file(*rules.audit, "a.py", "'''plan(1)'''\n").parsed);
}

// What is said of the receiver of the file's one call, with what the file puts in its method's place; both depths must agree.
std::string receiver_at_both_depths(const std::string& code) {
  const Compiled rules = calls();
  const auto told = [&](AuditDepth depth) -> std::string {
    const FileAudit audit = audit_file(*rules.audit, "a.py", code, depth);
    if (audit.sites.size() != 1 || !audit.sites[0].receiver) return "none";
    const Receiver& receiver = *audit.sites[0].receiver;
    std::string out = receiver.module + ":" + receiver.name;
    for (const Replacement& each : audit.sites[0].replaced) out += " " + each.method + "=" + each.function;
    return out;
  };
  const std::string some = told(AuditDepth::excerpts);
  EXPECT_EQ(some, told(AuditDepth::whole)) << code;
  return some;
}

TEST(Audit, ImportsAreFoundWhereverTheyStand) {
  const std::string use =
      "\nclass A:\n    def __init__(self):\n        self.w = W(1)\n    def f(self):\n        self.w.plan(1)\n";
  for (const std::string import :
       {"from m import W", "from\tm import W", "from \\\n m import W",
        "try: from m import W\nexcept ImportError: W = None", "if 1:  from m import W", "a = 1; from m import W",
        "try:\n    from m import W\nexcept ImportError:\n    pass"})
    EXPECT_EQ(receiver_at_both_depths(import + use), "m:W");
  EXPECT_EQ(receiver_at_both_depths("x = 'a: from n import W'\nfrom m import W" + use), "m:W");
  EXPECT_EQ(receiver_at_both_depths("from.m import W" + use), ".m:W");
}

TEST(Audit, AssignmentsAreFoundHoweverTheyAreSpaced) {
  const std::string head = "from m import W\nclass A:\n    def __init__(self):\n        ";
  const std::string tail = "\n    def f(self):\n        self.w.plan(1)\n";
  for (const std::string set : {"self.w = W()", "self . w = W()", "self.\\\n  w = W()", "self.w\f= W()",
                                "self.w \\\n = W()", "self.w: W = 1", "self.wide = 2; self.w = W()"})
    EXPECT_EQ(receiver_at_both_depths(head + set + tail), "m:W") << set;
  for (const std::string set :
       {"(self.w) = W()", "(self.\n w) = W()", "(self. # why\n w) = W()", "(self.w # why\n) = W()"})
    EXPECT_EQ(receiver_at_both_depths(head + set + tail), ":") << set;  // targets in parentheses are not read
  const std::string replaced =
      "from m import W\nfrom functools import partial\ndef f(w: W):\n    w.plan(1)\ndef h(w):\n    ";
  for (const std::string set : {"w.plan = partial(g, w)", "w . plan = partial(g, w)", "w. plan = partial(g, w)"})
    EXPECT_EQ(receiver_at_both_depths(replaced + set + "\n"), "m:W plan=g") << set;
}

TEST(Audit, AChainOfClassesIsFollowedToItsEnd) {
  std::string code = "from m import W\n";
  std::string path = "self.m";
  for (int i = 0; i < 7; ++i) {
    code += "class C" + std::to_string(i) + ":\n    def __init__(self):\n        self.n" + std::to_string(i) + " = " +
            (i < 6 ? "C" + std::to_string(i + 1) : "W") + "()\n";
    path += ".n" + std::to_string(i);
  }
  code += "class A:\n    def __init__(self):\n        self.m = C0()\n    def f(self):\n        " + path + ".plan(1)\n";
  EXPECT_EQ(receiver_at_both_depths(code), "m:W");
}

TEST(Audit, ClassesOfOneNameAreFoundHoweverTheirHeadsAreSpaced) {
  const std::string first =
      "from m import W, V\nclass A:\n    def __init__(self):\n        self.w = W()\n    def f(self):\n"
      "        self.w.plan(1)\n";
  for (const std::string head : {"class A:", "class \\\n  A:", "class\tA :", "class A\\\n(object):"})
    EXPECT_EQ(receiver_at_both_depths(first + head + "\n    def __init__(self):\n        self.w = V()\n"), ":") << head;
  EXPECT_EQ(receiver_at_both_depths(first + "class AB:\n    def __init__(self):\n        self.w = V()\n"), "m:W");
}

TEST(Outline, IsNotSureOfWhatPythonRefuses) {
  std::vector<Hit> none;
  for (const std::string code :
       {"f(\n", "f)\n", "'a\n", "if a:\nb\n", "  a\n", "a\rb\n", "if a:\n\tb\n        c\n", "\\\na\n"})
    EXPECT_FALSE(outline_of(code, none).sure) << code;
  for (const std::string code :
       {"f(\n)\n", "if a: b\n", "'''\n'''\n", "f'{a[\"b\"]:>{c}}'\n", "if\"{\" in a:\n  b\n", "a\r\nb\r\n"})
    EXPECT_TRUE(outline_of(code, none).sure) << code;
}

TEST(Flow, FollowsAssignmentsOfTheFunction) {
  const Compiled rules(
      "rules:\n  - id: c\n    kind: cast\n    message: m\n    match: $B.to($$$)\n    where:\n      B:\n"
      "        comes_from: pool()\n        element_of: pair()\n        through: $FROM.view($$$)\n        parameter: "
      "'^kept$'\n");
  const auto in = [&rules](const std::string& body) {
    std::string code = "def f(kept, other=None):\n";
    for (const std::string_view line : {std::string_view(body)}) code += std::string(line);
    return rules.sites(code).size();
  };
  EXPECT_EQ(in("    a = b = pool()\n    a.to(1)\n"), 1U);
  EXPECT_EQ(in("    a, b = pair()\n    b.view(1).to(1)\n"), 1U);
  EXPECT_EQ(in("    p = pair()\n    p[0].to(1)\n"), 1U);
  EXPECT_EQ(in("    a = pool()\n    a = g(a)\n    a.to(1)\n"), 0U);
  EXPECT_EQ(in("    a = pool()\n    if c:\n        a = 1\n    a.to(1)\n"), 1U);
  EXPECT_EQ(in("    a = pool()\n    if c:\n        a = 1\n    else:\n        a = 2\n    a.to(1)\n"), 0U);
  EXPECT_EQ(in("    a = pool()\n    for a in x:\n        a.to(1)\n"), 0U);
  EXPECT_EQ(in("    a = pool()[i]\n    a.to(1)\n"), 0U);
  EXPECT_EQ(in("    (pool() if c else 1).to(1)\n"), 1U);
  EXPECT_EQ(in("    x = kept\n    x.to(1)\n    other.to(1)\n"), 1U);
  EXPECT_EQ(in("    a, b = pool()\n    a.to(1)\n"), 0U);
}

std::string receiver_in(const std::string& code) {
  const Compiled rules = calls();
  const FileAudit audit = audit_file(*rules.audit, "a.py", code);
  if (audit.sites.size() != 1 || !audit.sites[0].receiver) return "?";
  const Receiver& r = *audit.sites[0].receiver;
  return r.kind == Receiver::Kind::type ? (r.module.empty() ? r.name : r.module + "." + r.name) : "unknown";
}

TEST(Receiver, IsToldByAnnotationsAndConstructors) {
  const std::string import = "from lib import W, V as Other\n";
  EXPECT_EQ(receiver_in(import + "def f(w: W):\n    w.plan()\n"), "lib.W");
  EXPECT_EQ(receiver_in(import + "def f(w: 'Optional[Other]' = None):\n    w.plan()\n"), "lib.V");
  EXPECT_EQ(receiver_in(import + "def f(ws: list[W]):\n    for w in ws:\n        w.plan()\n"), "lib.W");
  EXPECT_EQ(receiver_in(import + "def f():\n    w = W(1)\n    w.plan()\n"), "lib.W");
  EXPECT_EQ(receiver_in(import + "def f(c):\n    w = W(1) if c else Other(1)\n    w.plan()\n"), "unknown");
  EXPECT_EQ(receiver_in(import + "def f():\n    make = partial(W, 1)\n    make().plan()\n"), "lib.W");
  const std::string own = import +
                          "class A:\n    def __init__(self):\n        self.x = W(1)\n        self.y = {}\n"
                          "        self.y[1] = Other(1)\n";
  EXPECT_EQ(receiver_in(own + "    def f(self):\n        self.x.plan()\n"), "lib.W");
  EXPECT_EQ(receiver_in(own + "    def f(self):\n        self.y[2].plan()\n"), "lib.V");
  EXPECT_EQ(receiver_in(own + "    def f(self):\n        self.z.plan()\n"), "unknown");
  EXPECT_EQ(receiver_in("def f(w):\n    w.plan()\n"), "unknown");
}

TEST(Signature, SaysWhatDoesNotFit) {
  const auto signature = read_signature("a, b, c=1, *, d=2");
  ASSERT_TRUE(signature.has_value());
  const auto positional = [](const std::string& text) { return AuditArgument{"", "", text, "", false}; };
  const auto keyword = [](const std::string& name) { return AuditArgument{name, "", "1", "", false}; };
  EXPECT_EQ(bind(*signature, {positional("1"), positional("2")}).misfit, "");
  EXPECT_THAT(bind(*signature, {positional("x"), positional("y"), keyword("d")}).names, ElementsAre("a", "b", "d"));
  EXPECT_EQ(bind(*signature, {positional("1")}).misfit, "needs b");
  EXPECT_EQ(bind(*signature, {positional("1"), keyword("b"), keyword("e")}).misfit, "has no parameter e");
  EXPECT_EQ(bind(*signature, {positional("1"), keyword("a"), keyword("b")}).misfit, "is passed a twice");
  EXPECT_NE(bind(*signature, {positional("1"), positional("2"), positional("3"), positional("4")}).misfit, "");
  EXPECT_EQ(bind(*signature, {AuditArgument{"", "", "*rest", "", true}}).misfit, "");
}

TEST(WrapperSource, ReadsAPin) {
  const std::string metadata =
      "Name: x\nRequires-Dist: torch>=2\nRequires-Dist: flashinfer_python==0.7.2 ; extra == 'a'\n\nbody\n";
  EXPECT_EQ(pinned_version(metadata, "flashinfer-python"), "0.7.2");
  EXPECT_EQ(pinned_version(metadata, "torch"), std::nullopt);
}

}  // namespace
}  // namespace suture
