// Receipt entries that an upgrade, a reinstall or a checkout made meaningless. Contract: engine/revert.h.
//
// Judged file by file: a reinstall writes whole files. The added files of an entry go with its last edit, because an
// uninstall leaves them behind: they prove nothing.
#include <algorithm>
#include <set>

#include "engine/revert.h"
#include "engine/written_edits.h"

namespace suture {
namespace {

const std::string& version_of(const TreeState& state) {
  static const std::string unknown;
  if (!state.dist.assumed.empty()) return state.dist.assumed;
  return state.dist.version ? *state.dist.version : unknown;
}

bool all_stand(const TreeState& state, const ReceiptEntry& entry, const std::string& path) {
  const std::vector<std::optional<Range>> ranges = standing_edits(state, entry, path);
  return std::all_of(ranges.begin(), ranges.end(), [](const std::optional<Range>& range) { return range.has_value(); });
}

// The file has the very bytes of the distribution, or those before the first patch: someone put them back.
bool restored(const TreeState& state, const std::string& path) {
  const auto present = state.files.find(path);
  const auto known = state.receipt.files.find(path);
  if (present == state.files.end() || present->second.kind != FileState::Kind::regular) return false;
  if (known != state.receipt.files.end()) {
    if (present->second.sha256 == known->second.left_sha256)
      return false;  // also where RECORD was written anew after apply
    if (present->second.sha256 == known->second.original_sha256) return true;
  }
  const auto record = state.dist.record.find(path);
  return record != state.dist.record.end() && record->second == present->second.sha256;
}

// A file is void for all its patches or for none: with one that still holds, the offsets of the others are needed.
bool void_file(const TreeState& state, const std::string& path) {
  if (restored(state, path)) return true;
  bool any_stands = false, any_current = false;
  for (const ReceiptEntry& entry : state.receipt.patches) {
    if (!entry.edits.contains(path)) continue;
    any_current = any_current || entry.version == version_of(state);
    any_stands = any_stands || all_stand(state, entry, path);
  }
  return !any_current && !any_stands;
}

bool added_stands(const TreeState& state, const std::string& path, const std::string& hash) {
  const auto file = state.files.find(path);
  return file != state.files.end() && file->second.sha256 == hash;
}

// What is left of an entry without its void files.
ReceiptEntry live_entry(const TreeState& state, const ReceiptEntry& entry, const std::set<std::string>& void_files) {
  ReceiptEntry live = entry;
  std::erase_if(live.edits, [&void_files](const auto& file) { return void_files.contains(file.first); });
  if (live.edits.empty() && !entry.edits.empty()) live.adds.clear();
  if (entry.version == version_of(state)) return live;
  if (live.edits.empty()) {
    std::erase_if(live.adds, [&state](const auto& add) { return !added_stands(state, add.first, add.second); });
  }
  return live;
}

}  // namespace

Receipt live_receipt(const TreeState& state, std::vector<std::string>* dropped) {
  std::set<std::string> void_files;
  for (const auto& [path, file] : state.receipt.files) {
    if (!file.original_sha256.empty() && void_file(state, path)) void_files.insert(path);
  }
  Receipt live = state.receipt;
  live.patches.clear();
  for (const ReceiptEntry& entry : state.receipt.patches) {
    ReceiptEntry rest = live_entry(state, entry, void_files);
    if (!rest.edits.empty() || !rest.adds.empty()) {
      live.patches.push_back(std::move(rest));
    } else if (dropped != nullptr) {
      dropped->push_back(entry.patch);
    }
  }
  TreeState pruned;
  pruned.receipt = std::move(live);
  prune(pruned);
  return pruned.receipt;
}

std::vector<std::string> drop_void_entries(TreeState& state) {
  std::vector<std::string> dropped;
  const Receipt before = state.receipt;
  state.receipt = live_receipt(state, &dropped);
  for (const auto& [path, file] : before.files) {
    const bool ours = file.original_sha256.empty() && !file.existed && !state.dist.record.contains(path);
    const bool forgotten = ours && !state.receipt.files.contains(path);
    if (forgotten && added_stands(state, path, file.left_sha256)) set_absent(state, path);
  }
  prune(state);
  return dropped;
}

std::map<std::string, FileChange> changes_between(const TreeState& before, const TreeState& after) {
  const auto bytes_of = [](const TreeState& state, const std::string& path) {
    const auto file = state.files.find(path);
    return file == state.files.end() ? nullptr : file->second.bytes;
  };
  std::map<std::string, FileChange> changes;
  const auto compare = [&](const std::string& path) {
    FileChange change{bytes_of(before, path), bytes_of(after, path)};
    const bool equal = change.before && change.after ? *change.before == *change.after : change.before == change.after;
    if (!equal) changes.emplace(path, std::move(change));
  };
  for (const auto& [path, file] : before.files) compare(path);
  for (const auto& [path, file] : after.files) compare(path);
  return changes;
}

}  // namespace suture
