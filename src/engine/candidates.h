// Which files of a tree a rule is run on: what run.h says of the candidates of `file`.
#pragma once

#include <string>
#include <vector>

#include "engine/run.h"

namespace suture {

class Candidates {
 public:
  Candidates(Workbench& bench, const TreeState& state, const Patch& patch)
      : bench_(bench), state_(state), patch_(patch) {}

  // The rule in the files that decide; one run without a file where none is there. Candidates that are not there go into
  // `looked_for`, each once.
  std::vector<RuleRun> choose(const CompiledRule& rule, std::vector<std::string>& looked_for);

  // Moves the runs of add_import rules to where the others are. all: the runs of the whole patch.
  void follow_other_rules(std::vector<RuleRun>& all);

 private:
  using Runs = std::vector<RuleRun>;

  // The files that the candidate names, but for those that are no code of the package.
  [[nodiscard]] std::vector<std::string> named(const std::string& candidate) const;
  [[nodiscard]] bool is_added(const std::string& path) const;
  [[nodiscard]] const FileState& at(const std::string& path) const { return state_.files.find(path)->second; }

  RuleRun look(const CompiledRule& rule, const std::string& path, const std::string& glob = "");
  Runs in_path(const CompiledRule& rule, const std::string& path, bool& found);
  Runs in_glob(const CompiledRule& rule, const std::string& glob, bool& found);
  void add_alike(Runs& runs, const CompiledRule& rule, const std::vector<std::string>& paths, const std::string& glob);
  RuleRun nearest_of(const CompiledRule& rule, const std::vector<std::string>& paths, const std::string& glob);
  Runs where_others_are(const RuleRun& chosen, const std::vector<RuleRun>& all);

  Workbench& bench_;
  const TreeState& state_;
  const Patch& patch_;
};

}  // namespace suture
