// suture test: the examples that rules and patches carry. Reads no tree.
//
// Other commands stop at the first thing that is wrong with what a person wrote; this one loads without that check and
// names each. What does not load costs its own file, or its own rule, and the others still run.
#include <algorithm>
#include <iterator>
#include <memory>
#include <set>
#include <tuple>
#include <utility>

#include "engine/diff.h"
#include "shell/catalog_files.h"
#include "shell/session.h"

namespace suture {
namespace {

std::string with_newline(std::string text) {
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

std::string example_diff(const Example& example, const std::string& got) {
  const std::string diff = unified_diff("x", with_newline(example.after->value), got);
  const std::size_t hunks = diff.find("\n@@");
  if (hunks == std::string::npos) return "";
  return "--- after: what the example says\n+++ what came out" + diff.substr(hunks);
}

// What a rule and a patch have in common here.
template <class Owner>
Tested tested(const Owner& owner, const std::string& name, bool is_patch) {
  Tested out;
  out.is_patch = is_patch;
  out.name = name;
  out.where = owner.source->locate(owner.at);
  for (ExampleReport& report : run_examples(owner)) {
    TestedExample example{std::move(report), {}, ""};
    example.where = owner.source->locate(example.report.at);
    if (example.report.verdict == ExampleVerdict::wrong)
      example.diff = example_diff(owner.examples[example.report.index], example.report.got);
    out.examples.push_back(std::move(example));
  }
  return out;
}

// A rule that does not compile has no examples to run. One whose examples fail is told by those: what is wrong with it
// besides may be the same fault.
Tested test_rule(const Rule& rule) {
  Tested out = tested(rule, rule.id, false);
  Status checked = check_rule(rule, Examples::left_out);
  if (!checked && out.failures() == 0) out.error = checked.error();
  return out;
}

Tested test_patch(const Patch& patch) {
  Tested out = tested(patch, patch.name, true);
  if (Status checked = check_patch(patch, Examples::left_out); !checked) out.error = checked.error();
  return out;
}

// A file may be given twice, by its name and by its folder's.
void drop_repeated(std::vector<NamedBytes>& files) {
  std::set<std::string> seen;
  std::erase_if(files, [&seen](const NamedBytes& file) { return !seen.insert(file.path).second; });
}

std::set<std::string> names_of(const CatalogInput& input) {
  std::set<std::string> names;
  for (const NamedBytes& file : input.tested_rules) names.insert(file.path);
  for (const NamedBytes& file : input.tested_patches) names.insert(file.path);
  return names;
}

// A patch that is asked for brings its rules. In the order of the files, and of their lines.
std::vector<Tested> test_all(const Catalog& catalog, const std::set<std::string>& given, bool all) {
  const auto asked = [&given, all](const Source& source) { return all || given.count(source.name()) > 0; };
  std::vector<Tested> out;
  std::set<std::string> brought;
  for (const Patch& patch : catalog.patches) {
    if (!asked(*patch.source)) continue;
    out.push_back(test_patch(patch));
    for (const Text& id : patch.rule_ids) brought.insert(id.value);
  }
  for (const auto& [id, rule] : catalog.rules) {
    if (asked(*rule.source) || brought.count(id) > 0) out.push_back(test_rule(rule));
  }
  std::stable_sort(out.begin(), out.end(), [](const Tested& a, const Tested& b) {
    return std::tie(a.is_patch, a.where.file, a.where.line) < std::tie(b.is_patch, b.where.file, b.where.line);
  });
  return out;
}

// The rules of suture audit are in no catalog: no patch is made of them.
std::vector<Rule> audit_rules(Report& report) {
  std::vector<Rule> out;
  for (const NamedBytes& file : embedded_files()) {
    if (!is_audit_file(file) || is_wrapper_table(file)) continue;
    Result<std::vector<Rule>> rules = read_rules(std::make_shared<const Source>(file.path, file.bytes));
    if (!rules) {
      report.fail(rules.error());
      continue;
    }
    std::move(rules->begin(), rules->end(), std::back_inserter(out));
  }
  return out;
}

Report run(const Session& session) {
  Report report;
  Result<CatalogInput> input = session.catalog_files();
  if (!input) return report.fail(input.error()), report;
  const std::vector<std::string>& names = session.options().names;
  for (const std::string& name : names) {
    if (Status read = read_tested(session.fs(), name, *input); !read) report.fail(read.error());
  }
  drop_repeated(input->tested_rules);
  drop_repeated(input->tested_patches);
  std::vector<Error> errors;
  const Catalog catalog = read_catalog(*input, errors);
  for (Error& error : errors) report.fail(std::move(error));
  report.tests = test_all(catalog, names_of(*input), names.empty());
  if (names.empty()) {
    for (const Rule& rule : audit_rules(report)) report.tests.push_back(test_rule(rule));
  }
  for (const Tested& each : report.tests) {
    if (each.error) report.fail(*each.error);
    if (!each.good()) report.worsen(Exit::bad_rule);
  }
  report.out = test_lines(report.tests, session.options().verbose, session.out());
  return report;
}

}  // namespace

Command test_command() {
  return {
      .name = "test",
      .summary = "run the examples that rules and patches carry; needs no tree",
      .details =
          "FILE is a rule file, a patch.yaml (with its rules), or a folder of both. Without FILE: all that are\n"
          "shipped, and those of --rules-dir and --patches-dir. An example that fails is one of: missing (the rule\n"
          "finds nothing in `before`), noisy (it edits what should stay the same), wrong (the result is not\n"
          "`after`), unstable (a second run would edit again), broken (it is not Python, or the edit cannot be\n"
          "made). Exit code 3 then.",
      .positionals = {"FILE", 0, kAnyNumber},
      .trees = Command::Trees::none,
      .options = {},
      .run = run,
  };
}

}  // namespace suture
