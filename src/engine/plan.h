// Plan: what applying (or reverting) patches on a tree would do, as a value. `diff`, `status` and `apply` all
// make the same Plan, so what is shown is what is written.
//
// Plans compose: planning A and then B is planning B on the state that A leaves. apply A B is one transaction over
// the composed result.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/state.h"
#include "read/patch.h"

namespace suture {

// In the order of design: the first line that holds is the verdict.
enum class Verdict {
  absent,
  outdated,
  out_of_range,
  conflicting,
  superseded,
  blocked,
  ambiguous,
  foreign_edit,
  drifted,
  partial,
  applicable,
  applied,
};
std::string_view verdict_name(Verdict verdict);   // "out-of-range"
Exit verdict_exit(Verdict verdict, bool strict);  // of apply: the exit code for that verdict

enum class RuleState { idle, in_place, to_do, mixed };
std::string_view rule_state_name(RuleState state);

// A place that a verdict speaks of.
struct Evidence {
  std::string path;  // relative to the package folder (of another package: to the folder that holds it); may be empty
  Location where;    // line 0: no position
  std::string text;  // one line: what is there
  std::string detail{};  // one line more: what differs there, or what would be written
  bool column = false;   // whether the column matters: two readings of one line
};

struct RuleOutcome {
  std::string rule;
  std::string ok;  // the rule's words
  RuleState state = RuleState::idle;
  bool supports = false;           // an import beside other rules: it decides nothing
  std::string file;                // the first file that was used; empty: none is there
  std::vector<std::string> files;  // where its candidate is a glob: all of its files in which the rule's code stands
  bool per_file = false;           // those files are counted one by one
  bool lost = false;  // none of its files is there, or none that is holds its scope: the code may have moved
  std::uint32_t old_sites = 0, result_sites = 0, done_sites = 0;
  std::uint32_t expected_min = 0, expected_max = 0;
  std::vector<Evidence> sites;       // old sites (what would be edited), in order
  std::vector<Evidence> candidates;  // drift: the nearest, best first, at most three
};

struct PatchOutcome {
  std::string patch;
  Verdict verdict = Verdict::absent;
  std::string reason;              // one sentence, why this verdict; empty where the verdict says all
  std::vector<std::string> hints;  // what to do next
  std::vector<Evidence> evidence;  // places that prove it
  std::string diff;                // foreign-edit: from the bytes that suture knows to those that are there
  std::vector<RuleOutcome> rules;
  bool has_receipt = false;
  // A patch that stands by a receipt: what it needs of the tree and does not find there. Its verdict says nothing of that;
  // a revert of another patch must not add to it.
  std::vector<std::string> lacks;
  std::vector<std::string> notes;  // e.g. a user's edit elsewhere in the file that is kept; ERROR nodes elsewhere
  std::optional<Error>
      fatal;  // a rule is wrong for this input (overlapping edits, a result that is not a result): exit 3
};

// before absent: the file is created; after absent: it is removed.
struct FileChange {
  std::shared_ptr<const std::string> before, after;
};

struct Plan {
  std::vector<PatchOutcome> outcomes;         // one a patch, in the order asked for
  std::map<std::string, FileChange> changes;  // by path; only files whose bytes change
  TreeState after;                            // the state once the changes are written (receipt and blobs included)
  [[nodiscard]] bool writes() const { return !changes.empty(); }
};

struct PlanOptions {
  bool strict = false;
};

// Plans `patches` in order on `state`. `all` is the whole catalog (for conflicts between patches). A patch whose
// verdict is not applicable or outdated contributes no change. All or nothing is the caller's: `changes` holds
// what the applicable ones would write.
Plan plan_apply(const TreeState& state, const std::vector<const Patch*>& patches, const std::vector<Patch>& all,
                const PlanOptions& options = {});

// The verdict of one patch as the tree stands. Where it is applicable its edits are made, to see whether they can be: what is
// wrong with them is said as plan_apply would.
PatchOutcome judge(const TreeState& state, const Patch& patch, const std::vector<Patch>& all,
                   const PlanOptions& options = {});
// The same by the receipt alone, for a patch that the catalog does not have: applied, partial, or absent without one.
PatchOutcome judge_receipt(const TreeState& state, const std::string& patch);
// Of several patches as the tree stands, none of their edits made: rules are compiled and files parsed once for all. Where a patch's
// own rules are wrong for the tree, that (`fatal`) may not show.
std::vector<PatchOutcome> verdicts_of(const TreeState& state, const std::vector<const Patch*>& patches,
                                      const std::vector<Patch>& all, const PlanOptions& options = {});

}  // namespace suture
