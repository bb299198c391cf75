#include "effects/transaction.h"

#include <algorithm>
#include <cerrno>

#include "base/sha256.h"

namespace suture {
namespace {

// A target is never larger than what load_tree reads; staged and foreign files may be anything.
constexpr std::uint64_t kMostBytes = 256U << 20U;
constexpr const char* kBlobs = "blobs";

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash);
}

}  // namespace

Error changed_meanwhile(const std::string& shown) {
  Error error;
  error.exit = Exit::file_system;
  error.message = shown + " changed while suture was planning";
  error.hint = "nothing was written; run again";
  return error;
}

Status still_there(const TreeFolder& tree, const std::string& path, const Opened& folder) {
  const std::string shown = tree.shown(path);
  const Io<std::shared_ptr<Opened>> now = tree.folder_of(path);
  if (now.error == ENOENT || now.error == ENOTDIR || now.error == ELOOP) return changed_meanwhile(shown);
  if (!now) return io_error("open the folder of", shown, now.error);
  const Io<FileInfo> opened = tree.fs().info(folder.handle()), leads_to = tree.fs().info(now.value->handle());
  if (!opened || !leads_to) return io_error("look at", shown, opened ? leads_to.error : opened.error);
  return same_file(opened.value, leads_to.value) ? Status(Nothing{}) : Status(changed_meanwhile(shown));
}

void Transaction::use_folder(const std::string& path, std::shared_ptr<Opened> folder) {
  folders_.emplace(parent_of(path), std::move(folder));
}

Result<std::shared_ptr<Opened>> Transaction::folder_of(const std::string& path) {
  const std::string parent = parent_of(path);
  const auto known = folders_.find(parent);
  if (known != folders_.end()) return known->second;
  const Io<std::shared_ptr<Opened>> opened = tree_.folder_of(path);
  if (opened.error == ENOENT || opened.error == ENOTDIR) return std::shared_ptr<Opened>();
  if (!opened) return io_error("open the folder of", tree_.shown(path), opened.error);
  return folders_.emplace(parent, opened.value).first->second;
}

Result<std::string> Transaction::hash_of(const std::string& target, const std::string& name) {
  if (name.empty()) return std::string();
  const Result<std::shared_ptr<Opened>> folder = folder_of(target);
  if (!folder) return folder.error();
  if (!*folder) return std::string();
  const Io<std::string> bytes = read_file(tree_.fs(), (*folder)->handle(), name, kMostBytes);
  if (bytes.error == ENOENT) return std::string();
  // A folder, a link, a giant: nothing that we wrote.
  if (bytes.error == EISDIR || bytes.error == ELOOP || bytes.error == EINVAL || bytes.error == EFBIG)
    return std::string("other");
  if (!bytes) return io_error("read", tree_.shown(target), bytes.error);
  return sha256_hex(bytes.value);
}

Result<std::vector<Transaction::State>> Transaction::inspect() {
  std::vector<State> states;
  for (const JournalTarget& target : journal_.targets) {
    const Result<std::string> now = hash_of(target.path, TreeFolder::name_of(target.path));
    if (!now) return now.error();
    const Result<std::string> fresh = hash_of(target.path, target.fresh), old = hash_of(target.path, target.old);
    if (!fresh) return fresh.error();
    if (!old) return old.error();
    State state;
    state.standing = *now == target.after ? Standing::fresh : *now == target.before ? Standing::old : Standing::foreign;
    state.can_advance = state.standing != Standing::old || target.after.empty() || *fresh == target.after;
    state.can_return = state.standing != Standing::fresh || target.before.empty() || *old == target.before;
    states.push_back(state);
  }
  return states;
}

Result<Transaction::End> Transaction::settle(Foreign foreign) {
  if (journal_.phase == Journal::Phase::staging) {
    tidy_back();
    return End::undone;
  }
  Result<std::vector<State>> states = inspect();
  if (!states) return states.error();
  const auto all = [&states](bool State::*can) {
    return std::all_of(states->begin(), states->end(), [can](const State& state) { return state.*can; });
  };
  for (std::size_t i = 0; i < states->size(); ++i) {
    if ((*states)[i].standing != Standing::foreign) continue;
    const std::string shown = tree_.shown(journal_.targets[i].path);
    if (foreign == Foreign::undo && !cause_) cause_ = changed_meanwhile(shown);
    notes_.push_back(shown + " was changed by something else meanwhile; left as it is");
  }
  if (!cause_ && all(&State::can_advance)) {
    Status done = forward(*states);
    if (done) {
      tidy_forward();
      return End::finished;
    }
    cause_ = done.error();
    states = inspect();
    if (!states) return states.error();
  }
  if (!all(&State::can_return)) return cause_ ? *cause_ : stuck(*states);
  if (Status done = back(*states); !done) return cause_ ? *cause_ : done.error();
  tidy_back();
  return End::undone;
}

Status Transaction::forward(const std::vector<State>& states) {
  for (std::size_t i = 0; i < states.size(); ++i) {
    if (states[i].standing != Standing::old) continue;
    const JournalTarget& target = journal_.targets[i];
    const std::string staged = target.after.empty() ? std::string() : target.fresh;
    if (Status done = replace(target, staged, target.before); !done) return done;
  }
  if (Status synced = sync_targets(); !synced) return synced;
  // Files are written through folders that were opened before: one that was moved away meanwhile is written, and is not
  // in the tree any more.
  for (const JournalTarget& target : journal_.targets) {
    const auto folder = folders_.find(parent_of(target.path));
    if (folder == folders_.end()) continue;
    if (Status same = still_there(tree_, target.path, *folder->second); !same) return same;
  }
  return Nothing{};
}

Status Transaction::back(const std::vector<State>& states) {
  for (std::size_t i = states.size(); i-- > 0;) {
    if (states[i].standing != Standing::fresh) continue;
    const JournalTarget& target = journal_.targets[i];
    const std::string staged = target.before.empty() ? std::string() : target.old;
    if (Status done = replace(target, staged, target.after); !done) return done;
  }
  return sync_targets();
}

Status Transaction::replace(const JournalTarget& target, const std::string& staged, const std::string& present) {
  const Result<std::shared_ptr<Opened>> folder = folder_of(target.path);
  if (!folder) return folder.error();
  if (!*folder && staged.empty()) return Nothing{};
  if (!*folder) return io_error("write", tree_.shown(target.path), ENOENT);
  const Handle at = (*folder)->handle();
  if (staged.empty()) return take_away(target, at, present);
  return present.empty() ? put_new(target, at, staged) : exchange(target, at, staged, present);
}

Status Transaction::still(const JournalTarget& target, const std::string& name, const std::string& present) {
  const Result<std::string> now = hash_of(target.path, name);
  if (!now) return now.error();
  return *now == present ? Status(Nothing{}) : Status(changed_meanwhile(tree_.shown(target.path)));
}

Status Transaction::exchange(const JournalTarget& target, Handle folder, const std::string& staged,
                             const std::string& present) {
  FileSystem& fs = tree_.fs();
  const std::string name = TreeFolder::name_of(target.path);
  Io<Done> done = fs.exchange(folder, staged, name);
  if (done) {
    Status same = still(target, staged, present);
    if (!same) static_cast<void>(fs.exchange(folder, staged, name));
    return same;
  }
  if (done.error == ENOTSUP) {
    if (Status same = still(target, name, present); !same) return same;
    done = fs.rename(folder, staged, folder, name);
  }
  return done ? Status(Nothing{}) : io_error("write", tree_.shown(target.path), done.error);
}

Status Transaction::put_new(const JournalTarget& target, Handle folder, const std::string& staged) {
  FileSystem& fs = tree_.fs();
  const std::string name = TreeFolder::name_of(target.path);
  Io<Done> done = fs.rename_new(folder, staged, name);
  if (done.error == EEXIST) return changed_meanwhile(tree_.shown(target.path));
  if (done.error == ENOTSUP) {
    if (Status same = still(target, name, ""); !same) return same;
    done = fs.rename(folder, staged, folder, name);
  }
  return done ? Status(Nothing{}) : io_error("write", tree_.shown(target.path), done.error);
}

// To a staged name first: what has been taken away can be looked at, and put back.
Status Transaction::take_away(const JournalTarget& target, Handle folder, const std::string& present) {
  FileSystem& fs = tree_.fs();
  const std::string name = TreeFolder::name_of(target.path);
  const Io<Done> done = fs.rename(folder, name, folder, target.fresh);
  if (!done) return io_error("remove", tree_.shown(target.path), done.error);
  Status same = still(target, target.fresh, present);
  if (!same && !fs.rename_new(folder, target.fresh, name)) {
    static_cast<void>(fs.link(folder, target.fresh, folder, name));
  }
  return same;
}

Status Transaction::sync_targets() {
  for (const JournalTarget& target : journal_.targets) {
    const Result<std::shared_ptr<Opened>> folder = folder_of(target.path);
    if (!folder) return folder.error();
  }
  for (const auto& [path, folder] : folders_) {
    const Io<Done> synced = sync_folder(tree_.fs(), folder->handle());
    if (!synced) return io_error("write", tree_.shown(path), synced.error);
  }
  return Nothing{};
}

void Transaction::left_behind(const std::string& what, int error) {
  left_behind("cannot remove " + what + ": " + errno_words(error));
}

void Transaction::left_behind(const std::string& words) {
  leftovers_.push_back(words);
  notes_.push_back(words + "; the next run tries again");
}

void Transaction::remove_staged() {
  for (const JournalTarget& target : journal_.targets) {
    const Result<std::shared_ptr<Opened>> folder = folder_of(target.path);
    if (!folder) {
      left_behind(folder.error().message);
      continue;
    }
    if (!*folder) continue;
    for (const std::string& name : {target.fresh, target.old}) {
      if (name.empty()) continue;
      const Io<Done> removed = tree_.fs().remove((*folder)->handle(), name);
      const std::string parent = parent_of(target.path);
      if (!removed && removed.error != ENOENT) {
        left_behind(tree_.shown(parent.empty() ? name : parent + "/" + name), removed.error);
      }
    }
  }
}

void Transaction::remove_blobs(const std::vector<std::string>& hashes) {
  FileSystem& fs = tree_.fs();
  const Io<Handle> handle = fs.open_folder(suture_, kBlobs);
  if (handle.error == ENOENT) return;
  const std::string shown = tree_.shown(std::string(kSutureFolder) + "/" + kBlobs);
  if (!handle) return left_behind(shown, handle.error);
  const Opened folder(fs, handle.value);
  sweep_staged(fs, folder.handle(),
               [&](const std::string& name, int error) { left_behind(shown + "/" + name, error); });
  for (const std::string& hash : hashes) {
    const Io<Done> removed = fs.remove(folder.handle(), hash);
    if (!removed && removed.error != ENOENT) left_behind(shown + "/" + hash, removed.error);
  }
  const Io<Done> synced = hashes.empty() ? Io<Done>{} : sync_folder(fs, folder.handle());
  if (!synced) left_behind(shown, synced.error);
  // Only where it is empty.
  const Io<Done> removed = fs.remove_folder(suture_, kBlobs);
  if (!removed && removed.error != ENOTEMPTY && removed.error != EEXIST) left_behind(shown, removed.error);
}

void Transaction::remove_empty_folders(const std::vector<std::string>& folders) {
  const auto gone = [](int error) { return error == 0 || error == ENOENT || error == ENOTDIR || error == ELOOP; };
  const auto stays = [&gone](int error) { return gone(error) || error == ENOTEMPTY || error == EEXIST; };
  FileSystem& fs = tree_.fs();
  for (const std::string& path : folders) {
    const Io<std::shared_ptr<Opened>> parent = tree_.folder_of(path);
    if (!gone(parent.error)) left_behind(tree_.shown(path), parent.error);
    if (!parent) continue;
    const std::string name = TreeFolder::name_of(path);
    const Io<Handle> handle = fs.open_folder(parent.value->handle(), name);
    if (!gone(handle.error)) left_behind(tree_.shown(path), handle.error);
    if (!handle) continue;
    const Opened folder(fs, handle.value);
    // The interpreter's, empty by now.
    const Io<Done> cache = fs.remove_folder(folder.handle(), "__pycache__");
    const Io<Done> removed = fs.remove_folder(parent.value->handle(), name);
    const Io<Done> synced = removed ? sync_folder(fs, parent.value->handle()) : Io<Done>{};
    for (const int error : {cache.error, removed.error, synced.error}) {
      if (!stays(error)) left_behind(tree_.shown(path), error);
    }
  }
}

// On the disk too, before anything else goes: staged files that a power cut brings back must find the blobs that they name.
void Transaction::sync_staged() {
  for (const auto& [path, folder] : folders_) {
    const Io<Done> synced = sync_folder(tree_.fs(), folder->handle());
    if (!synced) left_behind("staged files in " + tree_.shown(path), synced.error);
  }
}

void Transaction::tidy_forward() {
  remove_staged();
  sync_staged();
  BytecodeReport bytecode;
  for (const std::string& module : journal_.modules) bytecode_.remove(module, bytecode);
  if (bytecode.removed > 0) {
    notes_.push_back("removed " + std::to_string(bytecode.removed) + " stale bytecode file" +
                     (bytecode.removed == 1 ? "" : "s"));
  }
  notes_.insert(notes_.end(), bytecode.problems.begin(), bytecode.problems.end());
  remove_blobs(journal_.dead_blobs);
  remove_empty_folders(journal_.dead_folders);
  end();
}

void Transaction::tidy_back() {
  remove_staged();
  sync_staged();
  // With all of its staged files there the next run may go forward: it needs the rest, too.
  if (!leftovers_.empty()) return;
  remove_blobs(journal_.new_blobs);
  std::vector<std::string> made = journal_.made_folders;
  std::reverse(made.begin(), made.end());
  remove_empty_folders(made);
  end();
}

// The journal goes last, and only when everything that it lists is gone, on the disk too: without it nobody would
// look for staged files that a power cut brings back.
void Transaction::end() {
  folders_.clear();
  if (!leftovers_.empty()) return;
  if (const Status removed = remove_journal(tree_, suture_); !removed) left_behind(removed.error().message);
}

Error Transaction::stuck(const std::vector<State>& states) const {
  Error error;
  error.exit = Exit::file_system;
  error.message = "an interrupted write can be neither finished nor undone:";
  for (std::size_t i = 0; i < states.size(); ++i) {
    const JournalTarget& target = journal_.targets[i];
    if (!states[i].can_advance) error.message += " the staged bytes of " + tree_.shown(target.path) + " are gone;";
    if (!states[i].can_return)
      error.message += " " + tree_.shown(target.path) + " is written and its old bytes are gone;";
  }
  error.message.pop_back();
  error.hint =
      "put the package's own files back (pip install --force-reinstall --no-deps), remove the .suture folder, and "
      "apply again";
  return error;
}

std::size_t sweep_staged(FileSystem& fs, Handle folder, const std::function<void(const std::string&, int)>& kept) {
  const Io<std::vector<std::string>> names = fs.list(folder);
  if (!names) return 0;
  std::size_t removed = 0;
  for (const std::string& name : names.value) {
    if (!is_staged_name(name)) continue;
    const Io<Done> gone = fs.remove(folder, name);
    if (gone) ++removed;
    if (!gone && gone.error != ENOENT && kept) kept(name, gone.error);
  }
  return removed;
}

}  // namespace suture
