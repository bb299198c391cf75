#include "base/source.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace suture {
namespace {

std::vector<std::string> lines_of(const std::string& bytes) {
  const Source source("x.py", bytes);
  std::vector<std::string> lines;
  for (std::uint32_t i = 0; i < source.line_count(); ++i) {
    lines.emplace_back(source.text({source.line_begin(i), source.line_end(i)}));
  }
  return lines;
}

using Lines = std::vector<std::string>;

TEST(Source, LinesEndAsPythonReadsThem) {
  EXPECT_EQ(lines_of("a\nb\n"), (Lines{"a", "b"}));
  EXPECT_EQ(lines_of("a\nb"), (Lines{"a", "b"}));
  EXPECT_EQ(lines_of("a\r\nb\rc\n\nd"), (Lines{"a", "b", "c", "", "d"}));
  EXPECT_EQ(lines_of("a\r\r\nb"), (Lines{"a", "", "b"}));
  EXPECT_EQ(lines_of("\n"), (Lines{""}));
  EXPECT_EQ(lines_of(""), (Lines{""}));
  EXPECT_EQ(lines_of("a\fb\vc"), (Lines{"a\fb\vc"}));
}

TEST(Source, NewlineIsTheOneThatMostLinesEndWith) {
  EXPECT_EQ(Source("x", "a\r\nb\r\nc\n").newline(), "\r\n");
  EXPECT_EQ(Source("x", "a\nb\nc\r\n").newline(), "\n");
  EXPECT_EQ(Source("x", "a\rb\rc\n").newline(), "\r");
  EXPECT_EQ(Source("x", "a").newline(), "\n");
  EXPECT_EQ(Source("x", "a\r\nb\n").newline(), "\n");
}

TEST(Source, LineOfAnOffset) {
  const Source source("x", "ab\ncd\n");
  EXPECT_EQ(source.line_of(0), 0u);
  EXPECT_EQ(source.line_of(2), 0u);
  EXPECT_EQ(source.line_of(3), 1u);
  EXPECT_EQ(source.line_of(6), 1u) << "the end of the file belongs to the last line";
}

TEST(Source, LocateCountsCharactersAndCutsAtTheLineEnd) {
  const Source source("x.py", "é = f(日本,\n  2)\n");
  const Location where = source.locate({6, 18});
  EXPECT_EQ(where.file, "x.py");
  EXPECT_EQ(where.line, 1u);
  EXPECT_EQ(where.column, 6u);
  EXPECT_EQ(where.text, "é = f(日本,");
  EXPECT_EQ(where.width, 4u);
}

TEST(Source, LocateOfALatin1LineCountsBytes) {
  const Location where = Source("x", "a = '\xE9\xE8' + b\n").locate({11, 12});
  EXPECT_EQ(where.column, 12u);
  EXPECT_EQ(where.width, 1u);
}

TEST(Source, LocateAtTheEndOfTheFile) {
  const Location where = Source("x", "ab\n").locate({3, 3});
  EXPECT_EQ(where.line, 1u);
  EXPECT_EQ(where.column, 3u);
  EXPECT_EQ(where.width, 1u);
  EXPECT_EQ(Source("x", "").locate({0, 0}).column, 1u);
}

TEST(Source, AByteOrderMarkIsNoColumn) {
  const Source source("x", "\xEF\xBB\xBF  ab\n");
  EXPECT_EQ(source.bom(), 3u);
  EXPECT_EQ(source.locate({5, 7}).column, 3u);
  EXPECT_EQ(source.locate({0, 1}).column, 1u);
  EXPECT_EQ(source.locate({5, 7}).text, "  ab");
  EXPECT_EQ(source.indentation_at(6), "  ");
}

TEST(Source, IndentationIsKeptAsBytes) {
  const Source source("x", "a\n \t b\n\t\fc");
  EXPECT_EQ(source.indentation_at(0), "");
  EXPECT_EQ(source.indentation_at(5), " \t ");
  EXPECT_EQ(source.indentation_at(9), "\t\f");
}

}  // namespace
}  // namespace suture
