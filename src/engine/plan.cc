// See plan.h.
#include "engine/plan.h"

#include <algorithm>
#include <set>

#include "engine/judge.h"
#include "engine/revert.h"
#include "engine/write_patch.h"

namespace suture {

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::absent:
      return "absent";
    case Verdict::outdated:
      return "outdated";
    case Verdict::out_of_range:
      return "out-of-range";
    case Verdict::conflicting:
      return "conflicting";
    case Verdict::superseded:
      return "superseded";
    case Verdict::blocked:
      return "blocked";
    case Verdict::ambiguous:
      return "ambiguous";
    case Verdict::foreign_edit:
      return "foreign-edit";
    case Verdict::drifted:
      return "drifted";
    case Verdict::partial:
      return "partial";
    case Verdict::applicable:
      return "applicable";
    case Verdict::applied:
      return "applied";
  }
  return "?";
}

Exit verdict_exit(Verdict verdict, bool strict) {
  switch (verdict) {
    case Verdict::applicable:
    case Verdict::applied:
    case Verdict::outdated:
      return Exit::ok;
    case Verdict::superseded:
      return strict ? Exit::unfit : Exit::ok;
    case Verdict::absent:
    case Verdict::out_of_range:
    case Verdict::blocked:
      return Exit::unfit;
    case Verdict::conflicting:
    case Verdict::ambiguous:
    case Verdict::foreign_edit:
    case Verdict::drifted:
    case Verdict::partial:
      return Exit::refused;
  }
  return Exit::refused;
}

std::string_view rule_state_name(RuleState state) {
  switch (state) {
    case RuleState::idle:
      return "idle";
    case RuleState::in_place:
      return "in-place";
    case RuleState::to_do:
      return "to-do";
    case RuleState::mixed:
      return "mixed";
  }
  return "?";
}

namespace {

void fail(PatchOutcome& outcome, const Error& error) {
  outcome.fatal = error;
  outcome.reason = error.message;
}

// Takes back the edition that stands, and writes this one.
void renew(Workbench& bench, TreeState& state, const Patch& patch, const std::vector<Patch>& all,
           const PlanOptions& options, PatchOutcome& outcome) {
  const RevertPlan back = plan_revert(state, {patch.name}, false);
  if (back.refused()) {
    const RevertOutcome& why = back.outcomes.front();
    outcome.verdict = Verdict::foreign_edit;
    outcome.reason = "the edition that was applied cannot be taken back: " + why.reason;
    outcome.hints = why.hints;
    return;
  }
  Judgement anew = judge_patch(bench, back.after, patch, all, options);
  if (anew.outcome.verdict != Verdict::applicable || anew.outcome.fatal) {
    outcome = std::move(anew.outcome);
    return;
  }
  auto written = write_patch(bench, back.after, patch, anew.run);
  if (!written) return fail(outcome, written.error());
  outcome.rules = anew.outcome.rules;
  outcome.notes = anew.outcome.notes;
  state = std::move(*written);
}

// Judges the patch on `state` and, where it is to be written, moves `state` on.
PatchOutcome step(Workbench& bench, TreeState& state, const Patch& patch, const std::vector<Patch>& all,
                  const PlanOptions& options, const std::set<std::string>& planned) {
  Judgement judgement = judge_patch(bench, state, patch, all, options, planned);
  PatchOutcome& outcome = judgement.outcome;
  if (outcome.verdict == Verdict::outdated) {
    renew(bench, state, patch, all, options, outcome);
  } else if (outcome.verdict == Verdict::applicable && !outcome.fatal) {
    auto written = write_patch(bench, state, patch, judgement.run);
    if (written) {
      state = std::move(*written);
    } else {
      fail(outcome, written.error());
    }
  }
  return std::move(judgement.outcome);
}

}  // namespace

Plan plan_apply(const TreeState& state, const std::vector<const Patch*>& patches, const std::vector<Patch>& all,
                const PlanOptions& options) {
  Workbench bench;
  Plan plan;
  plan.after = state;
  drop_void_entries(plan.after);
  std::set<std::string> planned;
  for (const Patch* patch : patches) {
    const std::size_t before = plan.after.receipt.patches.size();
    plan.outcomes.push_back(step(bench, plan.after, *patch, all, options, planned));
    if (plan.after.receipt.patches.size() != before) planned.insert(patch->name);
  }
  plan.changes = changes_between(state, plan.after);
  return plan;
}

PatchOutcome judge(const TreeState& state, const Patch& patch, const std::vector<Patch>& all,
                   const PlanOptions& options) {
  Workbench bench;
  TreeState live = state;
  drop_void_entries(live);
  Judgement judgement = judge_patch(bench, live, patch, all, options);
  if (judgement.outcome.verdict == Verdict::applicable && !judgement.outcome.fatal) {
    const auto written = write_patch(bench, live, patch, judgement.run);
    if (!written) fail(judgement.outcome, written.error());
  }
  return std::move(judgement.outcome);
}

std::vector<PatchOutcome> verdicts_of(const TreeState& state, const std::vector<const Patch*>& patches,
                                      const std::vector<Patch>& all, const PlanOptions& options) {
  Workbench bench;
  TreeState live = state;
  drop_void_entries(live);
  std::vector<PatchOutcome> out;
  for (const Patch* patch : patches) out.push_back(judge_patch(bench, live, *patch, all, options).outcome);
  return out;
}

}  // namespace suture
