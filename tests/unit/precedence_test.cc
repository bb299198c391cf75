// Parentheses where they are needed and nowhere else, judged by Python's own parser: make_precedence_table.py.
#include "engine/precedence.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "support/engine_fixture.h"

namespace suture {
namespace {

struct Row {
  std::string_view place, expression;
  bool needed;
};
constexpr Row kTable[] = {
#include "unit/precedence_table.inc"
};

std::string filled(std::string_view place, const std::string& with) {
  std::string code(place);
  return code.replace(code.find("HOLE"), 4, with);
}
// Not needed, and easier to read: `with (a if b else c) as d:`.
bool for_the_reader(const Row& row) {
  const bool loose = row.expression.find(" if ") != std::string::npos || row.expression.rfind("lambda", 0) == 0;
  return loose && row.place.rfind("with ", 0) == 0;
}
std::string wanted(const Row& row) {
  const std::string expression(row.expression);
  return filled(row.place, row.needed || for_the_reader(row) ? "(" + expression + ")" : expression) + "\n";
}

TEST(Precedence, AReplacementIsParenthesisedWhereItsPlaceNeedsIt) {
  for (const Row& row : kTable) {
    EXPECT_EQ(rewritten("hole()", std::string(row.expression), filled(row.place, "hole()") + "\n"), wanted(row))
        << row.place;
  }
}

// What an argument cannot be without parentheses of its own is captured with them.
bool is_argument(const std::string& expression) {
  return expression.rfind("yield", 0) != 0 && expression[0] != '(';
}

TEST(Precedence, ACaptureIsParenthesisedWhereItsNewPlaceNeedsIt) {
  for (const Row& row : kTable) {
    if (!is_argument(std::string(row.expression))) continue;
    const std::string code = "hole(" + std::string(row.expression) + ")\n";
    if (row.place == "HOLE" || row.place == "(HOLE)") continue;  // nothing to recognise it by
    EXPECT_EQ(rewritten("hole($X)", filled(row.place, "$X"), code), wanted(row))
        << row.place << "   " << row.expression;
  }
}

}  // namespace
}  // namespace suture
