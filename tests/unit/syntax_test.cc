// The arena, what the engine relies on in the grammar, and hostile input: bounded, and an error or a broken tree in
// the end.
#include "read/syntax.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>
#include <string>
#include <vector>

#include "support/engine_fixture.h"

namespace suture {
namespace {

std::string times(std::size_t n, const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < n; ++i) out += text;
  return out;
}
std::string parsed(const std::string& bytes, const ParseLimits& limits = {}) {
  const Source source("m.py", bytes);
  const auto tree = parse_python(source, limits);
  if (!tree) return tree.error().message;
  return tree->broken() ? "broken" : "clean";
}
std::string kind_of(const std::string& code, const std::string& text) {
  const Code parsed_code(code);
  const NodeId node = parsed_code.node(text);
  return node == kNone ? "none" : std::string(kind_name(parsed_code.tree[node].kind));
}

TEST(Syntax, TheArenaIsInPreorderWithParentsAndSubtrees) {
  const Code code("def f(a):\n    # note\n    return g(a, 1)\n");
  const Tree& tree = code.tree;
  EXPECT_EQ(tree[0].parent, kNone);
  EXPECT_EQ(tree[0].subtree_end, tree.size());
  for (NodeId id = 1; id < tree.size(); ++id) {
    const NodeId parent = tree[id].parent;
    ASSERT_LT(parent, id);
    EXPECT_TRUE(tree.contains(parent, id));
    EXPECT_LE(tree[id].subtree_end, tree[parent].subtree_end);
    EXPECT_LE(tree[parent].begin, tree[id].begin);
    EXPECT_GE(tree[parent].end, tree[id].end);
  }
  const NodeId call = code.node("g(a, 1)");
  EXPECT_EQ(tree.named_children(tree.child(call, fields().arguments)).size(), 2U);
  EXPECT_EQ(code.text(tree.child(call, fields().function)), "g");
  EXPECT_FALSE(tree.broken());
}

TEST(Syntax, TheGrammarIsAsTheEngineTakesItToBe) {
  EXPECT_EQ(kind_of("f(x for x in y)\n", "(x for x in y)"), "generator_expression");
  EXPECT_EQ(kind_of("class C(A): pass\n", "(A)"), "argument_list");
  EXPECT_EQ(kind_of("return a, b\n", "a, b"), "expression_list");
  EXPECT_EQ(kind_of("x = (a, b)\n", "(a, b)"), "tuple");
  EXPECT_EQ(kind_of("x = (a)\n", "(a)"), "parenthesized_expression");
  EXPECT_EQ(kind_of("x = 'a' \"b\"\n", "'a' \"b\""), "concatenated_string");
  EXPECT_EQ(kind_of("@d\ndef f(): pass\n", "@d\ndef f(): pass"), "decorated_definition");
  EXPECT_EQ(kind_of("k = v\n", "k = v"), "expression_statement");
  EXPECT_EQ(parsed("print \"a\"\n"), "clean");  // a clean tree does not prove Python 3
  const Code suite("if x:  # why\n    a()\n");
  EXPECT_EQ(kind_name(suite.tree[suite.tree[suite.node("# why")].parent].kind), "if_statement");  // not of the block
}

TEST(Syntax, ASyntaxErrorIsSeen) {
  for (const char* code : {"def f(:\n", "f(1 2)\n", "x = = 1\n", "x = (\n", "'abc\n", "if x\n    y\n"}) {
    EXPECT_EQ(parsed(code), "broken") << code;
  }
  for (const std::string code : {"", "\n", "# only\n", "x", "\xEF\xBB\xBFx = 1\n", "x = 1\r\n", "x = 'é'\n"}) {
    EXPECT_EQ(parsed(code), "clean") << code;
  }
}

TEST(Syntax, LimitsEndInAnError) {
  EXPECT_EQ(parsed(std::string((16u << 20) + 1, '\n')), "the file is larger than 16 MiB");
  EXPECT_EQ(parsed(times(5000, "-") + "a\n"), "the code is nested more than 4096 levels deep");
  EXPECT_EQ(parsed(times(1000, "-") + "a\n"), "clean");
  ParseLimits tight;
  tight.base_callbacks = 1;
  tight.callbacks_per_byte = 0;
  EXPECT_EQ(parsed(times(500, "x = 1\n"), tight),
            "the parser gave up: the file takes far more work than its size allows");
  tight = {};
  tight.base_reads = 2;
  tight.reads_per_byte = 0;
  EXPECT_EQ(parsed(times(5000, "x = 1\n"), tight),
            "the parser gave up: the file takes far more work than its size allows");
}

// The limits are counts. What they allow to code as dense as Python admits, and what they stop, must stay far apart.
TEST(Syntax, DenseCodeStaysFarBelowTheLimits) {
  ParseLimits half;
  half.base_callbacks = 0;
  half.callbacks_per_byte /= 2;
  half.base_reads = 100;
  half.reads_per_byte /= 2;
  for (const char* piece : {"a,b=c,d\n", "a\n", "x=[[],[],[]]\n", "f()\n", "if a:\n b\n", "(a,b)=1\n",
                            "print \"a\", x\n", "x = = 1\n", "x = {1:2,3:4}\n"}) {
    EXPECT_NE(parsed(times(4000, piece), half), "the parser gave up: the file takes far more work than its size allows")
        << piece;
  }
  EXPECT_EQ(parsed("x = " + times(200, "\\\n") + "1\n", half), "clean");
}

TEST(Syntax, HostileInputIsBounded) {
  std::mt19937 random(7);
  std::string junk;
  std::string pythonish;
  const std::string letters = "()[]{}:,.=+-*\n \t'\"#@abifdefclasslambdainnotif";
  for (int i = 0; i < 200'000; ++i) {
    junk += static_cast<char>(random() & 255);
    pythonish += letters[random() % letters.size()];
  }
  std::string deep;
  for (std::size_t i = 0; i < 2000; ++i) deep += std::string(i, ' ') + "if x:\n";
  const std::vector<std::string> inputs = {
      times(70'000, "("),
      times(70'000, "["),
      times(70'000, "{"),
      times(100'000, "x,("),
      times(50'000, "f("),
      junk,
      pythonish,
      deep,
      times(200'000, "\\\n"),
      times(100'000, "a."),
      times(20'000, "f'{"),
      times(100'000, "'"),
      times(100'000, ";"),
      times(50'000, "lambda:"),
      times(50'000, "a if b else "),
      times(20'000, "match ("),
      times(20'000, "with ("),
      std::string(200'000, '\0'),
      times(50'000, "@"),
  };
  for (const std::string& input : inputs) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_NE(parsed(input), "clean") << input.substr(0, 20);
    // Seconds, not hours: generous, since the machine may be busy and the build a debug build with sanitizers.
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60)) << input.substr(0, 20);
  }
}

}  // namespace
}  // namespace suture
