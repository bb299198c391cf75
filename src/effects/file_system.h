// Every disk effect of suture goes through this interface; tests use a double in memory that can fail, or die, at
// operation n (tests/support/memory_file_system.h). One call of it is one system call that can fail.
//
// Calls are openat-style: relative to a folder that is already open, so that a folder swapped for a link between two
// calls changes nothing. With kAbsolute the path is absolute and links in it are followed: for finding a tree only.
// A name opened in a folder is never followed where it is a link (ELOOP); effects/tree_folder.h follows links by
// hand.
//
// Errors are values: the errno. Callers turn them into words (io_error).
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace suture {

struct FileInfo {
  enum class Kind { regular, folder, symlink, other } kind = Kind::regular;
  std::uint64_t size = 0;
  std::uint32_t mode = 0, uid = 0, gid = 0;  // mode: the 12 permission bits
  std::uint64_t device = 0, inode = 0, links = 1;
  std::int64_t modified = 0;  // seconds
  bool in_wheel = false;      // a member of a wheel, or the wheel as a folder: read only (effects/wheel_file_system.h)
};

// What no system call answers, beside the errno values: why a member of a wheel cannot be read.
inline constexpr int kEncrypted = 100'001, kDamaged = 100'002, kUnknownCompression = 100'003;

// A value, or the errno of the call that failed.
template <class T>
struct [[nodiscard]] Io {
  int error = 0;
  T value{};
  explicit operator bool() const { return error == 0; }
};
struct Done {};

using Handle = int;
inline constexpr Handle kAbsolute = -1;

class FileSystem {
 public:
  FileSystem() = default;
  FileSystem(const FileSystem&) = delete;
  FileSystem& operator=(const FileSystem&) = delete;
  virtual ~FileSystem() = default;

  // --- Opening. `name`: one name (or "."); an absolute path with kAbsolute.
  virtual Io<Handle> open_folder(Handle at, const std::string& name) = 0;
  virtual Io<Handle> open_file(Handle at, const std::string& name) = 0;  // to read; never blocks on a pipe
  // A file that is not there yet (EEXIST), to write.
  virtual Io<Handle> create_file(Handle at, const std::string& name, std::uint32_t mode) = 0;
  // Opened or created, to be locked. `create` false: to read only.
  virtual Io<Handle> open_lock(Handle at, const std::string& name, bool create) = 0;
  virtual void close(Handle handle) = 0;

  // --- Reading.
  virtual Io<std::string> read(Handle file, std::uint64_t offset, std::size_t at_most) = 0;  // "" at the end
  // The same into memory of the caller's, as much as there is room for: how many bytes. For who reads thousands of files.
  virtual Io<std::size_t> read_into(Handle file, std::uint64_t offset, std::span<char> to);
  virtual Io<FileInfo> info(Handle handle) = 0;
  virtual Io<FileInfo> info_at(Handle at, const std::string& name) = 0;  // of a link itself
  virtual Io<std::vector<std::string>> list(Handle folder) = 0;          // names, sorted, without "." and ".."
  virtual Io<std::string> read_link(Handle at, const std::string& name) = 0;
  // Absolute, without links. ENOENT where it does not exist.
  virtual Io<std::string> real_path(const std::string& path) = 0;

  // --- Writing.
  virtual Io<std::size_t> write(Handle file, std::string_view bytes) = 0;  // may write a part
  // Over the first bytes of a file that was opened to be locked; may write a part.
  virtual Io<std::size_t> overwrite(Handle file, std::string_view bytes) = 0;
  virtual Io<Done> sync(Handle handle) = 0;  // of a folder: its entries
  virtual Io<Done> rename(Handle at, const std::string& from, Handle to_at, const std::string& to) = 0;
  // Swaps what two names of a folder stand for, in one step; renames to a name that nothing has (EEXIST). ENOTSUP: this
  // file system cannot.
  virtual Io<Done> exchange(Handle at, const std::string& one, const std::string& other) = 0;
  virtual Io<Done> rename_new(Handle at, const std::string& from, const std::string& to) = 0;
  virtual Io<Done> link(Handle at, const std::string& from, Handle to_at, const std::string& to) = 0;
  virtual Io<Done> remove(Handle at, const std::string& name) = 0;
  virtual Io<Done> make_folder(Handle at, const std::string& name, std::uint32_t mode) = 0;
  virtual Io<Done> remove_folder(Handle at, const std::string& name) = 0;

  // --- Metadata.
  virtual Io<Done> set_mode(Handle file, std::uint32_t mode) = 0;
  virtual Io<Done> set_owner(Handle file, std::uint32_t uid, std::uint32_t gid) = 0;
  virtual Io<Done> set_modified(Handle file, std::int64_t seconds) = 0;
  // Whether this process may make and remove names in a folder: EACCES, EROFS.
  virtual Io<Done> may_change(Handle folder) = 0;
  virtual Io<std::vector<std::string>> xattrs(Handle file) = 0;
  virtual Io<std::string> xattr(Handle file, const std::string& name) = 0;
  virtual Io<Done> set_xattr(Handle file, const std::string& name, const std::string& value) = 0;
  virtual Io<Done> remove_xattr(Handle file, const std::string& name) = 0;

  // --- Locks and time. EWOULDBLOCK: another process holds it.
  virtual Io<Done> try_lock(Handle file, bool shared) = 0;
  virtual void sleep(std::chrono::milliseconds time) = 0;
  // Of a steady clock.
  virtual std::chrono::milliseconds now() = 0;
  // 16 hexadecimal digits, another one each call: names of staged files.
  virtual std::string unique_token() = 0;
  // This process, for people: "process 4711 on HOST".
  virtual std::string who() = 0;
};

// The real one. Stateless but for the token: one for the process.
FileSystem& real_file_system();

// A handle that closes itself.
class Opened {
 public:
  Opened() = default;
  Opened(FileSystem& fs, Handle handle) : fs_(&fs), handle_(handle) {}
  Opened(Opened&& other) noexcept : fs_(std::exchange(other.fs_, nullptr)), handle_(other.handle_) {}
  Opened& operator=(Opened&& other) noexcept {
    if (this != &other) {
      reset();
      fs_ = std::exchange(other.fs_, nullptr);
      handle_ = other.handle_;
    }
    return *this;
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
  ~Opened() { reset(); }

  [[nodiscard]] bool is_open() const { return fs_ != nullptr; }
  [[nodiscard]] Handle handle() const { return handle_; }
  void reset() {
    if (fs_ != nullptr) fs_->close(handle_);
    fs_ = nullptr;
  }

 private:
  FileSystem* fs_ = nullptr;
  Handle handle_ = kAbsolute;
};

// --- What callers make of it --------------------------------------------------------------------------------------

// The system's words: "Permission denied".
std::string errno_words(int error);
// "cannot DOING PATH: WORDS" (Exit::file_system), with a hint where the errno has an obvious one.
Error io_error(std::string_view doing, const std::string& path, int error);

// All bytes of an open file; EFBIG where there are more than `limit`. `expected`: about how many there are.
Io<std::string> read_all(FileSystem& fs, Handle file, std::uint64_t limit, std::uint64_t expected = 0);
Io<Done> write_all(FileSystem& fs, Handle file, std::string_view bytes);
struct RegularFile {
  Opened file;
  std::uint64_t size = 0;  // when it was opened
};
// Not a regular file: EISDIR for a folder, EINVAL for the rest. Larger than `limit`: EFBIG.
Io<RegularFile> open_regular(FileSystem& fs, Handle at, const std::string& name, std::uint64_t limit);
// Opens, reads, closes. Errors are those of open_regular() too.
Io<std::string> read_file(FileSystem& fs, Handle at, const std::string& name, std::uint64_t limit);
// The names in a folder.
Io<std::vector<std::string>> list_folder(FileSystem& fs, Handle at, const std::string& name);
// Whether two are one file.
bool same_file(const FileInfo& a, const FileInfo& b);
// Gives a file or folder that we made owner and permissions of the folder that it is in, where we may: whoever reads and
// writes there reads and writes it too, whatever the umask, and a root who patches a user's tree leaves nothing there that
// the user cannot remove. Never writable for all, never executable as a file, and no more than `most`. Whose it is may stay as it is
// (only root gives files away); an error is that of the permissions.
Io<Done> own_like(FileSystem& fs, Handle made, const FileInfo& folder, std::uint32_t most = 02775);
// fsync of a folder; a file system that has no such call (EINVAL) is taken as done.
Io<Done> sync_folder(FileSystem& fs, Handle folder);

}  // namespace suture
