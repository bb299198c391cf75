// Planning a revert. Contract: engine/revert.h; the arithmetic: engine/written_edits.h.
#include "engine/revert.h"

#include <algorithm>
#include <set>
#include <utility>

#include "engine/diff.h"
#include "engine/written_edits.h"

namespace suture {
namespace {

using Kind = RevertOutcome::Kind;

std::string shown(const TreeState& state, const std::string& path) {
  return state.folder.empty() ? path : state.folder + "/" + path;
}

std::vector<ReceiptEntry*> entries_of(Receipt& receipt) {
  std::vector<ReceiptEntry*> entries;
  for (ReceiptEntry& entry : receipt.patches) entries.push_back(&entry);
  return entries;
}

std::vector<PlacedEdit> placed_on(const TreeState& state, const std::string& path) {
  std::vector<const ReceiptEntry*> entries;
  for (const ReceiptEntry& entry : state.receipt.patches) entries.push_back(&entry);
  return placed_edits(entries, path);
}

bool owned_by(const PlacedEdit& edit, std::size_t index) {
  return std::find(edit.owners.begin(), edit.owners.end(), index) != edit.owners.end();
}
// Goes with the patch: nobody else lists it.
bool goes_with(const PlacedEdit& edit, std::size_t index) {
  return edit.owners == std::vector<std::size_t>{index};
}

std::size_t owners_of_added(const Receipt& receipt, const std::string& path) {
  return static_cast<std::size_t>(std::count_if(receipt.patches.begin(), receipt.patches.end(),
                                                [&path](const auto& entry) { return entry.adds.contains(path); }));
}

void refuse(RevertOutcome& outcome, const TreeState& state, std::string_view reason, std::string_view diff) {
  outcome.kind = Kind::touched;
  outcome.reason.append(outcome.reason.empty() ? "" : "; ").append(reason);
  outcome.diff += diff;
  outcome.hints = {"take your change to these lines back and revert again, or " + reinstall_hint(state)};
}

const char* state_words(FileState::Kind kind) {
  switch (kind) {
    case FileState::Kind::absent:
      return " is gone";
    case FileState::Kind::folder:
      return " is a folder now";
    case FileState::Kind::too_large:
      return " is too large to read now";
    case FileState::Kind::unreadable:
      return " cannot be read";
    case FileState::Kind::regular:
      break;
  }
  return "";
}

// Whether the patch's own edits on one file can be taken out; if not, why, in `outcome`.
void check_file(const TreeState& state, std::size_t index, const std::string& path, RevertOutcome& outcome) {
  const auto file = state.files.find(path);
  if (file == state.files.end() || !file->second.bytes) {
    const FileState::Kind kind = file == state.files.end() ? FileState::Kind::absent : file->second.kind;
    refuse(outcome, state, shown(state, path) + state_words(kind), "");
    return;
  }
  const std::vector<PlacedEdit> placed = placed_on(state, path);
  const bool as_left = file->second.sha256 == state.receipt.files.at(path).left_sha256;
  const std::optional<std::string> left = as_left ? std::optional(*file->second.bytes) : bytes_as_left(state, path);
  if (!left) {
    refuse(outcome, state,
           shown(state, path) +
               " was edited by hand, and the original bytes in .suture/blobs that would tell "
               "the edits apart are missing or damaged",
           "");
    return;
  }
  const std::vector<std::optional<Range>> ranges = locate_edits(*left, *file->second.bytes, placed);
  std::vector<std::string> rules;
  for (std::size_t i = 0; i < placed.size(); ++i) {
    if (!goes_with(placed[i], index) || ranges[i]) continue;
    rules.push_back(placed[i].edit.rule.empty() ? "an edit" : placed[i].edit.rule);
  }
  if (rules.empty()) return;
  std::string names = rules.front();
  for (std::size_t i = 1; i < rules.size(); ++i) names += ", " + rules[i];
  refuse(outcome, state, "lines that suture wrote to " + shown(state, path) + " were changed by hand (" + names + ")",
         unified_diff(shown(state, path), *left, *file->second.bytes));
}

void check_added(const TreeState& state, const std::string& path, const std::string& hash, RevertOutcome& outcome) {
  const auto file = state.files.find(path);
  if (file == state.files.end() || file->second.kind == FileState::Kind::absent) return;
  if (file->second.sha256 == hash || owners_of_added(state.receipt, path) > 1) return;
  if (state.receipt.files.at(path).existed) return;  // it stays, whatever became of it
  const std::optional<std::string> left = bytes_as_left(state, path);
  refuse(outcome, state, "the added file " + shown(state, path) + " was changed by hand",
         left && file->second.bytes ? unified_diff(shown(state, path), *left, *file->second.bytes) : "");
}

// Takes the patch's edits out of one file. Precondition: check_file had no objection.
void take_out(TreeState& state, std::size_t index, const std::string& path) {
  const std::vector<ReceiptEntry*> entries = entries_of(state.receipt);
  rebase(state, entries, path);
  const std::vector<PlacedEdit> placed = placed_on(state, path);
  const std::string present = *state.files.at(path).bytes;
  std::vector<PlacedEdit> gone, kept;
  for (const PlacedEdit& edit : placed) {
    (goes_with(edit, index) ? gone : kept).push_back(edit);
    if (owned_by(edit, index) && !goes_with(edit, index)) std::erase(kept.back().owners, index);
  }
  set_bytes(state, path, without_edits(present, gone, locate_edits(present, present, gone)));
  ReceiptFile& file = state.receipt.files.at(path);
  file.left_sha256 = state.files.at(path).sha256;
  store_edits(entries, path, std::move(kept));
}

std::size_t index_of(const Receipt& receipt, const std::string& patch) {
  const auto entry = std::find_if(receipt.patches.begin(), receipt.patches.end(),
                                  [&patch](const ReceiptEntry& each) { return each.patch == patch; });
  return static_cast<std::size_t>(entry - receipt.patches.begin());
}

RevertOutcome revert_one(TreeState& state, const std::string& patch) {
  RevertOutcome outcome;
  outcome.patch = patch;
  const std::size_t index = index_of(state.receipt, patch);
  const ReceiptEntry entry = state.receipt.patches[index];
  for (const auto& [path, edits] : entry.edits) check_file(state, index, path, outcome);
  for (const auto& [path, hash] : entry.adds) check_added(state, path, hash, outcome);
  if (outcome.kind == Kind::touched) return outcome;
  for (const auto& [path, edits] : entry.edits) take_out(state, index, path);
  for (const auto& [path, hash] : entry.adds) {
    if (owners_of_added(state.receipt, path) == 1 && !state.receipt.files.at(path).existed) set_absent(state, path);
  }
  state.receipt.patches.erase(state.receipt.patches.begin() + static_cast<std::ptrdiff_t>(index));
  prune(state);
  outcome.kind = Kind::reverted;
  return outcome;
}

// How bad a verdict is for a patch that stands by a receipt.
int badness(Verdict verdict) {
  switch (verdict) {
    case Verdict::applied:
      return 0;
    case Verdict::outdated:
      return 1;
    case Verdict::partial:
      return 2;
    default:
      return 3;
  }
}

// Why a patch that stays is worse off; empty: it is not.
std::string worse_off(const std::string& patch, const PatchOutcome& then, const PatchOutcome& now) {
  if (badness(now.verdict) > badness(then.verdict)) {
    return patch + " would be " + std::string(verdict_name(now.verdict)) + " (it is " +
           std::string(verdict_name(then.verdict)) + ")";
  }
  for (const std::string& lack : now.lacks) {
    if (std::find(then.lacks.begin(), then.lacks.end(), lack) != then.lacks.end()) continue;
    return patch + " would lose what it needs: " + lack;
  }
  return "";
}

// Patches that stay must not be worse off; names both.
void judge_rest(const TreeState& before, RevertPlan& plan, const Judge& judge) {
  if (!judge) return;
  for (const ReceiptEntry& entry : plan.after.receipt.patches) {
    const std::string why = worse_off(entry.patch, judge(before, entry.patch), judge(plan.after, entry.patch));
    if (why.empty()) continue;
    for (RevertOutcome& outcome : plan.outcomes) {
      if (outcome.kind != Kind::reverted) continue;
      outcome.kind = Kind::refused;
      outcome.reason = "without " + outcome.patch + ", " + why;
      outcome.hints = {"revert both: suture revert " + outcome.patch + " " + entry.patch};
    }
  }
}

// Whether code stands as a rule of the patch leaves it. An import that the file has for reasons of its own proves nothing,
// but where the patch has no other rule.
bool any_in_place(const PatchOutcome& outcome) {
  return std::any_of(outcome.rules.begin(), outcome.rules.end(), [](const RuleOutcome& rule) {
    return !rule.supports && (rule.state == RuleState::in_place || rule.state == RuleState::mixed);
  });
}

RevertOutcome without_receipt(const TreeState& state, const std::string& patch, const Judge& judge) {
  RevertOutcome outcome;
  outcome.patch = patch;
  if (!judge) return outcome;
  const PatchOutcome found = judge(state, patch);
  if (found.verdict != Verdict::applied && found.verdict != Verdict::partial) return outcome;
  if (!any_in_place(found)) {
    outcome.reason = "nothing of it is applied";
    return outcome;
  }
  outcome.kind = Kind::no_receipt;
  outcome.reason =
      "its edits are in place, but not by a receipt of suture: the bytes that were there before are not known";
  outcome.hints = {reinstall_hint(state)};
  return outcome;
}

// The asked-for entries of the receipt, latest first.
std::vector<std::string> in_order(const Receipt& receipt, const std::vector<std::string>& patches, bool all) {
  std::vector<std::string> order;
  for (auto entry = receipt.patches.rbegin(); entry != receipt.patches.rend(); ++entry) {
    if (all || std::find(patches.begin(), patches.end(), entry->patch) != patches.end()) order.push_back(entry->patch);
  }
  return order;
}

}  // namespace

std::string reinstall_hint(const TreeState& state) {
  const std::string version = state.dist.version ? "==" + *state.dist.version : "";
  return "put the package's own files back: pip install --force-reinstall --no-deps " + state.package + version;
}

bool RevertPlan::refused() const {
  return std::any_of(outcomes.begin(), outcomes.end(), [](const RevertOutcome& outcome) {
    return outcome.kind == Kind::touched || outcome.kind == Kind::no_receipt || outcome.kind == Kind::refused;
  });
}

RevertPlan plan_revert(const TreeState& state, const std::vector<std::string>& patches, bool all, const Judge& judge) {
  RevertPlan plan;
  plan.after = state;
  std::set<std::string> done;
  for (const std::string& patch : drop_void_entries(plan.after)) {
    RevertOutcome outcome;
    outcome.patch = patch;
    outcome.kind = Kind::dropped;
    outcome.reason =
        "the package was reinstalled, upgraded or removed since: its receipt is dropped, and the files that it had "
        "added";
    plan.outcomes.push_back(std::move(outcome));
    done.insert(patch);
  }
  const TreeState live = plan.after;
  for (const std::string& patch : in_order(live.receipt, patches, all)) {
    plan.outcomes.push_back(revert_one(plan.after, patch));
    done.insert(patch);
  }
  for (const std::string& patch : patches) {
    if (done.insert(patch).second) plan.outcomes.push_back(without_receipt(live, patch, judge));
  }
  if (!plan.refused()) judge_rest(live, plan, judge);
  if (plan.refused()) {
    plan.after = state;
    return plan;
  }
  plan.changes = changes_between(state, plan.after);
  return plan;
}

}  // namespace suture
