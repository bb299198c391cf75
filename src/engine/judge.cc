// See judge.h and plan.h. Tests: tests/unit/judge_test.cc has each row of the table; tests/cli the messages.
#include "engine/judge.h"

#include <algorithm>

#include "base/function_ref.h"
#include "base/sha256.h"
#include "base/text.h"
#include "engine/conditions.h"
#include "engine/evidence.h"
#include "engine/misfit.h"
#include "engine/resolver.h"
#include "engine/revert.h"
#include "engine/standing.h"
#include "engine/write_patch.h"

namespace suture {
namespace {

const FileState* find_file(const TreeState& state, const std::string& path) {
  const auto it = state.files.find(path);
  return it == state.files.end() ? nullptr : &it->second;
}

class Verdicts {
 public:
  Verdicts(Workbench& bench, const TreeState& state, const Patch& patch, const std::vector<Patch>& all,
           const PlanOptions& options, const std::set<std::string>& planned, bool alone)
      : bench_(bench), state_(state), patch_(patch), all_(all), options_(options), planned_(planned), alone_(alone) {
    out_.outcome.patch = patch.name;
  }

  Judgement run() {
    out_.run = run_patch(bench_, state_, patch_);
    out_.outcome.rules = outcomes_of(out_.run);
    if (out_.run.error) {
      out_.outcome.fatal = out_.run.error;
      out_.outcome.reason = out_.run.error->message;
      out_.outcome.verdict = Verdict::drifted;
      return std::move(out_);
    }
    decide();
    notes();
    return std::move(out_);
  }

 private:
  bool is(Verdict verdict, std::string reason = "", std::string hint = "") {
    out_.outcome.verdict = verdict;
    out_.outcome.reason = std::move(reason);
    if (!hint.empty()) out_.outcome.hints.push_back(std::move(hint));
    return true;
  }

  void decide() {
    if (absent()) return;
    if (by_receipt()) return;
    if (out_of_range()) return;
    if (!alone_ && conflicting()) return;
    if (superseded()) return;
    if (blocked()) return;
    if (by_sites()) {
      if (!alone_) only_without_others();
      return;
    }
    if (!alone_ && out_.outcome.verdict == Verdict::applicable) touches_others();
  }

  // --- absent -------------------------------------------------------------------------------------------------------------------

  bool absent() {
    if (!state_.present)
      return is(Verdict::absent, "no package " + patch_.package.value + " here",
                "name its environment with -t TREE or --python EXE");
    if (state_.receipt.find(patch_.name) != nullptr) return false;
    if (!out_.run.any_file && !patch_.rules.empty()) {
      std::string names;
      for (const std::string& path : out_.run.looked_for)
        names += (names.empty() ? "" : ", ") + path + (is_folder(path) ? " (a folder)" : "");
      return is(Verdict::absent, "there is no " + names);
    }
    if (!out_.run.any_scope && has_scopes()) {
      std::string names;
      for (const RuleRun& run : out_.run.rules) {
        for (const Text& name : run.rule->rule->in) {
          if (names.find(name.value) == std::string::npos) names += (names.empty() ? "" : ", ") + name.value;
        }
      }
      syntax_error_notes();
      return is(Verdict::absent, "none of what the rules name is defined: " + names);
    }
    return false;
  }
  bool is_folder(const std::string& path) const {
    const FileState* file = find_file(state_, path);
    return file != nullptr && file->kind == FileState::Kind::folder;
  }
  bool has_scopes() const {
    return std::any_of(out_.run.rules.begin(), out_.run.rules.end(),
                       [](const RuleRun& run) { return !run.rule->rule->in.empty(); });
  }

  // --- outdated, applied, partial by receipt -----------------------------------------------------------------------------------------

  bool by_receipt() {
    const ReceiptEntry* entry = state_.receipt.find(patch_.name);
    if (entry == nullptr) return false;
    if (entry->edition != patch_.edition) {
      out_.outcome.has_receipt = true;
      return is(Verdict::outdated, "another edition of this patch was applied here",
                "apply takes it back and applies this one");
    }
    judge_standing(state_, *entry, out_.outcome);
    put_back_elsewhere(*entry);
    if (!alone_) what_it_lacks();
    return true;
  }

  // The receipt's edits of a file that somebody put back are void, and forgotten: the rules say that they are to do again.
  void put_back_elsewhere(const ReceiptEntry& entry) {
    if (out_.outcome.verdict != Verdict::applied) return;
    std::vector<std::string> paths;
    for (const RuleRun& run : out_.run.rules) {
      const bool again = !run.import && run.counts_ok() && run.state() == RuleState::to_do;
      if (again && !entry.edits.contains(run.path) && std::find(paths.begin(), paths.end(), run.path) == paths.end())
        paths.push_back(run.path);
    }
    if (paths.empty()) return;
    is(Verdict::partial, "what suture wrote does not stand any more in " + join(paths, ", "),
       "`suture revert " + patch_.name + "` takes back what stands; then apply it again");
  }

  // What it needs and does not find any more. Its own edits may be the reason (a `requires` on the code that they replaced):
  // so that alone is no verdict.
  void what_it_lacks() {
    for (const Condition& condition : patch_.needs) {
      const ConditionResult result = check_condition(bench_, state_, patch_, condition);
      if (!result.error && !result.holds) out_.outcome.lacks.push_back("a requirement does not hold: " + result.why);
    }
    for (const RuleRun& run : out_.run.rules) {
      if (!run.import) continue;
      if (run.import->kind != ImportStatus::Kind::satisfied) {
        out_.outcome.lacks.push_back("`" + run.rule->import()->statement + "` is not in " + run.path);
      } else if (const auto problem = resolver().problem(*run.rule->import(), run.path)) {
        out_.outcome.lacks.push_back(problem->reason);
      }
    }
  }

  // --- out-of-range ---------------------------------------------------------------------------------------------------------------------

  [[nodiscard]] std::string why_unknown() const {
    const Distribution& dist = state_.dist;
    if (dist.version) return dist.version_source + " says " + in_quotes(*dist.version) + ", which is no version";
    return dist.found.empty() ? "no metadata beside the package" : "its " + dist.found.front() + " does not say it";
  }

  bool out_of_range() {
    if (!patch_.versions) return false;
    const auto version = deciding_version(state_);
    const std::string hint = "`--assume-version V` says which version this is";
    if (!version && state_.dist.found.size() > 1) {
      std::string names;
      for (const std::string& name : state_.dist.found) names += (names.empty() ? "" : ", ") + name;
      return is(Verdict::out_of_range, "two versions are recorded here: " + names,
                "remove the stale dist-info, or " + hint);
    }
    if (!version)
      return is(Verdict::out_of_range, "the version of " + patch_.package.value + " is unknown: " + why_unknown(),
                hint);
    const auto specifiers = parse_specifiers(patch_.versions->value);
    if (specifiers && specifiers->contains(*version)) return false;
    return is(Verdict::out_of_range,
              patch_.package.value + " " + version->text + " is outside " + patch_.versions->value);
  }

  // --- conflicting ----------------------------------------------------------------------------------------------------------------------

  static bool lists(const Patch& patch, const std::string& name) {
    return std::any_of(patch.conflicts.begin(), patch.conflicts.end(), [&](const Text& t) { return t.value == name; });
  }

  bool conflicting() {
    for (const ReceiptEntry& entry : state_.receipt.patches) {
      const auto other = std::find_if(all_.begin(), all_.end(), [&](const Patch& p) { return p.name == entry.patch; });
      if (lists(patch_, entry.patch) || (other != all_.end() && lists(*other, patch_.name)))
        return conflicts_with(entry.patch);
    }
    for (const Patch& other : all_) {
      if (other.name == patch_.name || other.package.value != patch_.package.value ||
          state_.receipt.find(other.name) != nullptr)
        continue;
      if (!lists(patch_, other.name) && !lists(other, patch_.name)) continue;
      const Verdict there = Verdicts(bench_, state_, other, all_, options_, planned_, true).run().outcome.verdict;
      if (there == Verdict::applied || (there == Verdict::partial && !mine_too(other)))
        return conflicts_with(other.name);
    }
    return false;
  }
  bool conflicts_with(const std::string& other) {
    if (planned_.contains(other)) {
      return is(Verdict::conflicting, "it conflicts with " + other + ", which is asked for before it",
                "ask for one of the two");
    }
    return is(Verdict::conflicting, "it conflicts with " + other + ", which is applied here",
              "`suture revert " + other + "` first");
  }
  // Both read as partial because they share what stands there (an import line, a rule): then neither is in the other's way.
  bool mine_too(const Patch& other) const {
    for (const RuleRun& run : out_.run.rules) {
      const bool shared = std::any_of(other.rules.begin(), other.rules.end(),
                                      [&](const Rule& r) { return r.id == run.rule->rule->id; });
      if (!shared && run.state() == RuleState::in_place) return false;
    }
    const bool own = std::any_of(other.rules.begin(), other.rules.end(), [&](const Rule& rule) {
      return std::none_of(patch_.rules.begin(), patch_.rules.end(), [&](const Rule& r) { return r.id == rule.id; });
    });
    return !own;
  }

  // Applicable, but an edit would touch bytes that another receipt's edit wrote.
  void touches_others() {
    if (!splices_ || !*splices_) return;  // said by the plan
    for (const ReceiptEntry& entry : state_.receipt.patches) {
      for (const auto& [path, mine] : **splices_) {
        const auto edits = entry.edits.find(path);
        if (edits == entry.edits.end()) continue;
        const auto ranges = standing_edits(state_, entry, path);
        for (std::size_t i = 0; i < ranges.size(); ++i) {
          for (const Splice& s : mine) {
            if (!ranges[i] || (s.import && edits->second[i].import)) continue;
            if (s.begin > ranges[i]->end || s.end < ranges[i]->begin) continue;
            const Source source(path, *find_file(state_, path)->bytes);
            out_.outcome.evidence.push_back(
                {path, source.locate(*ranges[i]), entry.patch + " wrote this, rule " + s.rule + " would change it"});
            is(Verdict::conflicting, "it would touch what " + entry.patch + " wrote in " + path,
               "`suture revert " + entry.patch + "` first");
            return;
          }
        }
      }
    }
  }

  // The edits of `entry` that stand where this patch would edit the tree without them; `wanted`: its splices there.
  std::vector<Evidence> in_the_way(const ReceiptEntry& entry, const Result<Splices>& wanted) const {
    std::vector<Evidence> found;
    if (!wanted) return found;
    for (const auto& [path, edits] : entry.edits) {
      const auto mine = wanted->find(path);
      if (mine == wanted->end()) continue;
      const auto ranges = standing_edits(state_, entry, path);
      std::int64_t moved = 0;  // from the present bytes to those without the edits
      for (std::size_t i = 0; i < ranges.size(); ++i) {
        if (!ranges[i] || edits[i].import) continue;
        const std::int64_t begin = ranges[i]->begin + moved;
        const std::int64_t end = begin + static_cast<std::int64_t>(edits[i].removed.size());
        moved +=
            static_cast<std::int64_t>(edits[i].removed.size()) - static_cast<std::int64_t>(edits[i].written.size());
        for (const Splice& s : mine->second) {
          if (s.import || s.begin > end || s.end < begin) continue;
          const Source source(path, *find_file(state_, path)->bytes);
          found.push_back(
              {path, source.locate(*ranges[i]), entry.patch + " wrote this, rule " + s.rule + " would change it"});
          break;
        }
      }
    }
    return found;
  }

  // Not applicable as the tree stands, but it would be without what another patch wrote.
  void only_without_others() {
    if (out_.outcome.verdict == Verdict::applicable || out_.outcome.verdict == Verdict::applied ||
        state_.receipt.patches.empty())
      return;
    for (const ReceiptEntry& entry : state_.receipt.patches) {
      const RevertPlan without = plan_revert(state_, {entry.patch}, false);
      if (without.refused()) continue;
      const Judgement there = Verdicts(bench_, without.after, patch_, all_, options_, planned_, true).run();
      if (there.outcome.verdict != Verdict::applicable) continue;
      out_.outcome.evidence = in_the_way(entry, patch_splices(without.after, there.run));
      out_.outcome.hints.clear();
      out_.outcome.diff.clear();
      is(Verdict::conflicting, "it is applicable only without " + entry.patch + ", which is applied here",
         "`suture revert " + entry.patch + "` first");
      return;
    }
  }

  // --- superseded, blocked --------------------------------------------------------------------------------------------------------------

  bool superseded() {
    for (const Condition& condition : patch_.superseded) {
      ConditionResult result = check_condition(bench_, state_, patch_, condition);
      if (failed(result)) return true;
      if (!result.holds) continue;
      out_.outcome.evidence = std::move(result.evidence);
      return is(Verdict::superseded, "upstream already does it: " + result.why);
    }
    return false;
  }

  bool blocked() {
    for (const Condition& condition : patch_.needs) {
      ConditionResult result = check_condition(bench_, state_, patch_, condition);
      if (failed(result)) return true;
      if (result.holds) continue;
      out_.outcome.evidence = std::move(result.evidence);
      return is(Verdict::blocked, "a requirement does not hold: " + result.why, result.hint);
    }
    for (const RuleRun& run : out_.run.rules) {
      if (!run.import || run.import->kind != ImportStatus::Kind::missing) continue;
      auto problem = resolver().problem(*run.rule->import(), run.path);
      if (!problem) continue;
      if (problem->searched) out_.outcome.evidence.push_back(std::move(*problem->searched));
      return is(Verdict::blocked, std::move(problem->reason), std::move(problem->hint));
    }
    return false;
  }
  bool failed(const ConditionResult& result) {
    if (!result.error) return false;
    out_.outcome.fatal = result.error;
    return is(Verdict::drifted, result.error->message);
  }
  Resolver resolver() { return {bench_, state_, patch_.adds}; }

  // --- ambiguous, foreign-edit, drifted, partial, applicable, applied ----------------------------------------------------------------

  // true: the code does not fit (ambiguous, foreign-edit, drifted).
  bool by_sites() {
    const auto unclear = runs_that([](const RuleRun& run) { return !run.sites.ambiguous.empty(); });
    if (!unclear.empty()) return tell_ambiguous(out_.outcome, unclear), true;
    const auto failing = runs_that([](const RuleRun& run) { return !run.counts_ok(); });
    const bool edited = std::any_of(failing.begin(), failing.end(),
                                    [&](const RuleRun* run) { return edited_by_hand(state_, run->path); });
    if (edited) return tell_misfit(out_.outcome, state_, patch_, failing, Verdict::foreign_edit), true;
    if (unknown_added_file()) return true;
    if (!failing.empty()) {
      tell_misfit(out_.outcome, state_, patch_, failing, Verdict::drifted);
      syntax_error_notes();
      return true;
    }
    if (options_.strict && strict_edit()) return true;
    by_states();
    return out_.outcome.verdict == Verdict::applicable && not_editable();
  }

  // The code is there, and cannot be edited as it stands: that is of the tree, not of the rules.
  bool not_editable() {
    splices_ = patch_splices(state_, out_.run);
    if (*splices_ || splices_->error().exit != Exit::refused)
      return false;  // what is wrong with the rules, the plan says
    const Error& error = splices_->error();
    const Location where = error.where.value_or(Location{});
    out_.outcome.evidence.push_back({where.file, where, std::string(trim(where.text)), "", true});
    const bool edited = edited_by_hand(state_, where.file);
    return is(edited ? Verdict::foreign_edit : Verdict::drifted, error.message, error.hint);
  }

  std::vector<const RuleRun*> runs_that(FunctionRef<bool(const RuleRun&)> holds) const {
    std::vector<const RuleRun*> out;
    for (const RuleRun& run : out_.run.rules) {
      if (holds(run)) out.push_back(&run);
    }
    return out;
  }

  bool unknown_added_file() {
    for (const AddedFile& added : patch_.adds) {
      const FileState* file = find_file(state_, added.path.value);
      if (file == nullptr || file->kind == FileState::Kind::absent) continue;
      if (file->kind == FileState::Kind::regular && file->sha256 == sha256_hex(added.bytes)) continue;
      if (file->kind == FileState::Kind::unreadable)
        return is(Verdict::foreign_edit, added.path.value + " cannot be looked at: " + file->problem);
      return is(Verdict::foreign_edit, added.path.value + " is there already, with bytes that are not this patch's",
                "move that file away; suture does not overwrite it");
    }
    return false;
  }

  bool strict_edit() {
    for (const RuleRun& run : out_.run.rules) {
      if (run.state() != RuleState::to_do || !edited_by_hand(state_, run.path)) continue;
      return is(Verdict::foreign_edit, run.path + " was edited by hand, and --strict was given",
                "undo the edit, or leave --strict out");
    }
    return false;
  }

  void by_states() {
    bool to_do = false;
    bool in_place = false;
    bool mixed = false;
    bool import_missing = false;
    for (const RuleRun& run : out_.run.rules) {
      const RuleState s = run.state();
      if (run.rule->import() != nullptr && !out_.run.imports_alone()) {
        // An import supports, it never decides: but where there is nothing else.
        import_missing = import_missing || s == RuleState::to_do;
        continue;
      }
      to_do = to_do || s == RuleState::to_do;
      in_place = in_place || s == RuleState::in_place;
      mixed = mixed || s == RuleState::mixed;
    }
    const bool added_missing = std::any_of(patch_.adds.begin(), patch_.adds.end(), [&](const AddedFile& added) {
      const FileState* file = find_file(state_, added.path.value);
      return file == nullptr || file->kind == FileState::Kind::absent;
    });
    if (out_.run.imports_alone() && to_do) in_place = false;  // one that the file has besides is not the patch's
    if (mixed || (to_do && in_place)) {
      is(Verdict::partial, "some of its edits are in place and some are not",
         "reinstall " + state_.package + ", then apply");
      for (const RuleRun& run : out_.run.rules) {
        if (run.import || !run.file || run.file->problem) continue;
        for (const Site& site : run.sites.result) out_.outcome.evidence.push_back(in_state(run, site, "in place: "));
        for (const Site& site : run.sites.old) out_.outcome.evidence.push_back(in_state(run, site, "still to do: "));
      }
      return;
    }
    if (in_place && import_missing) {
      is(Verdict::partial, "its edits are in place, and an import that they need is missing",
         "reinstall " + state_.package + ", then apply");
      return;
    }
    if (in_place && added_missing) {
      is(Verdict::partial, "its edits are in place, and a file that they need is missing",
         "reinstall " + state_.package + ", then apply");
      return;
    }
    if (to_do) {
      is(Verdict::applicable);
      return;
    }
    is(Verdict::applied, in_place ? "all its edits are in place, though not by a receipt of suture" : "nothing to do");
  }
  static Evidence in_state(const RuleRun& run, const Site& site, const std::string& state) {
    Evidence e = site_evidence(run.path, run.file->target(), site);
    e.text = state + e.text;
    return e;
  }

  // --- notes ------------------------------------------------------------------------------------------------------------------------------

  void notes() {
    if (out_.outcome.verdict != Verdict::applicable) return;
    for (const RuleRun& run : out_.run.rules) {
      if (run.state() == RuleState::to_do && edited_by_hand(state_, run.path))
        note(run.path + " was edited by hand elsewhere; that edit is kept");
    }
    syntax_error_notes();
  }
  void syntax_error_notes() {
    for (const RuleRun& run : out_.run.rules) {
      if (!run.file || run.file->problem || !run.file->tree.broken()) continue;
      const Location where = run.file->first_error();
      note(run.path + (where.line == 0 ? "" : ":" + std::to_string(where.line)) +
           ": the parser sees a syntax error here");
    }
  }
  void note(std::string text) {
    auto& notes = out_.outcome.notes;
    if (std::find(notes.begin(), notes.end(), text) == notes.end()) notes.push_back(std::move(text));
  }

  Workbench& bench_;
  const TreeState& state_;
  const Patch& patch_;
  const std::vector<Patch>& all_;
  PlanOptions options_;
  const std::set<std::string>& planned_;
  bool alone_;  // without the other patches: for judging whether THEY are in the way
  Judgement out_;
  std::optional<Result<Splices>> splices_;  // of an applicable patch
};

}  // namespace

Judgement judge_patch(Workbench& bench, const TreeState& state, const Patch& patch, const std::vector<Patch>& all,
                      const PlanOptions& options, const std::set<std::string>& planned) {
  return Verdicts(bench, state, patch, all, options, planned, false).run();
}

}  // namespace suture
