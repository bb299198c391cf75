// What stands between the tokens of a rewritten match: which bytes of the target stay, and which are written.
//
//   between two kept neighbours                       the target's own bytes
//   in front of what begins a line in the target      that line's break; new elements beside others that do begin one, too
//   a comment on a line whose elements stay           stays on it
//   else                                              what the replacement has there, its line breaks in the target's own terms
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/token_map.h"

namespace suture {

// One token of the result: of the target in its place, a copy of target tokens, code of the replacement, or a
// parenthesis that precedence needs.
struct Item {
  enum class Kind { kept, copied, code, open, close } kind = Kind::code;
  std::uint32_t target = 0;        // kept, copied: index of the target token
  std::size_t snippet = kNoToken;  // index into the replacement's tokens
  bool continues = false;          // copied: follows its neighbour in the target, gap and all
};

// Base of the rewriter (token_rewrite.cc), which fills the items.
class TokenGaps {
 protected:
  TokenGaps(const CodeView& target, const Pattern& replacement, std::vector<SnippetToken> want)
      : target_(target), t_(*target.tree), source_(*target.source), replacement_(replacement), want_(std::move(want)) {}

  // What stands between items i-1 and i: target bytes that stay in their place, new text, target bytes that stay.
  struct Gap {
    Range stays;  // empty: none
    std::string text;
    std::uint32_t resumes = kNone;  // from here on, to the kept token i
  };
  Gap gap(std::size_t i) const;
  std::string bytes_of(const Gap& gap, std::size_t i) const;

  std::string_view text_of(std::size_t t) const;  // of a target token
  std::string_view text(const Item& item) const;

  static constexpr std::size_t kComma = kNoToken - 1;  // as a snippet index: a comma between copies

  CodeView target_;
  const Tree& t_;
  const Source& source_;
  const Pattern& replacement_;
  std::vector<NodeId> tokens_;      // of the target
  std::vector<SnippetToken> have_;  // of the pattern
  std::vector<SnippetToken> want_;  // of the replacement
  std::vector<std::size_t> same_;   // for each of want_ the one of have_ that it is
  std::vector<bool> gone_;          // target tokens
  std::vector<Item> items_;
  std::set<std::size_t> flat_;  // items in front of which no line may end

 private:
  Gap stay(Range range) const;
  static Gap write(std::string text);
  static bool follows(const Item& before, const Item& here);
  Gap in_front_of_parenthesis(Gap gap, const Item& here) const;
  std::optional<Gap> own_gap(std::size_t i, std::size_t next) const;
  std::optional<std::string> same_gap(const Item& before, const Item& here) const;
  std::optional<Gap> gap_over_gone(const Item& before, const Item& here, Range own) const;
  Gap first_inserted_gap(std::size_t i) const;
  bool begins_lines(std::size_t i) const;
  std::optional<Gap> line_of_its_own(std::size_t i) const;
  std::string line_break_at(std::uint32_t at) const;
  Range gap_range(std::uint32_t t) const;
  Range comment_on_line(Range gap) const;
  std::string target_gap(std::uint32_t t) const;
  NodeId kept_list(NodeId list) const;
  std::uint32_t line_of_element(std::uint32_t token, NodeId list) const;
  std::size_t last_target(std::size_t i) const;
  std::string replacement_gap(const Item& before, const Item& here) const;
  bool breaks_in_replacement(const Item& before, const Item& here) const;
  bool breaks_anew(const Item& before, const Item& here) const;
  std::string rebased(const std::string& gap) const;
};

}  // namespace suture
