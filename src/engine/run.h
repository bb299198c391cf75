// One patch's rules run over one state of a tree: which file each rule found, which sites, what its import needs. Verdicts
// (judge.cc) and changes (plan.cc) are both read off this.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/compiled_rule.h"
#include "engine/imports.h"
#include "engine/parsed_file.h"
#include "engine/plan.h"
#include "engine/sites.h"
#include "engine/state.h"

namespace suture {

// Compiled rules and parsed files, kept for one command: the same rule and the same bytes are met in many plans.
class Workbench {
 public:
  Result<const CompiledRule*> compiled(const Rule& rule);
  ParseCache& files() { return files_; }

 private:
  std::map<const Rule*, std::unique_ptr<CompiledRule>> rules_;
  ParseCache files_;
};

struct RuleRun {
  const CompiledRule* rule = nullptr;
  std::string path;                    // the candidate that was used; empty: none is there
  std::vector<std::string> looked_at;  // where its code stands in no candidate: those that are there, in order
  std::shared_ptr<const ParsedFile> file;
  RuleSites sites;
  std::optional<ImportStatus> import;  // add_import rules

  [[nodiscard]] bool counts_ok() const;  // within expect, nothing unresolved, broken or ambiguous
  [[nodiscard]] RuleState state() const;
};

struct PatchRun {
  std::vector<RuleRun> rules;
  std::vector<std::string> looked_for;  // candidates that are not there, for `absent`
  bool any_file = false, any_scope = false;
  std::optional<Error> error;  // a rule does not compile
};

PatchRun run_patch(Workbench& bench, const TreeState& state, const Patch& patch);

// The version that decides: --assume-version, else the distribution's. nullopt: unknown.
std::optional<Version> deciding_version(const TreeState& state);

RuleOutcome outcome_of(const RuleRun& run);

}  // namespace suture
