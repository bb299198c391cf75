// Scalars of JSON: times to the nanosecond, whole numbers, escapes.
#include "read/json_text.h"

#include <gtest/gtest.h>

namespace suture {
namespace {

TEST(JsonText, TimesAreExactToTheNanosecond) {
  EXPECT_EQ(nanoseconds_of("5094929536985.607"), 5094929536985607);
  EXPECT_EQ(nanoseconds_of("1790857026000000.5"), 1790857026000000500);  // an epoch: no double has room for it
  EXPECT_EQ(nanoseconds_of("0"), 0);
  EXPECT_EQ(nanoseconds_of("-12.5"), -12500);
  EXPECT_EQ(nanoseconds_of("0.0004"), 0);
  EXPECT_EQ(nanoseconds_of("0.0005"), 1);
  EXPECT_EQ(nanoseconds_of("1.23456"), 1235);
  EXPECT_EQ(nanoseconds_of("1e3"), 1000000);
  EXPECT_EQ(nanoseconds_of("2.5E-1"), 250);
}

TEST(JsonText, WhatIsNoNumberHasNoTime) {
  for (const char* text : {"", "-", "NaN", "Infinity", "-Infinity", "1.", ".5", "+1", "01", "1e", "1e+", "0x10", "1 2",
                           "true", "null", "99999999999999999", "1e300", "4000000000000000"}) {
    EXPECT_FALSE(nanoseconds_of(text)) << text;
  }
}

TEST(JsonText, IdsAreExactBeyond53Bits) {
  EXPECT_EQ(whole_number("9007199254740993"), 9007199254740993U);
  EXPECT_EQ(whole_number("18446744073709551615"), 18446744073709551615U);
  EXPECT_EQ(whole_number("0"), 0U);
  EXPECT_EQ(whole_number("1.0"), 1U);
  EXPECT_EQ(whole_number("1e3"), 1000U);
  for (const char* text : {"", "-1", "1.5", "007", "18446744073709551616", "NaN", "1x", "\"1\""})
    EXPECT_FALSE(whole_number(text)) << text;
}

TEST(JsonText, Escapes) {
  EXPECT_EQ(unescaped(R"(a\"b\\c\/d\b\f\n\r\t)"), "a\"b\\c/d\b\f\n\r\t");
  EXPECT_EQ(unescaped(R"(\u0041\u00e9\u20AC)"), "A\xC3\xA9\xE2\x82\xAC");
  EXPECT_EQ(unescaped(R"(\ud83d\ude00)"), "\xF0\x9F\x98\x80");
  const std::string replacement = "\xEF\xBF\xBD";
  EXPECT_EQ(unescaped(R"(\ud83d!)"), replacement + "!");
  EXPECT_EQ(unescaped(R"(\ude00)"), replacement);
  EXPECT_EQ(unescaped(R"(\ud83d\u0041)"), replacement + "A");
  EXPECT_EQ(unescaped(R"(\uzzzz)"), replacement + "zzzz");
  EXPECT_EQ(unescaped(R"(\q)"), replacement);
  EXPECT_EQ(unescaped("a\\"), "a\\");
}

}  // namespace
}  // namespace suture
