#include "support/engine_fixture.h"

#include <gtest/gtest.h>

#include "base/sha256.h"
#include "base/text.h"
#include "engine/check.h"
#include "engine/edits.h"
#include "engine/imports.h"
#include "engine/revert.h"
#include "engine/sites.h"
#include "read/catalog.h"

namespace suture {
namespace {

std::string without_final_newline(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

bool has_key(const std::string& keys, const std::string& key) {
  return keys.rfind(key + ":", 0) == 0 || keys.find("\n" + key + ":") != std::string::npos;
}

// The keys as an entry of `rules:`.
std::string rule_file(const std::string& keys, const std::string& id = "r") {
  std::string all = keys;
  if (!has_key(keys, "file")) all = "file: m.py\n" + all;
  if (!has_key(keys, "expect")) all = "expect: 1\n" + all;
  if (!has_key(keys, "id")) all = "id: " + id + "\n" + all;
  std::string out = "rules:\n";
  std::string lead = "  - ";
  for (const std::string_view line : split_lines(all)) {
    out += (trim(line).empty() ? std::string() : lead + std::string(line)) + "\n";
    if (!trim(line).empty()) lead = "    ";
  }
  return out;
}

Result<Rule> read_one(const std::string& text) {
  auto rules = read_rules(std::make_shared<const Source>("rules.yaml", text));
  if (!rules) return rules.error();
  return rules->at(0);
}

// "": good. Sites of a compiled rule in code that parses.
std::string trouble(const RuleSites& sites) {
  if (!sites.broken.empty() || !sites.broken_scopes.empty()) return "broken";
  if (!sites.ambiguous.empty()) return "ambiguous";
  if (!sites.unresolved.empty()) return "unresolved";
  if (!sites.unfit.empty()) return "unfit: " + sites.unfit.front().second;
  return "";
}

std::string edited_import(const CompiledImport& import, const Code& code) {
  const ImportStatus status = find_import(code.view(), import, "sub/m.py", "pkg");
  if (status.kind == ImportStatus::Kind::taken) return "taken";
  if (status.kind == ImportStatus::Kind::satisfied) return "no site";
  std::string out = splice(code.source->bytes(), insert_import(code.view(), import));
  const Code after(out);
  const bool good = find_import(after.view(), import, "sub/m.py", "pkg").kind == ImportStatus::Kind::satisfied;
  return (good ? "" : "unstable: ") + out;
}

}  // namespace

Code::Code(std::string text) : source(std::make_unique<const Source>("m.py", std::move(text))) {
  auto parsed = parse_python(*source);
  if (parsed) {
    tree = std::move(*parsed);
  } else {
    ADD_FAILURE() << to_text(parsed.error());
  }
}

NodeId Code::node(const std::string& wanted) const {
  for (NodeId id = 0; id < tree.size(); ++id) {
    if (tree[id].named && text(id) == wanted) return id;
  }
  return kNone;
}

Pattern pattern_of(const std::string& text) {
  PatternProblem problem;
  auto pattern = compile_pattern(text, &problem);
  if (pattern) return std::move(*pattern);
  ADD_FAILURE() << "pattern " << in_quotes(text) << ": " << problem.message;
  return *compile_pattern("x", nullptr);
}

std::vector<std::string> matches(const std::string& pattern, const std::string& code) {
  const Pattern compiled = pattern_of(pattern);
  const Code target(code);
  std::vector<std::string> out;
  for (const Match& match : find_all(Search{&compiled, target.view(), {}}, target.tree.root())) {
    out.emplace_back(target.source->text(match.range(target.tree)));
  }
  return out;
}

std::string bindings(const std::string& pattern, const std::string& code) {
  const Pattern compiled = pattern_of(pattern);
  const Code target(code);
  const auto found = find_all(Search{&compiled, target.view(), {}}, target.tree.root());
  if (found.empty()) return "no match";
  std::vector<std::string> parts;
  for (const auto& [name, binding] : found[0].bindings) {
    std::vector<std::string> texts;
    for (const NodeId node : binding.nodes) texts.push_back(target.text(node));
    parts.push_back(name + "=" + join(texts, ", "));
  }
  return join(parts, " ");
}

Rule replacing(const std::string& pattern, const std::string& replacement, Comments comments) {
  Rule rule;
  rule.id = "r";
  rule.source = std::make_shared<const Source>("rules.yaml", pattern + "\n");
  const Range all{0, static_cast<std::uint32_t>(pattern.size())};
  rule.files = {Text{"m.py", all}};
  rule.base.narrow.match = Text{pattern, all};
  rule.base.edit = Edit(Replace{Text{replacement, all}, {}});
  rule.comments = comments;
  return rule;
}

Rule rule_from_yaml(const std::string& keys) {
  auto rule = read_one(rule_file(keys));
  if (rule) return std::move(*rule);
  ADD_FAILURE() << to_text(rule.error());
  return replacing("x", "y");
}

std::string rule_problem(const std::string& keys) {
  const auto rule = read_one(rule_file(keys));
  if (!rule) return to_text(rule.error());
  const Status status = check_rule(*rule);
  return status ? "" : to_text(status.error());
}

std::string edited(const Rule& rule, const std::string& code) {
  const auto compiled = compile_rule(rule);
  if (!compiled) return "bad rule: " + to_text(compiled.error());
  const Code before(code);
  if (const CompiledImport* import = compiled->import()) return edited_import(*import, before);
  const RuleSites sites = find_sites(*compiled, before.view(), std::nullopt);
  if (std::string what = trouble(sites); !what.empty()) return what;
  if (sites.old.empty()) return "no site";
  std::vector<Splice> splices;
  for (const Site& site : sites.old) {
    const Rewrite rewrite = edit_site(*compiled, before.view(), site);
    if (rewrite.problem) return "refused: " + rewrite.problem->message;
    splices.insert(splices.end(), rewrite.splices.begin(), rewrite.splices.end());
  }
  if (const auto overlap = order_splices(before.view(), splices))
    return "overlap: " + std::string(before.source->text(overlap->at));
  std::string out = splice(code, splices);
  const Code after(out);
  const RuleSites then = find_sites(*compiled, after.view(), std::nullopt);
  const std::size_t all = sites.result.size() + sites.old.size();
  const bool stable = after.tree.error_count() <= before.tree.error_count() &&
                      after.tree.broken() <= before.tree.broken() && trouble(then).empty() && then.old.empty() &&
                      then.result.size() >= compiled->least_results(all);
  return (stable ? "" : "unstable: ") + out;
}

std::string rewritten(const std::string& pattern, const std::string& replacement, const std::string& code,
                      Comments comments) {
  return edited(replacing(pattern, replacement, comments), code);
}

TreeState state_with(const std::map<std::string, std::string>& files, const std::string& version) {
  TreeState state;
  state.display = "site-packages/pkg";
  state.package = "pkg";
  state.folder = "pkg";
  state.present = true;
  state.dist.name = "pkg";
  state.dist.version = version;
  for (const auto& [path, bytes] : files) {
    edit_by_hand(state, path, bytes);
    state.dist.record[path] = sha256_hex(bytes);
  }
  return state;
}

void edit_by_hand(TreeState& state, const std::string& path, const std::string& bytes) {
  FileState file;
  file.kind = FileState::Kind::regular;
  file.bytes = std::make_shared<const std::string>(bytes);
  file.sha256 = sha256_hex(bytes);
  state.files[path] = std::move(file);
}

std::string bytes_at(const TreeState& state, const std::string& path) {
  const auto it = state.files.find(path);
  return it == state.files.end() || it->second.kind != FileState::Kind::regular ? "<no file>" : *it->second.bytes;
}

Patch patch_from_yaml(const std::string& name, const std::vector<std::string>& rules, const std::string& keys) {
  CatalogInput input;
  std::string ids;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const std::string id = name + "-" + std::to_string(i + 1);
    input.shipped.push_back({"rules/" + id + ".yaml", rule_file(rules[i], id)});
    ids += (ids.empty() ? "" : ", ") + id;
  }
  std::string text = "patch: " + name + "\nsummary: a patch for a test\nrules: [" + ids + "]\n";
  if (!has_key(keys, "package")) text += "package: {name: pkg}\n";
  input.shipped.push_back({"patches/" + name + "/patch.yaml", text + without_final_newline(keys) + "\n"});
  auto catalog = build_catalog(input);
  if (catalog) return catalog->patches.at(0);
  ADD_FAILURE() << to_text(catalog.error());
  return {};
}

std::string after_patch(const std::vector<std::string>& edits, const std::string& code) {
  std::vector<std::string> rules;
  for (const std::string& edit : edits) rules.push_back("file: m.py\nexpect: 1\n" + edit);
  const TreeState state = state_with({{"m.py", code}});
  const Patch patch = patch_from_yaml("p", rules);
  const Plan plan = plan_apply(state, {&patch}, {patch});
  const PatchOutcome& outcome = plan.outcomes.front();
  if (outcome.fatal) return to_text(*outcome.fatal);
  return plan.writes() ? *plan.after.files.at("m.py").bytes
                       : std::string(verdict_name(outcome.verdict)) + ": " + outcome.reason;
}

}  // namespace suture
