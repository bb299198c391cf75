// One patch's rules run over one state of a tree: which files each rule found, which sites, what its import needs. Verdicts
// (judge.cc) and changes (plan.cc) are both read off this.
//
// Which files. The candidates of `file` are tried in order, and the first in which the rule's code stands decides: a scope that
// `in` names, or without `in` a site. So a shim that a moved file left behind is passed over; and of two paths that both hold the
// code the first is taken. A path is one file. A glob is one candidate too, whatever number of files it names: all of those in
// which the code stands count together. Files that suture or the patch adds are no code of the package: no glob names them. Where
// the code stands in a glob, a file of it that cannot be read is a doubt, and the rule is not met. Where it stands in no
// candidate, the first that is there is shown.
//
// `expect` is over the whole rule. With `per_file` it must hold in each file in which the code stands; one that holds neither
// scope nor site does not count.
//
// add_import goes where the patch's other rules are: to a path that another rule uses, else to every file that a glob names and
// in which another rule has something to edit or has edited. A glob that names none of those is not met; where nobody has sites,
// there is nothing to import for.
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

// A rule in one file: a rule whose glob is used has one for each file of it, in the order of their paths; behind them, where too
// few sites count together, files without any that hold something like it.
struct RuleRun {
  const CompiledRule* rule = nullptr;
  std::string path;  // the file that was used; empty: none is there
  // Where its code stands in no candidate: those that are there, in order. Where it stands in a glob: the glob.
  std::vector<std::string> looked_at;
  std::shared_ptr<const ParsedFile> file;
  RuleSites sites;
  std::optional<ImportStatus> import;  // add_import rules
  bool of_glob = false;                // the candidate is a glob
  std::uint32_t elsewhere = 0;         // sites in the other files of the rule, where they count together
  // add_import by globs: files with sites of other rules, where no candidate names any of them.
  std::vector<std::string> unserved;

  [[nodiscard]] bool stands() const;  // whether the rule's code is in the file
  [[nodiscard]] std::uint32_t count() const { return sites.count() + elsewhere; }  // what `expect` is about
  [[nodiscard]] bool counts_ok() const;  // within expect, nothing unresolved, broken or ambiguous
  [[nodiscard]] RuleState state() const;
};

struct PatchRun {
  std::vector<RuleRun> rules;           // in the order of the patch; those of one rule side by side
  std::vector<std::string> looked_for;  // candidates that are not there, for `absent`
  bool any_file = false, any_scope = false;
  std::optional<Error> error;                // a rule does not compile
  [[nodiscard]] bool imports_alone() const;  // no rule but add_import
};

PatchRun run_patch(Workbench& bench, const TreeState& state, const Patch& patch);

// The version that decides: --assume-version, else the distribution's. nullopt: unknown.
std::optional<Version> deciding_version(const TreeState& state);

// One a rule, whatever number of files it is in.
std::vector<RuleOutcome> outcomes_of(const PatchRun& run);

}  // namespace suture
