// A small package on the double in memory, and a run of apply and of revert on it, as the command line makes them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "effects/store.h"
#include "support/memory_file_system.h"

namespace suture::store_fixture {

using Tree = std::map<std::string, std::string>;

inline constexpr const char* kSite = "/site";
inline constexpr const char* kRoot = "/site/pkg";
// Longer than one write of the double takes.
extern const std::string kFirst;
extern const std::string kSecond;
extern const std::vector<std::string> kPaths;

LocatedTree located();
void fill(MemoryFileSystem& fs);
TreeLock lock_of(FileSystem& fs);
TreeState load(FileSystem& fs);
// The state with a patch that edits two files and adds one.
TreeState patched(const TreeState& state, const std::string& patch = "one");
// With a second one, which edits another place of the first file and adds the same file.
TreeState patched_again(const TreeState& state);
Result<CommitReport> write(FileSystem& fs, TreeLock& lock, const TreeState& before, const TreeState& after);

// One run each. false: an error anywhere.
bool run_apply(FileSystem& fs);
bool run_apply_second(FileSystem& fs);
bool run_apply_both(FileSystem& fs);
bool run_revert(FileSystem& fs);
bool run_revert_first(FileSystem& fs);

Tree without_bytecode(Tree tree);
Tree without_suture(Tree tree);

}  // namespace suture::store_fixture
