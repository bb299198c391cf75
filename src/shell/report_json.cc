#include "shell/report_json.h"

#include <nlohmann/json.hpp>

#include "shell/report_audit_json.h"
#include "shell/report_text.h"

namespace suture {
namespace {

using Json = nlohmann::ordered_json;

Json place_json(const Evidence& evidence) {
  Json json = {{"path", evidence.path.empty() ? evidence.where.file : evidence.path}};
  if (evidence.where.line > 0) {
    json["line"] = evidence.where.line;
    json["column"] = evidence.where.column;
  }
  json["text"] = evidence.text.empty() ? evidence.where.text : evidence.text;
  if (!evidence.detail.empty()) json["detail"] = evidence.detail;
  return json;
}

Json places_json(const std::vector<Evidence>& all) {
  Json json = Json::array();
  for (const Evidence& each : all) json.push_back(place_json(each));
  return json;
}

}  // namespace

Json error_json(const Error& error) {
  Json json = {{"message", error.message}, {"exit", static_cast<int>(error.exit)}};
  if (error.where) {
    json["file"] = error.where->file;
    if (error.where->line > 0) {
      json["line"] = error.where->line;
      json["column"] = error.where->column;
      json["text"] = error.where->text;
    }
  }
  if (!error.hint.empty()) json["hint"] = error.hint;
  return json;
}

namespace {

Json rule_json(const RuleOutcome& rule) {
  Json json = {{"rule", rule.rule}, {"ok", rule.ok}, {"state", rule_state_name(rule.state)}};
  json["file"] = rule.file.empty() ? Json() : Json(rule.file);
  if (!rule.files.empty()) json["files"] = rule.files;
  json["old"] = rule.old_sites;
  json["result"] = rule.result_sites;
  json["done"] = rule.done_sites;
  json["expected"] = {{"min", rule.expected_min}, {"max", rule.expected_max}};
  if (rule.per_file) json["expected"]["per_file"] = true;
  json["sites"] = places_json(rule.sites);
  json["candidates"] = places_json(rule.candidates);
  return json;
}

bool is_utf8(const std::string& text) {
  try {
    (void)Json(text).dump();
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

// Each byte as the code point of the same number: nothing is lost, and a reader gets the bytes by encoding as Latin-1.
std::string as_latin1(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      text += c;
    } else {
      text += static_cast<char>(0xC0U | (byte >> 6U));
      text += static_cast<char>(0x80U | (byte & 0x3FU));
    }
  }
  return text;
}

void add_diff(Json& json, const std::string& diff) {
  const bool utf8 = is_utf8(diff);
  json["diff"] = utf8 ? diff : as_latin1(diff);
  json["diff_encoding"] = utf8 ? "utf-8" : "latin-1";
}

Json patch_json(const PatchOutcome& outcome) {
  Json json = {{"patch", outcome.patch}, {"verdict", verdict_name(outcome.verdict)}, {"reason", outcome.reason}};
  json["receipt"] = outcome.has_receipt;
  json["rules"] = Json::array();
  for (const RuleOutcome& rule : outcome.rules) json["rules"].push_back(rule_json(rule));
  json["evidence"] = places_json(outcome.evidence);
  json["hints"] = outcome.hints;
  json["notes"] = outcome.notes;
  if (!outcome.diff.empty()) add_diff(json, outcome.diff);
  if (outcome.fatal) json["error"] = error_json(*outcome.fatal);
  return json;
}

Json revert_json(const RevertOutcome& outcome) {
  Json json = {{"patch", outcome.patch}, {"outcome", revert_kind_name(outcome.kind)}, {"reason", outcome.reason}};
  json["hints"] = outcome.hints;
  if (!outcome.diff.empty()) add_diff(json, outcome.diff);
  return json;
}

Json tree_json(const TreeReport& tree) {
  Json json = {{"tree", tree.tree}, {"package", tree.package}};
  json["version"] = tree.version ? Json(*tree.version) : Json();
  if (!tree.assumed.empty()) json["assumed_version"] = tree.assumed;
  json["patches"] = Json::array();
  for (const PatchOutcome& outcome : tree.patches) json["patches"].push_back(patch_json(outcome));
  if (!tree.reverts.empty()) {
    json["reverts"] = Json::array();
    for (const RevertOutcome& outcome : tree.reverts) json["reverts"].push_back(revert_json(outcome));
  }
  if (tree.diff) add_diff(json, *tree.diff);
  json["written"] = tree.written;
  json["removed"] = tree.removed;
  json["notes"] = tree.notes;
  if (tree.audit) json["audit"] = audit_json(*tree.audit);
  return json;
}

Json catalog_json(const Patch& patch) {
  Json json = {{"patch", patch.name}, {"summary", patch.summary}, {"package", patch.package.value}};
  json["versions"] = patch.versions ? Json(patch.versions->value) : Json();
  json["recommend"] = patch.recommend ? Json(*patch.recommend) : Json();
  json["conflicts"] = Json::array();
  for (const Text& name : patch.conflicts) json["conflicts"].push_back(name.value);
  json["adds"] = Json::array();
  for (const AddedFile& added : patch.adds) json["adds"].push_back(added.path.value);
  json["rules"] = Json::array();
  for (const Rule& rule : patch.rules) {
    Json each = {{"rule", rule.id}, {"ok", rule.ok}, {"note", rule.note}};
    each["files"] = Json::array();
    for (const Text& file : rule.files) each["files"].push_back(file.value);
    each["in"] = Json::array();
    for (const Text& scope : rule.in) each["in"].push_back(scope.value);
    json["rules"].push_back(std::move(each));
  }
  json["assumes"] = patch.assumes;
  json["edition"] = patch.edition;
  json["note"] = patch.note;
  json["page"] = patch.page;
  return json;
}

Json example_json(const TestedExample& example) {
  Json json = {{"example", example.report.index + 1}, {"verdict", example_verdict_name(example.report.verdict)}};
  json["file"] = example.where.file;
  json["line"] = example.where.line;
  json["column"] = example.where.column;
  json["message"] = example.report.message;
  if (!example.diff.empty()) json["diff"] = example.diff;
  return json;
}

Json tested_json(const Tested& tested) {
  Json json = {{tested.is_patch ? "patch" : "rule", tested.name}, {"good", tested.good()}};
  json["file"] = tested.where.file;
  json["line"] = tested.where.line;
  json["column"] = tested.where.column;
  json["examples"] = Json::array();
  for (const TestedExample& example : tested.examples) json["examples"].push_back(example_json(example));
  if (tested.error) json["error"] = error_json(*tested.error);
  return json;
}

}  // namespace

std::string to_json(const Report& report) {
  Json json = {{"suture", SUTURE_VERSION}, {"command", report.command.empty() ? Json() : Json(report.command)}};
  json["trees"] = Json::array();
  for (const TreeReport& tree : report.trees) json["trees"].push_back(tree_json(tree));
  if (!report.catalog.empty() || report.command == "list") {
    json["catalog"] = Json::array();
    for (const Patch& patch : report.catalog) json["catalog"].push_back(catalog_json(patch));
  }
  if (report.command == "test") {
    json["tests"] = Json::array();
    for (const Tested& tested : report.tests) json["tests"].push_back(tested_json(tested));
  }
  if (report.command == "verify" && !report.verification.empty())
    json["verification"] = Json::parse(report.verification, nullptr, false);
  for (const auto& [name, document] : {std::pair<const char*, const std::string&>{"traces", report.traces},
                                       {"comparison", report.comparison},
                                       {"cost", report.cost}}) {
    if (!document.empty()) json[name] = Json::parse(document, nullptr, false);
  }
  json["exit"] = static_cast<int>(report.exit);
  json["errors"] = Json::array();
  for (const Error& error : report.errors) json["errors"].push_back(error_json(error));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace suture
