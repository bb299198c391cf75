// See tree_files.h. Test: tests/unit/tree_files_test.cc.
#include "effects/tree_files.h"

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/sha256.h"
#include "read/glob.h"

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
  if (place->path != path) file.link_to = place->path;
  return file;
}

// One walk for all globs, with the search for classes as one of them.
class Walk {
 public:
  Walk(const TreeFolder& tree, const std::set<std::string>& classes, Files& files)
      : tree_(tree), classes_(classes), files_(files) {}

  void name(const std::string& glob) { globs_.emplace_back(glob); }

  std::size_t run() {
    if (!globs_.empty() || !classes_.empty()) in_folder(tree_.root(), "");
    return searched_;
  }

 private:
  [[nodiscard]] bool is_named(const std::string& path) const {
    return std::any_of(globs_.begin(), globs_.end(), [&path](const Glob& glob) { return glob.matches(path); });
  }
  [[nodiscard]] bool is_entered(const std::string& folder) const {
    return is_searched(folder) ||
           std::any_of(globs_.begin(), globs_.end(), [&folder](const Glob& glob) { return glob.enters(folder); });
  }
  [[nodiscard]] bool is_searched(const std::string& folder) const {
    return !classes_.empty() && everything_.enters(folder);
  }

  void in_folder(Handle folder, const std::string& path) {
    const Io<std::vector<std::string>> names = tree_.fs().list(folder);
    if (!names) return closed(path, errno_words(names.error));
    for (const std::string& name : names.value) {
      const std::string below = path.empty() ? name : path + "/" + name;
      if (name.ends_with(".py")) {
        python_file(below);
      } else if (is_entered(below)) {
        subfolder(folder, name, below);
      }
    }
  }

  void python_file(const std::string& path) {
    const bool named = is_named(path);
    const bool searched = !classes_.empty() && everything_.matches(path);
    if ((!named && !searched) || files_.contains(path)) {
      if (searched) ++searched_;
      return;
    }
    FileState file = read_state(tree_, path);
    if (searched) ++searched_;
    if (file.kind != FileState::Kind::absent && (named || may_define(file))) files_.emplace(path, std::move(file));
  }
  [[nodiscard]] bool may_define(const FileState& file) const {
    return file.bytes && std::any_of(classes_.begin(), classes_.end(),
                                     [&file](const std::string& name) { return may_define_class(*file.bytes, name); });
  }

  void subfolder(Handle parent, const std::string& name, const std::string& path) {
    const Io<FileInfo> info = tree_.fs().info_at(parent, name);
    if (!info) return closed(path, errno_words(info.error));
    if (info.value.kind == FileInfo::Kind::symlink) return link(path);
    if (info.value.kind != FileInfo::Kind::folder) return;
    const Io<Handle> handle = tree_.fs().open_folder(parent, name);
    if (!handle) return closed(path, errno_words(handle.error));
    const Opened opened(tree_.fs(), handle.value);
    in_folder(opened.handle(), path);
  }

  // A folder inside the tree is reached by its own path. Of what is outside only the kind is looked at.
  void link(const std::string& path) {
    const Result<TreeFolder::Place> place = tree_.resolve(path);
    if (place) return;
    const Io<std::string> target = tree_.fs().real_path(tree_.shown(path));
    const Io<FileInfo> info = target ? tree_.fs().info_at(kAbsolute, target.value) : Io<FileInfo>{target.error, {}};
    if (info && info.value.kind == FileInfo::Kind::folder) closed(path, place.error().message);
  }

  void closed(const std::string& path, const std::string& problem) { files_.emplace(path, unreadable(problem)); }

  const TreeFolder& tree_;
  const std::set<std::string>& classes_;
  Files& files_;
  const Glob everything_{"**/*.py"};
  std::vector<Glob> globs_;
  std::size_t searched_ = 0;
};

}  // namespace

std::size_t read_files(const TreeFolder& tree, const std::set<std::string>& wanted,
                       const std::set<std::string>& classes, Files& files) {
  Walk walk(tree, classes, files);
  for (const std::string& name : wanted) {
    if (is_glob(name)) {
      walk.name(name);
    } else {
      files.emplace(name, read_state(tree, name));
    }
  }
  return walk.run();
}

}  // namespace suture
