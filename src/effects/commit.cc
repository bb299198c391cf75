// Writing before -> after, and recovering from a run that could not. Contract: effects/store.h; the order of things:
// journal.h.
#include <algorithm>
#include <cerrno>
#include <set>

#include "base/sha256.h"
#include "base/text.h"
#include "effects/bytecode.h"
#include "effects/journal.h"
#include "effects/receipt_json.h"
#include "effects/stage.h"
#include "effects/store.h"
#include "effects/suture_folder.h"
#include "effects/transaction.h"
#include "effects/tree_folder.h"

namespace suture {
namespace {

constexpr std::uint64_t kMostBytes = 64U << 20U;
constexpr std::uint32_t kFolderMode = 0755;
constexpr const char* kNothingWritten = "nothing was written";

Error refused(std::string message, std::string hint) {
  Error error;
  error.exit = Exit::file_system;
  error.message = std::move(message);
  error.hint = std::move(hint);
  return error;
}

bool same_bytes(const std::optional<std::string>& a, const std::shared_ptr<const std::string>& b) {
  return a.has_value() == (b != nullptr) && (!a || *a == *b);
}

class Commit {
 public:
  Commit(const TreeFolder& tree, const SutureFolder& suture, const TreeState& before, const TreeState& after,
         Bytecode bytecode)
      : tree_(tree),
        fs_(tree.fs()),
        suture_(suture),
        before_(before),
        after_(after),
        bytecode_(std::move(bytecode)),
        token_(fs_.unique_token()) {}

  Result<CommitReport> run(const std::map<std::string, FileChange>& changes) {
    for (const auto& [path, change] : changes) {
      if (Status added = add_target(path, change); !added) return added.error();
    }
    if (Status added = add_receipt(); !added) return added.error();
    if (items_.empty()) return report_;
    if (Status listed = list_blobs(); !listed) return listed.error();
    for (const std::string& module : journal_.modules) {
      if (Status can = bytecode_.can_remove(module); !can) return can.error();
    }
    if (Status staged = stage(); !staged) return undo(staged.error());
    journal_.phase = Journal::Phase::commit;
    // Whether it is on the disk or not after a failure: nothing was renamed, so undoing is right either way.
    if (Status written = write_journal(tree_, suture_.handle(), journal_); !written) {
      journal_.phase = Journal::Phase::staging;
      return undo(written.error());
    }
    return settle();
  }

 private:
  // One file to write or remove. Parallel to journal_.targets.
  struct Item {
    std::string asked;  // as the plan names it
    std::string shown;
    std::shared_ptr<Opened> folder;  // null until it is made
    std::optional<FileInfo> info;
    std::shared_ptr<const std::string> before, after;
  };

  // --- What is to be done

  Status add_target(const std::string& path, const FileChange& change) {
    const auto parts = path_parts(path);
    if (!parts || parts->front() == kSutureFolder || first_bad_utf8(path)) {
      return refused("'" + path + "' is not a path that suture writes to", "");
    }
    Result<TreeFolder::Place> place = tree_.resolve(path);
    if (!place) return place.error();
    if (place->info && place->info->kind != FileInfo::Kind::regular) {
      return refused(tree_.shown(path) + " is not a regular file", "nothing was written");
    }
    if (first_bad_utf8(place->path))
      return refused(tree_.shown(path) + " leads to a name that is not UTF-8", "nothing was written");
    for (const JournalTarget& other : journal_.targets) {
      if (other.path != place->path) continue;
      return refused(tree_.shown(path) + " and another file to be written are one file, " + place->path,
                     "nothing was written");
    }
    return add_item({path, tree_.shown(path), place->folder, place->info, change.before, change.after}, place->path);
  }

  Status add_item(Item item, const std::string& path) {
    JournalTarget target;
    target.path = path;
    const std::size_t index = items_.size();
    if (item.before) {
      target.before = sha256_hex(*item.before);
      target.old = staged_name(token_, index, false);
    }
    if (item.after) target.after = sha256_hex(*item.after);
    target.fresh = staged_name(token_, index, true);
    items_.push_back(std::move(item));
    journal_.targets.push_back(std::move(target));
    return check(index);
  }

  // The file is still what was planned on.
  Status check(std::size_t index) {
    const Item& item = items_[index];
    const std::string& path = journal_.targets[index].path;
    std::optional<std::string> present;
    if (item.folder) {
      Io<std::string> bytes = read_file(fs_, item.folder->handle(), TreeFolder::name_of(path), kMostBytes);
      if (!bytes && bytes.error != ENOENT) return io_error("read", item.shown, bytes.error);
      if (bytes) present = std::move(bytes.value);
    }
    if (!same_bytes(present, item.before)) return changed_meanwhile(item.shown);
    return Nothing{};
  }

  Status add_receipt() {
    const Result<std::optional<std::string>> text = suture_.receipt_text();
    if (!text) return text.error();
    const Result<Receipt> present = suture_.read_receipt();
    if (!present) return present.error();
    const std::string path = std::string(kSutureFolder) + "/" + kReceiptName;
    if (!(*present == before_.receipt)) return changed_meanwhile(tree_.shown(path));
    plan_folders();
    Item item;
    item.asked = path;
    item.shown = tree_.shown(path);
    const Io<Handle> folder = fs_.open_folder(tree_.root(), kSutureFolder);
    if (!folder) return io_error("open", tree_.shown(kSutureFolder), folder.error);
    item.folder = std::make_shared<Opened>(fs_, folder.value);
    if (*text) item.before = std::make_shared<const std::string>(**text);
    if (!receipt_.empty()) item.after = std::make_shared<const std::string>(receipt_to_json(receipt_, after_.package));
    if (item.after && item.after->size() > kMostReceipt)
      return refused(item.shown + " would grow too large to be read again", "nothing was written; revert some patches");
    const bool same = item.before && item.after ? *item.before == *item.after : item.before == item.after;
    if (same) return Nothing{};
    return add_item(std::move(item), path);
  }

  // Folders to be made for added files; folders that an earlier commit made and that no added file needs any more.
  void plan_folders() {
    std::set<std::string> made;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (items_[i].folder == nullptr && items_[i].after) missing_folders(journal_.targets[i].path, made);
    }
    journal_.made_folders.assign(made.begin(), made.end());  // sorted: a folder stands before what is in it
    receipt_ = after_.receipt;
    std::set<std::string> owned(before_.receipt.folders.begin(), before_.receipt.folders.end());
    owned.insert(made.begin(), made.end());
    if (!before_.present) folders_of_leftovers(owned);
    receipt_.folders.clear();
    for (const std::string& folder : owned) {
      (is_needed(folder) ? receipt_.folders : journal_.dead_folders).push_back(folder);
    }
    std::reverse(journal_.dead_folders.begin(), journal_.dead_folders.end());
  }

  void missing_folders(const std::string& path, std::set<std::string>& made) {
    for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
      const Io<std::shared_ptr<Opened>> folder = tree_.folder_of(path.substr(0, slash + 1) + "x");
      if (folder.error == ENOENT) made.insert(path.substr(0, slash));
    }
  }

  // An uninstall left these folders only because our files are in them.
  void folders_of_leftovers(std::set<std::string>& owned) {
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const std::string& path = journal_.targets[i].path;
      for (std::size_t slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
        if (!items_[i].after) owned.insert(path.substr(0, slash));
      }
    }
  }

  [[nodiscard]] bool is_needed(const std::string& folder) const {
    return std::any_of(after_.receipt.patches.begin(), after_.receipt.patches.end(),
                       [&folder](const ReceiptEntry& entry) {
                         return std::any_of(entry.adds.begin(), entry.adds.end(),
                                            [&folder](const auto& add) { return add.first.starts_with(folder + "/"); });
                       });
  }

  Status list_blobs() {
    const Result<std::vector<std::string>> present = suture_.blob_names();
    if (!present) return present.error();
    const std::vector<std::string> named = named_blobs(receipt_);
    const std::map<std::string, std::string> whole = suture_.read_blobs(receipt_);
    for (const std::string& hash : *present) {
      if (!std::binary_search(named.begin(), named.end(), hash)) journal_.dead_blobs.push_back(hash);
    }
    for (const std::string& hash : named) {
      if (whole.contains(hash) || !after_.blobs.contains(hash)) continue;
      blobs_to_write_.push_back(hash);
      // One that is there and damaged, or could not be read just now, is no new one: undo must not remove it.
      if (!std::binary_search(present->begin(), present->end(), hash)) journal_.new_blobs.push_back(hash);
    }
    for (std::size_t i = 0; i < items_.size(); ++i) note_target(items_[i], journal_.targets[i].path);
    return Nothing{};
  }

  void note_target(const Item& item, const std::string& path) {
    for (const std::string& name : {item.asked, path}) {
      const bool known = std::find(journal_.modules.begin(), journal_.modules.end(), name) != journal_.modules.end();
      if (name.ends_with(".py") && !known) journal_.modules.push_back(name);
    }
    if (item.info && item.info->links > 1 && item.after) {
      report_.notes.push_back("broke the hard link of " + item.shown + " (" + std::to_string(item.info->links) +
                              " names); the other names keep the old bytes");
    }
  }

  // --- Staging

  Status stage() {
    if (const Io<Done> synced = sync_folder(fs_, tree_.root()); !synced) {
      return io_error("write", tree_.path(), synced.error);
    }
    for (const Item& item : items_) {  // of a run whose journal someone removed
      if (item.folder) sweep_staged(fs_, item.folder->handle());
    }
    if (Status written = write_journal(tree_, suture_.handle(), journal_); !written) return written;
    if (Status made = make_folders(); !made) return made;
    if (Status written = write_blobs(); !written) return written;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (Status staged = stage_item(i); !staged) return staged;
    }
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const Io<Done> synced = sync_folder(fs_, items_[i].folder->handle());
      if (!synced) return io_error("write beside", items_[i].shown, synced.error);
      if (Status same = check(i); !same) return same;
      if (Status same = still_there(tree_, journal_.targets[i].path, *items_[i].folder); !same) return same;
    }
    return Nothing{};
  }

  Status make_folders() {
    for (const std::string& path : journal_.made_folders) {
      const Io<std::shared_ptr<Opened>> parent = tree_.folder_of(path);
      if (!parent) return io_error("make the folder", tree_.shown(path), parent.error);
      const std::string name = TreeFolder::name_of(path);
      const Io<Done> made = fs_.make_folder(parent.value->handle(), name, kFolderMode);
      if (!made) return io_error("make the folder", tree_.shown(path), made.error);
      const Io<FileInfo> info = fs_.info(parent.value->handle());
      const Io<Handle> handle = fs_.open_folder(parent.value->handle(), name);
      if (!handle) return io_error("open the folder", tree_.shown(path), handle.error);
      const Opened folder(fs_, handle.value);
      const Io<Done> owned = info ? own_like(fs_, folder.handle(), info.value) : Io<Done>{info.error, {}};
      if (!owned) return io_error("set the permissions of", tree_.shown(path), owned.error);
      const Io<Done> synced = sync_folder(fs_, parent.value->handle());
      if (!synced) return io_error("make the folder", tree_.shown(path), synced.error);
    }
    return Nothing{};
  }

  Status write_blobs() {
    if (blobs_to_write_.empty()) return Nothing{};
    const std::string shown = tree_.shown(std::string(kSutureFolder) + "/" + kBlobsName);
    const Io<Done> made = fs_.make_folder(suture_.handle(), kBlobsName, kFolderMode);
    if (!made && made.error != EEXIST) return io_error("make the folder", shown, made.error);
    const Io<Handle> handle = fs_.open_folder(suture_.handle(), kBlobsName);
    if (!handle) return io_error("open the folder", shown, handle.error);
    const Opened folder(fs_, handle.value);
    if (const Io<FileInfo> like = fs_.info(suture_.handle()); made && like) {
      if (const Io<Done> owned = own_like(fs_, folder.handle(), like.value); !owned)
        return io_error("set the permissions of", shown, owned.error);
    }
    for (std::size_t i = 0; i < blobs_to_write_.size(); ++i) {
      const std::string& hash = blobs_to_write_[i];
      const std::string staged = staged_name(token_, i, true);
      StageRequest request{folder.handle(), hash, staged, shown + "/" + hash, false};
      request.most = readers();
      if (Status done = stage_bytes(fs_, request, after_.blobs.at(hash), &report_.notes); !done) return done;
      const Io<Done> renamed = fs_.rename(folder.handle(), staged, folder.handle(), hash);
      if (!renamed) return io_error("write", request.shown, renamed.error);
    }
    const Io<Done> synced = sync_folder(fs_, folder.handle());
    if (!synced) return io_error("write", shown, synced.error);
    const Io<Done> parent = sync_folder(fs_, suture_.handle());
    if (!parent) return io_error("write", shown, parent.error);
    return Nothing{};
  }

  // The permissions that all files to be replaced have: receipt and blobs hold bytes of them.
  [[nodiscard]] std::uint32_t readers() const {
    std::uint32_t mode = 0664;
    for (const Item& item : items_) mode &= item.info ? item.info->mode : mode;
    return mode;
  }

  Status stage_item(std::size_t index) {
    Item& item = items_[index];
    const JournalTarget& target = journal_.targets[index];
    if (!item.folder) {
      const Io<std::shared_ptr<Opened>> folder = tree_.folder_of(target.path);
      if (!folder) return io_error("open the folder of", item.shown, folder.error);
      item.folder = folder.value;
    }
    StageRequest request{item.folder->handle(), TreeFolder::name_of(target.path), target.old, item.shown,
                         item.before != nullptr};
    if (item.before) {
      if (Status staged = stage_old(fs_, request, *item.before, &report_.notes); !staged) return staged;
    }
    request.staged = target.fresh;
    if (target.path.starts_with(kSutureFolder)) request.most = readers();
    return item.after ? stage_bytes(fs_, request, *item.after, &report_.notes) : Status(Nothing{});
  }

  // --- The end

  // Precondition: nothing was renamed. Returns the error that led here.
  Error undo(Error cause) {
    Transaction transaction = transact();
    const Result<Transaction::End> end = transaction.settle(Transaction::Foreign::undo);
    const bool clean = end && transaction.leftovers().empty();
    add_outcome(cause, clean ? kNothingWritten : with_leftovers("no file was changed", transaction));
    return cause;
  }

  // An outcome, and what still stands in the tree where the undoing failed too.
  static std::string with_leftovers(const std::string& outcome, const Transaction& transaction) {
    const std::vector<std::string>& left = transaction.leftovers();
    if (left.empty()) return outcome;
    const std::string more = left.size() > 1 ? " (and " + std::to_string(left.size() - 1) + " more)" : "";
    return outcome + ", but " + left.front() + more +
           "; the journal of this write stays: once that can be removed, the next run of suture puts it right";
  }

  Transaction transact() {
    Transaction transaction(tree_, suture_.handle(), journal_, bytecode_);
    for (std::size_t i = 0; i < items_.size(); ++i) {
      if (items_[i].folder) transaction.use_folder(journal_.targets[i].path, items_[i].folder);
    }
    return transaction;
  }

  // The hint of an error that was undone.
  static void add_outcome(Error& error, const std::string& outcome) {
    const std::string said = std::string(kNothingWritten) + "; ";
    if (error.hint.starts_with(said)) error.hint.erase(0, said.size());
    error.hint = error.hint.empty() ? outcome : outcome + "; " + error.hint;
  }

  Result<CommitReport> settle() {
    Transaction transaction = transact();
    Result<Transaction::End> end = transaction.settle(Transaction::Foreign::undo);
    if (!end) {
      Error error = end.error();
      error.hint = "the write is half done; run suture again on this tree: it finishes or undoes it" +
                   (error.hint.empty() ? "" : "; " + error.hint);
      return error;
    }
    if (*end == Transaction::End::undone) {
      Error error = transaction.cause() ? *transaction.cause() : changed_meanwhile(tree_.path());
      add_outcome(error, with_leftovers("every file is as it was", transaction));
      return error;
    }
    report_.notes.insert(report_.notes.end(), transaction.notes().begin(), transaction.notes().end());
    return report_;
  }

  const TreeFolder& tree_;
  FileSystem& fs_;
  const SutureFolder& suture_;
  const TreeState &before_, &after_;
  Bytecode bytecode_;
  std::string token_;
  Receipt receipt_;
  std::vector<Item> items_;
  Journal journal_;
  std::vector<std::string> blobs_to_write_;
  CommitReport report_;
};

Error not_locked(const TreeFolder& tree) {
  return refused(tree.path() + " is not locked", "this is an error in suture; please report it");
}

// Staged files in the folders that the receipt knows: of a run whose journal someone removed.
std::size_t sweep_tree(const TreeFolder& tree, const SutureFolder& suture) {
  std::size_t removed = sweep_staged(tree.fs(), suture.handle());
  if (const Io<Handle> handle = tree.fs().open_folder(suture.handle(), kBlobsName); handle) {
    const Opened folder(tree.fs(), handle.value);
    removed += sweep_staged(tree.fs(), folder.handle());
  }
  const Result<Receipt> receipt = suture.read_receipt();
  if (!receipt) return removed;
  std::set<std::string> seen;
  for (const auto& [path, file] : receipt->files) {
    if (!seen.insert(path.substr(0, path.size() - TreeFolder::name_of(path).size())).second) continue;
    const Io<std::shared_ptr<Opened>> folder = tree.folder_of(path);
    if (folder) removed += sweep_staged(tree.fs(), folder.value->handle());
  }
  return removed;
}

}  // namespace

Result<std::vector<std::string>> recover(FileSystem& fs, const LocatedTree& located, const TreeLock& lock) {
  const Result<TreeFolder> tree = TreeFolder::open(fs, located.package_folder);
  if (!tree) return tree.error();
  if (!lock.exclusive()) return not_locked(*tree);
  if (!lock.holds(*tree)) return changed_meanwhile(tree->path());
  const Result<SutureFolder> suture = SutureFolder::open(*tree);
  if (!suture) return suture.error();
  std::vector<std::string> words;
  if (!suture->is_open()) return words;
  const Result<std::optional<Journal>> journal = read_journal(*tree, suture->handle());
  if (!journal) return journal.error();
  if (*journal) {
    Transaction transaction(*tree, suture->handle(), **journal, Bytecode(*tree, located.bytecode_prefix));
    const Result<Transaction::End> end = transaction.settle(Transaction::Foreign::leave);
    if (!end) return end.error();
    words.push_back(std::string(*end == Transaction::End::finished ? "finished" : "undid") + " a write to " +
                    tree->path() + " that was interrupted");
    words.insert(words.end(), transaction.notes().begin(), transaction.notes().end());
    return words;
  }
  // Of a run that died while writing it.
  if (fs.remove(suture->handle(), kJournalTemporary))
    words.push_back("removed the unfinished journal of a run that was interrupted in " + tree->path());
  const std::size_t swept = sweep_tree(*tree, *suture);
  if (swept > 0)
    words.push_back("removed " + std::to_string(swept) + " staged files that an interrupted run left in " +
                    tree->path());
  return words;
}

Result<CommitReport> commit(FileSystem& fs, const LocatedTree& located, TreeLock& lock, const TreeState& before,
                            const TreeState& after, const std::map<std::string, FileChange>& changes) {
  const Result<TreeFolder> tree = TreeFolder::open(fs, located.package_folder);
  if (!tree) return tree.error();
  if (!lock.exclusive()) return not_locked(*tree);
  if (!lock.holds(*tree)) return changed_meanwhile(tree->path());
  const Result<SutureFolder> suture = SutureFolder::open(*tree);
  if (!suture) return suture.error();
  if (!suture->is_open()) return not_locked(*tree);
  const Result<std::optional<Journal>> journal = read_journal(*tree, suture->handle());
  if (!journal) return journal.error();
  if (*journal)
    return refused("an interrupted write to " + tree->path() + " is still to be finished or undone",
                   "remove what stands in the way (a note says what), and run suture again");
  Result<CommitReport> report =
      Commit(*tree, *suture, before, after, Bytecode(*tree, located.bytecode_prefix)).run(changes);
  if (report && !before.present) lock.remove_empty_package();
  return report;
}

}  // namespace suture
