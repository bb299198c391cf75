// The tree's lock. Contract: effects/store.h.
//
// The lock file goes away when nothing else is left in .suture, so a process may get a lock on a file that is not the
// tree's any more: after every lock the names are looked up again, and when they lead elsewhere the whole attempt is
// repeated.
#include <algorithm>
#include <cerrno>

#include "effects/store.h"
#include "effects/tree_folder.h"

namespace suture {
namespace {

constexpr const char* kLockName = "lock";
// Between two attempts: short at first, a run takes a few milliseconds.
constexpr std::chrono::milliseconds kFirstPause{1}, kLongestPause{50};

// What the lock file says, for whoever waits: always of one length, so that no rest of an older one shows.
constexpr std::size_t kRecordSize = 128;
constexpr std::string_view kHeldBy = "held by ", kFree = "free";

std::string record(std::string text) {
  text.resize(std::min(text.size(), kRecordSize - 1));
  text.resize(kRecordSize - 1, ' ');
  return text + "\n";
}

// " (process 4711 on HOST)", or nothing where the holder did not say, or is one of several readers.
std::string holder(FileSystem& fs, Handle lock) {
  const Io<std::string> text = fs.read(lock, 0, kRecordSize);
  if (!text || text.value.size() != kRecordSize || !text.value.starts_with(kHeldBy)) return "";
  const std::string who = text.value.substr(kHeldBy.size(), text.value.find_last_not_of(" \n") + 1 - kHeldBy.size());
  const bool printable = std::all_of(who.begin(), who.end(), [](char c) { return c >= ' ' && c <= '~'; });
  return printable ? " (" + who + ")" : "";
}

Error not_writable(const std::string& package_folder, int error) {
  Error out = io_error("write to", package_folder, error);
  out.hint = "nothing was written; " + (out.hint.empty() ? "check the tree's permissions" : out.hint);
  return out;
}

Error not_a_folder(const std::string& package_folder) {
  Error error;
  error.exit = Exit::file_system;
  error.message = package_folder + "/" + kSutureFolder + " is not a folder";
  error.hint = "suture keeps its receipts there and does not follow a link; move it away";
  return error;
}

// What stands in the place of the lock file, where that is why it cannot be opened.
Error no_lock_file(const std::string& package_folder, int error) {
  const bool link = error == ELOOP;
  if (!link && error != EISDIR) return not_writable(package_folder, error);
  Error out;
  out.exit = Exit::file_system;
  out.message = package_folder + "/" + kSutureFolder + "/" + kLockName + " is a " + (link ? "symbolic link" : "folder");
  out.hint = "nothing was written; suture locks the tree by a file of that name and follows no link: move it away";
  return out;
}

Error timed_out(const std::string& package_folder, const std::string& who, std::chrono::milliseconds waited) {
  Error error;
  error.exit = Exit::file_system;
  error.message = "another suture" + who + " has been working on " + package_folder + " for more than " +
                  std::to_string(std::chrono::duration_cast<std::chrono::seconds>(waited).count()) + " s";
  error.hint =
      "nothing was written; wait longer (--lock-timeout), or end it: what it leaves half done is finished or undone by "
      "the next run";
  return error;
}

Error moved_away(const std::string& package_folder, const std::string& real) {
  Error error;
  error.exit = Exit::file_system;
  error.message =
      package_folder + " became a symbolic link while suture was planning" + (real.empty() ? "" : " (to " + real + ")");
  error.hint = "nothing was written; find out what put it there, and run again";
  return error;
}

// The path of a located tree is without links: one that leads elsewhere by now was put there since, and what it leads to is
// not what was planned on. Another folder of that very path (an upgrade) is planned on anew, under its lock.
Status still_without_links(FileSystem& fs, const std::string& package_folder) {
  const Io<std::string> real = fs.real_path(package_folder);
  if (!real) return io_error("open", package_folder, real.error);
  return real.value == package_folder ? Status(Nothing{}) : Status(moved_away(package_folder, real.value));
}

// Whether `handle` is what `name` in `at` leads to.
bool is_current(FileSystem& fs, Handle at, const char* name, Handle handle) {
  const Io<FileInfo> opened = fs.info(handle), named = fs.info_at(at, name);
  return opened && named && same_file(opened.value, named.value);
}

// Whether the time to wait is over. It begins with the first wait: what a run computes meanwhile is not waiting.
bool is_over(FileSystem& fs, const TreeLock::Options& options, TreeLock::Wait& wait) {
  if (!wait.deadline) wait.deadline = fs.now() + options.timeout;
  return fs.now() >= *wait.deadline;
}

std::shared_ptr<TreeLock::Wait> wait_of(const TreeLock::Options& options) {
  return options.run ? options.run : std::make_shared<TreeLock::Wait>();
}

// Tries until it has the lock, the time is over (EWOULDBLOCK), or something else fails.
Io<Done> wait_for(FileSystem& fs, Handle file, bool shared, const std::string& package_folder,
                  const TreeLock::Options& options, TreeLock::Wait& wait) {
  std::chrono::milliseconds pause = kFirstPause;
  while (true) {
    const Io<Done> locked = fs.try_lock(file, shared);
    if (locked || locked.error != EWOULDBLOCK || is_over(fs, options, wait)) return locked;
    if (!wait.said && options.waiting)
      options.waiting("waiting for another suture" + holder(fs, file) + " that is working on " + package_folder);
    wait.said = true;
    fs.sleep(pause);
    pause = std::min(pause * 2, kLongestPause);
  }
}

}  // namespace

// Opens the lock file, making folder and file where they are not there. *gone: they went away meanwhile; try again.
Result<TreeLock> TreeLock::attempt(FileSystem& fs, const std::string& package_folder, bool* gone) {
  TreeLock lock;
  lock.fs_ = &fs;
  lock.package_folder_ = package_folder;
  const Io<Handle> package = fs.open_folder(kAbsolute, package_folder);
  if (!package) return io_error("open", package_folder, package.error);
  lock.package_ = Opened(fs, package.value);
  if (const Status same = still_without_links(fs, package_folder); !same) return same.error();
  const Io<FileInfo> surroundings = fs.info(package.value);
  if (!surroundings) return io_error("look at", package_folder, surroundings.error);
  const Io<Done> made = fs.make_folder(package.value, kSutureFolder, 0755);
  if (!made && made.error != EEXIST) return not_writable(package_folder, made.error);
  const Io<Handle> folder = fs.open_folder(package.value, kSutureFolder);
  *gone = folder.error == ENOENT;
  if (folder.error == ELOOP || folder.error == ENOTDIR) return not_a_folder(package_folder);
  if (!folder) return io_error("open", package_folder + "/" + kSutureFolder, folder.error);
  lock.folder_ = Opened(fs, folder.value);
  if (made) static_cast<void>(own_like(fs, folder.value, surroundings.value));
  const Io<Handle> file = fs.open_lock(folder.value, kLockName, true);
  *gone = file.error == ENOENT;
  if (!file) {
    if (made) static_cast<void>(fs.remove_folder(package.value, kSutureFolder));
    return no_lock_file(package_folder, file.error);
  }
  lock.lock_ = Opened(fs, file.value);
  static_cast<void>(own_like(fs, file.value, surroundings.value));
  return lock;
}

Result<TreeLock> TreeLock::acquire(FileSystem& fs, const LocatedTree& tree, const Options& options) {
  const std::shared_ptr<Wait> wait = wait_of(options);
  while (true) {
    bool gone = false;
    Result<TreeLock> lock = attempt(fs, tree.package_folder, &gone);
    if (!lock && !(gone && !is_over(fs, options, *wait))) return lock.error();
    if (!lock) continue;
    const Io<Done> locked = wait_for(fs, lock->lock_.handle(), false, tree.package_folder, options, *wait);
    if (locked.error == EWOULDBLOCK)
      return timed_out(tree.package_folder, holder(fs, lock->lock_.handle()), options.timeout);
    if (!locked) return io_error("lock", tree.package_folder + "/" + kSutureFolder + "/" + kLockName, locked.error);
    const bool current = is_current(fs, lock->folder_.handle(), kLockName, lock->lock_.handle()) &&
                         is_current(fs, lock->package_.handle(), kSutureFolder, lock->folder_.handle());
    if (current) {
      lock->exclusive_ = true;
      // For people only: where it cannot be written, they are told less.
      static_cast<void>(fs.overwrite(lock->lock_.handle(), record(std::string(kHeldBy) + fs.who())));
      return lock;
    }
    if (is_over(fs, options, *wait)) return timed_out(tree.package_folder, "", options.timeout);
  }
}

TreeLock TreeLock::share(FileSystem& fs, const LocatedTree& tree, const Options& options) {
  TreeLock lock;
  lock.fs_ = &fs;
  const Io<Handle> package = fs.open_folder(kAbsolute, tree.package_folder);
  if (!package) return lock;
  lock.package_ = Opened(fs, package.value);
  const Io<Handle> folder = fs.open_folder(package.value, kSutureFolder);
  if (!folder) return lock;
  lock.folder_ = Opened(fs, folder.value);
  const Io<Handle> file = fs.open_lock(folder.value, kLockName, false);
  if (!file) return lock;
  Opened opened(fs, file.value);
  if (wait_for(fs, file.value, true, tree.package_folder, options, *wait_of(options))) lock.lock_ = std::move(opened);
  return lock;
}

TreeLock& TreeLock::operator=(TreeLock&& other) noexcept {
  if (this == &other) return *this;
  release();
  fs_ = other.fs_;
  package_ = std::move(other.package_);
  folder_ = std::move(other.folder_);
  lock_ = std::move(other.lock_);
  package_folder_ = std::move(other.package_folder_);
  exclusive_ = std::exchange(other.exclusive_, false);
  remove_package_ = other.remove_package_;
  return *this;
}

bool TreeLock::holds(const TreeFolder& tree) const {
  if (!exclusive() || tree.path() != package_folder_) return false;
  const Io<FileInfo> locked = fs_->info(package_.handle()), opened = fs_->info(tree.root());
  return locked && opened && same_file(locked.value, opened.value);
}

void TreeLock::release() {
  if (exclusive()) {
    static_cast<void>(fs_->overwrite(lock_.handle(), record(std::string(kFree))));
    const Io<std::vector<std::string>> names = fs_->list(folder_.handle());
    if (names && names.value == std::vector<std::string>{kLockName}) {
      // Others may hold this very file open and get its lock next: they look the name up again and start over.
      static_cast<void>(fs_->remove(folder_.handle(), kLockName));
      static_cast<void>(fs_->remove_folder(package_.handle(), kSutureFolder));
      if (remove_package_) static_cast<void>(fs_->remove_folder(kAbsolute, package_folder_));
    }
  }
  exclusive_ = false;
  lock_.reset();
  folder_.reset();
  package_.reset();
}

}  // namespace suture
