// What the grammar reads otherwise than Python, and the arena sets right or marks. tests/oracle/grammar_oracle.py holds it against `ast`.
#include "read/python_reading.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/engine_fixture.h"

namespace suture {
namespace {

// The tree with brackets around each node that has others in it: "((a & b) ^ c)" for an expression; names are the code's.
std::string grouped(const Tree& tree, const Source& source, NodeId node) {
  if (tree.is_leaf(node)) return std::string(source.text(tree.range(node)));
  std::string out;
  for (const NodeId child : tree.children(node)) {
    if (!out.empty()) out += " ";
    out += grouped(tree, source, child);
  }
  return tree.children(node).size() == 1 ? out : "<" + out + ">";
}
std::string grouped(const std::string& code) {
  const Code parsed(code + "\n");
  EXPECT_FALSE(parsed.tree.broken()) << code;
  return grouped(parsed.tree, *parsed.source, parsed.tree.root());
}
// The words for the first marked node, and its code: "a slice in an annotation: [b:c:d]".
std::string marked(const std::string& code) {
  const Code parsed(code + "\n");
  EXPECT_FALSE(parsed.tree.broken()) << code;
  for (NodeId id = 0; id < parsed.tree.size(); ++id) {
    EXPECT_EQ(parsed.tree[id].misread, !misreading(parsed.tree, id).empty());
    if (parsed.tree[id].misread) return std::string(misreading(parsed.tree, id)) + ": " + parsed.text(id);
  }
  return "";
}
// Parents hold their children, in source order, and each part knows its parent.
void expect_sound(const std::string& code) {
  const Code parsed(code + "\n");
  const Tree& tree = parsed.tree;
  std::uint32_t end_of_leaf = 0;
  for (NodeId id = 1; id < tree.size(); ++id) {
    const NodeId parent = tree[id].parent;
    ASSERT_LT(parent, id) << code;
    ASSERT_TRUE(tree.contains(parent, id)) << code;
    ASSERT_LE(tree[id].subtree_end, tree[parent].subtree_end) << code;
    ASSERT_LE(tree[parent].begin, tree[id].begin) << code;
    ASSERT_GE(tree[parent].end, tree[id].end) << code;
    if (!tree.is_leaf(id)) continue;
    ASSERT_LE(end_of_leaf, tree[id].begin) << code;
    end_of_leaf = tree[id].end;
  }
}

struct Reading {
  const char* code;
  const char* read;  // as Python groups it
};

const std::vector<Reading>& readings() {
  static const std::vector<Reading> all = {
      // unpacking
      {"[*f(x)]", "<[ <* <f <( x )>>> ]>"},
      {"f(*a.b)", "<f <( <* <a . b>> )>>"},
      {"f(*a[b], c)", "<f <( <* <a [ b ]>> , c )>>"},
      {"[*a.b(c).d[e]]", "<[ <* <<<<a . b> <( c )>> . d> [ e ]>> ]>"},
      {"f(s, *a.b())", "<f <( s , <* <<a . b> <( )>>> )>>"},
      {"[*a + b.c]", "<[ <* <a + <b . c>>> ]>"},
      {"f(s, *a or b, c)", "<f <( s , <* <a or b>> , c )>>"},
      {"f(s, *a.b if c else d)", "<f <( s , <* <<a . b> if c else d>> )>>"},
      {"f(s, *a < b)", "<f <( s , <* <a < b>> )>>"},
      {"a[*b.c]", "<a [ <* <b . c>> ]>"},
      {"[*await a(b)]", "<[ <* <await <a <( b )>>>> ]>"},
      {"x = *a(b), c", "<x = <<* <a <( b )>>> , c>>"},
      {"[*a.b, *c(d)]", "<[ <* <a . b>> , <* <c <( d )>>> ]>"},
      {"[*a]", "<[ <* a> ]>"},
      // & and ^
      {"a & b ^ c", "<<a & b> ^ c>"},
      {"a ^ b & c", "<a ^ <b & c>>"},
      {"a & b ^ c & d", "<<a & b> ^ <c & d>>"},
      {"a ^ b & c ^ d & e & f", "<<a ^ <b & c>> ^ <<d & e> & f>>"},
      {"a & (b ^ c)", "<a & <( <b ^ c> )>>"},
      {"a | b & c ^ d | e", "<<a | <<b & c> ^ d>> | e>"},
      {"a & -b ^ c << d", "<<a & <- b>> ^ <c << d>>"},
      // await
      {"await a ** b", "<<await a> ** b>"},
      {"-await a ** b ** c", "<- <<await a> ** <b ** c>>>"},
      {"await a.b ** c", "<<await <a . b>> ** c>"},
      {"[*await a ** b]", "<[ <* <<await a> ** b>> ]>"},
      // :=
      {"(a := b if c else d)", "<( <a := <b if c else d>> )>"},
      {"(a := b if c else d if e else f)", "<( <a := <b if c else <d if e else f>>> )>"},
      // as
      {"with a if b else c as d: pass", "<with <<a if b else c> as d> : pass>"},
      {"with x, lambda: a as b: pass", "<with <x , <<lambda : a> as b>> : pass>"},
      {"with a if b else lambda: c as d: pass", "<with <<a if b else <lambda : c>> as d> : pass>"},
      {"try: pass\nexcept a if b else c as d: pass", "<try : pass <except <<a if b else c> as d> : pass>>"},
      // unions
      {"x: a[b] | c | d", "<x : <<<a [ b ]> | c> | d>>"},
      {"x: a[b] | c | d | e", "<x : <<<<a [ b ]> | c> | d> | e>>"},
      // type(...)
      {"type(self).x = 1", "<<<type <( self )>> . x> = 1>"},
      {"type(a, b).c.d = e", "<<<<type <( a , b )>> . c> . d> = e>"},
      {"type(a)[b] = c", "<<<type <( a )>> [ b ]> = c>"},
      {"type(a)(b).c = d.e", "<<<<type <( a )>> <( b )>> . c> = <d . e>>"},
      {"type[a] = b", "<<type [ a ]> = b>"},
      {"type[a, b].c = d", "<<<type [ a , b ]> . c> = d>"},
      {"type(self).x = a & b ^ c", "<<<type <( self )>> . x> = <<a & b> ^ c>>"},
      {"type X = a", "<type X = a>"},
      {"type X[T] = a", "<type <X <[ T ]>> = a>"},
  };
  return all;
}

TEST(PythonReading, IsAsPythonGroupsIt) {
  for (const Reading& each : readings()) {
    EXPECT_EQ(grouped(each.code), each.read) << each.code;
    EXPECT_EQ(marked(each.code), "") << each.code;
    expect_sound(each.code);
  }
}

// The parts have the names that the parts of unrepaired code have, so that both match the same patterns.
TEST(PythonReading, RepairedCodeMatchesWhatPlainCodeMatches) {
  EXPECT_EQ(matches("a.b()", "print(\"s\", *a.b())\n"), (std::vector<std::string>{"a.b()"}));
  EXPECT_EQ(matches("f($X)", "x = [*f(y)]\n"), (std::vector<std::string>{"f(y)"}));
  EXPECT_EQ(matches("[*$X]", "x = [*f(y).z]\n"), (std::vector<std::string>{"[*f(y).z]"}));
  EXPECT_EQ(matches("$A & $B", "x = a & b ^ c & d\n"), (std::vector<std::string>{"a & b", "c & d"}));
  EXPECT_EQ(matches("$A ^ $B", "x = a & b ^ c\n"), (std::vector<std::string>{"a & b ^ c"}));
  EXPECT_EQ(matches("b ^ c", "x = a & b ^ c\n"), (std::vector<std::string>{}));
  EXPECT_EQ(matches("$A & $B ^ $C", "x = (a & b) ^ c\n"), (std::vector<std::string>{"(a & b) ^ c"}));
  EXPECT_EQ(matches("await $X", "x = await a ** b\n"), (std::vector<std::string>{"await a"}));
  EXPECT_EQ(matches("$X if $Y else $Z", "(a := b if c else d)\n"), (std::vector<std::string>{"b if c else d"}));
  EXPECT_EQ(matches("type($A)", "type(self).x = 1\n"), (std::vector<std::string>{"type(self)"}));
  EXPECT_EQ(matches("$A.x = $B", "type(self).x = 1\n"), (std::vector<std::string>{"type(self).x = 1"}));
  EXPECT_EQ(matches("type($A).x = $B", "if y:\n    type(self).x = z\n"),
            (std::vector<std::string>{"type(self).x = z"}));
  EXPECT_EQ(matches("type[$A]", "type[b] = c\n"), (std::vector<std::string>{"type[b]"}));
  EXPECT_EQ(matches("type[$A] = $B", "type[b] = c\n"), (std::vector<std::string>{"type[b] = c"}));
}

TEST(PythonReading, CommentsStayWhereTheyAre) {
  EXPECT_EQ(rewritten("f($X)", "g($X)", "x = [\n    *f(y),  # all of them\n    # more\n    *h.k(z),\n]\n"),
            "x = [\n    *g(y),  # all of them\n    # more\n    *h.k(z),\n]\n");
  EXPECT_EQ(rewritten("$A & $B", "both($A, $B)", "x = (\n    a  # one\n    ^ b & c  # two\n)\n"),
            "x = (\n    a  # one\n    ^ both(b, c)  # two\n)\n");
  expect_sound("x = (a # one\n & # two\n b ^ # three\n c)");
}

TEST(PythonReading, WhatIsNotSetRightIsMarked) {
  const std::vector<Reading> all = {
      {"def f(x: a[b:c:d]): pass", "a slice in an annotation: [b:c:d]"},
      {"x: a[b, c:d:f] = e", "a slice in an annotation: [b, c:d:f]"},
      {"def f(*x: *a.b): pass", "unpacking in an annotation: *a.b"},
      {"x: a[b] | c == d", "an operator beside | in an annotation: a[b] | c == d"},
      {"print >> a", "a statement of Python 2: print >> a"},
      {"print 's'", "a statement of Python 2: print 's'"},
      {"with (a := b, c): pass", "a parenthesised expression as the context of a with statement: (a := b, c)"},
      {"with (*a, b): pass", "a parenthesised expression as the context of a with statement: (*a, b)"},
      {"with (a,): pass", "a parenthesised expression as the context of a with statement: (a,)"},
      {"x = f'{a:=10}'", "a format specification that begins with =: {a:=10}"},
      {"match x:\n    case A(k=a as b): pass", "`as` behind the value of a keyword in a class pattern: k=a as b"},
      {"match [x, y]:\n    case [1, 2]: a = 1", "a match statement: match [x, y]:\n    case [1, 2]: a = 1"},
      {"match [x]:\n    case (a): f(b)", "a match statement: match [x]:\n    case (a): f(b)"},
      {"type(self).x = a[b]", "an assignment to an attribute or item of type(...): type(self).x = a[b]"},
  };
  for (const Reading& each : all) EXPECT_EQ(marked(each.code), each.read) << each.code;
}

TEST(PythonReading, WhatPythonReadsTheSameWayIsNotMarked) {
  for (const char* code : {"with (a, b): pass",
                           "with (a as b, c): pass",
                           "with (a): pass",
                           "with (a, b) as c: pass",
                           "with (a := b): pass",
                           "x = f'{(a:=10)}'",
                           "x = f'{a:>{b}}'",
                           "def f[T: int](): pass",
                           "class C[T: (a, b)]: pass",
                           "x: a[b] | c",
                           "x: a[b] | (c | d)",
                           "match x:\n    case A(k=a): pass",
                           "match x:\n    case A(k=(a as b)): pass",
                           "match x:\n    case A(a as b): pass",
                           "type = 1",
                           "print(a)",
                           "print(a) + b",
                           "x: a[b, c]",
                           "x[a:b] = c",
                           "match [x]:\n    case [a]: pass"}) {
    EXPECT_EQ(marked(code), "") << code;
  }
}

// A repair costs what it moves: a long list of them, a long chain.
TEST(PythonReading, ManyRepairsTakeNoLonger) {
  std::string list = "x = [";
  std::string chain = "x = a";
  for (int i = 0; i < 50'000; ++i) list += "*a.b(),";
  for (int i = 0; i < 1000; ++i) chain += i % 2 == 0 ? " & b" : " ^ b";
  expect_sound(list + "]");
  expect_sound(chain);
  EXPECT_EQ(grouped("x = [*a.b(), *c.d]"), "<x = <[ <* <<a . b> <( )>>> , <* <c . d>> ]>>");
}

}  // namespace
}  // namespace suture
