#include "engine/run.h"

#include <algorithm>

#include "engine/candidates.h"
#include "engine/evidence.h"

namespace suture {
Result<const CompiledRule*> Workbench::compiled(const Rule& rule) {
  auto& slot = rules_[&rule];
  if (!slot) {
    auto compiled = compile_rule(rule);
    if (!compiled) return compiled.error();
    slot = std::make_unique<CompiledRule>(std::move(*compiled));
  }
  return static_cast<const CompiledRule*>(slot.get());
}

// A scope that the rule names tells it before any site does: a site that is missing in it is drift, and not a reason to look
// elsewhere.
bool RuleRun::stands() const {
  if (!file || file->problem) return false;
  if (import || !rule->rule->in.empty()) return sites.scope_found;
  return !sites.empty();
}

bool RuleRun::counts_ok() const {
  if (import) return import->kind != ImportStatus::Kind::taken;
  if (rule->import() != nullptr && of_glob && !file) return unserved.empty();
  const Expect& expect = rule->rule->expect;
  if (path.empty()) return expect.min == 0;  // what need not be there may be in a file that is not there
  if (!file || file->problem) return false;
  return sites.unresolved.empty() && sites.broken.empty() && sites.broken_scopes.empty() && sites.ambiguous.empty() &&
         sites.unfit.empty() && !sites.beyond && count() >= expect.min && count() <= expect.max;
}

RuleState RuleRun::state() const {
  if (import) return import->kind == ImportStatus::Kind::satisfied ? RuleState::in_place : RuleState::to_do;
  if (!sites.old.empty()) return sites.result.empty() || rule->takes_away() ? RuleState::to_do : RuleState::mixed;
  return sites.result.empty() ? RuleState::idle : RuleState::in_place;
}

std::optional<Version> deciding_version(const TreeState& state) {
  if (!state.dist.assumed.empty()) return parse_version(state.dist.assumed);
  return state.dist.version ? parse_version(*state.dist.version) : std::nullopt;
}

bool PatchRun::imports_alone() const {
  return std::all_of(rules.begin(), rules.end(), [](const RuleRun& run) { return run.rule->import() != nullptr; });
}

PatchRun run_patch(Workbench& bench, const TreeState& state, const Patch& patch) {
  PatchRun out;
  Candidates candidates(bench, state, patch);
  for (const Rule& rule : patch.rules) {
    auto compiled = bench.compiled(rule);
    if (!compiled) {
      out.error = compiled.error();
      return out;
    }
    for (RuleRun& run : candidates.choose(**compiled, out.looked_for)) out.rules.push_back(std::move(run));
  }
  candidates.follow_other_rules(out.rules);
  for (const RuleRun& run : out.rules) {
    out.any_file = out.any_file || !run.path.empty();
    // An import names no scope: it supports, it never decides. A file that cannot be read, or has a syntax error, may hold
    // any scope.
    const bool unknown = run.file && (run.file->problem || run.file->tree.broken());
    out.any_scope = out.any_scope || unknown || (run.rule->import() == nullptr && run.sites.scope_found);
  }
  return out;
}

namespace {

// What the rule's files add up to.
RuleState state_of(const RuleOutcome& out) {
  if (out.old_sites > 0) return out.result_sites > 0 ? RuleState::mixed : RuleState::to_do;
  return out.result_sites > 0 ? RuleState::in_place : RuleState::idle;
}

RuleOutcome named_outcome(const RuleRun& run) {
  RuleOutcome out;
  const Rule& rule = *run.rule->rule;
  out.rule = rule.id;
  out.ok = rule.ok;
  out.file = run.path;
  out.expected_min = rule.expect.min;
  out.expected_max = rule.expect.max;
  out.per_file = run.of_glob && rule.expect.per_file;
  return out;
}

void add_sites(RuleOutcome& out, const RuleRun& run) {
  if (run.of_glob && run.stands()) out.files.push_back(run.path);
  if (run.import) {
    const bool satisfied = run.import->kind == ImportStatus::Kind::satisfied;
    ++(satisfied ? out.result_sites : out.old_sites);
    return;
  }
  out.old_sites += static_cast<std::uint32_t>(run.sites.old.size());
  out.result_sites += static_cast<std::uint32_t>(run.sites.result.size());
  out.done_sites += static_cast<std::uint32_t>(run.sites.done.size() + run.sites.passed.size());
}

// Files with no site at all first: that is where one may have gone.
void add_candidates(RuleOutcome& out, const std::vector<const RuleRun*>& runs) {
  for (const bool empty : {true, false}) {
    for (const RuleRun* run : runs) {
      if ((run->sites.count() == 0) != empty || run->counts_ok() || !run->file || run->file->problem) continue;
      for (Evidence& each : nearest_candidates(*run->rule, run->path, run->file->target(), run->sites)) {
        if (out.candidates.size() < 3) out.candidates.push_back(std::move(each));
      }
    }
  }
}

RuleOutcome outcome_of(const std::vector<const RuleRun*>& runs) {
  RuleOutcome out = named_outcome(*runs.front());
  for (const RuleRun* run : runs) {
    add_sites(out, *run);
    if (!run->file || run->file->problem) continue;
    for (const Site& site : run->sites.old) out.sites.push_back(site_evidence(run->path, run->file->target(), site));
  }
  out.lost = std::all_of(runs.begin(), runs.end(), [](const RuleRun* run) {
    const bool found = !run->path.empty() && (run->file->problem || run->sites.scope_found);
    return !run->import && !run->counts_ok() && !found;
  });
  out.state = state_of(out);
  add_candidates(out, runs);
  return out;
}

}  // namespace

std::vector<RuleOutcome> outcomes_of(const PatchRun& run) {
  std::vector<RuleOutcome> out;
  for (std::size_t i = 0; i < run.rules.size();) {
    std::vector<const RuleRun*> of_rule;
    const CompiledRule* rule = run.rules[i].rule;
    for (; i < run.rules.size() && run.rules[i].rule == rule; ++i) of_rule.push_back(&run.rules[i]);
    out.push_back(outcome_of(of_rule));
    out.back().supports = rule->import() != nullptr && !run.imports_alone();
  }
  return out;
}

}  // namespace suture
