// The matcher against a naive one that tries every way, on thousands of generated pairs of pattern and code.
//
// The naive matcher never sees the parser: it works on the generator's own trees, and the code that the real one gets
// is those trees written out with random layout (line breaks, comments, trailing commas, redundant parentheses,
// quotes).
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "oracle/random_code.h"
#include "support/engine_fixture.h"

namespace suture {
namespace {

using namespace oracle;  // NOLINT(google-build-using-namespace)

// Without layout: what two spellings of the same code share.
std::string bare(const std::string& text) {
  std::string out;
  bool comment = false;
  for (char c : text) {
    if (c == '#') comment = true;
    if (c == '\n') comment = false;
    if (comment || std::string(" \n\\(),'\"").find(c) != std::string::npos) continue;
    out += c;
  }
  return out;
}

TEST(MatchOracle, AgreesWithTryingEveryWay) {
  std::size_t hits = 0;
  std::size_t pairs = 0;
  for (unsigned seed = 0; seed < 6000; ++seed) {
    Generator generator(seed);
    const Term pattern = generator.expression(3, true);
    if (pattern->kind == Expr::variable || pattern->kind == Expr::splat) continue;  // matches everything
    if (any(pattern, Expr::splat) && any(pattern, Expr::keyword)) continue;         // barriers: match_test.cc
    std::map<std::string, Term> filled;
    const Term code = generator.chance(80) ? generator.instance(pattern, filled) : generator.expression(3, false);
    if (code->kind == Expr::variable) continue;
    const std::string text = generator.written(pattern, false);
    const std::string source = "x = (" + generator.written(code, true) + ")\n";
    const Pattern compiled = pattern_of(text);
    const Code target(source);
    ASSERT_FALSE(target.tree.broken()) << source;
    const auto found = find_all(Search{&compiled, target.view(), {}}, 0);

    std::vector<Term> nodes;
    all_nodes(code, nodes);
    std::size_t expected = 0;
    std::set<std::string> ways;
    for (const Term& node : nodes) {
      const Solutions solutions = solve(pattern, node, {});
      expected += solutions.empty() ? 0 : 1;
      for (const Bound& bound : solutions) {
        std::string key;
        for (const auto& [name, values] : bound) {
          key += name + "=";
          for (const Term& value : values) key += bare(generator.written(value, false)) + ";";
        }
        ways.insert(key);
      }
    }
    ++pairs;
    hits += expected;
    ASSERT_EQ(found.size(), expected) << "seed " << seed << "\n" << text << "\n" << source;
    for (const Match& match : found) {
      std::string key;
      std::map<std::string, Binding> sorted;
      for (const auto& [name, binding] : match.bindings) sorted[(binding.run ? "$$$" : "") + name] = binding;
      for (const auto& [name, binding] : sorted) {
        key += name + "=";
        for (const NodeId node : binding.nodes) key += bare(target.text(node)) + ";";
      }
      ASSERT_TRUE(ways.contains(key)) << "seed " << seed << "\n" << text << "\n" << source << key;
    }
  }
  // The generator would be worth nothing if it met no matches.
  EXPECT_GT(pairs, 3000U);
  EXPECT_GT(hits, pairs / 2);
}

}  // namespace
}  // namespace suture
