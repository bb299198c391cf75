#include "engine/parsed_file.h"

#include <gtest/gtest.h>

#include <string>

namespace suture {
namespace {

// The grammar's scanner counts indentation in a byte and would read such a statement into another block.
TEST(ParsedFile, IndentationThatTheParserMisreadsIsRefused) {
  const auto indented = [](std::size_t columns) {
    return parse_file("a.py", "if a:\n" + std::string(columns, ' ') + "b()\n");
  };
  EXPECT_FALSE(indented(255)->problem);
  ASSERT_TRUE(indented(256)->problem);
  EXPECT_EQ(indented(256)->problem->message, "a line is indented by more than 255 columns, which the parser misreads");
  EXPECT_EQ(indented(256)->problem->where->line, 2u);
}

// To the grammar a CR alone is a blank: `x = y\r(a())` would be one statement, and `# b\rc()` all comment.
TEST(ParsedFile, ALineThatEndsInCrAloneIsRefused) {
  for (const char* code : {"x = 1\ra()\n", "x = 1\ra()\r", "x = y\r(a())\r", "a()  # b\rc()\n", "f(a,  # b\r  c)\n",
                           "x = a + \\\r  b\n", "def f():\r    a()\n", "\n\nx = 1\r# c\n"}) {
    const auto file = parse_file("a.py", code);
    ASSERT_TRUE(file->problem) << code;
    EXPECT_EQ(file->problem->message, "a line ends in CR alone, which the parser does not take for a line end");
  }
  EXPECT_EQ(parse_file("a.py", "a()\nb()\rc()\n")->problem->where->line, 2u);
}

TEST(ParsedFile, ACrAloneThatEndsNoLineOfCodeIsTaken) {
  for (const char* code : {"x = '''a\rb'''\na()\n", "f(a,\r  b)\n", "a()\r\r\nb()\r\r\n", "\ra()\n", "a()\r",
                           "a()  # b\r", "a()\r\n\rb()\r\n", "x = f'''{a}\rb'''\n"}) {
    EXPECT_FALSE(parse_file("a.py", code)->problem) << code;
  }
}

}  // namespace
}  // namespace suture
