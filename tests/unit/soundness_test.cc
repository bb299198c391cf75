#include "engine/soundness.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/parsed_file.h"

namespace suture {
namespace {

std::vector<std::string> faults(const std::string& code) {
  const auto file = parse_file("a.py", code);
  std::vector<std::string> out;
  for (const Fault& fault : python_faults(file->target())) out.push_back(fault.what);
  return out;
}

struct Case {
  const char* code;
  const char* what;
};

TEST(Soundness, WhatTheGrammarLetsPass) {
  const std::vector<Case> cases = {
      {"y = a and\\\n   b and\n   c\n", "a line ends inside of an expression"},
      {"if a or\n   b:\n    pass\n", "a line ends inside of an expression"},
      {"def f():\n    return x := 1\n", "an assignment expression stands here without parentheses"},
      {"f(k=y := 1)\n", "an assignment expression stands here without parentheses"},
      {"d = {1: x := 2}\n", "an assignment expression stands here without parentheses"},
      {"print x\n", "this is a statement of Python 2"},
      {"y = a + *b\n", "a starred expression stands where none can"},
      {"f(a=1, b)\n", "a positional argument follows a keyword argument"},
      {"f(a=1, a=2)\n", "this keyword is passed twice"},
      {"def f(a=1, b): pass\n", "a parameter without a default follows one with a default"},
      {"def f(a, a): pass\n", "this parameter is there twice"},
      {"x = f\"{lambda: 1}\"\n", "a lambda in an f-string needs parentheses"},
      {"x = f\"{d[\"k\"]}\"\n", "the quotes of the f-string stand inside of it, which needs Python 3.12"},
  };
  for (const Case& c : cases) {
    const auto found = faults(c.code);
    ASSERT_FALSE(found.empty()) << c.code;
    EXPECT_EQ(found.front(), c.what) << c.code;
  }
}

TEST(Soundness, ValidPythonHasNone) {
  const std::vector<const char*> cases = {
      "y = (a and\n   b)\n",
      "y = a and \\\n  b\n",
      "if (x := f()):\n    pass\nelif y := 2:\n    pass\nwhile z := 1: pass\n",
      "f(x := 1, *a, k=(y := 2), **b)\n",
      "def f(a, b=1, *, c, d=2, e, **kw): pass\n",
      "def f(\n    a: int,\n    b: int = 1,\n) -> int:\n    return 1\n",
      "@d(\n  1\n)\ndef f(): pass\n",
      "try:\n    pass\nexcept (A,\n        B) as e:\n    pass\nelse:\n    pass\nfinally:\n    pass\n",
      "match x:\n    case 1:\n        pass\n    case [a,\n          b]:\n        pass\n",
      "s = \"\"\"a\nb\"\"\" + f\"\"\"{x}\n{y!r:>{w}} (\n\"\"\"\n",
      "log(\n  f\"({a!r})\"\n  f\"b\"\n)\n",
      "a, b = *x.y, 1\n",
      "x = [*a, *b.c()]\n",
      "x = f\"{d['k']}\" + f'{(lambda: 1)()}'\n",
      "with a as b, \\\n     c as d:\n    pass\n",
      "a = 1; b = 2\nclass C(B, metaclass=M): x = 1\n",
      "t = [x for x in y\n     if x]\nf(x for x in y)\n",
      "x = lambda a, b=1, *, c: a\n",
  };
  for (const char* code : cases) EXPECT_EQ(faults(code), std::vector<std::string>{}) << code;
}

}  // namespace
}  // namespace suture
