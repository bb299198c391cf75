// Loading a TreeState from a located tree, and writing the next one: the only writer of suture.
//
// A command that writes:  TreeLock::acquire -> recover -> load_tree -> plan -> commit -> the lock goes out of scope.
// A command that reads:   TreeLock::share (best effort, writes nothing) -> load_tree.
//
// commit() journals what it is about to do, stages every file beside its target (mode, owner, xattrs), fsyncs, checks
// the targets again, marks the journal "commit", renames, fsyncs the folders, removes the bytecode of the written
// modules, and removes the journal. Receipt and blobs are part of the same transaction. A crash at any point leaves
// each file old or new; recover() finishes or undoes it. How the journal decides: effects/transaction.h.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "effects/file_system.h"
#include "effects/locate.h"
#include "engine/plan.h"
#include "engine/state.h"

namespace suture {

// Reads metadata, receipt, blobs, the files that the receipt names, `paths` (relative to the package folder; globs too) and the
// files that may define one of `classes`.
// Files over 16 MiB read as too_large; a link that leads out of the tree reads as unreadable, with words. Writes
// nothing. Error: a receipt that is tampered with or from a newer version (Exit::file_system), a package folder that
// cannot be read. Not an error: no package (present == false), a blob that is missing or damaged (left out of
// `blobs`).
Result<TreeState> load_tree(FileSystem& fs, const LocatedTree& tree, const std::string& package,
                            const std::string& folder, const std::vector<std::string>& paths,
                            const std::string& assume_version, const std::set<std::string>& classes = {});

// The distribution that the receipt in a package folder is of; without a receipt that can be read: the folder's name,
// normalised.
std::string patched_package(FileSystem& fs, const std::string& package_folder);

class TreeFolder;

// Holds the tree's lock (flock on .suture/lock) while it lives, and says in that file who it is. A lock file that a dead process left is no obstacle.
// When it goes and .suture holds nothing but the lock, .suture goes too: a run that wrote nothing leaves nothing
// behind.
class [[nodiscard]] TreeLock {
 public:
  // What the locks of one run have waited together: whoever shares it ends at one time, and is told once.
  struct Wait {
    std::optional<std::chrono::milliseconds> deadline;  // of FileSystem::now(); set by the first that has to wait
    bool said = false;
  };
  struct Options {
    std::chrono::milliseconds timeout = std::chrono::minutes(10);
    std::function<void(const std::string&)> waiting;  // called once, with words for the user, when it has to wait
    std::shared_ptr<Wait> run;                        // null: this lock waits for itself alone
  };
  // To write. Error (Exit::file_system): the tree is not writable (nothing was written), the time is over, the package folder
  // became a link since it was located.
  static Result<TreeLock> acquire(FileSystem& fs, const LocatedTree& tree, const Options& options);
  // To read a tree while nobody writes to it. Never an error, never a write: without a lock file, or where it cannot
  // be opened or locked in time, the result holds nothing.
  static TreeLock share(FileSystem& fs, const LocatedTree& tree, const Options& options);

  TreeLock(TreeLock&&) noexcept = default;
  TreeLock& operator=(TreeLock&& other) noexcept;
  ~TreeLock() { release(); }
  [[nodiscard]] bool exclusive() const { return exclusive_ && lock_.is_open(); }
  [[nodiscard]] bool shared() const { return !exclusive_ && lock_.is_open(); }
  // Whether it is the lock of that very folder, by that path: it may be replaced, or become a link, between two looks.
  [[nodiscard]] bool holds(const TreeFolder& tree) const;
  // The package folder goes too where nothing is left in it (an uninstalled package whose last leftovers were
  // removed).
  void remove_empty_package() { remove_package_ = true; }
  void release();

 private:
  TreeLock() = default;
  static Result<TreeLock> attempt(FileSystem& fs, const std::string& package_folder, bool* gone);
  FileSystem* fs_ = nullptr;
  Opened package_, folder_, lock_;
  std::string package_folder_;
  bool exclusive_ = false, remove_package_ = false;
};

// Whether a run was interrupted here (a journal stands, or one that was not finished). Reads only: status and diff say so.
bool interrupted(FileSystem& fs, const LocatedTree& tree);

// Why the journal that stands here cannot be read: then no run puts the tree right. nullopt: it can, or there is none.
std::optional<Error> journal_problem(FileSystem& fs, const LocatedTree& tree);

// A journal that a crash left: finishes or undoes it, and removes staged files that nobody owns. Says what it did
// (for stderr); empty: nothing was there. Error: the journal is damaged, or a file can go neither way (it is named;
// the journal stays).
Result<std::vector<std::string>> recover(FileSystem& fs, const LocatedTree& tree, const TreeLock& lock);

struct CommitReport {
  std::vector<std::string> notes;  // "broke the hard link of X (3 names)", "removed 2 stale bytecode files"
};

// Writes before -> after. `changes`: the files whose bytes differ (Plan::changes, RevertPlan::changes). The receipt
// of `after` is written even where no file changes. Error (Exit::file_system): a file or the receipt is not as in
// `before` any more, a system call failed; then every file is as it was, or, where even that failed, the journal
// stays and the message says so.
Result<CommitReport> commit(FileSystem& fs, const LocatedTree& tree, TreeLock& lock, const TreeState& before,
                            const TreeState& after, const std::map<std::string, FileChange>& changes);

}  // namespace suture
