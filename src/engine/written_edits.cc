// Edits in receipts: placing, moving, writing. Contract: engine/revert.h, engine/written_edits.h.
//
// Rejected: an inverse patch (unified diff) in the receipt. Reverting one of several patches would then have to
// search for its context in lines that the others wrote; offsets that are kept right need no search.
#include "engine/written_edits.h"

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "base/sha256.h"
#include "engine/diff.h"
#include "engine/revert.h"

namespace suture {
namespace {

std::uint32_t length(std::string_view text) {
  return static_cast<std::uint32_t>(text.size());
}

// Bytes that the edit takes in the file as left, and in the base.
std::uint32_t written_size(const WrittenEdit& edit) {
  return edit.touched ? 0 : length(edit.written);
}
std::uint32_t removed_size(const WrittenEdit& edit) {
  return edit.touched ? 0 : length(edit.removed);
}

// Two edits have one offset only where the first writes nothing.
bool stands_before(const PlacedEdit& a, const PlacedEdit& b) {
  if (a.edit.offset != b.edit.offset) return a.edit.offset < b.edit.offset;
  return written_size(a.edit) < written_size(b.edit);
}

bool same_line(const WrittenEdit& a, const WrittenEdit& b) {
  return a.import && b.import && !a.touched && !b.touched && a.offset == b.offset && a.written == b.written;
}

void add_placed(std::vector<PlacedEdit>& placed, const WrittenEdit& edit, std::size_t owner) {
  const auto shared = std::find_if(placed.begin(), placed.end(),
                                   [&edit](const PlacedEdit& other) { return same_line(other.edit, edit); });
  if (shared == placed.end()) {
    placed.push_back({0, edit, {owner}});
  } else {
    shared->owners.push_back(owner);
  }
}

std::vector<ReceiptEntry*> entries_with(Receipt& receipt, ReceiptEntry& entry) {
  std::vector<ReceiptEntry*> entries;
  bool inside = false;
  for (ReceiptEntry& other : receipt.patches) {
    entries.push_back(&other);
    inside = inside || &other == &entry;
  }
  if (!inside) entries.push_back(&entry);
  return entries;
}

std::vector<const ReceiptEntry*> read_only(const std::vector<ReceiptEntry*>& entries) {
  return {entries.begin(), entries.end()};
}

std::vector<const ReceiptEntry*> entries_of(const Receipt& receipt) {
  std::vector<const ReceiptEntry*> entries;
  for (const ReceiptEntry& entry : receipt.patches) entries.push_back(&entry);
  return entries;
}

std::size_t own_index(const std::vector<ReceiptEntry*>& entries, const ReceiptEntry& entry) {
  return static_cast<std::size_t>(std::find(entries.begin(), entries.end(), &entry) - entries.begin());
}

const std::string* present_bytes(const TreeState& state, const std::string& path) {
  const auto file = state.files.find(path);
  return file == state.files.end() ? nullptr : file->second.bytes.get();
}

// Offsets of the first byte of each line, and the size at the end: line i is [starts[i], starts[i + 1]).
std::vector<std::uint32_t> line_starts(std::string_view text) {
  std::vector<std::uint32_t> starts{0};
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    if (at + 1 < text.size()) starts.push_back(static_cast<std::uint32_t>(at + 1));
  }
  if (!text.empty()) starts.push_back(length(text));
  return starts;
}

// Moves ranges of one text to another by their line diff.
class Mover {
 public:
  Mover(std::string_view left, std::string_view present)
      : left_(line_starts(left)), present_(line_starts(present)), changes_(line_changes(left, present)) {}

  [[nodiscard]] std::optional<Range> move(Range range) const {
    const std::uint32_t first = line_of(range.begin);
    if (range.size() == 0 && left_[first] == range.begin) return move_boundary(first);
    const std::uint32_t last = range.size() == 0 ? first : line_of(range.end - 1);
    std::int64_t delta = 0;
    for (const LineChange& change : changes_) {
      if (change.before_begin > last) break;
      // Lines put in between two lines of the edit tear it apart; before its first line they only move it.
      const bool pure_insert = change.before_begin == change.before_end;
      if (pure_insert ? change.before_begin > first : change.before_end > first) return std::nullopt;
      delta = std::int64_t{present_[change.after_end]} - left_[change.before_end];
    }
    return shifted(range, delta);
  }

 private:
  [[nodiscard]] std::uint32_t line_of(std::uint32_t offset) const {
    const auto after = std::upper_bound(left_.begin(), left_.end(), offset);
    return static_cast<std::uint32_t>(after - left_.begin() - 1);
  }

  // Whole lines were deleted at the beginning of `line`: the point between two lines moves as long as it is still
  // one point.
  [[nodiscard]] std::optional<Range> move_boundary(std::uint32_t line) const {
    std::int64_t delta = 0;
    for (const LineChange& change : changes_) {
      if (change.before_begin > line) break;
      if (change.before_begin == line) {
        if (change.before_end == line) return std::nullopt;  // new lines stand exactly there
        break;                                               // the lines that follow were changed
      }
      if (change.before_end > line) return std::nullopt;
      delta = std::int64_t{present_[change.after_end]} - left_[change.before_end];
    }
    return shifted({left_[line], left_[line]}, delta);
  }

  static Range shifted(Range range, std::int64_t delta) {
    return {static_cast<std::uint32_t>(range.begin + delta), static_cast<std::uint32_t>(range.end + delta)};
  }

  std::vector<std::uint32_t> left_, present_;
  std::vector<LineChange> changes_;
};

// Bases for edits that were moved. One that does not stand any more becomes touched, at its old offset as far as
// that lies between its neighbours.
void place_again(std::vector<PlacedEdit>& placed, const std::vector<std::optional<Range>>& ranges, std::uint32_t size) {
  std::vector<std::uint32_t> next(placed.size() + 1, size);
  for (std::size_t i = placed.size(); i-- > 0;) next[i] = ranges[i] ? ranges[i]->begin : next[i + 1];
  std::uint32_t grown = 0, end = 0;
  for (std::size_t i = 0; i < placed.size(); ++i) {
    WrittenEdit& edit = placed[i].edit;
    edit.touched = !ranges[i];
    const std::uint32_t at = ranges[i] ? ranges[i]->begin : std::clamp(edit.offset, end, next[i]);
    placed[i].base = at - grown;
    grown += written_size(edit) - removed_size(edit);
    end = at + written_size(edit);
  }
}

}  // namespace

std::vector<PlacedEdit> placed_edits(const std::vector<const ReceiptEntry*>& entries, const std::string& path) {
  std::vector<PlacedEdit> placed;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const auto edits = entries[i]->edits.find(path);
    if (edits == entries[i]->edits.end()) continue;
    for (const WrittenEdit& edit : edits->second) add_placed(placed, edit, i);
  }
  std::stable_sort(placed.begin(), placed.end(), stands_before);
  std::uint32_t grown = 0;  // modulo 2^32: a shrinking file wraps around and back
  for (PlacedEdit& each : placed) {
    each.base = each.edit.offset - grown;
    grown += written_size(each.edit) - removed_size(each.edit);
  }
  return placed;
}

void store_edits(const std::vector<ReceiptEntry*>& entries, const std::string& path, std::vector<PlacedEdit> placed) {
  for (ReceiptEntry* entry : entries) entry->edits.erase(path);
  std::uint32_t grown = 0;
  for (PlacedEdit& each : placed) {
    each.edit.offset = each.base + grown;
    grown += written_size(each.edit) - removed_size(each.edit);
    for (const std::size_t owner : each.owners) entries[owner]->edits[path].push_back(each.edit);
  }
}

std::optional<std::string> with_edits(std::string_view base, const std::vector<PlacedEdit>& placed) {
  std::string out;
  std::size_t at = 0;
  for (const PlacedEdit& each : placed) {
    if (each.edit.touched) continue;
    if (each.base < at || each.base > base.size()) return std::nullopt;
    if (base.substr(each.base, each.edit.removed.size()) != each.edit.removed) return std::nullopt;
    out.append(base.substr(at, each.base - at)).append(each.edit.written);
    at = each.base + each.edit.removed.size();
  }
  return out.append(base.substr(at));
}

std::vector<std::optional<Range>> locate_edits(std::string_view left, std::string_view present,
                                               const std::vector<PlacedEdit>& placed) {
  std::vector<std::optional<Range>> ranges;
  std::optional<Mover> mover;
  if (left != present) mover.emplace(left, present);
  std::uint32_t end = 0;
  for (const PlacedEdit& each : placed) {
    std::optional<Range> range = Range{each.edit.offset, each.edit.offset + written_size(each.edit)};
    if (each.edit.touched || range->end > left.size() || range->end < range->begin) range.reset();
    if (range && mover) range = mover->move(*range);
    // A receipt that was written by hand may say anything: what does not stand is never cut out.
    if (range && (range->begin < end || present.substr(range->begin, range->size()) != each.edit.written))
      range.reset();
    if (range) end = range->end;
    ranges.push_back(range);
  }
  return ranges;
}

std::string without_edits(std::string_view present, const std::vector<PlacedEdit>& placed,
                          const std::vector<std::optional<Range>>& ranges) {
  std::vector<Splice> back;
  for (std::size_t i = 0; i < placed.size(); ++i) {
    if (ranges[i]) back.push_back({ranges[i]->begin, ranges[i]->end, placed[i].edit.removed, "", false});
  }
  return splice(present, back);
}

void set_bytes(TreeState& state, const std::string& path, std::string bytes) {
  FileState& file = state.files[path];
  file = FileState{};
  file.kind = FileState::Kind::regular;
  file.sha256 = sha256_hex(bytes);
  file.bytes = std::make_shared<const std::string>(std::move(bytes));
}

void set_absent(TreeState& state, const std::string& path) {
  state.files[path] = FileState{};
}

void rebase(TreeState& state, const std::vector<ReceiptEntry*>& entries, const std::string& path) {
  const std::string* present = present_bytes(state, path);
  const auto file = state.receipt.files.find(path);
  if (present == nullptr || file == state.receipt.files.end()) return;
  if (state.files[path].sha256 == file->second.left_sha256) return;
  std::vector<PlacedEdit> placed = placed_edits(read_only(entries), path);
  const auto blob = state.blobs.find(file->second.original_sha256);
  const std::optional<std::string> left = blob == state.blobs.end() ? std::nullopt : with_edits(blob->second, placed);
  std::vector<std::optional<Range>> ranges(placed.size());
  if (left) ranges = locate_edits(*left, *present, placed);
  place_again(placed, ranges, length(*present));
  const std::string base = without_edits(*present, placed, ranges);
  file->second.original_sha256 = sha256_hex(base);
  file->second.left_sha256 = state.files[path].sha256;
  state.blobs[file->second.original_sha256] = base;
  store_edits(entries, path, std::move(placed));
}

void prune(TreeState& state) {
  std::set<std::string> listed, named;
  for (const ReceiptEntry& entry : state.receipt.patches) {
    for (const auto& [path, edits] : entry.edits) listed.insert(path);
    for (const auto& [path, hash] : entry.adds) listed.insert(path);
  }
  std::erase_if(state.receipt.files, [&listed](const auto& file) { return !listed.contains(file.first); });
  for (const auto& [path, file] : state.receipt.files) {
    named.insert(file.original_sha256.empty() ? file.left_sha256 : file.original_sha256);
  }
  std::erase_if(state.blobs, [&named](const auto& blob) { return !named.contains(blob.first); });
}

// --- engine/revert.h --------------------------------------------------------------------------------------------

std::string splice(std::string_view bytes, const std::vector<Splice>& splices) {
  std::string out;
  std::size_t at = 0;
  for (const Splice& each : splices) {
    out.append(bytes.substr(at, each.begin - at)).append(each.text);
    at = each.end;
  }
  return out.append(bytes.substr(at));
}

namespace {

// An edit in the merged order; `fresh`: of this call, so not in the present bytes yet.
struct Slot {
  PlacedEdit placed;
  bool fresh = false;
};

// Where a new edit goes: before the first standing one that begins at or after its end. At `from` and later, so that
// two edits of one call keep their order.
std::size_t position_of(const Splice& splice, const std::vector<Slot>& slots, std::size_t from) {
  std::size_t at = from;
  while (at < slots.size() && slots[at].placed.edit.offset < splice.end) ++at;
  return at;
}

// Lists the standing line in `owner` too. False: nobody wrote this line.
bool share_import(std::vector<Slot>& slots, const Splice& splice, std::size_t owner) {
  for (Slot& slot : slots) {
    const WrittenEdit& edit = slot.placed.edit;
    if (!splice.import || !edit.import || edit.touched || edit.written != splice.text) continue;
    std::vector<std::size_t>& owners = slot.placed.owners;
    if (std::find(owners.begin(), owners.end(), owner) == owners.end()) owners.push_back(owner);
    return true;
  }
  return false;
}

PlacedEdit place(const Splice& splice, const std::vector<Slot>& slots, std::size_t at, std::string_view present,
                 std::size_t owner) {
  std::uint32_t base = splice.begin;
  for (std::size_t i = 0; i < at; ++i) {
    const WrittenEdit& edit = slots[i].placed.edit;
    if (!slots[i].fresh) base -= written_size(edit) - removed_size(edit);
  }
  WrittenEdit edit;
  edit.offset = splice.begin;
  edit.removed = present.substr(splice.begin, splice.end - splice.begin);
  edit.written = splice.text;
  edit.rule = splice.rule;
  edit.import = splice.import;
  return {base, std::move(edit), {owner}};
}

// Puts `splices` among the edits that stand; returns those that are written, not shared.
std::vector<Splice> place_splices(std::vector<PlacedEdit>& placed, const std::vector<Splice>& splices,
                                  std::string_view present, std::size_t owner) {
  std::vector<Slot> slots;
  for (PlacedEdit& each : placed) slots.push_back({std::move(each), false});
  std::vector<Splice> made;
  std::size_t from = 0;
  for (const Splice& each : splices) {
    if (share_import(slots, each, owner)) continue;
    const std::size_t at = position_of(each, slots, from);
    slots.insert(slots.begin() + static_cast<std::ptrdiff_t>(at), {place(each, slots, at, present, owner), true});
    made.push_back(each);
    from = at + 1;
  }
  placed.clear();
  for (Slot& slot : slots) placed.push_back(std::move(slot.placed));
  return made;
}

}  // namespace

void write_edits(TreeState& state, ReceiptEntry& entry, const std::string& path, const std::vector<Splice>& splices) {
  const std::vector<ReceiptEntry*> entries = entries_with(state.receipt, entry);
  rebase(state, entries, path);
  const std::shared_ptr<const std::string> present = state.files[path].bytes;
  if (!present || splices.empty()) return;
  ReceiptFile& file = state.receipt.files[path];
  if (file.original_sha256.empty()) {
    file.original_sha256 = state.files[path].sha256;
    state.blobs[file.original_sha256] = *present;
  }
  const auto record = state.dist.record.find(path);
  file.record_sha256 = record == state.dist.record.end() ? std::string() : record->second;
  std::vector<PlacedEdit> placed = placed_edits(read_only(entries), path);
  const std::vector<Splice> made = place_splices(placed, splices, *present, own_index(entries, entry));
  set_bytes(state, path, splice(*present, made));
  file.left_sha256 = state.files[path].sha256;
  store_edits(entries, path, std::move(placed));
}

void write_added_file(TreeState& state, ReceiptEntry& entry, const std::string& path, const std::string& bytes) {
  const bool added = std::any_of(state.receipt.patches.begin(), state.receipt.patches.end(),
                                 [&path](const ReceiptEntry& other) { return other.adds.contains(path); });
  const bool existed = added ? state.receipt.files[path].existed : present_bytes(state, path) != nullptr;
  set_bytes(state, path, bytes);
  ReceiptFile& file = state.receipt.files[path];
  file.existed = existed;
  file.left_sha256 = state.files[path].sha256;
  if (file.original_sha256.empty()) state.blobs[file.left_sha256] = bytes;
  entry.adds[path] = file.left_sha256;
}

std::optional<Range> standing_import(const TreeState& state, const std::string& path, std::string_view text) {
  for (const ReceiptEntry& entry : state.receipt.patches) {
    const auto edits = entry.edits.find(path);
    if (edits == entry.edits.end()) continue;
    const std::vector<std::optional<Range>> ranges = standing_edits(state, entry, path);
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      if (ranges[i] && edits->second[i].import && edits->second[i].written == text) return ranges[i];
    }
  }
  return std::nullopt;
}

std::vector<std::optional<Range>> standing_edits(const TreeState& state, const ReceiptEntry& entry,
                                                 const std::string& path) {
  const auto edits = entry.edits.find(path);
  if (edits == entry.edits.end()) return {};
  std::vector<std::optional<Range>> own(edits->second.size());
  const std::string* present = present_bytes(state, path);
  const auto file = state.receipt.files.find(path);
  if (present == nullptr || file == state.receipt.files.end()) return own;
  const bool as_left = state.files.at(path).sha256 == file->second.left_sha256;
  const std::optional<std::string> left = as_left ? std::optional(*present) : bytes_as_left(state, path);
  if (!left) return own;
  // The edits of all entries: those of one alone may be out of order at one point.
  std::vector<const ReceiptEntry*> entries = entries_of(state.receipt);
  const std::vector<PlacedEdit> placed = placed_edits(entries, path);
  const std::vector<std::optional<Range>> ranges = locate_edits(*left, *present, placed);
  for (std::size_t i = 0; i < own.size(); ++i) {
    for (std::size_t k = 0; k < placed.size(); ++k) {
      const WrittenEdit& edit = placed[k].edit;
      if (edit == edits->second[i] || same_line(edit, edits->second[i])) own[i] = ranges[k];
    }
  }
  return own;
}

std::optional<std::string> bytes_as_left(const TreeState& state, const std::string& path) {
  const auto file = state.receipt.files.find(path);
  if (file == state.receipt.files.end()) return std::nullopt;
  const ReceiptFile& known = file->second;
  const bool added = known.original_sha256.empty();
  const auto blob = state.blobs.find(added ? known.left_sha256 : known.original_sha256);
  if (blob == state.blobs.end()) return std::nullopt;
  if (added) return blob->second;
  std::optional<std::string> left = with_edits(blob->second, placed_edits(entries_of(state.receipt), path));
  if (left && sha256_hex(*left) != known.left_sha256) left.reset();
  return left;
}

}  // namespace suture
