// What must stand in a text for a rule to have a site there, read off its patterns and their where clauses: identifiers, each
// with what must follow it. Nothing here is written by hand, so a rule that changes cannot be left behind.
//
// Sound: every site that the matcher finds in a file lies in a statement that `wanted` keeps. A name and its `(` may be apart by
// blanks, comments, line ends, continuations and closing parentheses (`(a.b)(c)`); what is not ASCII between them is taken for blanks.
// `def NAME(` and `class NAME(` are no calls. Text in strings and comments passes too: telling it apart is the outline's affair.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/literal.h"
#include "base/source.h"
#include "engine/compiled_rule.h"

namespace suture {

// An identifier that must occur.
struct Anchor {
  std::string literal;                    // stands in it
  bool word = false;                      // is all of it
  std::shared_ptr<const re2::RE2> regex;  // where not `word`: what the identifier must match; null: anything
  bool called = false;                    // `(` follows it
  std::string then;                       // `.` and this name follow it; empty: anything
  friend bool operator==(const Anchor& a, const Anchor& b) {
    return a.literal == b.literal && a.word == b.word && a.called == b.called && a.regex == b.regex && a.then == b.then;
  }
};

// One way for one shape of a rule to have a site: all of these occur. The first is the one to search for.
struct Need {
  std::size_t rule = 0, shape = 0;
  std::vector<std::size_t> anchors;  // indexes into Prefilter::anchors()
  bool whole_file = false;           // what it looks at may lie outside of the statement of the site
};

struct Hit {
  std::uint32_t at = 0;  // of the identifier's literal
  std::size_t anchor = 0;
};

class Prefilter {
 public:
  explicit Prefilter(const std::vector<CompiledRule>& rules);

  [[nodiscard]] const std::vector<Anchor>& anchors() const { return anchors_; }
  [[nodiscard]] const std::vector<Need>& needs() const { return needs_; }
  // A rule that no identifier has to occur for: every file is to be parsed.
  [[nodiscard]] bool takes_all() const { return takes_all_; }

  // Where the anchors that are searched for occur, sorted. Empty: no rule has a site in the text (unless takes_all()).
  [[nodiscard]] std::vector<Hit> scan(std::string_view text) const;
  // Whether all that `need` asks for occurs in the part.
  [[nodiscard]] bool holds(const Need& need, std::string_view text, Range part) const;

 private:
  std::size_t index_of(const Anchor& anchor);
  void add(std::size_t rule, std::size_t shape, const CompiledShape& compiled);
  [[nodiscard]] bool fits(const Anchor& anchor, std::string_view text, std::size_t at) const;

  std::vector<Anchor> anchors_;
  std::vector<Literal> literals_;  // of the anchors
  std::vector<Need> needs_;
  std::vector<std::size_t> searched_;  // anchors that stand first in some need
  bool takes_all_ = false;
};

// A run of letters, digits and underscores that every text has in which the regular expression is found; empty where none
// can be told.
std::string required_literal(std::string_view regex);

}  // namespace suture
