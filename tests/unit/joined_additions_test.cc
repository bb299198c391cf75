// Several rules of one patch add to one list: what they write is well formed together, in the patch's order.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/plan.h"
#include "support/engine_fixture.h"

namespace suture {
namespace {

TEST(JoinedAdditions, ElementsOfOneList) {
  std::vector<std::string> rules;
  for (const char* element : {"p", "q", "r"})
    rules.push_back("match: X = $L\nadd_element: {of: L, element: " + std::string(element) + "}");
  const std::vector<std::pair<const char*, const char*>> all = {
      {"X = []\n", "X = [p, q, r]\n"},
      {"X = ()\n", "X = (p, q, r,)\n"},
      {"X = (1,)\n", "X = (1, p, q, r)\n"},
      {"X = (1, 2)\n", "X = (1, 2, p, q, r)\n"},
      {"X = [1,]\n", "X = [1, p, q, r,]\n"},
      {"X = 1, 2\n", "X = 1, 2, p, q, r\n"},
      {"X = [\n]\n", "X = [\n    p,\n    q,\n    r,\n]\n"},
      {"X = [\n    1  # one\n]\n", "X = [\n    1,  # one\n    p,\n    q,\n    r\n]\n"},
      {"X = [\n    1\n]\n", "X = [\n    1,\n    p,\n    q,\n    r\n]\n"},
      {"X = [\n    1,  # one\n]\n", "X = [\n    1,  # one\n    p,\n    q,\n    r,\n]\n"},
      {"X = [\n    1]\n", "X = [\n    1,\n    p,\n    q,\n    r]\n"},
  };
  for (const auto& [code, wanted] : all) EXPECT_EQ(after_patch(rules, code), wanted) << code;
}

TEST(JoinedAdditions, ArgumentsAndKeys) {
  const std::vector<std::string> arguments = {"match: f($$$)\nadd_argument: k=1", "match: f($$$)\nadd_argument: m=2"};
  EXPECT_EQ(after_patch(arguments, "f()\n"), "f(k=1, m=2)\n");
  EXPECT_EQ(after_patch(arguments, "f(\n    a  # one\n)\n"), "f(\n    a,  # one\n    k=1,\n    m=2\n)\n");
  const std::vector<std::string> keys = {"match: X = $D\nset_key: {of: D, key: '\"k\"', value: 1}",
                                         "match: X = $D\nset_key: {of: D, key: '\"m\"', value: 2}"};
  EXPECT_EQ(after_patch(keys, "X = {}\n"), "X = {\"k\": 1, \"m\": 2}\n");
}

TEST(JoinedAdditions, OperandsOfACondition) {
  const std::vector<std::string> rules = {"match: \"if $C: $$$\"\nadd_element: {of: C, or: p}",
                                          "match: \"if $C: $$$\"\nadd_element: {of: C, or: q}"};
  EXPECT_EQ(after_patch(rules, "if (\n    a\n    or b\n):\n    g()\n"),
            "if (\n    a\n    or b\n    or p\n    or q\n):\n    g()\n");
}

}  // namespace
}  // namespace suture
