// Paths inside a tree. Contract: effects/tree_folder.h.
//
// Rejected: openat2(RESOLVE_BENEATH). It is one call, but Linux 5.6 only, it refuses absolute links that lead back
// into the tree, and it cannot say where a refused link leads.
#include "effects/tree_folder.h"

#include <cerrno>
#include <deque>

namespace suture {
namespace {

constexpr int kMostLinks = 40;  // as the kernel

std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> parts;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    if (slash != 0) parts.emplace_back(path.substr(0, slash));
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  return parts;
}

// One walk from the root along a path.
class Walk {
 public:
  Walk(FileSystem& fs, const std::shared_ptr<Opened>& root, const std::string& root_path, const std::string& path)
      : fs_(fs), root_(root), root_path_(root_path), asked_(path) {
    for (std::string& part : split(path)) pending_.push_back(std::move(part));
  }

  Result<TreeFolder::Place> run() {
    while (!pending_.empty()) {
      const std::string name = std::move(pending_.front());
      pending_.pop_front();
      if (name == ".") continue;
      if (name == "..") {
        if (stack_.empty()) return outside();
        stack_.pop_back();
        continue;
      }
      const Io<FileInfo> info = fs_.info_at(top()->handle(), name);
      if (info.error == ENOENT) return absent(name);
      if (!info) return io_error("look at", root_path_ + "/" + asked_, info.error);
      if (info.value.kind == FileInfo::Kind::symlink) {
        if (std::optional<Error> error = follow(name)) return *error;
        continue;
      }
      if (pending_.empty()) return TreeFolder::Place{top(), name, prefix() + name, info.value};
      if (info.value.kind != FileInfo::Kind::folder) return absent(name);
      const Io<Handle> handle = fs_.open_folder(top()->handle(), name);
      if (!handle) return io_error("open the folder of", root_path_ + "/" + asked_, handle.error);
      stack_.push_back({std::make_shared<Opened>(fs_, handle.value), name});
    }
    return here();
  }

 private:
  struct Step {
    std::shared_ptr<Opened> folder;
    std::string name;
  };

  [[nodiscard]] std::shared_ptr<Opened> top() const { return stack_.empty() ? root_ : stack_.back().folder; }
  [[nodiscard]] std::string prefix() const {
    std::string out;
    for (const Step& step : stack_) out += step.name + "/";
    return out;
  }

  TreeFolder::Place absent(const std::string& name) {
    TreeFolder::Place place{pending_.empty() ? top() : nullptr, name, prefix() + name, std::nullopt};
    for (const std::string& part : pending_) place.path += "/" + part;
    if (!pending_.empty()) place.name = pending_.back();
    return place;
  }

  // The path led to a folder that the walk is in already.
  Result<TreeFolder::Place> here() {
    const Io<FileInfo> info = fs_.info(top()->handle());
    if (!info) return io_error("look at", root_path_ + "/" + asked_, info.error);
    std::string path = prefix();
    if (!path.empty()) path.pop_back();
    return TreeFolder::Place{top(), ".", path, info.value};
  }

  std::optional<Error> follow(const std::string& name) {
    const Io<std::string> target = fs_.read_link(top()->handle(), name);
    if (!target) return io_error("read the link", root_path_ + "/" + prefix() + name, target.error);
    if (++links_ > kMostLinks) return io_error("follow the links of", root_path_ + "/" + asked_, ELOOP);
    link_ = prefix() + name;
    target_ = target.value;
    std::string_view rest = target.value;
    if (rest.starts_with("/")) {
      const bool inside =
          rest.starts_with(root_path_) && (rest.size() == root_path_.size() || rest[root_path_.size()] == '/');
      if (!inside) return outside();
      rest.remove_prefix(root_path_.size());
      stack_.clear();
    }
    const std::vector<std::string> parts = split(rest);
    pending_.insert(pending_.begin(), parts.begin(), parts.end());
    return std::nullopt;
  }

  [[nodiscard]] Error outside() const {
    Error error;
    error.exit = Exit::file_system;
    error.message = root_path_ + "/" + link_ + " is a symbolic link that leads outside the tree (to " + target_ + ")";
    error.hint =
        "suture follows links only inside the tree; install the package as files (uv: --link-mode=copy), or name the "
        "tree that the link leads to";
    return error;
  }

  FileSystem& fs_;
  std::shared_ptr<Opened> root_;
  const std::string& root_path_;
  const std::string& asked_;
  std::deque<std::string> pending_;
  std::vector<Step> stack_;
  int links_ = 0;
  std::string link_, target_;
};

}  // namespace

std::optional<std::vector<std::string>> path_parts(std::string_view path) {
  if (path.empty() || path.front() == '/' || path.back() == '/' || path.find('\0') != std::string_view::npos) {
    return std::nullopt;
  }
  if (path.find("//") != std::string_view::npos) return std::nullopt;
  std::vector<std::string> parts = split(path);
  for (const std::string& part : parts) {
    if (part == "." || part == "..") return std::nullopt;
  }
  return parts;
}

bool is_tree_path(const std::string& path) {
  const auto parts = path_parts(path);
  return parts && parts->front() != kSutureFolder;
}

Result<TreeFolder> TreeFolder::open(FileSystem& fs, const std::string& absolute) {
  const Io<Handle> root = fs.open_folder(kAbsolute, absolute);
  if (!root) return io_error("open", absolute, root.error);
  return TreeFolder(fs, root.value, absolute);
}

Result<TreeFolder::Place> TreeFolder::resolve(const std::string& path) const {
  if (!path_parts(path)) {
    Error error;
    error.exit = Exit::file_system;
    error.message = "'" + path + "' is not a path inside a tree";
    return error;
  }
  return Walk(*fs_, root_, path_, path).run();
}

Io<std::shared_ptr<Opened>> TreeFolder::folder_of(const std::string& path) const {
  std::vector<std::string> parts = split(path);
  std::shared_ptr<Opened> folder = root_;
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    const Io<Handle> next = fs_->open_folder(folder->handle(), parts[i]);
    if (!next) return {next.error, nullptr};
    folder = std::make_shared<Opened>(*fs_, next.value);
  }
  return {0, std::move(folder)};
}

std::string TreeFolder::name_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

}  // namespace suture
