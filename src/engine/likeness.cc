// How much code has in common with a pattern. Contract: engine/difference.h.
#include <algorithm>

#include "engine/difference.h"
#include "engine/token.h"

namespace suture {
namespace {

constexpr std::uint32_t kCalleeWeight = 3;
constexpr std::size_t kShortCallee = 4;    // shorter ones are in every file
constexpr std::size_t kMostTokens = 2000;  // of the code; bounds the table for a class of a thousand lines

bool is_punctuation(std::string_view token) {
  return token.empty() || token.find_first_not_of("()[]{},.:;") == std::string_view::npos;
}

// `to` of `x.y.to(...)`: the token is the name that a call calls.
bool is_callee(const Tree& tree, NodeId token) {
  NodeId function = token;
  const NodeId parent = tree[token].parent;
  if (parent != kNone && tree.is(parent, kinds().attribute) && tree.child(parent, fields().attribute) == token)
    function = parent;
  const NodeId call = tree[function].parent;
  return call != kNone && tree.is(call, kinds().call) && tree.child(call, fields().function) == function;
}

}  // namespace

std::uint32_t Features::weight() const {
  std::uint32_t sum = 0;
  for (const std::string& token : tokens) sum += callees.contains(token) ? kCalleeWeight : 1;
  return sum;
}

std::set<std::string> Features::telling() const {
  std::set<std::string> out;
  for (const std::string& name : callees) {
    if (name.size() >= kShortCallee) out.insert(name);
  }
  return out.empty() ? callees : out;
}

Features features_of(const Pattern& pattern) {
  Features out;
  const Tree& tree = pattern.tree();
  for (const NodeId token : tokens_of(tree, pattern.roots())) {
    if (pattern.metavariable(token) != nullptr) continue;
    std::string key = without_placeholders(token_key(pattern.source(), tree, token));
    if (is_punctuation(key)) continue;
    if (is_callee(tree, token)) out.callees.insert(key);
    if (tree[token].named) out.names.insert(key);
    out.tokens.push_back(std::move(key));
  }
  return out;
}

// The heaviest common subsequence: a row of the table for each token of the code.
Likeness likeness(const Features& features, const CodeView& target, const std::vector<NodeId>& nodes) {
  Likeness out;
  const std::vector<std::string>& want = features.tokens;
  const std::set<std::string> telling = features.telling();
  std::vector<std::uint32_t> row(want.size() + 1, 0);
  for (const NodeId token : tokens_of(*target.tree, nodes)) {
    if (out.tokens == kMostTokens) break;
    const std::string key = token_key(*target.source, *target.tree, token);
    if (is_punctuation(key)) continue;
    ++out.tokens;
    const bool called = features.callees.contains(key);
    out.callee = out.callee || telling.contains(key);
    out.named = out.named || features.names.contains(key);
    std::uint32_t diagonal = 0;
    for (std::size_t i = 1; i <= want.size(); ++i) {
      const std::uint32_t above = row[i];
      if (want[i - 1] == key) row[i] = std::max(row[i], diagonal + (called ? kCalleeWeight : 1));
      row[i] = std::max(row[i], row[i - 1]);
      diagonal = above;
    }
  }
  out.weight = row.back();
  return out;
}

}  // namespace suture
