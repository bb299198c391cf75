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

}  // namespace
}  // namespace suture
