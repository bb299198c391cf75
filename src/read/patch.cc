// patch.yaml: what its keys say. The catalog resolves rules and added files.
// Test: tests/unit/patch_test.cc.
#include "read/patch.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "read/rule_parts.h"
#include "read/version.h"
#include "read/yaml_fields.h"
#include "read/yaml_reader.h"

namespace suture {
namespace {

// --- requires:, superseded: -------------------------------------------------

const Keys& condition_keys() {
  static const Keys kKeys{"a condition",
                          {"package", "versions", "file", "class", "in", "match", "where", "has", "literal",
                           "not_match", "not_has", "not_literal", "note", "otherwise"},
                          {},
                          {}};
  return kKeys;
}

std::optional<Text> read_distribution(const Fields& fields, const std::string& key) {
  std::optional<Text> name = fields.text(key);
  if (!name) return name;
  const std::string_view text = name->value;
  const bool legal = std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
           c == '.';
  });
  if (!legal || text.find_first_of("-_.") == 0 || text.find_last_of("-_.") == text.size() - 1) {
    fields.problems().report(name->at, in_quotes(text) + " is no distribution's name",
                             "write the name that pip knows, such as sglang");
  }
  name->value = normalize_name(text);
  return name;
}

// What a condition looks at must be named: code needs a file, and a clause on a metavariable a pattern.
void check_condition(const Fields& fields, const Condition& condition, Problems& problems) {
  if (!fields.is_map()) return;
  if (fields.find("class") != nullptr && fields.find("file") != nullptr) {
    problems.report(fields.find("class")->key_at, "'class' finds the file, and 'file' names it",
                    "keep one of the two; a class of a file that is named goes into 'in'");
  }
  const bool placed = fields.find("file") != nullptr || fields.find("class") != nullptr;
  for (const char* key : {"in", "match", "has", "literal", "not_match", "not_has", "not_literal"}) {
    if (fields.find(key) != nullptr && !placed) {
      problems.report(fields.find(key)->key_at, in_quotes(key) + " needs a 'file' to look into",
                      "name the file, relative to the package's folder, or a 'class' that it defines");
    }
  }
  if (!condition.narrow.where.empty() && !condition.narrow.match) {
    problems.report(fields.find("where")->key_at, "'where' needs a 'match' whose metavariables it narrows",
                    "write the pattern");
  }
  if (!placed && fields.find("package") == nullptr && fields.find("versions") == nullptr) {
    problems.report_missing(fields.at(), "a condition that asks for nothing", "name a package, versions or a file");
  }
}

// `class`: one name; `in` beside it names parts of that class.
std::optional<Text> read_class(const Fields& fields, const std::vector<Text>& scopes) {
  std::optional<Text> name = fields.text("class");
  if (!name) return name;
  if (!is_identifier(name->value)) {
    fields.problems().report(name->at, in_quotes(name->value) + " is no name of a class",
                             "write the name of a class that stands at the top level of its module");
    return name;
  }
  for (const Text& scope : scopes) {
    if (scope.value == name->value || scope.value.starts_with(name->value + ".")) continue;
    fields.problems().report(scope.at, in_quotes(scope.value) + " is no part of the class " + in_quotes(name->value),
                             "'in' names from the module on: " + name->value + "." + scope.value);
  }
  return name;
}

// `package`: a distribution's name, or {name, folder}.
void read_condition_package(const Fields& outer, Condition& condition) {
  static const Keys kKeys{"'package' of a condition", {"name", "folder"}, {}, {}};
  const YamlEntry* entry = outer.find("package");
  if (entry == nullptr || entry->value.kind != YamlNode::Kind::map) {
    condition.package = read_distribution(outer, "package");
    return;
  }
  const Fields fields(entry->value, kKeys, outer.problems());
  if (fields.find("name") == nullptr) {
    outer.problems().report_missing(fields.at(), "'package' has no 'name'",
                                    "write the distribution's name, as pip knows it");
  }
  condition.package = read_distribution(fields, "name");
  condition.folder = fields.text("folder");
  if (condition.folder) check_path(*condition.folder, "'folder'", outer.problems());
}

Condition read_condition(const YamlNode& node, Problems& problems) {
  const Fields fields(node, condition_keys(), problems);
  Condition condition;
  read_condition_package(fields, condition);
  condition.versions = fields.specifiers("versions");
  condition.file = fields.paths("file");
  condition.in = read_scopes(fields);
  condition.class_name = read_class(fields, condition.in);
  condition.narrow.match = fields.text("match");
  condition.narrow.where = read_where(fields);
  condition.narrow.has = fields.texts("has");
  condition.narrow.not_has = fields.texts("not_has");
  condition.not_match = fields.texts("not_match");
  condition.literal = fields.text("literal");
  condition.not_literal = fields.text("not_literal");
  condition.note = fields.words("note");
  condition.otherwise = fields.words("otherwise");
  condition.at = node.at;
  check_condition(fields, condition, problems);
  return condition;
}

std::vector<Condition> read_conditions(const Fields& fields, const std::string& key) {
  std::vector<Condition> out;
  for (const YamlNode& node : fields.items(key)) out.push_back(read_condition(node, fields.problems()));
  return out;
}

// One of them is enough, so that one that does not hold has no consequence.
void check_superseded(const std::vector<Condition>& superseded, Problems& problems) {
  for (const Condition& condition : superseded) {
    if (condition.otherwise.empty()) continue;
    problems.report(condition.at, "'otherwise' belongs to 'requires': it says what follows where that does not hold",
                    "say in 'note' what upstream does");
  }
}

// `assumes`: sentences.
std::vector<std::string> read_sentences(const Fields& fields, const std::string& key) {
  std::vector<std::string> out;
  for (const Text& text : fields.texts(key)) out.emplace_back(trim_end(text.value));
  return out;
}

// --- The patch's own fields -------------------------------------------------

void read_package(const Fields& outer, Patch& patch) {
  static const Keys kKeys{"'package'", {"name", "folder", "versions"}, {}, {}};
  const YamlEntry* entry = outer.find("package");
  if (entry == nullptr) {
    if (outer.is_map()) {
      outer.problems().report_missing(outer.at(), "a patch has no 'package'",
                                      "name what it is for: package: {name: sglang, versions: \">=0.5\"}");
    }
    return;
  }
  if (entry->value.kind == YamlNode::Kind::scalar) {
    patch.package = read_distribution(outer, "package").value_or(Text{});
    return;
  }
  const Fields fields(entry->value, kKeys, outer.problems());
  if (fields.is_map() && fields.find("name") == nullptr) {
    outer.problems().report_missing(fields.at(), "'package' has no 'name'",
                                    "write the distribution's name, as pip knows it");
  }
  patch.package = read_distribution(fields, "name").value_or(Text{});
  patch.folder = fields.text("folder");
  patch.versions = fields.specifiers("versions");
  if (patch.folder) check_path(*patch.folder, "'folder'", outer.problems());
}

std::vector<AddedFile> read_adds(const Fields& outer) {
  static const Keys kKeys{"an item of 'adds'", {"path", "from"}, {}, {}};
  std::vector<AddedFile> adds;
  for (const YamlNode& node : outer.items("adds")) {
    const Fields fields(node, kKeys, outer.problems());
    AddedFile file{fields.required("path", "where the file goes, relative to the package's folder"),
                   fields.required("from", "which file of the patch's folder it is"), "", ""};
    check_path(file.path, "'path'", outer.problems());
    if (file.path.value.substr(0, file.path.value.find('/')) == ".suture") {
      outer.problems().report(file.path.at, "a patch adds nothing to '.suture'",
                              "receipts are kept there; write a path among the package's own files");
    }
    check_path(file.from, "'from'", outer.problems());
    const auto same = [&](const AddedFile& other) { return other.path.value == file.path.value; };
    if (!file.path.value.empty() && std::any_of(adds.begin(), adds.end(), same)) {
      outer.problems().report(file.path.at, "the patch adds " + in_quotes(file.path.value) + " twice",
                              "keep one of the two");
    }
    adds.push_back(std::move(file));
  }
  return adds;
}

// Ids, each once.
std::vector<Text> read_ids(const Fields& fields, const std::string& key, const std::string& what) {
  std::vector<Text> ids = fields.texts(key);
  for (auto id = ids.begin(); id != ids.end(); ++id) {
    check_id(*id, what, fields.problems());
    const auto same = [&](const Text& other) { return other.value == id->value; };
    if (std::any_of(ids.begin(), id, same)) {
      fields.problems().report(id->at, in_quotes(id->value) + " stands twice in " + in_quotes(key),
                               "keep one of the two");
    }
  }
  return ids;
}

void read_relations(const Fields& fields, Patch& patch) {
  patch.conflicts = read_ids(fields, "conflicts", "a patch's name");
  for (const Text& other : patch.conflicts) {
    if (other.value == patch.name) {
      fields.problems().report(other.at, "the patch " + in_quotes(patch.name) + " conflicts with itself",
                               "remove the name");
    }
  }
  patch.rule_ids = read_ids(fields, "rules", "a rule's id");
  if (fields.is_map() && fields.find("rules") == nullptr) {
    fields.problems().report_missing(fields.at(), "a patch has no 'rules'",
                                     "list the ids of its rules: rules: [first-rule, second-rule]");
  }
  patch.needs = read_conditions(fields, "requires");
  patch.superseded = read_conditions(fields, "superseded");
  check_superseded(patch.superseded, fields.problems());
  patch.assumes = read_sentences(fields, "assumes");
}

}  // namespace

std::string Patch::import_folder() const {
  if (folder) return folder->value;
  std::string module = package.value;
  std::replace(module.begin(), module.end(), '-', '_');
  return module;
}

Result<Patch> read_patch(std::shared_ptr<const Source> yaml) {
  static const Keys kKeys{"a patch",
                          {"patch", "summary", "note", "package", "conflicts", "recommend", "adds", "rules", "requires",
                           "superseded", "assumes", "examples"},
                          {},
                          {}};
  const Result<YamlNode> root = read_yaml(*yaml);
  if (!root) return root.error();
  Problems problems(*yaml);
  const Fields fields(*root, kKeys, problems);
  Patch patch;
  const Text name = fields.required("patch", "name it, such as patch: sglang-cast-active-slots");
  check_id(name, "a patch's name", problems);
  patch.name = name.value;
  patch.at = name.at;
  patch.summary = fields.words("summary");
  patch.note = fields.words("note");
  read_package(fields, patch);
  if (const auto recommend = fields.number("recommend")) patch.recommend = static_cast<int>(*recommend);
  patch.adds = read_adds(fields);
  read_relations(fields, patch);
  patch.examples = read_examples(fields);
  for (const Example& example : patch.examples) {
    if (example.found)
      fields.problems().report(example.found->at, "'found' is for audit rules, and a patch edits",
                               "write 'before' and 'after'");
  }
  patch.source = std::move(yaml);
  if (!problems.none()) return problems.first();
  return patch;
}

Error patch_error(const Patch& patch, Range at, std::string message, std::string hint) {
  return yaml_error(*patch.source, at, std::move(message), std::move(hint));
}

}  // namespace suture
