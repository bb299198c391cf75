// What must stand in a text for a rule to have a site there, read off its patterns and their where clauses: identifiers, each
// with what must follow it. Nothing here is written by hand, so a rule that changes cannot be left behind.
//
// Sound: every site that the matcher finds in a file lies in a statement that `wanted` keeps. A name and its `(` may be apart by
// blanks, comments, line ends, continuations and closing parentheses (`(a.b)(c)`); what is not ASCII between them is taken for blanks.
// `def NAME(` and `class NAME(` are no calls. Text in strings and comments passes too: telling it apart is the outline's affair.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/function_ref.h"
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

// One way in which a value may come from where a where clause says (engine/flow.h).
struct Origin {
  std::vector<std::size_t> anchors;  // of the expression that it comes from; of a parameter: its name
  bool parameter = false;
  bool bare = false;  // the expression may be a name
  // What may be taken of a name without losing the value: `view`, where the clause looks through `$FROM.view()`; nullopt: anything.
  std::optional<std::vector<std::string>> through = std::vector<std::string>();
  bool arguments = false;  // the clause looks through a call into its arguments
  friend bool operator==(const Origin&, const Origin&) = default;
};
// A clause of a need about where a value in the site comes from.
struct OriginOfValue {
  Origin origin;
  std::optional<std::size_t> method;  // the anchor that the site takes of the value: `to` of `$VALUE.to()`
  bool any_method = false;            // it takes something of it, whatever that is called
};

// One way for one shape of a rule to have a site: all of these occur. The first is the one to search for.
struct Need {
  std::size_t rule = 0, shape = 0;
  std::vector<std::size_t> anchors;   // indexes into Prefilter::anchors()
  bool whole_file = false;            // what it looks at may lie outside of the statement of the site
  std::vector<std::size_t> site;      // of the anchors, those of the expression that is the site
  std::vector<OriginOfValue> values;  // one for each clause about where a value in the site comes from
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
  // Where in the part the anchor occurs, in order, until `stop` is true of one; whether it was.
  bool find(std::size_t anchor, std::string_view text, Range part, FunctionRef<bool(std::uint32_t)> stop) const;

 private:
  // One search for several anchors: a literal, and the anchors that it is part of (`buffer`, `k_buffer`, `get_kv_buffer`), each with where
  // in the anchor's literal it first stands.
  struct Core {
    std::size_t literal = 0;  // index into literals_
    std::vector<std::pair<std::size_t, std::size_t>> anchors;
  };
  void search_for(std::vector<std::size_t> anchors);
  std::size_t index_of(const Anchor& anchor);
  void add(std::size_t rule, std::size_t shape, const CompiledShape& compiled);
  [[nodiscard]] bool fits(const Anchor& anchor, std::string_view text, std::size_t at) const;

  std::vector<Anchor> anchors_;
  std::vector<Literal> literals_;  // of the anchors
  std::vector<Need> needs_;
  std::vector<Core> cores_;
  bool takes_all_ = false;
};

// A run of letters, digits and underscores that every text has in which the regular expression is found; empty where none
// can be told.
std::string required_literal(std::string_view regex);

}  // namespace suture
