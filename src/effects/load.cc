// Reading a tree into a TreeState. Contract: effects/store.h.
#include <algorithm>
#include <set>

#include "base/sha256.h"
#include "effects/distribution.h"
#include "effects/journal.h"
#include "effects/receipt_json.h"
#include "effects/sealed_json.h"
#include "effects/store.h"
#include "effects/suture_folder.h"
#include "effects/tree_files.h"
#include "effects/tree_folder.h"
#include "engine/revert.h"
#include "read/glob.h"
#include "read/version.h"

namespace suture {
namespace {

// Whether a folder holds a file that is not ours: not an added file as it was written, not its bytecode, not staged.
class ForeignFiles {
 public:
  ForeignFiles(const TreeFolder& tree, const TreeState& state) : tree_(tree), state_(state) {}

  bool any(Handle folder, const std::string& prefix) const {
    const Io<std::vector<std::string>> names = tree_.fs().list(folder);
    if (!names) return true;
    return std::any_of(names.value.begin(), names.value.end(),
                       [&](const std::string& name) { return is_foreign(folder, prefix, name); });
  }

 private:
  [[nodiscard]] bool is_foreign(Handle folder, const std::string& prefix, const std::string& name) const {
    if ((prefix.empty() && name == kSutureFolder) || is_staged_name(name)) return false;
    const Io<FileInfo> info = tree_.fs().info_at(folder, name);
    if (!info) return true;
    if (info.value.kind != FileInfo::Kind::folder) return !is_added(prefix + name) && !is_bytecode(prefix, name);
    const Io<Handle> handle = tree_.fs().open_folder(folder, name);
    if (!handle) return true;
    const Opened opened(tree_.fs(), handle.value);
    return any(opened.handle(), prefix + name + "/");
  }

  [[nodiscard]] bool is_added(const std::string& path) const {
    const auto known = state_.receipt.files.find(path);
    if (known == state_.receipt.files.end() || !known->second.original_sha256.empty() || known->second.existed)
      return false;
    const auto file = state_.files.find(path);
    return file != state_.files.end() && file->second.sha256 == known->second.left_sha256;
  }

  static bool is_bytecode(const std::string& prefix, const std::string& name) {
    return prefix.ends_with("__pycache__/") && name.ends_with(".pyc");
  }

  const TreeFolder& tree_;
  const TreeState& state_;
};

// Whether a receipt's edits, made on the original, give the bytes that it says were left: what a revert relies on. An original
// that is gone or damaged proves nothing.
bool adds_up(const TreeState& state, const std::string& path, const ReceiptFile& file) {
  if (file.original_sha256.empty() || !state.blobs.contains(file.original_sha256)) return true;
  const std::optional<std::string> left = bytes_as_left(state, path);
  return left && sha256_hex(*left) == file.left_sha256;
}

Status load_package(FileSystem& fs, const LocatedTree& located, const std::vector<std::string>& paths,
                    const std::set<std::string>& classes, TreeState& state) {
  const Result<TreeFolder> tree = TreeFolder::open(fs, located.package_folder);
  if (!tree) return tree.error();
  Result<SutureFolder> suture = SutureFolder::open(*tree);
  if (!suture) return suture.error();
  if (suture->is_open()) {
    Result<Receipt> receipt = suture->read_receipt();
    if (!receipt) return receipt.error();
    state.receipt = std::move(*receipt);
    state.blobs = suture->read_blobs(state.receipt);
    for (const auto& [path, file] : state.receipt.files) {
      if (adds_up(state, path, file)) continue;
      return damaged("the receipt", tree->shown(std::string(kSutureFolder) + "/" + kReceiptName),
                     "its edits of " + path + " do not make what it says that suture left there");
    }
  }
  std::set<std::string> wanted(paths.begin(), paths.end());
  for (const auto& [path, file] : state.receipt.files) wanted.insert(path);
  state.python_files = read_files(*tree, wanted, classes, state.files);
  state.present = ForeignFiles(*tree, state).any(tree->root(), "");
  return Nothing{};
}

}  // namespace

Result<TreeState> load_tree(FileSystem& fs, const LocatedTree& tree, const std::string& package,
                            const std::string& folder, const std::vector<std::string>& paths,
                            const std::string& assume_version, const std::set<std::string>& classes) {
  TreeState state;
  state.display = tree.display;
  state.package = package;
  state.folder = folder;
  if (!tree.present) {
    for (const std::string& path : paths) {
      if (!is_glob(path)) state.files.emplace(path, FileState{});
    }
  } else if (const Status loaded = load_package(fs, tree, paths, classes, state); !loaded) {
    return loaded.error();
  }
  std::set<std::string> wanted;
  for (const auto& [path, file] : state.files) wanted.insert(path);
  Result<Distribution> dist = read_distribution(fs, tree, package, folder, wanted);
  if (!dist) return dist.error();
  state.dist = std::move(*dist);
  state.dist.assumed = assume_version;
  return state;
}

std::string patched_package(FileSystem& fs, const std::string& package_folder) {
  const Io<std::string> text =
      read_file(fs, kAbsolute, package_folder + "/" + kSutureFolder + "/" + kReceiptName, kMostReceipt);
  std::string package = text ? receipt_package(text.value) : std::string();
  return package.empty() ? normalize_name(TreeFolder::name_of(package_folder)) : package;
}

bool interrupted(FileSystem& fs, const LocatedTree& tree) {
  const std::string folder = tree.package_folder + "/" + kSutureFolder + "/";
  return fs.info_at(kAbsolute, folder + kJournalName).error == 0 ||
         fs.info_at(kAbsolute, folder + kJournalTemporary).error == 0;
}

std::optional<Error> journal_problem(FileSystem& fs, const LocatedTree& located) {
  const Result<TreeFolder> tree = TreeFolder::open(fs, located.package_folder);
  if (!tree) return tree.error();
  const Result<SutureFolder> suture = SutureFolder::open(*tree);
  if (!suture) return suture.error();
  if (!suture->is_open()) return std::nullopt;
  const Result<std::optional<Journal>> journal = read_journal(*tree, suture->handle());
  return journal ? std::nullopt : std::optional(journal.error());
}

}  // namespace suture
