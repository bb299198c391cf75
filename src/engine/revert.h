// Taking patches back by receipts alone: pure. The bytes of a patch's edits are un-spliced, the rest is shifted;
// where the file is not as suture left it, the written bytes are rebuilt (blob + edits), diffed against the present
// file and each edit is moved by that diff, so that a user's own lines stay.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "engine/plan.h"
#include "engine/state.h"

namespace suture {

struct RevertOutcome {
  std::string patch;
  // not_applied: nothing to do. touched: a user changed the very lines (diff in `diff`, exit 4). no_receipt:
  // applied, but not by a receipt (exit 4, hint: reinstall). refused: another patch would be worse off (exit 4).
  // dropped: the entry was void (upgraded or reinstalled tree) and is only forgotten.
  enum class Kind { reverted, not_applied, touched, no_receipt, refused, dropped } kind = Kind::not_applied;
  std::string reason;
  std::string diff;
  std::vector<std::string> hints;
};

struct RevertPlan {
  std::vector<RevertOutcome> outcomes;  // latest patch first, then those that were not there; void entries first
  std::map<std::string, FileChange> changes;
  TreeState after;
  [[nodiscard]] bool refused() const;  // one is touched, no_receipt or refused: then nothing changes
};

// The verdict of a patch on a state: engine's judge() with the catalog bound. May be empty: then remaining patches
// are not judged again, and a patch without a receipt is `not_applied`.
using Judge = std::function<PatchOutcome(const TreeState& state, const std::string& patch)>;

// Takes back `patches` (all: every entry of the receipt), latest first; void entries are dropped whatever was asked
// for. Nothing changes when any is refused.
RevertPlan plan_revert(const TreeState& state, const std::vector<std::string>& patches, bool all,
                       const Judge& judge = {});

// How to have the package's own files back.
std::string reinstall_hint(const TreeState& state);

// --- what plan.cc needs of the same arithmetic (written_edits.cc) ---------------------------------------------------

// An edit on present bytes: [begin, end) becomes `text`.
struct Splice {
  std::uint32_t begin = 0, end = 0;
  std::string text;
  std::string rule;
  bool import = false;
  bool addition = false;  // of an add_* or set_key: several rules may add at one place, in the patch's order
  std::string joint{};    // what then stands between this one and the next
};

// `bytes` with the splices made. Precondition: ascending, not overlapping.
std::string splice(std::string_view bytes, const std::vector<Splice>& splices);

// The state with `splices` written to `path` for `entry`: bytes, hashes, receipt (other entries' offsets shifted),
// blob of the original where this is the first patch on that file. `entry` may be an element of
// state.receipt.patches, or one that the caller appends there afterwards. A file that was edited by hand since is
// taken as it is: the receipt then holds it with the user's edits. Precondition: ascending, not overlapping, and
// touching no bytes that a receipt's edit wrote, imports excepted.
//
// Shared imports: an `import` splice whose text another entry wrote to this file already is not written again,
// wherever its begin and end are; the standing line is listed in `entry` too. So a planner passes ONE import splice
// for each add_import of the patch whose line it would write, also where standing_import() finds that line in place.
void write_edits(TreeState& state, ReceiptEntry& entry, const std::string& path, const std::vector<Splice>& splices);
// An added file: written, or shared with the entries that added the same bytes, or found there with these bytes.
void write_added_file(TreeState& state, ReceiptEntry& entry, const std::string& path, const std::string& bytes);

// Where a line that another patch's add_import wrote stands in `path`; nullopt: no receipt lists these bytes.
std::optional<Range> standing_import(const TreeState& state, const std::string& path, std::string_view text);

// Where the edits of a receipt entry stand in the present bytes of `path` (moved by a diff where the file was edited
// by hand): nullopt for an edit that does not stand any more.
std::vector<std::optional<Range>> standing_edits(const TreeState& state, const ReceiptEntry& entry,
                                                 const std::string& path);

// The bytes of `path` as suture left them, rebuilt from blob and edits (added files: the blob). nullopt: no receipt
// has them.
std::optional<std::string> bytes_as_left(const TreeState& state, const std::string& path);

// --- void entries (void_entries.cc) ---------------------------------------------------------------------------------

// An entry (or one file of it) is void when the file equals the present RECORD (or, again, the bytes before the
// first patch), or when the version differs and its bytes do not stand. Returns the receipt without void entries;
// names of the dropped patches in *dropped.
Receipt live_receipt(const TreeState& state, std::vector<std::string>* dropped = nullptr);

// The state as apply and revert write it: the receipt is live_receipt(), blobs that nothing names are gone, and so
// are the added files of void entries whose bytes are still those written. Returns the dropped patches.
std::vector<std::string> drop_void_entries(TreeState& state);

// What leads from one state to the other: the files whose bytes differ. For plans that compose several steps.
std::map<std::string, FileChange> changes_between(const TreeState& before, const TreeState& after);

}  // namespace suture
