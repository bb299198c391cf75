// PEP 440 against `packaging` itself: version_table.inc is generated (make_version_table.py), the rest are the cases
// that this project met.
#include "read/version.h"

#include <gtest/gtest.h>

#include <string>

namespace suture {
namespace {

struct Row {
  const char* a;
  const char* b;
  int outcome;
};
#include "version_table.inc"

int order_of(const char* a, const char* b) {
  const auto x = parse_version(a);
  const auto y = parse_version(b);
  return x && y ? compare(*x, *y) : 9;
}

int match_of(const char* version, const char* specifiers) {
  const auto v = parse_version(version);
  const auto s = parse_specifiers(specifiers);
  return v && s ? static_cast<int>(s->contains(*v)) : 9;
}

std::string problem_of(const char* specifiers) {
  std::string problem;
  return parse_specifiers(specifiers, &problem) ? "none" : problem;
}

TEST(Version, OrdersAsPackagingDoes) {
  for (const Row& row : kOrder) {
    EXPECT_EQ(order_of(row.a, row.b), row.outcome) << row.a << " against " << row.b;
    const int mirrored = row.outcome == 9 ? 9 : -row.outcome;
    EXPECT_EQ(order_of(row.b, row.a), mirrored) << row.b << " against " << row.a;
  }
}

TEST(Version, MatchesAsPackagingDoes) {
  for (const Row& row : kMatch) EXPECT_EQ(match_of(row.a, row.b), row.outcome) << row.a << " in " << row.b;
}

TEST(Version, PrereleasesPostReleasesAndLocalBuildsCount) {
  EXPECT_EQ(match_of("0.4.6.post5", ">=0.4.6.post5"), 1);
  EXPECT_EQ(match_of("0.4.6.post4", ">=0.4.6.post5"), 0);
  EXPECT_EQ(match_of("0.4.6", ">=0.4.6.post5"), 0);
  EXPECT_EQ(match_of("0.5.10", ">=0.5.9"), 1);
  EXPECT_EQ(match_of("0.5.22rc1", ">=0.5.20"), 1);
  EXPECT_EQ(match_of("0.5.22.dev3+gabc", ">=0.5.20"), 1);
  EXPECT_EQ(match_of("0.5.1+cu128", "==0.5.1"), 1);
  EXPECT_EQ(match_of("0.5.1", "==0.5.1+cu128"), 0);
  EXPECT_EQ(match_of("0.5.22rc1", "<0.5.22"), 0);
  EXPECT_EQ(match_of("0.5.1", ""), 1);
}

TEST(Version, PartsAreReadAsWritten) {
  const auto version = parse_version(" V2!1.02.0-RC.3-4.dev+Ubuntu_01 ");
  ASSERT_TRUE(version);
  EXPECT_EQ(version->epoch, 2u);
  EXPECT_EQ(version->release, (std::vector<std::uint64_t>{1, 2, 0}));
  EXPECT_EQ(version->pre, (std::pair<char, std::uint64_t>{'r', 3}));
  EXPECT_EQ(version->post, 4u);
  EXPECT_EQ(version->dev, 0u);
  EXPECT_EQ(version->local, (std::vector<std::string>{"ubuntu", "1"}));
}

TEST(Version, ANumberThatDoesNotFitIsRefusedAndNotWrapped) {
  EXPECT_TRUE(parse_version("18446744073709551615"));
  EXPECT_FALSE(parse_version("18446744073709551616"));
  EXPECT_FALSE(parse_version("1.0.post18446744073709551616"));
  EXPECT_FALSE(parse_version("1.0a18446744073709551616"));
}

TEST(Version, ProblemsNameTheSpecifier) {
  EXPECT_EQ(problem_of(">=0.4.6.post5"), "none");
  EXPECT_EQ(problem_of(">=1.0, 0.5.1"),
            "'0.5.1' does not begin with an operator (one of ==, !=, >=, <=, >, <, ~=, ===)");
  EXPECT_EQ(problem_of(">=latest"), "'>=latest' does not hold a version that PEP 440 knows");
  EXPECT_EQ(problem_of(">=1.0.*"), "'>=1.0.*' uses '.*', which only == and != know");
  EXPECT_EQ(problem_of("==1.0rc1.*"), "'==1.0rc1.*' uses '.*' after more than a release number");
  EXPECT_EQ(problem_of("<=1.0+cu1"), "'<=1.0+cu1' names a local build, which only == and != know");
  EXPECT_EQ(problem_of("~=1"), "'~=1' needs a version of two parts or more, such as ~=1.0");
  EXPECT_EQ(problem_of("==="), "'===' has no version that '===' can compare");
}

TEST(Version, NamesAreNormalisedAsPep503Says) {
  EXPECT_EQ(normalize_name("SGLang"), "sglang");
  EXPECT_EQ(normalize_name("flashinfer_python"), "flashinfer-python");
  EXPECT_EQ(normalize_name("Some-.Odd__Name"), "some-odd-name");
}

}  // namespace
}  // namespace suture
