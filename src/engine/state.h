// What the engine knows of one tree, as values. effects/load fills it; the engine reads it and hands
// back the next one. Nothing here touches a disk.
//
// Paths are relative to the package folder, with '/' ("srt/layers/attention/x.py").
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "read/patch.h"

namespace suture {

// What pip left beside the package.
struct Distribution {
  std::string name;                    // normalised
  std::optional<std::string> version;  // unknown: no dist-info, or several
  std::vector<std::string>
      found;  // the dist-info (egg-info) folders of that name, as they are called; >1: two versions
  std::map<std::string, std::string> record;  // path -> SHA-256 (hex) from RECORD, package files only
  std::string assumed;                        // --assume-version, else empty
  std::string version_source;  // where `version` was read: "sglang-0.5.6.dist-info/METADATA", "sglang/version.py"
};

struct FileState {
  enum class Kind { absent, regular, folder, unreadable, too_large };
  Kind kind = Kind::absent;
  std::shared_ptr<const std::string> bytes;  // regular only
  std::string sha256;                        // hex, regular only
  std::string problem;                       // unreadable: the system's words
  std::string link_to;                       // reached by a link: the path in the tree that it leads to
};
using Files = std::map<std::string, FileState>;  // by path

// The files that a candidate of `file:` names, sorted: a path that is there and no folder; a glob: all that it matches. A file
// that links lead to too is named once. A folder that a glob may lead into and that cannot be read is among them, unreadable.
std::vector<std::string> files_named(const Files& files, const std::string& candidate);
// Whether the text may hold `class NAME`: a search that finds no less than the parser does.
bool may_define_class(std::string_view text, std::string_view name);

// A package that conditions speak of, other than the tree's: as it is installed where the tree's environment imports from, or
// where --with says.
struct OtherPackage {
  bool present = false;
  std::string folder;                 // the import name
  std::vector<std::string> searched;  // where it was looked for: folders, as messages call them
  std::string with;                   // --with's path, where that was looked at alone
  std::string problem;                // it is there, and cannot be read: why
  Distribution dist;
  Files files;                   // those of others_needed(), relative to its folder
  std::size_t python_files = 0;  // how many were searched for classes
};

// --- What suture wrote: the receipt ---------------------------------------------------------------

// One edit that stands in a file: at `offset` of the file as suture left it, `written` stands where `removed`
// stood. A later apply or revert of another patch shifts the offset.
struct WrittenEdit {
  std::uint32_t offset = 0;
  std::string removed, written;
  std::string rule;     // id; empty for several
  bool import = false;  // a line that add_import wrote: it belongs to every patch that lists it and goes with the last
  // The user had changed these bytes before another patch was written to the file: they count as the user's now, `offset`
  // only says where they were, and the patch cannot be reverted.
  bool touched = false;
  friend bool operator==(const WrittenEdit&, const WrittenEdit&) = default;
};

// Always: the blob with the edits of all entries made is the bytes as left.
struct ReceiptFile {
  // The bytes without any patch; blob name. Where the user edited the file between two patches: with the user's edits.
  // Empty for an added file (its blob is that of left_sha256).
  std::string original_sha256;
  std::string left_sha256;    // the bytes as suture left them
  std::string record_sha256;  // RECORD's hash at that time; empty where there was none
  // An added file that was there, with the very bytes, before the first patch that adds it: it stays when they go.
  bool existed = false;
  friend bool operator==(const ReceiptFile&, const ReceiptFile&) = default;
};

struct ReceiptEntry {
  std::string patch, edition, version;  // version of the distribution when it was applied; may be empty
  std::map<std::string, std::vector<WrittenEdit>> edits;  // by path, ascending offsets
  std::map<std::string, std::string> adds;                // path -> SHA-256 of the bytes written
  friend bool operator==(const ReceiptEntry&, const ReceiptEntry&) = default;
};

struct Receipt {
  std::map<std::string, ReceiptFile> files;
  std::vector<ReceiptEntry> patches;  // in the order of apply
  std::vector<std::string> folders;   // made for added files, removed with the last of them; commit() fills it
  friend bool operator==(const Receipt&, const Receipt&) = default;
  [[nodiscard]] const ReceiptEntry* find(const std::string& patch) const;
  [[nodiscard]] bool empty() const { return patches.empty() && files.empty(); }
};

struct TreeState {
  std::string display;     // how messages call the tree (the path that was given or found)
  std::string package;     // normalised distribution name
  std::string folder;      // import name = the last part of the package folder
  bool present = false;    // a package folder with more than .suture in it
  bool read_only = false;  // a wheel
  Distribution dist;
  // Every path of files_needed(), there or absent; every file that its globs name; and every file that may define a class of
  // classes_needed().
  Files files;
  std::size_t python_files = 0;                // how many were searched for those classes; 0 where none is asked for
  std::map<std::string, OtherPackage> others;  // by distribution name: those of others_needed()
  // Those of modules_needed() that nothing in the tree's environment provides.
  std::set<std::string> absent_modules;
  Receipt receipt;
  std::map<std::string, std::string>
      blobs;  // sha256 -> original bytes (and bytes of added files), those that the receipt names
};

// The files that planning `patch` may look at: candidates of its rules (globs as they are written), its added files (and every
// module file that an added import could resolve to), files of conditions on the package itself.
std::vector<std::string> files_needed(const Patch& patch, const std::string& import_folder);
// The classes that its conditions on the package itself look for.
std::set<std::string> classes_needed(const Patch& patch);
// What its conditions on other packages look at, by distribution name.
struct OtherNeeds {
  std::set<std::string> files;  // candidates as they are written
  std::set<std::string> classes;
  std::set<std::string> folders;  // import names that the conditions give it
};
std::map<std::string, OtherNeeds> others_needed(const Patch& patch);
// The top-level modules that the patch's added imports name, where they are neither the package's own nor of the
// standard library.
std::set<std::string> modules_needed(const Patch& patch, const std::string& import_folder);

}  // namespace suture
