// The edits that look at what stands there: delete, wrap, add_*, remove_*, set_key.
#include "engine/structural.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/engine_fixture.h"

namespace suture {
namespace {

void check(const std::string& rule, const std::vector<std::pair<const char*, const char*>>& cases) {
  for (const auto& [code, result] : cases)
    EXPECT_EQ(edited(rule_from_yaml(rule), code), result) << rule << "\nin\n" << code;
}

// --- add_argument --------------------------------------------------------------------------------------------------

TEST(AddArgument, AKeywordGoesLastAndIsFoundAgain) {
  check("match: reg($$$)\nadd_argument: exist_ok=True",
        {{"reg(a, b)\n", "reg(a, b, exist_ok=True)\n"},
         {"reg()\n", "reg(exist_ok=True)\n"},
         {"reg(a,)\n", "reg(a, exist_ok=True,)\n"},
         {"reg(\n    a,\n    b,  # two\n)\n", "reg(\n    a,\n    b,  # two\n    exist_ok=True,\n)\n"},
         {"reg(\n    a,\n    b  # two\n)\n", "reg(\n    a,\n    b,  # two\n    exist_ok=True\n)\n"},
         {"reg(\n    a,\n    b)\n", "reg(\n    a,\n    b,\n    exist_ok=True)\n"},
         {"reg(a,\n    b, c)\n", "reg(a,\n    b, c, exist_ok=True)\n"},
         {"reg(\n)\n", "reg(\n    exist_ok=True,\n)\n"},
         {"reg(x for x in y)\n", "reg((x for x in y), exist_ok=True)\n"},
         {"reg(*a)\n", "reg(*a, exist_ok=True)\n"},
         {"reg(a, exist_ok=True)\n", "no site"},
         {"reg(exist_ok = True, b=a)\n", "no site"},
         {"reg(a, exist_ok=False)\n", "unfit: passes `exist_ok=False` already"},
         {"reg(a, **more)\n", "unfit: may pass exist_ok by `**more`"}});
}

TEST(AddArgument, APositionalOneGoesBehindThePositionalOnes) {
  check("match: f($A, $$$)\nadd_argument: g($A)",
        {{"f(x, y, k=1)\n", "f(x, y, g(x), k=1)\n"},
         {"f(x, y, g(x), k=1)\n", "no site"},
         {"f(\n    x,\n    k=1,\n)\n", "f(\n    x,\n    g(x),\n    k=1,\n)\n"},
         {"f(x)\n", "f(x, g(x))\n"}});
  check("match: f(k=$K)\nadd_argument: a", {{"f(k=1)\n", "f(a, k=1)\n"}, {"f(a, k=1)\n", "no site"}});
  check("match: reg('x', $Y)\nadd_argument: ok=$Y",
        {{"reg('x', y)\n", "reg('x', y, ok=y)\n"}, {"reg('x', y, z)\n", "no site"}});
  check("match: \"{'a': $V}\"\nset_key: {key: \"'b'\", value: $V}", {{"x = {'a': 1}\n", "x = {'a': 1, 'b': 1}\n"}});
}

TEST(AddArgument, MoreKeywordsGoLast) {
  check("match: $W.run($$$)\nadd_argument: '**scales($W)'",
        {{"w.run(a, k=1)\n", "w.run(a, k=1, **scales(w))\n"},
         {"w.run()\n", "w.run(**scales(w))\n"},
         {"w.run(\n    a,\n    # why\n    k=(\n        b and c\n    ),\n)\n",
          "w.run(\n    a,\n    # why\n    k=(\n        b and c\n    ),\n    **scales(w),\n)\n"},
         {"w.run(a, ** scales( w ))\n", "no site"},
         {"w.run(a, **more)\n", "unfit: passes `**more` already"}});
}

TEST(AddArgument, TheCallMayBeWhatAMetavariableStandsFor) {
  check("match: x = $CALL\nwhere: {CALL: {match: f($$$)}}\nadd_argument: {of: CALL, argument: k=1}",
        {{"x = f(a)\ny = f(a)\n", "x = f(a, k=1)\ny = f(a)\n"}, {"x = f(k=1)\n", "no site"}});
  check("match: x = $CALL\nadd_argument: {of: CALL, argument: k=1}", {{"x = 1\n", "unfit: is no call"}});
}

// --- add_element ---------------------------------------------------------------------------------------------------

TEST(AddElement, ListsTuplesSetsKeepTheirLayout) {
  check("match: XS = $L\nadd_element: {of: L, element: '\"c\"'}",
        {{"XS = [\"a\", \"b\"]\n", "XS = [\"a\", \"b\", \"c\"]\n"},
         {"XS = ('a',)\n", "XS = ('a', \"c\")\n"},
         {"XS = 'a', 'b'\n", "XS = 'a', 'b', \"c\"\n"},
         {"XS = ()\n", "XS = (\"c\",)\n"},
         {"XS = []\n", "XS = [\"c\"]\n"},
         {"XS = {'a'}\n", "XS = {'a', \"c\"}\n"},
         {"XS = ['a', 'c']\n", "no site"},
         {"XS: list = [\n    'a',\n    'b',  # b\n    # more to come\n]\n",
          "XS: list = [\n    'a',\n    'b',  # b\n    \"c\",\n    # more to come\n]\n"},
         {"XS = [\n    'a',\n    'b'\n]\n", "XS = [\n    'a',\n    'b',\n    \"c\"\n]\n"},
         {"XS = [\n]\n", "XS = [\n    \"c\",\n]\n"},
         {"XS = list(ys)\n", "unfit: is no list, tuple or set"},
         {"XS = [y for y in ys]\n", "unfit: is no list, tuple or set"}});
  check("match: XS = $L\nadd_element: {of: L, element: z, at: first}",
        {{"XS = [a]\n", "XS = [z, a]\n"}, {"XS = [\n    a,\n]\n", "XS = [\n    z,\n    a,\n]\n"}});
  check("match: '[a, $$$]'\nadd_element: b", {{"x([a])\n", "x([a, b])\n"}});
  // `where` on what the edit changes speaks of what that was.
  check("match: XS = $L\nadd_element: {of: L, element: q}\nwhere: {L: {not_regex: q}}",
        {{"XS = [a]\n", "XS = [a, q]\n"}, {"XS = [a, q]\n", "no site"}});
  check("match: '[a, $$$R]'\nadd_element: q\nwhere: {R: {not_regex: q}}", {{"x([a, b])\n", "x([a, b, q])\n"}});
  check("match: f($X, $$$R)\nadd_argument: k=1\nwhere: {X: {regex: '^a'}, R: {regex: '^b$'}}",
        {{"f(a, b)\nf(c, b)\nf(a, c)\n", "f(a, b, k=1)\nf(c, b)\nf(a, c)\n"}});
}

TEST(AddElement, OperandsOfACondition) {
  const std::string rule = "match: \"if $C:\\n    g()\"\n";
  check(rule + "add_element: {of: C, or: env() == 1}",
        {{"if a:\n    g()\n", "if a or env() == 1:\n    g()\n"},
         {"if (x := a):\n    g()\n", "if (x := a) or env() == 1:\n    g()\n"},
         {"if x := a:\n    g()\n", "if (x := a) or env() == 1:\n    g()\n"},
         {"if (\n    a or\n    b  # why\n):\n    g()\n",
          "if (\n    a or\n    b or  # why\n    env() == 1\n):\n    g()\n"},
         {"if (a\n        or b):\n    g()\n", "if (a\n        or b\n        or env() == 1):\n    g()\n"},
         {"if (a or\n    b):\n    g()\n", "if (a or\n    b or\n    env() == 1):\n    g()\n"},
         {"if a or \\\n        b:\n    g()\n", "if a or \\\n        b or env() == 1:\n    g()\n"},
         {"if a and b:\n    g()\n", "if a and b or env() == 1:\n    g()\n"},
         {"if (\n    a\n    or b  # why\n):\n    g()\n",
          "if (\n    a\n    or b  # why\n    or env() == 1\n):\n    g()\n"},
         {"if b or env() == 1 or c:\n    g()\n", "no site"},
         {"if x if y else z:\n    g()\n", "if (x if y else z) or env() == 1:\n    g()\n"}});
  check(rule + "add_element: {of: C, and: b or c}",
        {{"if (\n    a\n    and d\n):\n    g()\n", "if (\n    a\n    and d\n    and (b or c)\n):\n    g()\n"},
         {"if a:\n    g()\n", "if a and (b or c):\n    g()\n"},
         {"if a or d:\n    g()\n", "if (a or d) and (b or c):\n    g()\n"},
         {"if a and (b or c):\n    g()\n", "no site"}});
}

// --- set_key -------------------------------------------------------------------------------------------------------

TEST(SetKey, AnEntryMoreOnceOnly) {
  check("match: T = $D\nset_key: {of: D, key: '\"k\"', value: V}",
        {{"T = {'a': A}\n", "T = {'a': A, \"k\": V}\n"},
         {"T = {}\n", "T = {\"k\": V}\n"},
         {"T: dict[str, int] = {\n    'a': A,\n    **rest,\n}\n",
          "T: dict[str, int] = {\n    'a': A,\n    **rest,\n    \"k\": V,\n}\n"},
         {"T = {\n\t'a': A\n}\n", "T = {\n\t'a': A,\n\t\"k\": V\n}\n"},
         {"T = {'k': V, 'a': A}\n", "no site"},
         {"T = {'k': W}\n", "unfit: has `'k': W` already"},
         {"T = {'k': V, 'k': V}\n", "unfit: has the key \"k\" twice"},
         {"T = dict(a=1)\n", "unfit: is no dictionary written with braces"}});
}

// --- add_branch ----------------------------------------------------------------------------------------------------

TEST(AddBranch, ElifAndElse) {
  const std::string match = "match: |\n  if $X == 1:\n      $$$A\n";
  check(match + "add_branch: |\n  elif $X == 3:\n      three()\n",
        {{"if a == 1:\n    b()\nelse:\n    c()\n", "if a == 1:\n    b()\nelif a == 3:\n    three()\nelse:\n    c()\n"},
         {"if a == 1:\n  b()\n", "if a == 1:\n  b()\nelif a == 3:\n  three()\n"},
         {"if a == 1: b()\nx()\n", "if a == 1: b()\nelif a == 3:\n    three()\nx()\n"},
         {"if a == 1:\n    b()\n\n# of two\nelif a == 2:\n    c()\n\nelse:\n    d()\n",
          "if a == 1:\n    b()\n\n# of two\nelif a == 2:\n    c()\n\nelif a == 3:\n    three()\n\nelse:\n    d()\n"},
         {"if a == 1:\n    b()\nelif a == 2:\n    c()\n    # still two\n\nx()\n",
          "if a == 1:\n    b()\nelif a == 2:\n    c()\n    # still two\nelif a == 3:\n    three()\n\nx()\n"},
         {"if a == 1:\n    b()\nelif a == 3:\n    three()\nelse:\n    c()\n", "no site"},
         {"if a == 1:\n    b()\nelif a == 3:\n    two()\n", "unfit: has such a branch with another body, at line 3"}});
  check(match + "add_branch: {branch: \"elif $X == 3:\\n    three()\", at: first}",
        {{"if a == 1:\n    b()\nelif a == 2:\n    c()\n",
          "if a == 1:\n    b()\nelif a == 3:\n    three()\nelif a == 2:\n    c()\n"}});
  check(match + "add_branch: |\n  else:\n      c()\n",
        {{"if a == 1:\n    b()\n", "if a == 1:\n    b()\nelse:\n    c()\n"},
         {"if a == 1:\n    b()\nelse:\n    c()\n", "no site"},
         {"if a == 1:\n    b()\nelse:\n    d()\n", "unfit: has such a branch with another body, at line 3"}});
}

TEST(AddBranch, ClausesOfTryAndMatch) {
  const std::string match = "match: |\n  try:\n      f()\n";
  check(match + "add_branch: |\n  except KeyError:\n      g()\n",
        {{"try:\n    f()\nexcept OSError:\n    h()\nfinally:\n    i()\n",
          "try:\n    f()\nexcept OSError:\n    h()\nexcept KeyError:\n    g()\nfinally:\n    i()\n"},
         {"try:\n    f()\nexcept:\n    h()\n", "try:\n    f()\nexcept KeyError:\n    g()\nexcept:\n    h()\n"},
         {"try:\n    f()\nexcept KeyError:\n    g()\n", "no site"},
         {"try:\n    f()\nfinally:\n    i()\n", "try:\n    f()\nexcept KeyError:\n    g()\nfinally:\n    i()\n"},
         // Behind a handler that takes more it would never be reached.
         {"try:\n    f()\nexcept (E, Exception) as e:\n    h()\n",
          "try:\n    f()\nexcept KeyError:\n    g()\nexcept (E, Exception) as e:\n    h()\n"}});
  check(match + "add_branch: |\n  except BaseException:\n      g()\n",
        {{"try: f()\nexcept Exception: h()\n", "try: f()\nexcept Exception: h()\nexcept BaseException:\n    g()\n"}});
  check(
      "match: |\n  match $S:\n      case 1:\n          $$$A\nadd_branch: |\n  case 2:\n      two()\n",
      {{"match s:\n    case 0:\n        z()\n    case 1:\n        one()\n    case _:\n        no()\n",
        "match s:\n    case 0:\n        z()\n    case 1:\n        one()\n    case 2:\n        two()\n    case _:\n     "
        "   no()\n"},
       {"match s:\n    case 1:\n        one()\n", "match s:\n    case 1:\n        one()\n    case 2:\n        two()\n"},
       {"match s:\n    case 1:\n        one()\n    case 2:\n        two()\n", "no site"},
       {"match s:\n    case 1:\n        one()\n\n    # the rest\n    case _:\n        no()\n",
        "match s:\n    case 1:\n        one()\n\n    case 2:\n        two()\n\n    # the rest\n    case _:\n        "
        "no()\n"},
       {"match s:\n    case 0: z()\n    case 1: one()\n",
        "match s:\n    case 0: z()\n    case 1: one()\n    case 2:\n        two()\n"}});
  const std::string cases = "match: |\n  match $S:\n      case $_:\n          $$$\n";
  check(cases + "add_branch: {branch: \"case 2:\\n    two()\", at: first}",
        {{"match s:\n    # one\n    case 1: one()\n",
          "match s:\n    case 2:\n        two()\n    # one\n    case 1: one()\n"}});
  check(cases + "add_branch: |\n  case _:\n      no()\n",
        {{"match s:\n    case other: z()\n", "unfit: has a case that takes all, at line 2"}});
}

// --- add_member ----------------------------------------------------------------------------------------------------

TEST(AddMember, FieldsWithFieldsMethodsAtTheEnd) {
  check("in: A\nadd_member: 'x: int = 3'",
        {{"class A:\n    a: int = 1\n    b: int = 2\n\n    def f(self):\n        pass\n",
          "class A:\n    a: int = 1\n    b: int = 2\n    x: int = 3\n\n    def f(self):\n        pass\n"},
         {"class A:\n    \"\"\"Doc.\"\"\"\n\n    def f(self):\n        pass\n",
          "class A:\n    \"\"\"Doc.\"\"\"\n    x: int = 3\n\n    def f(self):\n        pass\n"},
         {"class A:\n    def f(self):\n        pass\n", "class A:\n    x: int = 3\n\n    def f(self):\n        pass\n"},
         {"class A:\n    # of f\n    @d\n    def f(self):\n        pass\n",
          "class A:\n    x: int = 3\n\n    # of f\n    @d\n    def f(self):\n        pass\n"},
         {"class A:\n    'Doc.'\n    def f(self):\n        pass\n",
          "class A:\n    'Doc.'\n    x: int = 3\n\n    def f(self):\n        pass\n"},
         {"class A:\n    if y:\n        z = 1\n", "class A:\n    x: int = 3\n    if y:\n        z = 1\n"},
         {"class A:\n    pass\n", "class A:\n    x: int = 3\n"},
         {"class A: ...\n", "class A:\n    x: int = 3\n"},
         {"class A:\r\n  'Doc.'\r\n\r\n  ...\r\n", "class A:\r\n  'Doc.'\r\n\r\n  x: int = 3\r\n"},
         {"class A:\n    x: int = 3\n", "no site"},
         {"class A:\n    x = 4\n", "unfit: has another member x, at line 2"},
         {"class A(B):\n    if y:\n        x: int = 3\n", "no site"}});
  check("in: A\nadd_member: |\n  def g(self):\n      return 1\n",
        {{"class A:\n  def f(self):\n    pass\n\nx = 1\n",
          "class A:\n  def f(self):\n    pass\n\n  def g(self):\n    return 1\n\nx = 1\n"},
         {"class A: pass\n", "class A:\n    def g(self):\n        return 1\n"},
         {"class A:\n    ...\n\n\nx = 1\n", "class A:\n    def g(self):\n        return 1\n\n\nx = 1\n"},
         {"class A:\n\tpass", "class A:\n\tdef g(self):\n\t\treturn 1"},
         {"class A:\n    '''Doc.'''\n    pass\n", "class A:\n    '''Doc.'''\n\n    def g(self):\n        return 1\n"},
         {"class A:\n    'Doc.'\n\n    pass\n", "class A:\n    'Doc.'\n\n    def g(self):\n        return 1\n"},
         {"class A:\n    pass  # to do\n", "class A:\n    pass  # to do\n\n    def g(self):\n        return 1\n"},
         {"class A:\n    def g(self):\n        return 1\n", "no site"},
         {"class A:\n    def g(self):\n        return 2\n", "unfit: has another member g, at line 2"}});
  check("in: A\nadd_member: |\n  @v.setter\n  def v(self, x):\n      self._v = x\n",
        {{"class A:\n    @property\n    def v(self):\n        return self._v\n",
          "class A:\n    @property\n    def v(self):\n        return self._v\n\n    @v.setter\n    def v(self, x):\n   "
          "     self._v = x\n"}});
}

// --- decorators ----------------------------------------------------------------------------------------------------

TEST(Decorators, AreAdded) {
  check("in: f\nadd_decorator: '@cache'",
        {{"def f(x):\n    pass\n", "@cache\ndef f(x):\n    pass\n"},
         {"@a\n@b\nasync def f(x):\n    pass\n", "@cache\n@a\n@b\nasync def f(x):\n    pass\n"},
         {"@cache\ndef f(x):\n    pass\n", "no site"},
         {"@cache(1)\ndef f(x):\n    pass\n", "unfit: has `@cache(1)` already"}});
  check("in: A.f\nadd_decorator: {decorator: cache, at: last}",
        {{"class A:\n    @a\n    # why\n    def f(x):\n        pass\n",
          "class A:\n    @a\n    # why\n    @cache\n    def f(x):\n        pass\n"}});
  check("match: \"def $F($$$): $$$\"\nwhere: {F: {regex: ^test_}}\nadd_decorator: slow",
        {{"def test_a(): pass\ndef b(): pass\n", "@slow\ndef test_a(): pass\ndef b(): pass\n"}});
}

TEST(Decorators, AreRemovedLineAndAll) {
  check("in: f\nremove_decorator: torch.compile(dynamic=True)",
        {{"@first\n@torch.compile(dynamic=True)\n@last(1)\ndef f(x: T) -> None:\n    # of it\n    return x\n",
          "@first\n@last(1)\ndef f(x: T) -> None:\n    # of it\n    return x\n"},
         {"@torch.compile(\n    dynamic=True,\n)\ndef f(x):\n    return x\n", "def f(x):\n    return x\n"},
         {"@other\ndef f(x):\n    return x\n", "no site"},
         {"@torch.compile\ndef f(x):\n    return x\n", "unfit: has `@torch.compile`, which is another"},
         {"@torch.compile(dynamic=True) if fast else g\ndef f(x):\n    return x\n",
          "unfit: has `@torch.compile(dynamic=True) if fast else g`, which is another"},
         {"@partial(torch.compile, dynamic=True)\ndef f(x):\n    return x\n",
          "unfit: has `@partial(torch.compile, dynamic=True)`, which is another"},
         {"@torch.compile.off\n@off(torch=compile)\ndef f(x):\n    return x\n", "no site"},
         {"@torch.compile(dynamic=True)  # fast\ndef f(x):\n    return x\n",
          "refused: a comment stands in code that is deleted"}});
  check("in: f\nremove_decorator: '@cache($$$)'\ncomments: drop",
        {{"@cache(1)  # fast\ndef f(x):\n    return x\n", "def f(x):\n    return x\n"}});
  check("in: f\nremove_decorator: '@cache($$$)'\ncomments: keep",
        {{"@cache(1)  # fast\ndef f(x):\n    return x\n", "# fast\ndef f(x):\n    return x\n"}});
  check("in: A.*\nremove_decorator: slow", {{"class A:\n    @slow\n    def f(self): pass\n\n    def g(self): pass\n",
                                             "class A:\n    def f(self): pass\n\n    def g(self): pass\n"}});
}

// --- remove_import -------------------------------------------------------------------------------------------------

TEST(RemoveImport, OneNameOrTheStatement) {
  check("remove_import: from a import b",
        {{"from a import b\nx = 1\n", "x = 1\n"},
         {"from a import b, c\n", "from a import c\n"},
         {"from a import c, b\n", "from a import c\n"},
         {"from a import (\n    b,\n    c,\n)\n", "from a import (\n    c,\n)\n"},
         {"from a import (\n    c,\n    b\n)\n", "from a import (\n    c,\n)\n"},
         {"try:\n    from a import b\nexcept ImportError:\n    b = None\n",
          "try:\n    pass\nexcept ImportError:\n    b = None\n"},
         {"from a import c\n", "no site"},
         {"def f():\n    from a import b\n", "no site"},
         {"from a import b as d\n", "unfit: imports it under another name, at line 1"},
         {"from a import *\n", "unfit: imports all of a, at line 1"},
         {"from .a import b\n", "unfit: imports it by the relative name .a, at line 1"}});
  check("remove_import: from a import b, c",
        {{"from a import b, c\nx = 1\n", "x = 1\n"},
         {"from a import b, c, d\n", "from a import d\n"},
         {"from a import b, d, c\n", "from a import d\n"},
         {"from a import c, d, e, b\n", "from a import d, e\n"},
         {"from a import (\n    b,\n    d,\n    c,\n)\n", "from a import (\n    d,\n)\n"},
         {"from a import b, d\nfrom a import c\n", "from a import d\n"},
         {"from a import c, d\n", "from a import d\n"},
         {"from a import b, c as d\n", "unfit: imports it under another name, at line 1"},
         {"from a import d\n", "no site"}});
  check("remove_import: import os", {{"import os, sys\n", "import sys\n"}, {"import os.path\n", "no site"}});
  check("in: f\nremove_import: import os",
        {{"import os\ndef f():\n    import os\n", "import os\ndef f():\n    pass\n"}});
}

// --- delete --------------------------------------------------------------------------------------------------------

TEST(Delete, StatementsLeavePassWhereNothingStays) {
  check("in: f\nmatch: check($$$)\ndelete: true\napplied: {match: 'def f($$$): $$$B', not_has: check($$$)}",
        {{"def f():\n    check(1)\n    g()\n", "def f():\n    g()\n"},
         {"def f():\n    check(1)\n", "def f():\n    pass\n"},
         {"def f():\n    check(1)\n    check(2)\n", "def f():\n    pass\n"},
         {"def f(): check(1)\n", "def f(): pass\n"},
         {"def f(): check(1); g()\n", "def f(): g()\n"},
         {"def f():\n    if a:\n        check(1)\n    g()\n", "def f():\n    if a:\n        pass\n    g()\n"},
         {"def f():\n    check(1)  # why\n    g()\n", "refused: a comment stands in code that is deleted"}});
}

TEST(Delete, ClausesAndElements) {
  check(
      "match: \"except OSError: $$$\"\ndelete: true\napplied: {match: f()}",
      {{"try:\n    f()\nexcept OSError:\n    g()\nexcept E:\n    h()\n", "try:\n    f()\nexcept E:\n    h()\n"},
       {"try:\n    f()\nexcept OSError:\n    g()\n", "refused: the statement is nothing without this clause"},
       {"try:\n    f()\n\nexcept OSError:\n    g()\n\nexcept E:\n    h()\n", "try:\n    f()\n\nexcept E:\n    h()\n"}});
  check("match: \"case 1: $$$\"\ndelete: true\napplied: {match: f()}",
        {{"match v:\n    case 1:\n        g()\n\n    case 2: f()\n", "match v:\n    case 2: f()\n"},
         {"match f():\n    case 1: g()\n", "refused: the statement is nothing without this clause"}});
  check("match: f($$$A, k=$V, $$$B)\ndelete: V\napplied: {match: f($$$C), where: {C: {not_regex: k=}}}",
        {{"f(k=1)\n", "f()\n"},
         {"f(a, k=g(1), **b)\n", "f(a, **b)\n"},
         {"f(\n    a,\n    k=1,\n)\n", "f(\n    a,\n)\n"}});
  check("match: f($$$A, bad, $$$B)\ndelete: true\napplied: {match: g()}",
        {{"x = [f(bad), 1]\ng()\n", "x = [1]\ng()\n"}});
  check("match: bad\ndelete: true\napplied: {match: g()}",
        {{"f(a, bad, c)\ng()\n", "f(a, c)\ng()\n"},
         {"f(bad)\ng()\n", "f()\ng()\n"},
         {"f(a, bad)\ng()\n", "f(a)\ng()\n"},
         {"x = (a, bad)\ng()\n", "x = (a,)\ng()\n"},
         {"x = (bad, a)\ng()\n", "x = (a,)\ng()\n"},
         {"x = [\n    a,\n    bad,\n    c,\n]\ng()\n", "x = [\n    a,\n    c,\n]\ng()\n"},
         {"def f(a, bad): g()\n", "def f(a): g()\n"},
         {"x = Union[a, bad, c]\ng()\n", "x = Union[a, c]\ng()\n"},
         {"x: Union[a, bad]\ng()\n", "x: Union[a]\ng()\n"},
         {"x = Union[\n    a,\n    bad,\n]\ng()\n", "x = Union[\n    a,\n]\ng()\n"},
         {"x = d[bad]\ng()\n", "refused: nothing would be left between the brackets"},
         {"x = a + bad\ng()\n",
          "refused: only statements, clauses and elements of a list can be deleted; this is part of an expression"}});
  check("match: f($A, $$$R)\ndelete: R\napplied: f($A)",
        {{"f(a, b, c)\n", "f(a)\n"}, {"f(\n    a,\n    b,\n    c,\n)\n", "f(\n    a,\n)\n"}});
}

// --- wrap ----------------------------------------------------------------------------------------------------------

TEST(Wrap, ExpressionsAndStatements) {
  check("match: g($X)\nwrap: float($MATCH)",
        {{"y = g(1) + 2\n", "y = float(g(1)) + 2\n"}, {"y = float(g(1))\n", "no site"}});
  check("match: a + b\nwrap: $MATCH * 2", {{"y = a + b\n", "y = (a + b) * 2\n"}});
  check("match: go($X)\nwrap: |\n  if $X:\n      $MATCH\n",
        {{"go(a)\n", "if a:\n    go(a)\n"},
         {"def f():\n  x()\n  go(\n    a  # why\n  )\n", "def f():\n  x()\n  if a:\n    go(\n      a  # why\n    )\n"},
         {"if a:\n    go(a)\n", "no site"}});
  check("match: |\n  x = f()\n  g(x)\nwrap: |\n  with lock:\n      $MATCH\n",
        {{"x = f()\n# then\ng(x)\n", "with lock:\n    x = f()\n    # then\n    g(x)\n"}});
  check("match: import a\nwrap: |\n  try:\n      $MATCH\n  except ImportError:\n      a = None\n",
        {{"import a  # noqa\n", "try:\n    import a  # noqa\nexcept ImportError:\n    a = None\n"},
         {"if x: import a  # noqa\n",
          "if x:\n    try:\n        import a  # noqa\n    except ImportError:\n        a = None\n"},
         {"import a; b()  # of b\n", "try:\n    import a\nexcept ImportError:\n    a = None\nb()  # of b\n"}});
}

// --- what the rule must say ----------------------------------------------------------------------------------------

TEST(StructuralRules, SayWhatIsWrong) {
  const auto says = [](const std::string& keys, const std::string& text) {
    EXPECT_NE(rule_problem(keys).find(text), std::string::npos) << keys << "\nsays: " << rule_problem(keys);
  };
  says("match: f()\ndelete: true", "has 'delete' but no 'applied'");
  says("match: f($X)\ndelete: Y\napplied: g()", "the edit names $Y, which no pattern of this rule binds");
  says("match: f()\ndelete: $X\napplied: g()", "write X, without the $");
  says("match: f()\nreplace: pass", "nothing but `pass` leaves nothing to recognise it by");
  says("match: f()\nwrap: g()", "holds $MATCH once");
  says("match: f()\nadd_argument: a, b", "adds one argument or element");
  says("match: f()\nadd_argument: k=$V", "which no pattern of this rule binds");
  says("match: f()\nadd_element: k=1", "use add_argument for a call");
  says("match: f()\nadd_element: {element: a, or: b}", "takes one of element, or, and");
  says("match: f()\nset_key: a", "'set_key' takes a map");
  says("match: f()\nset_key: {key: a}", "value");
  says("match: 'if a: $$$'\nadd_branch: b()", "takes one clause with its body");
  says("in: A\nadd_member: print(1)", "takes one member of a class");
  says("in: f\nadd_decorator: if x", "the pattern is not valid Python");
  says("match: f()\nremove_import: from a import b", "leave 'match' out");
  says("remove_import: from a import (b, c)", "not one import of names");
  says("add_member: x = 1", "name the definition with 'in'");
  says("match: |\n  match $X:\n      $$$\nadd_branch: 'case 1: f()'", "write `case $_:` with `$$$` below it");
  says("match: |\n  @d\n  def $F($$$): $$$B\nremove_decorator: d\napplied: 'def $F($$$): $$$B'",
       "takes its own pattern for its result");
  says("match: k=1\ninside: f($$$)\nreplace: k=2",
       "`k=1` is an assignment; for an argument match the call: f($$$, k=1, $$$)");
  says("match: x = $V\ninside: f($$$)\nreplace: x = 2", "no statement stands inside of an expression");
  EXPECT_EQ(rule_problem("match: x = $V\ninside: 'if f($$$): $$$'\nreplace: x = w($V)"), "");
  says("match: f()\nadd_element: {element: a, at: middle}", "'at' must be first or last");
}

}  // namespace
}  // namespace suture
