#include "base/text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace suture {
namespace {

using Words = std::vector<std::string>;
using Views = std::vector<std::string_view>;

TEST(Utf8, FindsTheFirstBadByte) {
  EXPECT_EQ(first_bad_utf8("plain"), std::nullopt);
  EXPECT_EQ(first_bad_utf8("é日𝄞\xEF\xBF\xBF\xF4\x8F\xBF\xBF"), std::nullopt);
  EXPECT_EQ(first_bad_utf8("ab\xE9 c"), 2u) << "Latin-1";
  EXPECT_EQ(first_bad_utf8("a\x80"), 1u) << "a continuation alone";
  EXPECT_EQ(first_bad_utf8("a\xC0\xAF"), 1u) << "overlong";
  EXPECT_EQ(first_bad_utf8("a\xE0\x9F\xBF"), 1u) << "overlong";
  EXPECT_EQ(first_bad_utf8("a\xF0\x8F\xBF\xBF"), 1u) << "overlong";
  EXPECT_EQ(first_bad_utf8("a\xED\xA0\x80"), 1u) << "a surrogate";
  EXPECT_EQ(first_bad_utf8("a\xF4\x90\x80\x80"), 1u) << "past U+10FFFF";
  EXPECT_EQ(first_bad_utf8("a\xF5\x80\x80\x80"), 1u);
  EXPECT_EQ(first_bad_utf8("é\xE6\x97"), 2u) << "cut off";
}

TEST(Utf8, CountsCharacters) {
  EXPECT_EQ(count_characters(""), 0u);
  EXPECT_EQ(count_characters("é日𝄞a"), 4u);
  EXPECT_EQ(count_characters("\xE9\xE8"), 2u);
}

TEST(Words, EditDistance) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("match", "match"), 0u);
  EXPECT_EQ(edit_distance("macth", "match"), 1u) << "a swap is one";
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(Words, NearestIsASlipAndNotAnyWord) {
  const Words keys = {"match", "replace", "insert_before", "insert_after", "in", "id"};
  EXPECT_EQ(nearest("mach", keys), "match");
  EXPECT_EQ(nearest("Match", keys), "match");
  EXPECT_EQ(nearest("insert-before", keys), "insert_before");
  EXPECT_EQ(nearest("instert_after", keys), "insert_after");
  EXPECT_EQ(nearest("whatever", keys), std::nullopt);
  EXPECT_EQ(nearest("x", keys), std::nullopt);
  EXPECT_EQ(nearest("", keys), std::nullopt);
  EXPECT_EQ(nearest(std::string(100000, 'a'), keys), std::nullopt);
}

TEST(Words, QuotedFitsOnALine) {
  EXPECT_EQ(in_quotes("a b"), "'a b'");
  EXPECT_EQ(in_quotes("a\n\tb\r\x01"), "'a\\n\\tb\\r\\x01'");
  EXPECT_EQ(in_quotes(std::string(61, 'x')), "'" + std::string(60, 'x') + "...'");
  EXPECT_EQ(in_quotes(std::string(60, 'x')), "'" + std::string(60, 'x') + "'");
}

TEST(Words, Join) {
  EXPECT_EQ(join({}, ", ", " and "), "");
  EXPECT_EQ(join({"a"}, ", ", " and "), "a");
  EXPECT_EQ(join({"a", "b", "c"}, ", ", " and "), "a, b and c");
  EXPECT_EQ(join({"a", "b", "c"}, "."), "a.b.c");
}

TEST(Lines, Split) {
  EXPECT_EQ(split_lines(""), Views{});
  EXPECT_EQ(split_lines("a\n\nb\r\nc\rd"), (Views{"a", "", "b", "c", "d"}));
  EXPECT_EQ(split_lines("a\n"), (Views{"a"}));
  EXPECT_EQ(split_lines("\n"), (Views{""}));
}

TEST(Lines, Trim) {
  EXPECT_EQ(trim(" \t\n a b \f\r\n"), "a b");
  EXPECT_EQ(trim("  "), "");
  EXPECT_EQ(trim_end("  a \n"), "  a");
}

TEST(Lines, Dedent) {
  EXPECT_EQ(dedent("  a\n    b\n\n  c\n"), "a\n  b\n\nc\n");
  EXPECT_EQ(dedent("  a\n   \n  b"), "a\n\nb") << "no newline at the end stays so";
  EXPECT_EQ(dedent("\ta\n\t\tb\r\n"), "a\n\tb\n");
  EXPECT_EQ(dedent("  a\n\tb\n"), "  a\n\tb\n") << "a tab is never taken for spaces";
  EXPECT_EQ(dedent(""), "");
  EXPECT_EQ(dedent("\n  a"), "\na");
}

}  // namespace
}  // namespace suture
