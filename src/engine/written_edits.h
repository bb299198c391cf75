// The arithmetic under engine/revert.h: the edits of all receipt entries on one file, in one order, in two
// coordinates.
//
// A receipt holds each edit at its offset in the bytes as left. Taking one out, or putting one in, is done on `base`:
// its place in the bytes without any edit, which no other edit moves. Offsets are computed back from there, so a
// shift is never added up over many operations.
//
// An import line that several entries list is one PlacedEdit with several owners.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "engine/state.h"

namespace suture {

struct PlacedEdit {
  std::uint32_t base = 0;  // place in the bytes without any edit; base order is offset order
  WrittenEdit edit;
  std::vector<std::size_t> owners;  // indices into the entries, ascending
};

// The edits on `path` by offset. A touched edit counts as part of the base: it writes and removes nothing.
std::vector<PlacedEdit> placed_edits(const std::vector<const ReceiptEntry*>& entries, const std::string& path);
// Offsets from bases, and the edits back into the entries (those without any lose the path).
void store_edits(const std::vector<ReceiptEntry*>& entries, const std::string& path, std::vector<PlacedEdit> placed);

// The base with the edits made; nullopt where it does not hold the removed bytes.
std::optional<std::string> with_edits(std::string_view base, const std::vector<PlacedEdit>& placed);

// The place of each edit in `present`: exact where present is `left`, else moved by the line diff of the two.
// nullopt: a line that the edit wrote (or stands in) was changed, or the edit is touched.
std::vector<std::optional<Range>> locate_edits(std::string_view left, std::string_view present,
                                               const std::vector<PlacedEdit>& placed);

// `present` with the bytes that those edits removed back in the ranges. Edits without a range are left out.
std::string without_edits(std::string_view present, const std::vector<PlacedEdit>& placed,
                          const std::vector<std::optional<Range>>& ranges);

// Bytes into the state, with their hash.
void set_bytes(TreeState& state, const std::string& path, std::string bytes);
void set_absent(TreeState& state, const std::string& path);

// Takes a file that was edited by hand as it is: edits that stand are moved, those that do not are touched; the
// receipt's base becomes the present bytes without the standing edits. Nothing where the file is as left.
void rebase(TreeState& state, const std::vector<ReceiptEntry*>& entries, const std::string& path);

// Forgets files that no entry lists, and blobs that no file names.
void prune(TreeState& state);

}  // namespace suture
