// Indentation: the block's own unit, the file's newline, strings left alone.
#include "engine/layout.h"

#include <gtest/gtest.h>

#include <string>

#include "engine/revert.h"
#include "support/engine_fixture.h"

namespace suture {
namespace {

NodeId suite_of_first(const Code& code, const std::string& statement) {
  const NodeId node = code.node(statement);
  return is_suite(code.tree, node) ? node : suite_of(code.tree, node);
}
std::string shown(std::string text) {
  for (std::size_t at = 0; (at = text.find('\t', at)) != std::string::npos;) text.replace(at, 1, "\\t");
  return "'" + text + "'";
}

TEST(Layout, IndentationIsTheBlocksOwn) {
  struct Case {
    const char* code;
    const char* statement;
    const char* indentation;
    const char* unit;
  };
  for (const Case& c : {Case{"a()\n", "a()", "''", "'    '"}, Case{"if x:\n  a()\n", "a()", "'  '", "'  '"},
                        Case{"if x:\n\ta()\n", "a()", "'\\t'", "'\\t'"}, Case{"if x: a()\n", "a()", "'    '", "'    '"},
                        Case{"if y:\n  b()\nif x: a()\n", "a()", "'  '", "'  '"},
                        Case{"def f():\n   if x:\n     a()\n", "a()", "'     '", "'  '"},
                        Case{"def f():\n\tif x: a()\n", "a()", "'\\t\\t'", "'\\t'"},
                        Case{"try:\n  pass\nexcept E:\n      a()\n", "a()", "'      '", "'      '"}}) {
    const Code code(c.code);
    const NodeId suite = suite_of_first(code, c.statement);
    EXPECT_EQ(shown(suite_indentation(code.view(), suite)), c.indentation) << c.code;
    EXPECT_EQ(shown(indentation_unit(code.view(), suite)), c.unit) << c.code;
  }
}

TEST(Layout, ABlockIsRenderedInLevels) {
  const Code code("x\n");
  const Pattern block = pattern_of("if a:\n  b()\n\n  if c:\n    d = '''\n in\n'''\n  e(1,\n    2)");
  EXPECT_EQ(render_block(block, code.view(), {}, "\t", "\t", "\r\n"),
            "\tif a:\r\n\t\tb()\r\n\r\n\t\tif c:\r\n\t\t\td = '''\r\n in\r\n'''\r\n\t\te(1,\r\n\t\t\t2)\r\n");
}

TEST(Layout, StatementsMoveWithoutTheirStrings) {
  const Code code("if x:\n    a(1,\n      2)\n\n    b = '''\n    in\n'''\n");
  const NodeId block = suite_of_first(code, "a(1,\n      2)");
  EXPECT_EQ(statements_text(code.view(), statements_of(code.tree, block), "\t"),
            "a(1,\n\t  2)\n\n\tb = '''\n    in\n'''");
}

TEST(Layout, DocstringsAreOfDefinitionsAndModules) {
  const auto docstring = [](const std::string& text, const std::string& statement) {
    const Code code(text);
    const NodeId node = docstring_of(code.tree, suite_of_first(code, statement));
    return node == kNone ? std::string("none") : std::string(code.source->text(code.tree.range(node)));
  };
  EXPECT_EQ(docstring("'m'\nx = 1\n", "x = 1"), "'m'");
  EXPECT_EQ(docstring("def f():\n  # c\n  'd' \"e\"\n  x = 1\n", "x = 1"), "'d' \"e\"");
  EXPECT_EQ(docstring("class C:\n  'd'\n  x = 1\n", "x = 1"), "'d'");
  EXPECT_EQ(docstring("if y:\n  'd'\n  x = 1\n", "x = 1"), "none");
  EXPECT_EQ(docstring("def f():\n  x = 1\n  'd'\n", "x = 1"), "none");
  EXPECT_EQ(docstring("def f():\n  'd' + y\n  x = 1\n", "x = 1"), "none");
}

}  // namespace
}  // namespace suture
