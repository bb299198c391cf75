// A rule with its patterns compiled and checked: every pattern parses, every metavariable of an edit is bound, scopes
// and kinds are legal. What read/rule.h holds as text is held here as Pattern.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "engine/pattern.h"
#include "read/rule.h"
#include "read/version.h"

namespace re2 {
class RE2;
}

namespace suture {

// Where the value of a metavariable comes from: engine/flow.h.
struct CompiledFlow {
  std::vector<Pattern> from, element_of, through;
  std::shared_ptr<const re2::RE2> parameter;
};

struct CompiledWhere {
  std::string name;
  std::optional<Kind> kind;
  std::shared_ptr<const re2::RE2> regex, not_regex;
  std::optional<Pattern> match, has;
  std::vector<std::string> one_of;
  std::shared_ptr<const CompiledFlow> flow;
};

struct CompiledNarrowing {
  std::optional<Pattern> match;
  std::vector<CompiledWhere> where;
  std::vector<Pattern> inside, has, after, before;
  std::vector<Pattern> not_inside, not_has, not_after, not_before;
  [[nodiscard]] bool binds(const std::string& name) const;
};

struct CompiledReplace {
  std::optional<Pattern> whole;
  std::vector<std::pair<std::string, Pattern>> parts;
};
struct CompiledArgument {
  std::string name;
  std::optional<std::uint32_t> position;
  Pattern becomes;
};
struct CompiledInsert {
  Place place = Place::insert_before;
  Pattern block;
};
// `from MODULE import NAME [as ALIAS]` or `import MODULE [as ALIAS]`.
struct CompiledImport {
  std::string module, name, alias;  // name empty: `import MODULE`
  std::string statement;            // as it is written, one line
  // The name that it binds in the module.
  [[nodiscard]] std::string bound() const;
};
// enum Structure. `code` holds the whole snippet that was parsed, `node` the part of it that is meant: the argument in
// `f(ARGUMENT)`, the entry in `{KEY: VALUE}`, a clause, a statement.
struct CompiledStructural {
  Structure kind = Structure::remove;
  std::vector<std::string> of;
  std::optional<Pattern> code;  // none: delete
  NodeId node = kNone;
  Into into = Into::literal;
  End end = End::last;
};
using CompiledEdit =
    std::variant<CompiledReplace, CompiledArgument, CompiledInsert, CompiledImport, CompiledStructural>;

struct CompiledShape {
  CompiledNarrowing narrow;
  std::optional<CompiledEdit> edit;
  // What the code looks like when the edit is in place, where that is a search (written out, or derived from a
  // replacement); inserts and arguments are compared in place instead.
  std::optional<CompiledNarrowing> applied;
  // What the match has become where its pattern names all elements of the list that the edit adds to.
  std::optional<Pattern> grown;
  std::optional<SpecifierSet> versions;
  const Shape* shape = nullptr;
};

struct CompiledRule {
  const Rule* rule = nullptr;
  CompiledNarrowing base;             // the rule's own match and narrowing
  std::vector<CompiledShape> shapes;  // at least one
  std::optional<CompiledNarrowing> done_if;
  [[nodiscard]] const CompiledImport* import() const;  // an add_import rule
  [[nodiscard]] bool deletes() const;
  // How many results so many edited sites must leave. What a `delete` took away cannot be counted: any result stands for
  // all of them.
  [[nodiscard]] std::size_t least_results(std::size_t sites) const;
  // A remove_decorator or remove_import: what it leaves is what never had the decorator or the import, so results beside
  // old sites do not say that half of the patch is in place.
  [[nodiscard]] bool takes_away() const;
};

// Errors point into the rule's YAML file.
Result<CompiledRule> compile_rule(const Rule& rule);
// The edits of enum Structure. Checks what their code may be.
Result<CompiledEdit> compile_structural(const Structural& edit, const Source& yaml);
// wrap: what a wrapped match looks like, as a pattern.
std::optional<Pattern> wrapped(const CompiledStructural& wrap, const Pattern& match);
// add_argument, add_element, set_key: the match, a call or a literal, with what the edit adds; nullopt for other patterns.
std::optional<Pattern> grown(const CompiledStructural& edit, const Pattern& match);
// For conditions of patch.yaml, which carry patterns too.
Result<CompiledNarrowing> compile_narrowing(const Narrowing& narrowing, const Source& yaml);
Result<Pattern> compile_text(const Text& text, const Source& yaml, std::string_view what);

}  // namespace suture
