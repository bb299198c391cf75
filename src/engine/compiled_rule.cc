// See compiled_rule.h. Tests: tests/unit/compiled_rule_test.cc, and tests/cli for the whole messages.
#include "engine/compiled_rule.h"

#include <re2/re2.h>

#include <algorithm>

#include "engine/match.h"

namespace suture {
namespace {

Error yaml_error(const Source& yaml, Range at, std::string message, std::string hint) {
  return Error{Exit::bad_rule, std::move(message), yaml.locate(at), std::move(hint)};
}

// Regular expressions are compiled quietly; the message is in error().
Result<std::shared_ptr<const re2::RE2>> compile_regex(const Text& text, const Source& yaml) {
  auto regex = std::make_shared<re2::RE2>(text.value, re2::RE2::Quiet);
  if (!regex->ok())
    return yaml_error(yaml, text.at, "this is no regular expression: " + regex->error(),
                      "the syntax is RE2's; it is searched, not anchored");
  return std::shared_ptr<const re2::RE2>(std::move(regex));
}

Result<CompiledFlow> compile_flow(const WhereClause& clause, const Source& yaml) {
  CompiledFlow out;
  struct List {
    const std::vector<Text>& from;
    std::vector<Pattern>& to;
  };
  for (const List& list : {List{clause.comes_from, out.from}, List{clause.element_of, out.element_of},
                           List{clause.through, out.through}}) {
    for (const Text& text : list.from) {
      auto pattern = compile_text(text, yaml, "comes_from");
      if (!pattern) return pattern.error();
      if (pattern->form() != Pattern::Form::expression)
        return yaml_error(yaml, text.at, "a value comes from an expression, and this is none", "");
      if (&list.from == &clause.through && !pattern->binds("FROM"))
        return yaml_error(yaml, text.at, "`through` needs $FROM: what the value is handed on from",
                          "such as $FROM.view($$$)");
      list.to.push_back(std::move(*pattern));
    }
  }
  if (clause.parameter) {
    auto regex = compile_regex(*clause.parameter, yaml);
    if (!regex) return regex.error();
    out.parameter = *regex;
  }
  return out;
}

Result<CompiledWhere> compile_where(const WhereClause& clause, const Source& yaml) {
  CompiledWhere out;
  out.name = clause.metavariable.value;
  if (clause.kind) {
    const Kind kind = kind_named(clause.kind->value);
    if (kind == 0)
      return yaml_error(yaml, clause.kind->at, "the Python grammar has no node kind \"" + clause.kind->value + "\"",
                        "kinds are those of tree-sitter-python: identifier, call, attribute, string, integer ...");
    out.kind = kind;
  }
  if (clause.regex) {
    auto regex = compile_regex(*clause.regex, yaml);
    if (!regex) return regex.error();
    out.regex = *regex;
  }
  if (clause.not_regex) {
    auto regex = compile_regex(*clause.not_regex, yaml);
    if (!regex) return regex.error();
    out.not_regex = *regex;
  }
  if (clause.match) {
    auto pattern = compile_text(*clause.match, yaml, "match");
    if (!pattern) return pattern.error();
    out.match = std::move(*pattern);
  }
  if (clause.has) {
    auto pattern = compile_text(*clause.has, yaml, "has");
    if (!pattern) return pattern.error();
    out.has = std::move(*pattern);
  }
  for (const Text& text : clause.one_of) out.one_of.push_back(text.value);
  if (clause.follows()) {
    auto flow = compile_flow(clause, yaml);
    if (!flow) return flow.error();
    out.flow = std::make_shared<const CompiledFlow>(std::move(*flow));
  }
  return out;
}

std::optional<Error> compile_list(const std::vector<Text>& texts, const Source& yaml, std::string_view key,
                                  std::vector<Pattern>& out) {
  for (const Text& text : texts) {
    auto pattern = compile_text(text, yaml, key);
    if (!pattern) return pattern.error();
    if (pattern->roots().size() > 1 && (key == "inside" || key == "not_inside")) {
      return yaml_error(yaml, text.at, "`" + std::string(key) + "` takes one statement or expression, not several",
                        "write the enclosing statement with $$$ for its body");
    }
    out.push_back(std::move(*pattern));
  }
  return std::nullopt;
}

// --- edits ----------------------------------------------------------------------------------------------------------------------

Result<CompiledImport> compile_import(const AddImport& edit, const Source& yaml) {
  auto pattern = compile_text(edit.statement, yaml, "add_import");
  if (!pattern) return pattern.error();
  const Tree& tree = pattern->tree();
  const Kinds& k = kinds();
  const auto wrong = [&] {
    return yaml_error(yaml, edit.statement.at, "add_import takes one import of one name",
                      "write `from a.b import c`, `from a import b as c`, `import a.b` or `import a as b`");
  };
  const NodeId root = pattern->roots()[0];
  const bool from = tree.is(root, k.import_from_statement);
  if (pattern->roots().size() != 1 || (!from && !tree.is(root, k.import_statement)) || !pattern->names().empty())
    return wrong();
  CompiledImport out;
  std::vector<NodeId> names;
  for (NodeId c : tree.named_children(root)) {
    if (from && tree[c].field == fields().module_name) {
      out.module = std::string(pattern->source().text(tree.range(c)));
    } else {
      names.push_back(c);
    }
  }
  if (names.size() != 1 || tree.is(names[0], k.wildcard_import)) return wrong();
  NodeId name = names[0];
  if (tree.is(name, k.aliased_import)) {
    out.alias = std::string(pattern->source().text(tree.range(tree.child(name, fields().alias))));
    name = tree.child(name, fields().name);
  }
  (from ? out.name : out.module) = std::string(pattern->source().text(tree.range(name)));
  out.statement = from ? "from " + out.module + " import " + out.name : "import " + out.module;
  if (!out.alias.empty()) out.statement += " as " + out.alias;
  return out;
}

Result<CompiledEdit> compile_edit(const Edit& edit, const Source& yaml) {
  if (const auto* replace = std::get_if<Replace>(&edit)) {
    CompiledReplace out;
    if (replace->whole) {
      auto pattern = compile_text(*replace->whole, yaml, "replace");
      if (!pattern) return pattern.error();
      out.whole = std::move(*pattern);
    }
    for (const auto& [name, text] : replace->parts) {
      auto pattern = compile_text(text, yaml, "replace");
      if (!pattern) return pattern.error();
      out.parts.emplace_back(name.value, std::move(*pattern));
    }
    return CompiledEdit(std::move(out));
  }
  if (const auto* argument = std::get_if<Argument>(&edit)) {
    auto pattern = compile_text(argument->becomes, yaml, "becomes");
    if (!pattern) return pattern.error();
    if (pattern->form() != Pattern::Form::expression)
      return yaml_error(yaml, argument->becomes.at, "`becomes` takes an expression", "");
    return CompiledEdit(CompiledArgument{argument->name.value, argument->position, std::move(*pattern)});
  }
  if (const auto* insert = std::get_if<Insert>(&edit)) {
    auto pattern = compile_text(insert->block, yaml, "the inserted block");
    if (!pattern) return pattern.error();
    if (pattern->form() == Pattern::Form::clause)
      return yaml_error(yaml, insert->block.at, "a clause cannot be inserted as a statement",
                        "insert whole statements");
    return CompiledEdit(CompiledInsert{insert->place, std::move(*pattern)});
  }
  if (const auto* structural = std::get_if<Structural>(&edit)) return compile_structural(*structural, yaml);
  auto import = compile_import(std::get<AddImport>(edit), yaml);
  if (!import) return import.error();
  return CompiledEdit(std::move(*import));
}

const Text& text_of(const Edit& edit) {
  if (const auto* replace = std::get_if<Replace>(&edit))
    return replace->whole ? *replace->whole : replace->parts.front().second;
  if (const auto* argument = std::get_if<Argument>(&edit)) return argument->becomes;
  if (const auto* insert = std::get_if<Insert>(&edit)) return insert->block;
  if (const auto* structural = std::get_if<Structural>(&edit)) return structural->code;
  return std::get<AddImport>(edit).statement;
}

// --- checks ---------------------------------------------------------------------------------------------------------------------

class Checker {
 public:
  Checker(const Rule& rule, const CompiledShape& shape) : rule_(rule), yaml_(*rule.source), shape_(shape) {}

  std::optional<Error> check() {
    if (auto error = where_is_bound(shape_.narrow, shape_.shape->narrow)) return error;
    if (auto error = statement_in_expression(shape_.narrow, shape_.shape->narrow)) return error;
    if (!shape_.edit) return std::nullopt;
    const Edit& text = *shape_.shape->edit;
    if (const auto* replace = std::get_if<CompiledReplace>(&*shape_.edit))
      return check_replace(*replace, std::get<Replace>(text));
    if (const auto* argument = std::get_if<CompiledArgument>(&*shape_.edit)) {
      if (auto error = needs_match("argument")) return error;
      return bound(argument->becomes, std::get<Argument>(text).becomes, "ARG");
    }
    if (const auto* insert = std::get_if<CompiledInsert>(&*shape_.edit)) {
      if (auto error = needs_body(insert->place, std::get<Insert>(text).block)) return error;
      return bound(insert->block, std::get<Insert>(text).block, "");
    }
    if (const auto* structural = std::get_if<CompiledStructural>(&*shape_.edit))
      return check_structural(*structural, std::get<Structural>(text));
    return std::nullopt;
  }

 private:
  std::optional<Error> needs_match(std::string_view edit) const {
    if (shape_.narrow.match) return std::nullopt;
    return rule_error(rule_, shape_.shape->at, "`" + std::string(edit) + "` needs a `match`",
                      "say which code it changes");
  }

  std::optional<Error> needs_body(Place place, const Text& block) const {
    if (!shape_.narrow.match || (place != Place::prepend_body && place != Place::append_body)) return std::nullopt;
    const Pattern& match = *shape_.narrow.match;
    const NodeId root = match.roots()[0];
    if (match.metavariable(root) != nullptr || match.tree().child(root, fields().body) != kNone) return std::nullopt;
    return rule_error(rule_, block.at, "there is no body to insert into in what `match` matches",
                      "match the whole definition or statement with its body: `def f($$$): $$$`");
  }

  std::optional<Error> where_is_bound(const CompiledNarrowing& narrowing, const Narrowing& text) const {
    for (std::size_t i = 0; i < narrowing.where.size(); ++i) {
      if (!narrowing.binds(narrowing.where[i].name)) {
        return rule_error(rule_, text.where[i].metavariable.at,
                          "`where` speaks of $" + narrowing.where[i].name + ", which no pattern of this rule binds",
                          bound_names());
      }
    }
    return std::nullopt;
  }

  // `k=1` inside of `f($$$)` would silently find nothing: to Python, and so to a pattern, it is an assignment.
  std::optional<Error> statement_in_expression(const CompiledNarrowing& narrowing, const Narrowing& text) const {
    if (!narrowing.match || narrowing.match->form() != Pattern::Form::statements) return std::nullopt;
    const Pattern& match = *narrowing.match;
    for (std::size_t i = 0; i < narrowing.inside.size(); ++i) {
      const Pattern& around = narrowing.inside[i];
      if (around.form() != Pattern::Form::expression || around.metavariable(around.roots()[0]) != nullptr) continue;
      const bool keyword =
          match.written().find('=') != std::string::npos && match.written().find(' ') == std::string::npos;
      return rule_error(
          rule_, text.inside[i].at, "no statement stands inside of an expression, and `match` is a statement",
          keyword ? "`" + match.written() + "` is an assignment; for an argument match the call: f($$$, " +
                        match.written() + ", $$$)"
                  : "match an expression, or write a pattern of a statement here");
    }
    return std::nullopt;
  }

  std::optional<Error> check_replace(const CompiledReplace& replace, const Replace& text) const {
    if (auto error = needs_match("replace")) return error;
    if (replace.whole) {
      if (auto error = bound(*replace.whole, *text.whole, "")) return error;
      const bool bare =
          replace.whole->roots().size() == 1 &&
          replace.whole->metavariable(strip_parentheses(replace.whole->tree(), replace.whole->roots()[0])) != nullptr;
      if (is_filler(*replace.whole) && !shape_.applied) {
        return rule_error(
            rule_, text.whole->at,
            "a replacement that is nothing but `" + replace.whole->written() + "` leaves nothing to recognise it by",
            "write out `applied:`, a pattern of what the code looks like afterwards, such as the "
            "definition with `not_has:` of what goes");
      }
      if (bare && !shape_.applied) {
        return rule_error(rule_, text.whole->at,
                          "a replacement that is one metavariable leaves nothing to recognise it by",
                          "write out `applied:`, a pattern of what the code looks like afterwards");
      }
    }
    for (std::size_t i = 0; i < replace.parts.size(); ++i) {
      const auto& [name, pattern] = replace.parts[i];
      if (!shape_.narrow.match->binds(name))
        return rule_error(rule_, text.parts[i].first.at, "`replace` names $" + name + ", which `match` does not bind",
                          bound_names());
      if (auto error = bound(pattern, text.parts[i].second, "")) return error;
    }
    return std::nullopt;
  }

  // Found in any code.
  static bool is_filler(const Pattern& pattern) { return pattern.written() == "pass"; }

  std::optional<Error> check_structural(const CompiledStructural& edit, const Structural& text) const {
    for (const Text& of : text.of) {
      if (!shape_.narrow.binds(of.value))
        return rule_error(rule_, of.at, "the edit names $" + of.value + ", which no pattern of this rule binds",
                          bound_names());
    }
    if (!edit.code || edit.kind == Structure::remove_decorator) return std::nullopt;  // a pattern of its own
    return bound(*edit.code, text.code, edit.kind == Structure::wrap ? "MATCH" : "");
  }

  std::optional<Error> bound(const Pattern& pattern, const Text& text, const std::string& also) const {
    for (const Metavariable& mv : pattern.names()) {
      if (mv.name == also || shape_.narrow.binds(mv.name)) continue;
      const auto at = static_cast<std::uint32_t>(text.value.find(mv.spelled()));
      return rule_error(rule_, range_within(yaml_, text, at, at + static_cast<std::uint32_t>(mv.spelled().size())),
                        "the edit uses " + mv.spelled() + ", which no pattern of this rule binds", bound_names());
    }
    for (NodeId id = 0; id < pattern.tree().size(); ++id) {
      const Metavariable* mv = pattern.metavariable(id);
      if (mv != nullptr && mv->name.empty())
        return rule_error(rule_, text.at, "the edit uses " + mv->spelled() + ", which stands for nothing in particular",
                          "name the metavariable in `match` and use that name");
    }
    return std::nullopt;
  }

  std::string bound_names() const {
    std::vector<std::string> names;
    const auto add = [&](const Pattern& p) {
      for (const Metavariable& mv : p.names()) {
        if (std::find(names.begin(), names.end(), mv.spelled()) == names.end()) names.push_back(mv.spelled());
      }
    };
    const CompiledNarrowing& n = shape_.narrow;
    if (n.match) add(*n.match);
    for (const auto* list : {&n.inside, &n.has, &n.after, &n.before}) {
      for (const Pattern& p : *list) add(p);
    }
    if (names.empty()) return "the rule binds no metavariable";
    std::string out = "bound are ";
    for (std::size_t i = 0; i < names.size(); ++i) out += (i == 0 ? "" : ", ") + names[i];
    return out;
  }

  const Rule& rule_;
  const Source& yaml_;
  const CompiledShape& shape_;
};

// --- what a replaced site looks like ----------------------------------------------------------------------------------------

// The match's text with each occurrence of the metavariable replaced.
std::optional<Pattern> with_part(const Pattern& match, const std::string& name, const Pattern& part) {
  for (const bool parentheses : {true, false}) {
    std::string text;
    std::uint32_t at = match.tree()[match.roots().front()].begin;
    for (NodeId root : match.roots()) {
      for (NodeId id = root; id < match.tree()[root].subtree_end; ++id) {
        const Metavariable* mv = match.metavariable(id);
        if (mv == nullptr || mv->name != name || match.tree()[id].begin < at) continue;
        text += match.spelled({at, match.tree()[id].begin});
        text += parentheses ? "(" + part.written() + ")" : part.written();
        at = match.tree()[id].end;
      }
    }
    text += match.spelled({at, match.tree()[match.roots().back()].end});
    if (auto pattern = compile_pattern(text, nullptr)) return pattern;
  }
  return std::nullopt;
}

// What the match has become, as a pattern; nullopt for edits that are compared in place.
std::optional<Pattern> result_pattern(const CompiledShape& shape) {
  const Pattern& match = *shape.narrow.match;
  if (const auto* structural = std::get_if<CompiledStructural>(&*shape.edit))
    return structural->kind == Structure::wrap ? wrapped(*structural, match) : std::nullopt;
  const auto* replace = std::get_if<CompiledReplace>(&*shape.edit);
  if (replace == nullptr || replace->whole) return replace == nullptr ? std::nullopt : replace->whole;
  std::optional<Pattern> pattern = match;
  for (const auto& [name, part] : replace->parts) {
    if (pattern) pattern = with_part(*pattern, name, part);
  }
  return pattern;
}

bool is_changed(const CompiledEdit& edit, const std::string& name) {
  const auto* replace = std::get_if<CompiledReplace>(&edit);
  return replace != nullptr && std::any_of(replace->parts.begin(), replace->parts.end(),
                                           [&](const auto& part) { return part.first == name; });
}

// Derived where `applied` is not written: see rule.h. nullopt for edits that are compared in place.
std::optional<CompiledNarrowing> derive_applied(const CompiledShape& shape) {
  if (!shape.edit || !shape.narrow.match) return std::nullopt;
  CompiledNarrowing out;
  out.match = result_pattern(shape);
  if (!out.match) return std::nullopt;
  out.inside = shape.narrow.inside;
  out.after = shape.narrow.after;
  out.before = shape.narrow.before;
  out.not_inside = shape.narrow.not_inside;
  out.not_after = shape.narrow.not_after;
  out.not_before = shape.narrow.not_before;
  for (const CompiledWhere& where : shape.narrow.where) {
    if (!is_changed(*shape.edit, where.name) && out.binds(where.name)) out.where.push_back(where);
  }
  return out;
}

Result<CompiledShape> compile_shape(const Rule& rule, const Shape& shape) {
  CompiledShape out;
  out.shape = &shape;
  auto narrow = compile_narrowing(shape.narrow, *rule.source);
  if (!narrow) return narrow.error();
  out.narrow = std::move(*narrow);
  if (shape.edit) {
    auto edit = compile_edit(*shape.edit, *rule.source);
    if (!edit) return edit.error();
    out.edit = std::move(*edit);
  }
  if (shape.applied) {
    auto applied = compile_narrowing(*shape.applied, *rule.source);
    if (!applied) return applied.error();
    out.applied = std::move(*applied);
  }
  if (shape.versions) out.versions = parse_specifiers(shape.versions->value);
  if (auto error = Checker(rule, out).check()) return *error;
  if (!out.applied) out.applied = derive_applied(out);
  const auto* structural = out.edit ? std::get_if<CompiledStructural>(&*out.edit) : nullptr;
  if (structural != nullptr && structural->kind == Structure::add_branch) out.narrow.match->allow_other_clauses();
  if (structural != nullptr && out.narrow.match) out.grown = grown(*structural, *out.narrow.match);
  const bool wraps = structural != nullptr && structural->kind == Structure::wrap;
  if (out.edit && (wraps || std::holds_alternative<CompiledReplace>(*out.edit)) && !out.applied) {
    return rule_error(rule, text_of(*shape.edit).at, "what this edit leaves cannot be told from the pattern",
                      "write out `applied:`");
  }
  return out;
}

}  // namespace

bool CompiledNarrowing::binds(const std::string& name) const {
  if (match && match->binds(name)) return true;
  for (const auto* list : {&inside, &has, &after, &before}) {
    if (std::any_of(list->begin(), list->end(), [&](const Pattern& p) { return p.binds(name); })) return true;
  }
  // What a value comes from is searched with the clauses of its own metavariables.
  return std::any_of(where.begin(), where.end(), [&](const CompiledWhere& w) {
    const auto in = [&](const std::vector<Pattern>& list) {
      return std::any_of(list.begin(), list.end(), [&](const Pattern& p) { return p.binds(name); });
    };
    return w.flow && (in(w.flow->from) || in(w.flow->element_of));
  });
}

std::string CompiledImport::bound() const {
  if (!alias.empty()) return alias;
  return name.empty() ? module.substr(0, module.find('.')) : name;
}

const CompiledImport* CompiledRule::import() const {
  return shapes.size() == 1 && shapes[0].edit ? std::get_if<CompiledImport>(&*shapes[0].edit) : nullptr;
}

namespace {

bool has_edit(const CompiledRule& rule, std::initializer_list<Structure> kinds) {
  return std::any_of(rule.shapes.begin(), rule.shapes.end(), [&](const CompiledShape& shape) {
    const auto* edit = shape.edit ? std::get_if<CompiledStructural>(&*shape.edit) : nullptr;
    return edit != nullptr && std::find(kinds.begin(), kinds.end(), edit->kind) != kinds.end();
  });
}

}  // namespace

bool CompiledRule::deletes() const {
  return has_edit(*this, {Structure::remove});
}

std::size_t CompiledRule::least_results(std::size_t sites) const {
  return deletes() ? std::min<std::size_t>(sites, 1) : sites;
}

bool CompiledRule::takes_away() const {
  return has_edit(*this, {Structure::remove_decorator, Structure::remove_import});
}

Result<Pattern> compile_text(const Text& text, const Source& yaml, std::string_view /*what*/) {
  PatternProblem problem;
  auto pattern = compile_pattern(text.value, &problem);
  if (!pattern)
    return yaml_error(yaml, range_within(yaml, text, problem.begin, problem.end), problem.message, problem.hint);
  return std::move(*pattern);
}

Result<CompiledNarrowing> compile_narrowing(const Narrowing& narrowing, const Source& yaml) {
  CompiledNarrowing out;
  if (narrowing.match) {
    auto pattern = compile_text(*narrowing.match, yaml, "match");
    if (!pattern) return pattern.error();
    out.match = std::move(*pattern);
  }
  struct List {
    const std::vector<Text>& from;
    std::vector<Pattern>& to;
    std::string_view key;
  };
  for (const List& list :
       {List{narrowing.inside, out.inside, "inside"}, List{narrowing.has, out.has, "has"},
        List{narrowing.after, out.after, "after"}, List{narrowing.before, out.before, "before"},
        List{narrowing.not_inside, out.not_inside, "not_inside"}, List{narrowing.not_has, out.not_has, "not_has"},
        List{narrowing.not_after, out.not_after, "not_after"},
        List{narrowing.not_before, out.not_before, "not_before"}}) {
    if (auto error = compile_list(list.from, yaml, list.key, list.to)) return *error;
  }
  for (const WhereClause& clause : narrowing.where) {
    auto where = compile_where(clause, yaml);
    if (!where) return where.error();
    out.where.push_back(std::move(*where));
  }
  return out;
}

Result<CompiledRule> compile_rule(const Rule& rule) {
  CompiledRule out;
  out.rule = &rule;
  auto base = compile_narrowing(rule.base.narrow, *rule.source);
  if (!base) return base.error();
  out.base = std::move(*base);
  if (rule.any_of.empty()) {
    auto shape = compile_shape(rule, rule.base);
    if (!shape) return shape.error();
    out.shapes.push_back(std::move(*shape));
  }
  for (const Shape& entry : rule.any_of) {
    auto shape = compile_shape(rule, entry);
    if (!shape) return shape.error();
    out.shapes.push_back(std::move(*shape));
  }
  if (rule.done_if) {
    auto done = compile_narrowing(*rule.done_if, *rule.source);
    if (!done) return done.error();
    out.done_if = std::move(*done);
  }
  return out;
}

}  // namespace suture
