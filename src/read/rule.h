// A rule as a value: what the YAML says, checked for shape (known keys, types,
// mandatory keys) but not yet compiled. engine/pattern.h compiles the pattern
// texts; every text carries its Mark so that an error in a pattern points into the
// YAML. The language itself is described in docs/rules.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/result.h"
#include "base/source.h"

namespace suture {

// A scalar of a YAML file and the bytes that it stands in (quotes included).
// A block scalar's range begins at its first content line, so that line k of the text is
// line k of the range.
struct Text {
  std::string value;
  Range at;
};

// Where bytes [begin, end) of text.value stand in the file: through quotes, escapes, folded lines and a block's
// indentation. For errors in a pattern, which the parser places within the decoded text.
Range range_within(const Source& yaml, const Text& text, std::size_t begin, std::size_t end);

// where: {X: {kind:, regex:, not_regex:, match:, has:, one_of:, comes_from: ...}}; all given keys must hold.
//
// comes_from, element_of, parameter: one of them holds for the value of the metavariable, which is followed back through the
// assignments of the function that it stands in (engine/flow.h).
struct WhereClause {
  Text metavariable;  // "X" without the $
  std::optional<Text> kind;
  std::optional<Text> regex, not_regex;  // RE2, unanchored
  std::optional<Text> match, has;        // patterns
  std::vector<Text> one_of;              // exact texts (code equality)
  std::vector<Text> comes_from;          // patterns of the value
  std::vector<Text> element_of;          // patterns of a value that it is an element of
  std::vector<Text> through;             // patterns with $FROM in them: code that hands the value of $FROM on
  std::optional<Text> parameter;         // RE2, unanchored: the name of a parameter that the value is
  [[nodiscard]] bool follows() const { return !comes_from.empty() || !element_of.empty() || parameter.has_value(); }
};

// match and what narrows it; all patterns. Evaluated in the order match, where (as soon
// as bound), inside, has, after, before; then the not_ forms, which bind nothing.
struct Narrowing {
  std::optional<Text> match;
  std::vector<WhereClause> where;
  std::vector<Text> inside, has, after, before;
  std::vector<Text> not_inside, not_has, not_after, not_before;
};

// --- Edits -------------------------------------------------------------------
// replace: "text" (the whole match)  |  replace: {X: "text", ...} (metavariables)
struct Replace {
  std::optional<Text> whole;
  std::vector<std::pair<Text, Text>> parts;
};
// argument: {name:, position:, becomes:}; position is 0-based. In `becomes`, $ARG is the argument's value.
struct Argument {
  Text name;
  std::optional<std::uint32_t> position;
  Text becomes;
  Range at;
};
enum class Place { prepend_body, append_body, insert_before, insert_after };
struct Insert {
  Place place = Place::insert_before;
  Text block;
};
// add_import: "from a.b import c" (also "import a", "... as d")
struct AddImport {
  Text statement;
};
// The edits that look at the structure that stands there: one struct, since they take the same parts. Which of them each
// kind uses, and its key in YAML:
enum class Structure {
  remove,            // delete: true | X | [X, Y]             of
  wrap,              // wrap: code with $MATCH                code
  add_argument,      // add_argument: argument                of, code
  add_element,       // add_element: element                  of, code, into, end
  set_key,           // set_key: {key:, value:}               of, key, code
  add_branch,        // add_branch: clause                    code, end
  add_member,        // add_member: statement                 code
  add_decorator,     // add_decorator: decorator              code, end
  remove_decorator,  // remove_decorator: decorator           code
  remove_import,     // remove_import: import of its names    code
};
enum class Into { literal, disjunction, conjunction };
enum class End { first, last };
struct Structural {
  Structure kind = Structure::remove;
  std::vector<Text> of;     // metavariables that stand for what is edited; empty: the match (or the scope)
  std::optional<Text> key;  // the code of a dictionary's key
  Text code;
  Into into = Into::literal;
  End end = End::last;
};
using Edit = std::variant<Replace, Argument, Insert, AddImport, Structural>;

// One shape of a rule: the rule's own keys, or one entry of any_of with the rule's keys as
// defaults (already merged here by the loader):
//   match, edit, applied, versions   the entry's where it has one, else the rule's (an entry's edit of any kind
//                                    replaces the rule's)
//   where, inside, has, after, before and the not_ forms   the rule's, then the entry's: all must hold
// Everything else (id, file, in, expect, select, comments, done_if, examples ...) belongs to the rule alone. After
// merging each shape has exactly one edit; a `replace` or `argument` has a match.
struct Shape {
  Narrowing narrow;
  std::optional<Edit> edit;
  std::optional<Text> versions;      // may only exclude the shape
  std::optional<Narrowing> applied;  // written out; else derived from the edit
  Range at;
  bool own_match = false;  // an any_of entry with a `match` of its own
};

// expect: N | {min: N, max: M, per_file: true}; per_file may also stand beside a plain count, as a key of the rule.
// {min: 1} alone has no upper bound; {max: 3} alone means 1 to 3. A count is over all files of the rule; with per_file it must
// hold in each file that holds one of its scopes or sites.
struct Expect {
  std::uint32_t min = 1;
  std::uint32_t max = 1;
  bool per_file = false;
};

enum class Comments { refuse, keep, drop };
enum class SelectKind { all, first, last, nth };
// select: first | last | N, counted from 0 as `position` is.
struct Select {
  SelectKind kind = SelectKind::all;
  std::uint32_t n = 0;  // 0-based, with nth
};

struct Example {
  std::optional<Text> before, after;  // both, or
  std::optional<Text> same;           // this one alone
  std::optional<Text> found;          // of an audit rule: code with a site in it
  bool exact = false;                 // compare bytes, not token sequences
};

// What an audit rule reports at its sites. A rule with a `kind` is one: it has no edit, and no count to hold.
enum class Level { note, warning, error };
std::string_view level_name(Level level);
struct Audit {
  std::string kind;  // "plan", "cast" (suture knows what those are), or a word of one's own
  std::string message;
  Level level = Level::note;
  bool possible = false;  // the pattern alone does not prove it
};

struct Rule {
  std::string id;
  std::optional<Audit> audit;
  std::string note, ok;  // ok is the id where it is not given
  // Candidates, in order; relative to the package folder. (Of an audit rule: all of these; without any, every Python file.) A path is one file; a glob (read/glob.h) is all files that it names,
  // as one candidate. What is made of them: engine/run.h.
  std::vector<Text> files;
  std::vector<Text> in;       // qualified names; empty: the module
  Shape base;                 // the rule's own keys
  std::vector<Shape> any_of;  // empty: base is the only shape
  std::optional<Narrowing> done_if;
  Expect expect;
  Select select;
  Comments comments = Comments::refuse;
  std::vector<Example> examples;
  Range at;                              // of the id, for diagnostics
  std::shared_ptr<const Source> source;  // the YAML file
};

// Reads one rule file: `file:` (default of the rules below) and `rules:`. Every error is located:
// Exit::bad_rule, FILE:LINE:COL, the line, a caret, a hint (nearest known key, quoting ...).
Result<std::vector<Rule>> read_rules(const std::shared_ptr<const Source>& yaml);

// An error at a range of the rule's YAML file.
Error rule_error(const Rule& rule, Range at, std::string message, std::string hint = "");

}  // namespace suture
