#include "engine/run.h"

#include <algorithm>

#include "engine/evidence.h"

namespace suture {
namespace {

const FileState* find_file(const TreeState& state, const std::string& path) {
  const auto it = state.files.find(path);
  return it == state.files.end() ? nullptr : &it->second;
}

bool is_file(const TreeState& state, const std::string& path) {
  const FileState* file = find_file(state, path);
  return file != nullptr && file->kind == FileState::Kind::regular;
}

// A file of the package that exists and cannot be looked at as it is.
std::shared_ptr<const ParsedFile> unreadable(const std::string& path, const FileState& file) {
  auto out = std::make_shared<ParsedFile>();
  out->source = std::make_unique<const Source>(path, "");
  Location where;
  where.file = path;
  const bool large = file.kind == FileState::Kind::too_large;
  out->problem =
      Error{Exit::refused, large ? "the file is larger than 16 MiB" : "the file cannot be read: " + file.problem, where,
            large ? "suture does not parse files of this size; is it Python source?" : ""};
  return out;
}

void look(RuleRun& run, Workbench& bench, const TreeState& state, const std::string& path) {
  const FileState& file = *find_file(state, path);
  run.path = path;
  if (file.kind != FileState::Kind::regular) {
    run.file = unreadable(path, file);
    return;
  }
  run.file = bench.files().get(path, file);
  if (run.file->problem) return;
  if (const CompiledImport* import = run.rule->import()) {
    run.import = find_import(run.file->target(), *import, path, state.folder);
    run.sites.scope_found = true;
  } else {
    run.sites = find_sites(*run.rule, run.file->target(), deciding_version(state));
  }
}

// Whether the rule's code is in the file that was looked at. A scope that it names tells that before any site does: a site
// that is missing in it is drift, and not a reason to look elsewhere.
bool stands(const RuleRun& run) {
  if (run.file->problem) return false;
  if (run.import || !run.rule->rule->in.empty()) return run.sites.scope_found;
  return !run.sites.empty();
}

// The first candidate in which the rule's code stands; else the first that exists (a file that moved may leave a shim behind).
void choose_file(RuleRun& run, PatchRun& all, Workbench& bench, const TreeState& state) {
  std::optional<RuleRun> first;
  std::vector<std::string> looked_at;
  for (const Text& candidate : run.rule->rule->files) {
    const FileState* file = find_file(state, candidate.value);
    const bool there =
        file != nullptr && file->kind != FileState::Kind::absent && file->kind != FileState::Kind::folder;
    if (!there) {
      if (std::find(all.looked_for.begin(), all.looked_for.end(), candidate.value) == all.looked_for.end())
        all.looked_for.push_back(candidate.value);
      continue;
    }
    looked_at.push_back(candidate.value);
    RuleRun attempt = run;
    look(attempt, bench, state, candidate.value);
    if (stands(attempt)) {
      run = std::move(attempt);
      return;
    }
    if (!first) first = std::move(attempt);
  }
  if (first) run = std::move(*first);
  run.looked_at = std::move(looked_at);
}

// add_import goes where the patch's other rules are: a candidate that another rule uses comes first.
void follow_other_rules(PatchRun& all, Workbench& bench, const TreeState& state) {
  for (RuleRun& run : all.rules) {
    if (run.rule->import() == nullptr) continue;
    for (const Text& candidate : run.rule->rule->files) {
      const bool used = std::any_of(all.rules.begin(), all.rules.end(), [&](const RuleRun& other) {
        return other.rule->import() == nullptr && other.path == candidate.value && other.sites.scope_found;
      });
      if (!used || candidate.value == run.path || !is_file(state, candidate.value)) continue;
      RuleRun attempt;
      attempt.rule = run.rule;
      look(attempt, bench, state, candidate.value);
      run = std::move(attempt);
      break;
    }
  }
}

}  // namespace

Result<const CompiledRule*> Workbench::compiled(const Rule& rule) {
  auto& slot = rules_[&rule];
  if (!slot) {
    auto compiled = compile_rule(rule);
    if (!compiled) return compiled.error();
    slot = std::make_unique<CompiledRule>(std::move(*compiled));
  }
  return static_cast<const CompiledRule*>(slot.get());
}

bool RuleRun::counts_ok() const {
  if (import) return import->kind != ImportStatus::Kind::taken;
  if (!file || file->problem) return false;
  const Expect& expect = rule->rule->expect;
  return sites.unresolved.empty() && sites.broken.empty() && sites.broken_scopes.empty() && sites.ambiguous.empty() &&
         sites.unfit.empty() && !sites.beyond && sites.count() >= expect.min && sites.count() <= expect.max;
}

RuleState RuleRun::state() const {
  if (import) return import->kind == ImportStatus::Kind::satisfied ? RuleState::in_place : RuleState::to_do;
  if (!sites.old.empty()) return sites.result.empty() ? RuleState::to_do : RuleState::mixed;
  return sites.result.empty() ? RuleState::idle : RuleState::in_place;
}

std::optional<Version> deciding_version(const TreeState& state) {
  if (!state.dist.assumed.empty()) return parse_version(state.dist.assumed);
  return state.dist.version ? parse_version(*state.dist.version) : std::nullopt;
}

PatchRun run_patch(Workbench& bench, const TreeState& state, const Patch& patch) {
  PatchRun out;
  for (const Rule& rule : patch.rules) {
    auto compiled = bench.compiled(rule);
    if (!compiled) {
      out.error = compiled.error();
      return out;
    }
    RuleRun run;
    run.rule = *compiled;
    choose_file(run, out, bench, state);
    out.rules.push_back(std::move(run));
  }
  follow_other_rules(out, bench, state);
  for (const RuleRun& run : out.rules) {
    out.any_file = out.any_file || !run.path.empty();
    // An import names no scope: it supports, it never decides. A file that cannot be read, or has a syntax error, may hold
    // any scope.
    const bool unknown = run.file && (run.file->problem || run.file->tree.broken());
    out.any_scope = out.any_scope || unknown || (run.rule->import() == nullptr && run.sites.scope_found);
  }
  return out;
}

RuleOutcome outcome_of(const RuleRun& run) {
  RuleOutcome out;
  const Rule& rule = *run.rule->rule;
  out.rule = rule.id;
  out.ok = rule.ok;
  out.file = run.path;
  out.state = run.state();
  out.expected_min = rule.expect.min;
  out.expected_max = rule.expect.max;
  out.old_sites = static_cast<std::uint32_t>(run.sites.old.size());
  out.result_sites = static_cast<std::uint32_t>(run.sites.result.size());
  out.done_sites = static_cast<std::uint32_t>(run.sites.done.size() + run.sites.passed.size());
  if (run.import) {
    out.old_sites = out.state == RuleState::to_do ? 1 : 0;
    out.result_sites = out.state == RuleState::in_place ? 1 : 0;
  }
  if (run.file && !run.file->problem) {
    for (const Site& site : run.sites.old) out.sites.push_back(site_evidence(run, site));
    if (!run.counts_ok()) out.candidates = nearest_candidates(run);
  }
  return out;
}

}  // namespace suture
