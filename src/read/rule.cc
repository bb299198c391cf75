// A rule file: what its keys say, checked for shape. What a pattern means is engine/pattern's affair.
// Test: tests/unit/rule_test.cc.
#include "read/rule.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/text.h"
#include "read/glob.h"
#include "read/rule_parts.h"
#include "read/yaml_fields.h"
#include "read/yaml_reader.h"

namespace suture {
namespace {

using Words = std::vector<std::string>;

Words concat(const std::vector<Words>& lists) {
  Words all;
  for (const Words& words : lists) all.insert(all.end(), words.begin(), words.end());
  return all;
}

const Words& audit_keys() {
  static const Words kKeys = {"kind", "message", "level", "possible"};
  return kKeys;
}

const Words& rule_only_keys() {
  static const Words kKeys = {"id",     "note",   "ok",       "file",     "in",   "expect",  "per_file", "done_if",
                              "any_of", "select", "comments", "examples", "kind", "message", "level",    "possible"};
  return kKeys;
}

const Keys& rule_keys() {
  static const Keys kKeys{
      "a rule", concat({rule_only_keys(), narrowing_keys(), edit_keys(), {"applied", "versions"}}), {}, {}};
  return kKeys;
}

const Keys& shape_keys() {
  static const Keys kKeys{"an 'any_of' entry", concat({narrowing_keys(), edit_keys(), {"applied", "versions"}}),
                          rule_only_keys(), "the rule"};
  return kKeys;
}

// --- Shapes -----------------------------------------------------------------

Shape read_shape(const Fields& fields) {
  Shape shape;
  shape.narrow = read_narrowing(fields);
  shape.edit = read_edit(fields);
  shape.versions = fields.specifiers("versions");
  shape.applied = read_pattern(fields, "applied");
  shape.at = fields.at();
  return shape;
}

// An entry of any_of over the rule's own keys; the semantics are Shape's in rule.h.
Shape merge(const Shape& rule, Shape entry) {
  entry.own_match = entry.narrow.match.has_value();
  entry.narrow = merge(rule.narrow, entry.narrow);
  if (!entry.edit) entry.edit = rule.edit;
  if (!entry.versions) entry.versions = rule.versions;
  if (!entry.applied) entry.applied = rule.applied;
  return entry;
}

// What the edits of enum Structure demand.
void check_structural(const Rule& rule, const Shape& shape, const Structural& edit, Range at, Problems& problems) {
  const std::string name = "the rule " + in_quotes(rule.id);
  const bool removes = edit.kind == Structure::remove;
  const bool of_definition = edit.kind == Structure::add_member || edit.kind == Structure::add_decorator ||
                             edit.kind == Structure::remove_decorator;
  if (edit.kind == Structure::remove_import) {
    if (shape.narrow.match)
      problems.report(shape.narrow.match->at, name + " has 'remove_import' and 'match'",
                      "the import is found by its name in the module, or in the scopes of 'in': leave 'match' out");
  } else if (!shape.narrow.match && (!of_definition || rule.in.empty())) {
    problems.report_missing(at, name + " does not say what its edit changes",
                            of_definition ? "name the definition with 'in', or write a 'match' for it"
                                          : "write 'match', the pattern of the code that it changes");
  }
  if (removes && !shape.applied) {
    problems.report_missing(
        at, name + " has 'delete' but no 'applied'",
        "write a pattern of the code as it is without what is deleted: what is gone cannot be found");
  }
}

// What a shape's keys demand of each other, once merged.
void check_shape(const Rule& rule, const Shape& shape, Range at, Problems& problems) {
  const std::string name = "the rule " + in_quotes(rule.id);
  if (rule.audit) {
    if (!shape.narrow.match)
      problems.report_missing(at, name + " does not say what it looks for", "write 'match', the pattern of the code");
    return;
  }
  if (!shape.edit) {
    problems.report_missing(at, name + (rule.any_of.empty() ? " has no edit" : " has no edit for this shape"),
                            "its edit is one of " + join(edit_keys(), ", ", " and "));
    return;
  }
  const bool replaces = std::holds_alternative<Replace>(*shape.edit);
  const bool argument = std::holds_alternative<Argument>(*shape.edit);
  if ((replaces || argument) && !shape.narrow.match) {
    problems.report_missing(at, name + " has " + (replaces ? "'replace'" : "'argument'") + " but no 'match'",
                            "write the pattern of the code that it changes");
  }
  if (const auto* structural = std::get_if<Structural>(&*shape.edit))
    check_structural(rule, shape, *structural, at, problems);
  const auto* insert = std::get_if<Insert>(&*shape.edit);
  const bool beside =
      insert != nullptr && (insert->place == Place::insert_before || insert->place == Place::insert_after);
  if (beside && !shape.narrow.match && rule.in.empty()) {
    problems.report_missing(at, name + " inserts beside nothing", "write 'match', or name a definition with 'in'");
  }
  if (replaces && rule.select.kind != SelectKind::all && !shape.applied) {
    problems.report_missing(
        at, name + " has 'select' and 'replace' but no 'applied'",
        "write the pattern of the result: which site was taken cannot be told from the replacement");
  }
}

// A relative import names another module in each folder that a glob leads to.
void check_import(const Rule& rule, const Shape& shape, Problems& problems) {
  const auto* import = shape.edit ? std::get_if<AddImport>(&*shape.edit) : nullptr;
  if (import == nullptr) return;
  const std::string_view statement = trim(import->statement.value);
  if (!statement.starts_with("from ") || !trim(statement.substr(5)).starts_with('.')) return;
  const auto glob = std::find_if(rule.files.begin(), rule.files.end(), [](const Text& f) { return is_glob(f.value); });
  if (glob == rule.files.end()) return;
  problems.report(import->statement.at,
                  "a relative import would name another module in each folder of " + in_quotes(glob->value),
                  "write the module from the package's name on");
}

// --- The rule's own fields --------------------------------------------------

Expect read_expect_map(const YamlNode& node, Problems& problems) {
  static const Keys kKeys{"'expect'", {"min", "max", "per_file"}, {}, {}};
  const Fields fields(node, kKeys, problems);
  const std::optional<std::uint32_t> min = fields.number("min"), max = fields.number("max");
  if (fields.is_map() && fields.find("min") == nullptr && fields.find("max") == nullptr) {
    problems.report_missing(node.at, "'expect' has neither 'min' nor 'max'", "write a count, or {min: 1, max: 3}");
  }
  Expect expect{min.value_or(1), max.value_or(std::numeric_limits<std::uint32_t>::max()), false};
  expect.per_file = fields.flag("per_file").value_or(false);
  if (expect.max == 0) {
    problems.report(fields.find("max")->value.at, "'max' is 0: a rule that must find nothing does nothing",
                    "write how many sites it may find at most");
  } else if (expect.min > expect.max) {
    problems.report(node.at,
                    "'min' " + std::to_string(expect.min) + " is more than 'max' " + std::to_string(expect.max),
                    "swap the two, or write one count");
  }
  return expect;
}

// An audit rule looks and edits nothing: what speaks of an edit says nothing in it.
void refuse_in_audit(const Fields& fields, const std::string& name) {
  const Words without =
      concat({edit_keys(), {"applied", "done_if", "select", "comments", "expect", "per_file", "ok", "versions"}});
  for (const std::string& key : without) {
    const YamlEntry* entry = fields.find(key);
    if (entry == nullptr) continue;
    fields.problems().report(entry->key_at,
                             name + " has a 'kind', so it is an audit rule: " + in_quotes(key) + " says nothing in it",
                             "leave out 'kind', or " + in_quotes(key));
  }
}

std::optional<Audit> read_audit(const Fields& fields, const Text& id) {
  const std::string name = "the rule " + in_quotes(id.value);
  if (fields.find("kind") == nullptr) {
    for (const std::string& key : audit_keys()) {
      if (const YamlEntry* entry = fields.find(key))
        fields.problems().report(entry->key_at, in_quotes(key) + " is of audit rules, and " + name + " has no 'kind'",
                                 "write 'kind: cast', or another word for what it finds");
    }
    return std::nullopt;
  }
  Audit audit;
  const Text kind = fields.required("kind", "write a word for what it finds, such as kind: cast");
  check_id(kind, "a rule's kind", fields.problems());
  audit.kind = kind.value;
  audit.message = fields.words("message");
  if (audit.message.empty() && fields.find("message") == nullptr)
    fields.problems().report_missing(id.at, name + " has no 'message'", "say what its sites are, in one sentence");
  audit.possible = fields.flag("possible").value_or(false);
  if (const std::optional<Text> level = fields.text("level")) {
    const Words levels = {"note", "warning", "error"};
    const auto found = std::find(levels.begin(), levels.end(), level->value);
    if (found == levels.end())
      fields.problems().report(level->at, "'level' must be note, warning or error, not " + in_quotes(level->value), "");
    else
      audit.level = static_cast<Level>(found - levels.begin());
  }
  refuse_in_audit(fields, name);
  return audit;
}

void check_audit_examples(const Rule& rule, Problems& problems) {
  for (const Example& example : rule.examples) {
    const Text* wrong =
        rule.audit ? (example.before ? &*example.before : nullptr) : (example.found ? &*example.found : nullptr);
    if (wrong == nullptr) continue;
    problems.report(wrong->at,
                    rule.audit ? "an audit rule edits nothing: its examples are 'found' or 'same'"
                               : "'found' is for rules with a 'kind'; this one edits",
                    rule.audit ? "write 'found' with code that has a site in it" : "write 'before' and 'after'");
  }
}

Expect read_expect(const Fields& fields, const Text& id) {
  const std::string hint = "say how many sites it must find: expect: 1, or expect: {min: 1, max: 3}";
  const YamlEntry* entry = fields.find("expect");
  Expect expect;
  if (entry == nullptr) {
    if (fields.is_map() && !id.value.empty()) {
      fields.problems().report_missing(id.at, "the rule " + in_quotes(id.value) + " has no 'expect'", hint);
    }
    return expect;
  }
  if (entry->value.kind == YamlNode::Kind::map) {
    expect = read_expect_map(entry->value, fields.problems());
  } else if (const auto count = as_number(entry->value, "'expect'", fields.problems())) {
    expect.min = expect.max = *count;
    if (*count == 0) {
      fields.problems().report(entry->value.at, "'expect' is 0: a rule that must find nothing does nothing", hint);
    }
  }
  if (const auto per_file = fields.flag("per_file")) expect.per_file = *per_file;
  return expect;
}

Select read_select(const Fields& fields) {
  const YamlEntry* entry = fields.find("select");
  if (entry == nullptr) return {};
  const YamlNode& node = entry->value;
  if (node.value == "first") return {SelectKind::first, 0};
  if (node.value == "last") return {SelectKind::last, 0};
  const bool number =
      node.kind == YamlNode::Kind::scalar && node.value.find_first_not_of("0123456789") == std::string::npos;
  if (!number) {
    const std::string what = node.kind == YamlNode::Kind::scalar ? in_quotes(node.value) : kind_words(node.kind);
    fields.problems().report(node.at, "'select' must be first, last or a number, not " + what, "numbers count from 0");
    return {};
  }
  return {SelectKind::nth, as_number(node, "'select'", fields.problems()).value_or(0)};
}

Comments read_comments(const Fields& fields) {
  const std::optional<Text> text = fields.text("comments");
  if (!text || text->value == "refuse") return Comments::refuse;
  if (text->value == "keep") return Comments::keep;
  if (text->value == "drop") return Comments::drop;
  fields.problems().report(text->at, "'comments' must be keep, drop or refuse, not " + in_quotes(text->value),
                           "it says what becomes of a comment within code that the rule replaces");
  return Comments::refuse;
}

void read_shapes(const Fields& fields, Rule& rule) {
  rule.base = read_shape(fields);
  for (const YamlNode& node : fields.items("any_of")) {
    if (rule.audit) refuse_in_audit(Fields(node, shape_keys(), fields.problems()), "the rule " + in_quotes(rule.id));
    rule.any_of.push_back(merge(rule.base, read_shape(Fields(node, shape_keys(), fields.problems()))));
  }
  check_import(rule, rule.base, fields.problems());
  for (const Shape& shape : rule.any_of) check_import(rule, shape, fields.problems());
  if (fields.find("any_of") == nullptr) return check_shape(rule, rule.base, rule.at, fields.problems());
  for (const Shape& shape : rule.any_of) check_shape(rule, shape, shape.at, fields.problems());
}

Rule read_rule(const YamlNode& node, const std::vector<Text>& default_files, Problems& problems) {
  const Fields fields(node, rule_keys(), problems);
  const Text id = fields.required("id", "give it a name of its own, such as id: mla-decode-casts-active");
  check_id(id, "a rule's id", problems);
  Rule rule;
  rule.id = id.value;
  rule.at = id.value.empty() ? node.at : id.at;
  rule.note = fields.words("note");
  rule.ok = fields.words("ok");
  if (rule.ok.empty()) rule.ok = rule.id;
  rule.audit = read_audit(fields, id);
  rule.files = fields.find("file") == nullptr ? default_files : fields.paths("file");
  if (!rule.audit && rule.files.empty() && fields.is_map() && fields.find("file") == nullptr) {
    problems.report_missing(rule.at, "the rule " + in_quotes(rule.id) + " names no 'file'",
                            "write 'file:' in it, or at the top of the file for all of its rules");
  }
  rule.in = read_scopes(fields);
  if (rule.audit) {
    rule.expect = Expect{0, std::numeric_limits<std::uint32_t>::max(), false};
  } else {
    rule.expect = read_expect(fields, id);
  }
  rule.select = read_select(fields);
  rule.comments = read_comments(fields);
  rule.done_if = read_pattern(fields, "done_if");
  rule.examples = read_examples(fields);
  check_audit_examples(rule, fields.problems());
  if (fields.is_map()) read_shapes(fields, rule);
  return rule;
}

}  // namespace

std::string_view level_name(Level level) {
  return level == Level::note ? "note" : level == Level::warning ? "warning" : "error";
}

Result<std::vector<Rule>> read_rules(const std::shared_ptr<const Source>& yaml) {
  static const Keys kKeys{"a rule file", {"file", "rules"}, {}, {}};
  const Result<YamlNode> root = read_yaml(*yaml);
  if (!root) return root.error();
  Problems problems(*yaml);
  const Fields fields(*root, kKeys, problems);
  const std::vector<Text> files = fields.paths("file");
  if (fields.is_map() && fields.find("rules") == nullptr) {
    problems.report_missing(root->at, "a rule file has no 'rules'",
                            "list its rules below 'rules:', each with '- id: ...'");
  }
  std::vector<Rule> rules;
  for (const YamlNode& node : fields.items("rules")) {
    rules.push_back(read_rule(node, files, problems));
    rules.back().source = yaml;
  }
  if (!problems.none()) return problems.first();
  return rules;
}

Error rule_error(const Rule& rule, Range at, std::string message, std::string hint) {
  return yaml_error(*rule.source, at, std::move(message), std::move(hint));
}

}  // namespace suture
