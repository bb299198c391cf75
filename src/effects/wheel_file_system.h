// A FileSystem in which wheels are folders: the members of a mounted wheel are read-only files below its path, laid out
// as pip would install them. Everything else goes to the file system below. So all that reads a tree reads a wheel.
//
// Laid out as installed: what is below NAME-V.data/purelib and NAME-V.data/platlib stands at the wheel's root, beside
// what is there already.
//
// Writing answers EROFS. There are no links in a wheel: a member that is one is Kind::other, and nobody follows it. Only
// members that are read are inflated. Not more than one thread at a time.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "effects/file_system.h"

namespace suture {

// Whether a path leads to a file named *.whl.
bool is_wheel(FileSystem& fs, const std::string& path);

// "a/b" of "NAME-V.data/purelib/a/b" and of ".../platlib/a/b"; every other path as it is.
std::string_view installed_path(std::string_view path);

class WheelFileSystem final : public FileSystem {
 public:
  explicit WheelFileSystem(FileSystem& base);
  ~WheelFileSystem() override;

  // From now on the wheel at `path` (links in it are followed) is a folder. Error (Exit::file_system): see
  // ZipArchive::open(); a name that two members have, or one that is a file for one member and a folder for another.
  Status mount(const std::string& path);

  Io<Handle> open_folder(Handle at, const std::string& name) override;
  Io<Handle> open_file(Handle at, const std::string& name) override;
  Io<Handle> create_file(Handle at, const std::string& name, std::uint32_t mode) override;
  Io<Handle> open_lock(Handle at, const std::string& name, bool create) override;
  void close(Handle handle) override;
  Io<std::string> read(Handle file, std::uint64_t offset, std::size_t at_most) override;
  Io<std::size_t> read_into(Handle file, std::uint64_t offset, std::span<char> to) override;
  Io<FileInfo> info(Handle handle) override;
  Io<FileInfo> info_at(Handle at, const std::string& name) override;
  Io<std::vector<std::string>> list(Handle folder) override;
  Io<std::string> read_link(Handle at, const std::string& name) override;
  Io<std::string> real_path(const std::string& path) override;
  Io<std::size_t> write(Handle file, std::string_view bytes) override;
  Io<std::size_t> overwrite(Handle file, std::string_view bytes) override;
  Io<Done> sync(Handle handle) override;
  Io<Done> rename(Handle at, const std::string& from, Handle to_at, const std::string& to) override;
  Io<Done> exchange(Handle at, const std::string& one, const std::string& other) override;
  Io<Done> rename_new(Handle at, const std::string& from, const std::string& to) override;
  Io<Done> link(Handle at, const std::string& from, Handle to_at, const std::string& to) override;
  Io<Done> remove(Handle at, const std::string& name) override;
  Io<Done> make_folder(Handle at, const std::string& name, std::uint32_t mode) override;
  Io<Done> remove_folder(Handle at, const std::string& name) override;
  Io<Done> set_mode(Handle file, std::uint32_t mode) override;
  Io<Done> set_owner(Handle file, std::uint32_t uid, std::uint32_t gid) override;
  Io<Done> set_modified(Handle file, std::int64_t seconds) override;
  Io<Done> may_change(Handle folder) override;
  Io<std::vector<std::string>> xattrs(Handle file) override;
  Io<std::string> xattr(Handle file, const std::string& name) override;
  Io<Done> set_xattr(Handle file, const std::string& name, const std::string& value) override;
  Io<Done> remove_xattr(Handle file, const std::string& name) override;
  Io<Done> try_lock(Handle file, bool shared) override;
  void sleep(std::chrono::milliseconds time) override { base_.sleep(time); }
  std::chrono::milliseconds now() override { return base_.now(); }
  std::string unique_token() override { return base_.unique_token(); }
  std::string who() override { return base_.who(); }

 private:
  class Wheel;
  struct Node {  // a path in a wheel; "": its root
    Wheel* wheel = nullptr;
    std::string path;
    std::shared_ptr<const std::string> bytes;  // once they are read
  };
  // Where a path leads; nullopt: to the file system below.
  [[nodiscard]] std::optional<Node> node(Handle at, const std::string& name) const;
  [[nodiscard]] bool is_ours(Handle handle) const { return nodes_.contains(handle); }
  [[nodiscard]] bool is_ours(Handle at, const std::string& name) const { return node(at, name).has_value(); }
  Io<Handle> open(Node node, FileInfo::Kind kind);

  FileSystem& base_;
  std::map<std::string, std::unique_ptr<Wheel>> wheels_;  // by path
  std::map<Handle, Node> nodes_;
  Handle next_;
};

}  // namespace suture
