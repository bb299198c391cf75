// The journal: what one commit is about to do, written before it does it (.suture/journal).
//
//   staging  nothing but staged files, new blobs and new folders can be there: undo removes them
//   commit   everything is staged and durable, renames may have begun: forward if it can, else back
//
// A target that is neither old nor new was changed by someone else since: it is left as it is, and named.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "effects/tree_folder.h"

namespace suture {

inline constexpr int kJournalFormat = 1;
inline constexpr const char* kJournalName = "journal";
inline constexpr const char* kJournalTemporary = "journal.new";

struct JournalTarget {
  std::string path;           // without links, relative to the package folder; .suture/receipt.json too
  std::string before, after;  // SHA-256; empty: not there
  // Staged names in the same folder. fresh: the new bytes, and then what they took the place of; of a file that is
  // removed: where it goes first. old: a second name (or copy) of the old bytes.
  std::string fresh, old;
  friend bool operator==(const JournalTarget&, const JournalTarget&) = default;
};

struct Journal {
  enum class Phase { staging, commit } phase = Phase::staging;
  std::vector<JournalTarget> targets;     // the receipt last
  std::vector<std::string> modules;       // whose bytecode goes at the end, as they are imported and without links
  std::vector<std::string> made_folders;  // made by this commit, outermost first: undo removes them
  std::vector<std::string> new_blobs;     // hashes: undo removes them
  std::vector<std::string> dead_blobs;    // hashes: removed at the end
  std::vector<std::string> dead_folders;  // removed at the end where empty, innermost first
  friend bool operator==(const Journal&, const Journal&) = default;
};

std::string journal_to_json(const Journal& journal);
Result<Journal> journal_from_json(std::string_view text, const std::string& path);

// nullopt: there is none. `suture`: the opened .suture folder.
Result<std::optional<Journal>> read_journal(const TreeFolder& tree, Handle suture);
// Written beside, fsynced, renamed, folder fsynced.
Status write_journal(const TreeFolder& tree, Handle suture, const Journal& journal);
Status remove_journal(const TreeFolder& tree, Handle suture);

// Names of staged files: ".suture-TOKEN-N.new", ".suture-TOKEN-N.old". No ".py": nothing imports or scans them.
std::string staged_name(const std::string& token, std::size_t index, bool fresh);
bool is_staged_name(std::string_view name);

}  // namespace suture
