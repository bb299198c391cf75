// Reading a tree into a TreeState. Contract: effects/store.h.
#include <algorithm>
#include <cerrno>
#include <set>

#include "base/sha256.h"
#include "effects/distribution.h"
#include "effects/journal.h"
#include "effects/receipt_json.h"
#include "effects/store.h"
#include "effects/suture_folder.h"
#include "effects/tree_folder.h"
#include "read/version.h"

namespace suture {
namespace {

constexpr std::uint64_t kMostBytes = 16U << 20U;

FileState unreadable(std::string problem) {
  FileState file;
  file.kind = FileState::Kind::unreadable;
  file.problem = std::move(problem);
  return file;
}

FileState read_state(const TreeFolder& tree, const std::string& path) {
  FileState file;
  const Result<TreeFolder::Place> place = tree.resolve(path);
  if (!place) return unreadable(place.error().message);
  if (!place->info) return file;
  if (place->info->kind == FileInfo::Kind::folder) {
    file.kind = FileState::Kind::folder;
    return file;
  }
  if (place->info->kind != FileInfo::Kind::regular) return unreadable(tree.shown(path) + " is not a regular file");
  Io<std::string> bytes = read_file(tree.fs(), place->folder->handle(), place->name, kMostBytes);
  if (bytes.error == EFBIG) {
    file.kind = FileState::Kind::too_large;
    return file;
  }
  if (!bytes) return unreadable(errno_words(bytes.error));
  file.kind = FileState::Kind::regular;
  file.sha256 = sha256_hex(bytes.value);
  file.bytes = std::make_shared<const std::string>(std::move(bytes.value));
  return file;
}

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

Status load_package(FileSystem& fs, const LocatedTree& located, const std::vector<std::string>& paths,
                    TreeState& state) {
  const Result<TreeFolder> tree = TreeFolder::open(fs, located.package_folder);
  if (!tree) return tree.error();
  Result<SutureFolder> suture = SutureFolder::open(*tree);
  if (!suture) return suture.error();
  if (suture->is_open()) {
    Result<Receipt> receipt = suture->read_receipt();
    if (!receipt) return receipt.error();
    state.receipt = std::move(*receipt);
    state.blobs = suture->read_blobs(state.receipt);
  }
  std::set<std::string> wanted(paths.begin(), paths.end());
  for (const auto& [path, file] : state.receipt.files) wanted.insert(path);
  for (const std::string& path : wanted) state.files.emplace(path, read_state(*tree, path));
  state.present = ForeignFiles(*tree, state).any(tree->root(), "");
  return Nothing{};
}

}  // namespace

Result<TreeState> load_tree(FileSystem& fs, const LocatedTree& tree, const std::string& package,
                            const std::string& folder, const std::vector<std::string>& paths,
                            const std::string& assume_version) {
  TreeState state;
  state.display = tree.display;
  state.package = package;
  state.folder = folder;
  if (!tree.present) {
    for (const std::string& path : paths) state.files.emplace(path, FileState{});
  } else if (const Status loaded = load_package(fs, tree, paths, state); !loaded) {
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
  constexpr std::uint64_t kMostReceipt = 64U << 20U;
  const Io<std::string> text =
      read_file(fs, kAbsolute, package_folder + "/" + kSutureFolder + "/" + kReceiptName, kMostReceipt);
  std::string package = text ? receipt_package(text.value) : std::string();
  return package.empty() ? normalize_name(TreeFolder::name_of(package_folder)) : package;
}

bool interrupted(FileSystem& fs, const LocatedTree& tree) {
  return fs.info_at(kAbsolute, tree.package_folder + "/" + kSutureFolder + "/journal").error == 0;
}

}  // namespace suture
