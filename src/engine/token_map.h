// The tokens of a snippet (a pattern or its replacement), and which tokens of the target a match says they stand for.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/match.h"
#include "engine/pattern.h"

namespace suture {

// A token of a snippet: code, or a metavariable as a whole.
struct SnippetToken {
  NodeId node = kNone;
  std::string key;  // what the alignment compares
  const Metavariable* mv = nullptr;
  std::vector<std::uint32_t> target;  // pattern only: indices of the target tokens that it stands for
  bool in_target = false;
  std::string gap;  // what stands between it and the token before it in the snippet
};

std::vector<SnippetToken> snippet_tokens(const Pattern& snippet, const std::vector<NodeId>& roots);
bool is_text(const Pattern& snippet, const SnippetToken& token, std::string_view text);

// Without the runs that are empty here, and one comma for each: the one after it, else the one before.
void drop_empty_runs(const Pattern& snippet, std::vector<SnippetToken>& tokens, const Bindings& bindings);

// For each token of b the index of the token of a that it is, or kNoToken. A longest common subsequence.
inline constexpr std::size_t kNoToken = std::string::npos;
std::vector<std::size_t> align(const std::vector<SnippetToken>& a, const std::vector<SnippetToken>& b);

// The tokens of the target that the match covers, and which of them each pattern token stands for. Punctuation, which a
// match does not pair, is found by its place between matched siblings.
class TokenMap {
 public:
  TokenMap(const CodeView& target, const Pattern& pattern, const Match& match, const std::vector<NodeId>& pattern_nodes,
           const std::vector<NodeId>& target_nodes);

  [[nodiscard]] const std::vector<NodeId>& tokens() const { return tokens_; }
  [[nodiscard]] const std::vector<SnippetToken>& snippet() const { return snippet_; }
  // The target has the pattern's tokens in the pattern's order, and each run in one piece. Not so where keywords matched by
  // name in another order: then an alignment of pattern and replacement says nothing of places, and its result must be looked at.
  [[nodiscard]] bool in_order() const;

 private:
  void map(SnippetToken& token);
  void add(SnippetToken& token, NodeId node);
  void fill_run(SnippetToken& token) const;
  NodeId punctuation(NodeId p) const;
  [[nodiscard]] NodeId comma_in_front(NodeId p, NodeId element) const;
  [[nodiscard]] NodeId last_child(NodeId parent, Kind kind) const;
  [[nodiscard]] NodeId child_over(NodeId parent, NodeId node, NodeId otherwise) const;

  const Tree& t_;
  const Tree& p_;
  std::vector<NodeId> tokens_;
  std::map<NodeId, std::uint32_t> index_;
  std::map<NodeId, std::vector<NodeId>> node_;  // pattern node -> target nodes
  std::map<NodeId, NodeId> parents_;
  std::set<NodeId> claimed_;
  std::vector<SnippetToken> snippet_;
};

}  // namespace suture
