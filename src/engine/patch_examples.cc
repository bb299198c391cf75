// The examples of a patch: the whole patch on one text, by the steps that apply takes. Tests: tests/unit/check_test.cc,
// tests/cli/examples_test.py.
#include <algorithm>
#include <memory>

#include "base/sha256.h"
#include "engine/examples.h"
#include "engine/revert.h"
#include "engine/run.h"
#include "engine/write_patch.h"

namespace suture {
namespace {

constexpr const char* kFile = "example.py";

// A tree of one file.
TreeState tree_of(const std::string& text, const Patch& patch) {
  TreeState state;
  state.package = patch.package.value;
  state.folder = patch.import_folder();
  state.present = true;
  FileState& file = state.files[kFile];
  file.kind = FileState::Kind::regular;
  file.bytes = std::make_shared<const std::string>(text);
  file.sha256 = sha256_hex(text);
  return state;
}

// Every rule on that file, and nothing else of the patch: an example says what becomes of code.
Patch for_example(const Patch& patch, bool fragment) {
  Patch out = patch;
  out.adds.clear();
  for (Rule& rule : out.rules) {
    if (fragment) rule = for_examples(rule);
    rule.files = {Text{kFile, rule.at}};
  }
  return out;
}

bool names_a_scope(const PatchRun& run) {
  return std::any_of(run.rules.begin(), run.rules.end(), [](const RuleRun& rule) {
    return rule.rule->import() == nullptr && !rule.rule->rule->in.empty() && rule.sites.scope_found;
  });
}

// Why the patch cannot be run on the text; empty: it can.
std::string run_problem(const PatchRun& run) {
  if (run.error) return run.error->message;
  for (const RuleRun& rule : run.rules) {
    if (rule.file->problem) return rule.file->problem->message;
    if (rule.file->tree.broken()) return "it is not valid Python";
    if (rule.import && rule.import->kind == ImportStatus::Kind::taken)
      return "the name " + rule.rule->import()->bound() + " is bound by something else";
    if (std::string problem = problem_text(rule.sites); !problem.empty())
      return problem + " (" + rule.rule->rule->id + ")";
  }
  return "";
}

// An import supports, it never decides: but where the patch has nothing else.
std::size_t old_sites(const PatchRun& run) {
  std::size_t sites = 0, imports = 0;
  bool alone = true;
  for (const RuleRun& rule : run.rules) {
    if (rule.import) {
      imports += rule.import->kind == ImportStatus::Kind::missing ? 1U : 0U;
    } else {
      sites += rule.sites.old.size();
      alone = false;
    }
  }
  return alone ? imports : sites;
}

Trial try_patch(const Patch& patch, const std::string& text) {
  Workbench bench;
  const TreeState state = tree_of(text, patch);
  const Patch scoped = for_example(patch, false), free = for_example(patch, true);
  PatchRun run = run_patch(bench, state, scoped);
  const bool fragment = !run.error && !names_a_scope(run);
  const Patch& tried = fragment ? free : scoped;
  if (fragment) run = run_patch(bench, state, free);

  Trial out;
  out.text = text;
  if (std::string problem = run_problem(run); !problem.empty()) {
    out.problem = std::move(problem);
    return out;
  }
  out.old_sites = old_sites(run);
  if (out.old_sites == 0) return out;
  const auto splices = patch_splices(state, run);
  if (!splices) {
    out.problem = splices.error().message;
    return out;
  }
  if (const auto found = splices->find(kFile); found != splices->end()) out.text = splice(text, found->second);
  const auto written = write_patch(bench, state, tried, run);
  out.stable = written.ok();
  if (!written) out.unstable_because = written.error().message;
  return out;
}

}  // namespace

std::vector<ExampleReport> run_examples(const Patch& patch) {
  std::vector<ExampleReport> out;
  for (std::size_t i = 0; i < patch.examples.size(); ++i) {
    const Example& example = patch.examples[i];
    out.push_back(judge_example(example, i, try_patch(patch, example_text(example)), "the patch"));
  }
  return out;
}

}  // namespace suture
