// See wheel_file_system.h. Tests: tests/unit/wheel_file_system_test.cc, tests/cli/wheel_test.py.
#include "effects/wheel_file_system.h"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include "effects/zip_archive.h"

namespace suture {
namespace {

constexpr Handle kFirstHandle = 1 << 30;              // far above any descriptor
constexpr std::uint64_t kMostBytes = 16U << 20U;      // of one member: no reader of a tree takes more
constexpr std::uint64_t kDevice = ~std::uint64_t{0};  // no file below is on it
constexpr std::uint32_t kFileMode = 0444, kFolderMode = 0555;

Error unclear(const std::string& path, const std::string& what, const std::string& member) {
  return {Exit::file_system, path + " " + what + ": " + member, std::nullopt,
          "which of them an installer keeps is not said; build the wheel anew"};
}

}  // namespace

bool is_wheel(FileSystem& fs, const std::string& path) {
  const Io<std::string> real = fs.real_path(path);
  if (!real || !real.value.ends_with(".whl")) return false;
  const Io<FileInfo> info = fs.info_at(kAbsolute, real.value);
  return info && info.value.kind == FileInfo::Kind::regular;
}

std::string_view installed_path(std::string_view path) {
  const std::size_t slash = path.find('/');
  if (slash == std::string_view::npos || !path.substr(0, slash).ends_with(".data")) return path;
  const std::string_view rest = path.substr(slash + 1);
  for (const std::string_view scheme : {"purelib/", "platlib/"}) {
    if (rest.starts_with(scheme)) return rest.substr(scheme.size());
  }
  return path;
}

// Its members by installed path. Folders are not stored: one is there where a path goes on behind its name.
class WheelFileSystem::Wheel {
 public:
  explicit Wheel(std::unique_ptr<ZipArchive> zip) : zip_(std::move(zip)) {}

  Status index(const std::string& shown) {
    for (const ZipMember& member : zip_->members()) {
      std::string path(installed_path(member.name));
      const bool folder = member.kind == ZipMember::Kind::folder;
      const auto [entry, added] = entries_.emplace(std::move(path), &member);
      if (!added && !(folder && entry->second->kind == ZipMember::Kind::folder)) {
        return unclear(shown, "holds two members of one name", entry->first);
      }
    }
    for (const auto& [path, member] : entries_) {
      if (member->kind != ZipMember::Kind::folder && goes_on(path + "/")) {
        return unclear(shown, "holds a member that is both a file and a folder", path);
      }
    }
    return Nothing{};
  }

  [[nodiscard]] Io<FileInfo> info(const std::string& path) const {
    FileInfo info;
    info.in_wheel = true;
    info.device = kDevice;
    info.mode = kFolderMode;
    info.kind = FileInfo::Kind::folder;
    const auto entry = entries_.find(path);
    if (entry == entries_.end())
      return path.empty() || goes_on(path + "/") ? Io<FileInfo>{0, info} : Io<FileInfo>{ENOENT, {}};
    const ZipMember& member = *entry->second;
    info.inode = member.number + 1;
    if (member.kind == ZipMember::Kind::folder) return {0, info};
    info.kind = member.kind == ZipMember::Kind::file ? FileInfo::Kind::regular : FileInfo::Kind::other;
    info.mode = kFileMode;
    info.size = member.size;
    return {0, info};
  }

  [[nodiscard]] std::vector<std::string> list(const std::string& path) const {
    const std::string prefix = path.empty() ? "" : path + "/";
    std::vector<std::string> names;
    for (auto at = entries_.lower_bound(prefix); at != entries_.end() && at->first.starts_with(prefix);) {
      const std::size_t slash = at->first.find('/', prefix.size());
      const bool folder = slash != std::string::npos;
      std::string name = at->first.substr(prefix.size(), folder ? slash - prefix.size() : std::string::npos);
      // "0" is what follows "/" in ASCII: the first path behind all that is in the folder.
      at = folder ? entries_.lower_bound(prefix + name + "0") : std::next(at);
      names.push_back(std::move(name));
    }
    std::erase(names, "");
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  }

  [[nodiscard]] Io<std::string> read(const std::string& path) { return zip_->read(*entries_.at(path), kMostBytes); }

 private:
  [[nodiscard]] bool goes_on(const std::string& prefix) const {
    const auto next = entries_.lower_bound(prefix);
    return next != entries_.end() && next->first.starts_with(prefix);
  }

  std::unique_ptr<ZipArchive> zip_;
  std::map<std::string, const ZipMember*> entries_;
};

WheelFileSystem::WheelFileSystem(FileSystem& base) : base_(base), next_(kFirstHandle) {}
WheelFileSystem::~WheelFileSystem() = default;

Status WheelFileSystem::mount(const std::string& path) {
  const Io<std::string> real = base_.real_path(path);
  if (!real) return io_error("open", path, real.error);
  if (wheels_.contains(real.value)) return Nothing{};
  Result<std::unique_ptr<ZipArchive>> zip = ZipArchive::open(base_, path);
  if (!zip) return zip.error();
  auto wheel = std::make_unique<Wheel>(std::move(*zip));
  if (const Status indexed = wheel->index(path); !indexed) return indexed.error();
  wheels_.emplace(real.value, std::move(wheel));
  return Nothing{};
}

std::optional<WheelFileSystem::Node> WheelFileSystem::node(Handle at, const std::string& name) const {
  if (const auto from = nodes_.find(at); from != nodes_.end()) {
    const Node& folder = from->second;
    if (name == ".") return Node{folder.wheel, folder.path, nullptr};
    return Node{folder.wheel, folder.path.empty() ? name : folder.path + "/" + name, nullptr};
  }
  if (at != kAbsolute) return std::nullopt;
  for (const auto& [path, wheel] : wheels_) {
    if (name == path) return Node{wheel.get(), "", nullptr};
    if (name.starts_with(path + "/")) return Node{wheel.get(), name.substr(path.size() + 1), nullptr};
  }
  return std::nullopt;
}

Io<Handle> WheelFileSystem::open(Node node, FileInfo::Kind kind) {
  const Io<FileInfo> info = node.wheel->info(node.path);
  if (!info) return {info.error, {}};
  if (kind == FileInfo::Kind::folder && info.value.kind != kind) return {ENOTDIR, {}};
  nodes_.emplace(next_, std::move(node));
  return {0, next_++};
}

Io<Handle> WheelFileSystem::open_folder(Handle at, const std::string& name) {
  const std::optional<Node> ours = node(at, name);
  return ours ? open(*ours, FileInfo::Kind::folder) : base_.open_folder(at, name);
}

Io<Handle> WheelFileSystem::open_file(Handle at, const std::string& name) {
  const std::optional<Node> ours = node(at, name);
  return ours ? open(*ours, FileInfo::Kind::regular) : base_.open_file(at, name);
}

// Of a handle of the file system below nothing is written here: `suture audit` closes files in several threads.
void WheelFileSystem::close(Handle handle) {
  const auto ours = nodes_.find(handle);
  if (ours == nodes_.end()) return base_.close(handle);
  nodes_.erase(ours);
}

Io<std::string> WheelFileSystem::read(Handle file, std::uint64_t offset, std::size_t at_most) {
  const auto found = nodes_.find(file);
  if (found == nodes_.end()) return base_.read(file, offset, at_most);
  Node& ours = found->second;
  const Io<FileInfo> info = ours.wheel->info(ours.path);
  if (!info) return {info.error, {}};
  if (info.value.kind != FileInfo::Kind::regular)
    return {info.value.kind == FileInfo::Kind::folder ? EISDIR : EINVAL, {}};
  if (!ours.bytes) {
    Io<std::string> bytes = ours.wheel->read(ours.path);
    if (!bytes) return bytes;
    ours.bytes = std::make_shared<const std::string>(std::move(bytes.value));
  }
  return {0, offset < ours.bytes->size() ? ours.bytes->substr(offset, at_most) : std::string()};
}

Io<std::size_t> WheelFileSystem::read_into(Handle file, std::uint64_t offset, std::span<char> to) {
  return is_ours(file) ? FileSystem::read_into(file, offset, to) : base_.read_into(file, offset, to);
}

Io<FileInfo> WheelFileSystem::info(Handle handle) {
  const auto found = nodes_.find(handle);
  return found == nodes_.end() ? base_.info(handle) : found->second.wheel->info(found->second.path);
}

Io<FileInfo> WheelFileSystem::info_at(Handle at, const std::string& name) {
  const std::optional<Node> ours = node(at, name);
  return ours ? ours->wheel->info(ours->path) : base_.info_at(at, name);
}

Io<std::vector<std::string>> WheelFileSystem::list(Handle folder) {
  const auto found = nodes_.find(folder);
  if (found == nodes_.end()) return base_.list(folder);
  return {0, found->second.wheel->list(found->second.path)};
}

Io<std::string> WheelFileSystem::read_link(Handle at, const std::string& name) {
  return is_ours(at, name) ? Io<std::string>{EINVAL, {}} : base_.read_link(at, name);
}

Io<std::string> WheelFileSystem::real_path(const std::string& path) {
  const std::optional<Node> ours = node(kAbsolute, path);
  if (!ours) return base_.real_path(path);
  const Io<FileInfo> info = ours->wheel->info(ours->path);
  return info ? Io<std::string>{0, path} : Io<std::string>{info.error, {}};
}

// --- What a wheel does not take

Io<Handle> WheelFileSystem::create_file(Handle at, const std::string& name, std::uint32_t mode) {
  return is_ours(at, name) ? Io<Handle>{EROFS, {}} : base_.create_file(at, name, mode);
}

Io<Handle> WheelFileSystem::open_lock(Handle at, const std::string& name, bool create) {
  return is_ours(at, name) ? Io<Handle>{EROFS, {}} : base_.open_lock(at, name, create);
}

Io<std::size_t> WheelFileSystem::write(Handle file, std::string_view bytes) {
  return is_ours(file) ? Io<std::size_t>{EROFS, {}} : base_.write(file, bytes);
}

Io<Done> WheelFileSystem::sync(Handle handle) {
  return is_ours(handle) ? Io<Done>{EROFS, {}} : base_.sync(handle);
}

Io<Done> WheelFileSystem::rename(Handle at, const std::string& from, Handle to_at, const std::string& to) {
  return is_ours(at, from) || is_ours(to_at, to) ? Io<Done>{EROFS, {}} : base_.rename(at, from, to_at, to);
}

Io<Done> WheelFileSystem::exchange(Handle at, const std::string& one, const std::string& other) {
  return is_ours(at, one) ? Io<Done>{EROFS, {}} : base_.exchange(at, one, other);
}

Io<Done> WheelFileSystem::rename_new(Handle at, const std::string& from, const std::string& to) {
  return is_ours(at, from) ? Io<Done>{EROFS, {}} : base_.rename_new(at, from, to);
}

Io<std::size_t> WheelFileSystem::overwrite(Handle file, std::string_view bytes) {
  return is_ours(file) ? Io<std::size_t>{EROFS, 0} : base_.overwrite(file, bytes);
}

Io<Done> WheelFileSystem::link(Handle at, const std::string& from, Handle to_at, const std::string& to) {
  return is_ours(at, from) || is_ours(to_at, to) ? Io<Done>{EROFS, {}} : base_.link(at, from, to_at, to);
}

Io<Done> WheelFileSystem::remove(Handle at, const std::string& name) {
  return is_ours(at, name) ? Io<Done>{EROFS, {}} : base_.remove(at, name);
}

Io<Done> WheelFileSystem::make_folder(Handle at, const std::string& name, std::uint32_t mode) {
  return is_ours(at, name) ? Io<Done>{EROFS, {}} : base_.make_folder(at, name, mode);
}

Io<Done> WheelFileSystem::remove_folder(Handle at, const std::string& name) {
  return is_ours(at, name) ? Io<Done>{EROFS, {}} : base_.remove_folder(at, name);
}

Io<Done> WheelFileSystem::set_mode(Handle file, std::uint32_t mode) {
  return is_ours(file) ? Io<Done>{EROFS, {}} : base_.set_mode(file, mode);
}

Io<Done> WheelFileSystem::set_owner(Handle file, std::uint32_t uid, std::uint32_t gid) {
  return is_ours(file) ? Io<Done>{EROFS, {}} : base_.set_owner(file, uid, gid);
}

Io<Done> WheelFileSystem::set_modified(Handle file, std::int64_t seconds) {
  return is_ours(file) ? Io<Done>{EROFS, {}} : base_.set_modified(file, seconds);
}

Io<Done> WheelFileSystem::may_change(Handle folder) {
  return is_ours(folder) ? Io<Done>{EROFS, {}} : base_.may_change(folder);
}

Io<std::vector<std::string>> WheelFileSystem::xattrs(Handle file) {
  return is_ours(file) ? Io<std::vector<std::string>>{} : base_.xattrs(file);
}

Io<std::string> WheelFileSystem::xattr(Handle file, const std::string& name) {
  return is_ours(file) ? Io<std::string>{ENODATA, {}} : base_.xattr(file, name);
}

Io<Done> WheelFileSystem::set_xattr(Handle file, const std::string& name, const std::string& value) {
  return is_ours(file) ? Io<Done>{EROFS, {}} : base_.set_xattr(file, name, value);
}

Io<Done> WheelFileSystem::remove_xattr(Handle file, const std::string& name) {
  return is_ours(file) ? Io<Done>{EROFS, {}} : base_.remove_xattr(file, name);
}

Io<Done> WheelFileSystem::try_lock(Handle file, bool shared) {
  return is_ours(file) ? Io<Done>{EROFS, {}} : base_.try_lock(file, shared);
}

}  // namespace suture
