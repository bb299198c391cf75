// What counts as code, and where it stands.
#include "engine/code.h"

#include <gtest/gtest.h>

#include <string>

#include "support/engine_fixture.h"

namespace suture {
namespace {

// The expressions of two statements, compared.
bool equal(const std::string& a, const std::string& b) {
  const Code x(a + "\n");
  const Code y(b + "\n");
  const auto statement = [](const Code& code) { return statements_of(*code.view().tree, 0).at(0); };
  return equal_code(x.view(), statement(x), y.view(), statement(y));
}

TEST(Code, LayoutCommentsQuotesAndParenthesesDoNotCount) {
  EXPECT_TRUE(equal("f(a, 'b')", "f(\n    a,  # one\n    \"b\",\n)"));
  EXPECT_TRUE(equal("x = (a)", "x = a"));
  EXPECT_TRUE(equal("x = 1, 2", "x = (1, 2)"));
  EXPECT_FALSE(equal("f(a, b)", "f(b, a)"));
  EXPECT_FALSE(equal("x = 'a'", "x = b'a'"));
  EXPECT_FALSE(equal("x = (1,)", "x = 1"));
}

TEST(Code, AStatementIsAChildOfASuite) {
  const Code code("class C:\n    @d\n    def f(self):\n        if a: b(c)\n");
  const Tree& tree = *code.view().tree;
  for (NodeId id = 0; id < tree.size(); ++id) {
    if (!tree.is(id, kinds().call)) continue;
    const NodeId statement = statement_of(tree, id);
    EXPECT_EQ(code.view().source->text(tree.range(statement)), "b(c)");
    const NodeId outer = statement_of(tree, suite_of(tree, statement));
    EXPECT_EQ(code.view().source->text(tree.range(outer)), "if a: b(c)");
    const NodeId definition = statement_of(tree, suite_of(tree, outer));
    EXPECT_TRUE(tree.is(definition, kinds().decorated_definition));
  }
  EXPECT_EQ(statement_of(tree, tree.root()), tree.root());
  EXPECT_EQ(suite_of(tree, tree.root()), kNone);
}

}  // namespace
}  // namespace suture
