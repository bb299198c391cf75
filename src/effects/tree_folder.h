// A package folder, opened once, and the paths in it. Everything suture reads or writes in a tree is reached from
// here, one name at a time, so that no link swapped in on the way leads outside.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "effects/file_system.h"

namespace suture {

inline constexpr const char* kSutureFolder = ".suture";

// "a/b/c" in parts; nullopt for what is no path within a tree: empty, absolute, with "." or ".." or an empty part, or
// with a NUL byte.
std::optional<std::vector<std::string>> path_parts(std::string_view path);

// Such a path that does not lead into .suture.
bool is_tree_path(const std::string& path);

class TreeFolder {
 public:
  // Where a path leads once its links are followed.
  struct Place {
    std::shared_ptr<Opened> folder;  // that holds `name`; null where it is not there
    std::string name;
    std::string path;              // without links, relative to the tree
    std::optional<FileInfo> info;  // nullopt: nothing is there
  };

  static Result<TreeFolder> open(FileSystem& fs, const std::string& absolute);

  [[nodiscard]] FileSystem& fs() const { return *fs_; }
  [[nodiscard]] Handle root() const { return root_->handle(); }
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string shown(const std::string& path) const { return path_ + "/" + path; }

  // Follows links as long as they stay inside the tree; one that leads outside is an Error that names link and
  // target. A path that does not exist is no error. Error too: a folder that cannot be searched.
  [[nodiscard]] Result<Place> resolve(const std::string& path) const;
  // The folder of a path without links (as resolve() gave it), opened name by name. ENOENT: it is not there.
  [[nodiscard]] Io<std::shared_ptr<Opened>> folder_of(const std::string& path) const;
  // The last part of a path.
  static std::string name_of(const std::string& path);

 private:
  TreeFolder(FileSystem& fs, Handle root, std::string path)
      : fs_(&fs), root_(std::make_shared<Opened>(fs, root)), path_(std::move(path)) {}
  FileSystem* fs_;
  std::shared_ptr<Opened> root_;
  std::string path_;
};

}  // namespace suture
