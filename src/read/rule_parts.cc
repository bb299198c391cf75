// Test: tests/unit/rule_test.cc.
#include "read/rule_parts.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace suture {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

bool is_dotted_name(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '.');
  return std::all_of(parts.begin(), parts.end(), is_identifier);
}

bool is_scope(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '.');
  return std::all_of(parts.begin(), parts.end(), [](std::string_view p) { return p == "*" || is_identifier(p); });
}

bool is_metavariable(std::string_view name) {
  return !name.empty() && name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == std::string_view::npos &&
         (name.front() < '0' || name.front() > '9') && name != "_";
}

Text key_text(const YamlEntry& entry) {
  return {entry.key, entry.key_at};
}

// --- Edits ------------------------------------------------------------------

Replace read_replace(const Fields& fields, const YamlEntry& entry) {
  Replace replace;
  if (entry.value.kind != YamlNode::Kind::map) {
    replace.whole = fields.text("replace");
    return replace;
  }
  if (entry.value.entries.empty()) {
    fields.problems().report(entry.key_at, "'replace' is an empty map",
                             "write {X: code} for a metavariable $X, or code");
  }
  for (const YamlEntry& part : entry.value.entries) {
    check_metavariable(key_text(part), "replace", fields.problems());
    auto becomes = as_text(part.value, in_quotes(part.key), fields.problems());
    if (becomes) replace.parts.emplace_back(key_text(part), std::move(*becomes));
  }
  return replace;
}

Argument read_argument(const Fields& outer, const YamlEntry& entry) {
  static const Keys kKeys{"'argument'", {"name", "position", "becomes"}, {}, {}};
  const Fields fields(entry.value, kKeys, outer.problems());
  Argument argument;
  argument.at = entry.key_at;
  argument.name = fields.required("name", "write the parameter's name, as a call would pass it by keyword");
  argument.position = fields.number("position");
  argument.becomes = fields.required("becomes", "write the new code; $ARG in it is what the argument was");
  if (!argument.name.value.empty() && !is_identifier(argument.name.value)) {
    outer.problems().report(argument.name.at, in_quotes(argument.name.value) + " is no parameter's name",
                            "write the name that a call would pass it by");
  }
  return argument;
}

// "a.b" or "a.b as c"; `dotted`: the name may have dots.
bool is_import_name(std::string_view text, bool dotted) {
  const std::size_t as = text.find(" as ");
  const std::string_view name = trim(text.substr(0, as));
  if (as != std::string_view::npos && !is_identifier(trim(text.substr(as + 4)))) return false;
  return dotted ? is_dotted_name(name) : is_identifier(name);
}

bool is_import(std::string_view statement) {
  statement = trim(statement);
  if (statement.substr(0, 7) == "import ") return is_import_name(trim(statement.substr(7)), true);
  const std::size_t import = statement.find(" import ");
  if (statement.substr(0, 5) != "from " || import == std::string_view::npos) return false;
  std::string_view module = trim(statement.substr(5, import - 5));
  const bool relative = !module.empty() && module.front() == '.';
  while (!module.empty() && module.front() == '.') module.remove_prefix(1);
  const bool module_fits = is_dotted_name(module) || (relative && module.empty());
  return module_fits && is_import_name(trim(statement.substr(import + 8)), false);
}

// An import of one name or more.
bool is_import_of_names(const std::string& statement) {
  const std::size_t import = statement.rfind("import ");
  if (import == std::string::npos) return false;
  const std::string head = statement.substr(0, import + 7);
  std::size_t begin = head.size();
  while (begin <= statement.size()) {
    const std::size_t end = std::min(statement.find(',', begin), statement.size());
    if (!is_import(head + statement.substr(begin, end - begin))) return false;
    begin = end + 1;
  }
  return true;
}

Edit read_edit_of(const Fields& fields, const YamlEntry& entry) {
  if (entry.key == "replace") return read_replace(fields, entry);
  if (entry.key == "argument") return read_argument(fields, entry);
  if (entry.key == "add_import") return AddImport{read_import_text(fields, "add_import", false)};
  if (is_structural(entry.key)) return read_structural(fields, entry);
  const Place place = entry.key == "prepend_body"   ? Place::prepend_body
                      : entry.key == "append_body"  ? Place::append_body
                      : entry.key == "insert_after" ? Place::insert_after
                                                    : Place::insert_before;
  return Insert{place, fields.text(entry.key).value_or(Text{})};
}

// --- Examples ---------------------------------------------------------------

Example read_example(const YamlNode& node, Problems& problems) {
  static const Keys kKeys{"an example", {"before", "after", "same", "found", "exact"}, {}, {}};
  const Fields fields(node, kKeys, problems);
  Example example{fields.text("before"), fields.text("after"), fields.text("same"), fields.text("found"), false};
  example.exact = fields.flag("exact").value_or(false);
  const bool before = fields.find("before") != nullptr, after = fields.find("after") != nullptr;
  const bool same = fields.find("same") != nullptr, found = fields.find("found") != nullptr;
  const bool alone = !before && !after && same != found;
  if (fields.is_map() && !alone && (same || found || !before || !after)) {
    problems.report_missing(node.at, "an example is either 'before' with 'after', or 'same' alone, or 'found' alone",
                            "'same' is code that the rule must leave as it is; 'found' is of rules with a 'kind'");
  }
  return example;
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

bool is_identifier(std::string_view text) {
  const auto fits = [](char c, bool first) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c & 0x80) != 0;
    return letter || (!first && c >= '0' && c <= '9');
  };
  if (text.empty() || !fits(text.front(), true)) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) { return fits(c, false); });
}

Text read_import_text(const Fields& fields, const std::string& key, bool several) {
  Text statement = fields.text(key).value_or(Text{});
  const bool fits = several ? is_import_of_names(statement.value) : is_import(statement.value);
  if (!statement.value.empty() && !fits) {
    const std::string names = several ? "names" : "one name";
    fields.problems().report(
        statement.at, in_quotes(key) + " is not one import of " + names + ": " + in_quotes(statement.value),
        several ? "write from a.b import c, d without parentheses, or import a.b; with 'as d' too"
                : "write from a.b import c, import a.b, or either with 'as d'; one rule an import");
  }
  return statement;
}

void check_metavariable(const Text& name, const std::string& key, Problems& problems) {
  if (is_metavariable(name.value)) return;
  const std::size_t begin = std::min(name.value.find_first_not_of('$'), name.value.size());
  const std::string bare = name.value.substr(begin);
  const bool dollar = begin > 0 && is_metavariable(bare);
  problems.report(name.at, in_quotes(name.value) + " in " + in_quotes(key) + " is no metavariable's name",
                  dollar ? "write " + bare + ", without the $" : "names are of A-Z, 0-9 and _, as X is in $X");
}

const std::vector<std::string>& narrowing_keys() {
  static const std::vector<std::string> kKeys = {"match",  "where",      "inside",  "has",       "after",
                                                 "before", "not_inside", "not_has", "not_after", "not_before"};
  return kKeys;
}

const std::vector<std::string>& edit_keys() {
  static const std::vector<std::string> kKeys = {
      "replace",    "argument",   "prepend_body",  "append_body",      "insert_before", "insert_after",
      "add_import", "delete",     "wrap",          "add_argument",     "add_element",   "set_key",
      "add_branch", "add_member", "add_decorator", "remove_decorator", "remove_import"};
  return kKeys;
}

std::vector<WhereClause> read_where(const Fields& outer) {
  static const Keys kKeys{
      "a 'where' clause",
      {"kind", "regex", "not_regex", "match", "has", "one_of", "comes_from", "element_of", "through", "parameter"},
      {},
      {}};
  const YamlEntry* entry = outer.find("where");
  if (entry == nullptr) return {};
  Problems& problems = outer.problems();
  if (entry->value.kind != YamlNode::Kind::map || entry->value.entries.empty()) {
    problems.report(entry->value.at, "'where' must be a map from metavariables to what they must be",
                    "such as where: {X: {kind: identifier}}");
    return {};
  }
  std::vector<WhereClause> out;
  for (const YamlEntry& of : entry->value.entries) {
    check_metavariable(key_text(of), "where", problems);
    const Fields fields(of.value, kKeys, problems);
    if (fields.is_map() && of.value.entries.empty())
      problems.report(of.key_at, "this 'where' clause asks for nothing",
                      "write one of its keys, such as kind or regex, or remove it");
    out.push_back({key_text(of), fields.text("kind"), fields.text("regex"), fields.text("not_regex"),
                   fields.text("match"), fields.text("has"), fields.texts("one_of"), fields.texts("comes_from"),
                   fields.texts("element_of"), fields.texts("through"), fields.text("parameter")});
    if (fields.find("through") != nullptr && !out.back().follows())
      problems.report(fields.find("through")->key_at,
                      "'through' says what hands a value on, and nothing says which value",
                      "write comes_from, element_of or parameter beside it");
  }
  return out;
}

Narrowing read_narrowing(const Fields& fields) {
  Narrowing narrow;
  narrow.match = fields.text("match");
  narrow.where = read_where(fields);
  narrow.inside = fields.texts("inside");
  narrow.has = fields.texts("has");
  narrow.after = fields.texts("after");
  narrow.before = fields.texts("before");
  narrow.not_inside = fields.texts("not_inside");
  narrow.not_has = fields.texts("not_has");
  narrow.not_after = fields.texts("not_after");
  narrow.not_before = fields.texts("not_before");
  return narrow;
}

std::optional<Narrowing> read_pattern(const Fields& outer, const std::string& key) {
  static const Keys kKeys{"a pattern's map", narrowing_keys(), {}, {}};
  const YamlEntry* entry = outer.find(key);
  if (entry == nullptr) return std::nullopt;
  if (entry->value.kind == YamlNode::Kind::map) {
    const Fields fields(entry->value, kKeys, outer.problems());
    if (entry->value.entries.empty())
      outer.problems().report(entry->key_at, in_quotes(key) + " is an empty map", "write a pattern");
    return read_narrowing(fields);
  }
  Narrowing narrow;
  narrow.match = outer.text(key);
  return narrow;
}

Narrowing merge(const Narrowing& rule, const Narrowing& entry) {
  Narrowing out = rule;
  if (entry.match) out.match = entry.match;
  append(out.where, entry.where);
  append(out.inside, entry.inside);
  append(out.has, entry.has);
  append(out.after, entry.after);
  append(out.before, entry.before);
  append(out.not_inside, entry.not_inside);
  append(out.not_has, entry.not_has);
  append(out.not_after, entry.not_after);
  append(out.not_before, entry.not_before);
  return out;
}

std::optional<Edit> read_edit(const Fields& fields) {
  const YamlEntry* first = nullptr;
  for (const std::string& key : edit_keys()) {
    const YamlEntry* entry = fields.find(key);
    if (entry == nullptr) continue;
    if (first == nullptr || entry->key_at.begin < first->key_at.begin) std::swap(first, entry);
    if (entry == nullptr) continue;
    fields.problems().report(entry->key_at, "a second edit: " + in_quotes(first->key) + " is this rule's edit already",
                             "a rule makes one edit; write a second rule for " + in_quotes(entry->key));
  }
  return first == nullptr ? std::nullopt : std::optional<Edit>(read_edit_of(fields, *first));
}

std::vector<Text> read_scopes(const Fields& fields) {
  std::vector<Text> scopes = fields.texts("in");
  for (const Text& scope : scopes) {
    if (is_scope(scope.value)) continue;
    fields.problems().report(scope.at, in_quotes(scope.value) + " is no scope",
                             "write the names of classes and functions with dots between them, such as "
                             "Backend.forward_decode; * stands for one name");
  }
  return scopes;
}

std::vector<Example> read_examples(const Fields& fields) {
  std::vector<Example> out;
  for (const YamlNode& node : fields.items("examples")) out.push_back(read_example(node, fields.problems()));
  return out;
}

}  // namespace suture
