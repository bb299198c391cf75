// A FileSystem in memory that can fail, die or lose power at operation n.
//
// Every virtual call of FileSystem that can fail counts as one operation. fail_at(n): the n-th one gives an errno, once.
// die_at(n): that one and all after it do nothing and give EIO, as if the process were gone; revive() makes a new "process" of
// it. lose_power(): what no fsync made durable goes: entries of folders go back to their last fsync, bytes too.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "effects/file_system.h"

namespace suture {

class MemoryFileSystem final : public FileSystem {
 public:
  MemoryFileSystem();
  ~MemoryFileSystem() override;

  // --- Setting up and looking; these count and fail never. Absolute paths; folders are made as needed.
  void put(const std::string& path, const std::string& bytes, std::uint32_t mode = 0644);
  void put_folder(const std::string& path);
  void put_link(const std::string& path, const std::string& target);
  void put_hard_link(const std::string& path, const std::string& existing);
  void move(const std::string& from, const std::string& to);
  void put_xattr(const std::string& path, const std::string& name, const std::string& value);
  void set_read_only(bool read_only) { read_only_ = read_only; }
  // As `chattr +a`: names come into the folder, and none leaves it or is changed (EPERM).
  void set_append_only(const std::string& folder, bool append_only);
  // As NFS: exchange() and rename_new() give ENOTSUP.
  void set_plain_renames(bool plain) { plain_renames_ = plain; }
  // Everything that stands below `path`: "name" -> bytes, "folder/" -> "", "link" -> "-> target".
  [[nodiscard]] std::map<std::string, std::string> tree(const std::string& path) const;
  [[nodiscard]] std::uint32_t mode_of(const std::string& path) const;
  [[nodiscard]] std::uint64_t inode_of(const std::string& path) const;
  // Makes everything that stands durable.
  void settle();

  // --- Faults.
  void fail_at(std::uint64_t n, int error);
  void die_at(std::uint64_t n);
  void revive();                     // also closes all handles and drops all locks
  void lose_power(bool keep_names);  // keep_names: entries survive, unsynced bytes do not (a torn file)
  // Called before the n-th operation: another process does something.
  void before_operation(std::uint64_t n, std::function<void()> action);
  [[nodiscard]] std::uint64_t operations() const { return count_; }
  [[nodiscard]] bool dead() const { return dead_; }
  [[nodiscard]] std::size_t open_handles() const { return handles_.size(); }

  // --- FileSystem
  Io<Handle> open_folder(Handle at, const std::string& name) override;
  Io<Handle> open_file(Handle at, const std::string& name) override;
  Io<Handle> create_file(Handle at, const std::string& name, std::uint32_t mode) override;
  Io<Handle> open_lock(Handle at, const std::string& name, bool create) override;
  void close(Handle handle) override;
  Io<std::string> read(Handle file, std::uint64_t offset, std::size_t at_most) override;
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
  void sleep(std::chrono::milliseconds time) override { now_ += time; }
  std::chrono::milliseconds now() override { return now_; }
  std::string unique_token() override;
  std::string who() override { return "process 7 on double"; }

 private:
  struct Node;
  using NodePtr = std::shared_ptr<Node>;
  struct Open {
    NodePtr node;
    int lock = 0;  // 0 none, 1 shared, 2 exclusive
  };

  // Counts an operation; the errno it is to fail with, or 0.
  int step();
  [[nodiscard]] NodePtr find(const std::string& path, bool follow, std::string* real = nullptr, int depth = 0) const;
  // The node of a folder handle (kAbsolute: of the path's folder), and the last name.
  NodePtr folder_at(Handle at, const std::string& name, std::string* last) const;
  // What a name leads to: followed with kAbsolute only.
  NodePtr node_at(Handle at, const std::string& name, int* error) const;
  Handle open_node(const NodePtr& node);
  NodePtr make_folders(const std::string& path);
  NodePtr new_node(FileInfo::Kind kind, std::uint32_t mode);
  static FileInfo info_of(const Node& node);
  void collect(const Node& node, const std::string& prefix, std::map<std::string, std::string>& out) const;
  void each_node(const std::function<void(const NodePtr&)>& action) const;

  NodePtr root_;
  std::map<Handle, Open> handles_;
  Handle next_handle_ = 3;
  std::uint64_t next_inode_ = 1, count_ = 0, fail_at_ = 0, die_at_ = 0, tokens_ = 0, action_at_ = 0;
  int fail_error_ = 0;
  bool dead_ = false, read_only_ = false, plain_renames_ = false;
  std::function<void()> action_;
  std::chrono::milliseconds now_{0};
};

}  // namespace suture
