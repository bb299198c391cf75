// The system calls. Contract: effects/file_system.h.
//
// EINTR is retried here and nowhere else. Nothing is remembered between calls.
#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "effects/file_system.h"

namespace suture {
namespace {

template <class Call>
auto retried(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

template <class Call>
Io<Done> done(Call call) {
  return {retried(call) == -1 ? errno : 0, {}};
}

FileInfo info_of(const struct stat& stat) {
  FileInfo info;
  info.kind = S_ISREG(stat.st_mode)   ? FileInfo::Kind::regular
              : S_ISDIR(stat.st_mode) ? FileInfo::Kind::folder
              : S_ISLNK(stat.st_mode) ? FileInfo::Kind::symlink
                                      : FileInfo::Kind::other;
  info.size = static_cast<std::uint64_t>(stat.st_size);
  info.mode = stat.st_mode & 07777U;
  info.uid = stat.st_uid;
  info.gid = stat.st_gid;
  info.device = stat.st_dev;
  info.inode = stat.st_ino;
  info.links = stat.st_nlink;
  info.modified = stat.st_mtime;
  return info;
}

int folder_of(Handle at) {
  return at == kAbsolute ? AT_FDCWD : at;
}
// Links are followed on the way to a tree, never within an opened folder.
int follow_flag(Handle at) {
  return at == kAbsolute ? 0 : O_NOFOLLOW;
}

class RealFileSystem final : public FileSystem {
 public:
  Io<Handle> open_folder(Handle at, const std::string& name) override {
    return open(at, name, O_RDONLY | O_DIRECTORY, 0);
  }
  Io<Handle> open_file(Handle at, const std::string& name) override {
    return open(at, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);
  }
  Io<Handle> create_file(Handle at, const std::string& name, std::uint32_t mode) override {
    return open(at, name, O_WRONLY | O_CREAT | O_EXCL, mode);
  }
  Io<Handle> open_lock(Handle at, const std::string& name, bool create) override {
    return open(at, name, create ? O_RDWR | O_CREAT | O_NONBLOCK : O_RDONLY | O_NONBLOCK, 0644);
  }
  // After an fsync there is nothing that close could still report.
  void close(Handle handle) override { ::close(handle); }

  Io<std::string> read(Handle file, std::uint64_t offset, std::size_t at_most) override {
    std::string bytes(at_most, '\0');
    const Io<std::size_t> size = read_into(file, offset, bytes);
    if (!size) return {size.error, {}};
    bytes.resize(size.value);
    return {0, std::move(bytes)};
  }
  Io<std::size_t> read_into(Handle file, std::uint64_t offset, std::span<char> to) override {
    const ssize_t size = retried([&] { return ::pread(file, to.data(), to.size(), static_cast<off_t>(offset)); });
    if (size == -1) return {errno, 0};
    return {0, static_cast<std::size_t>(size)};
  }
  Io<FileInfo> info(Handle handle) override {
    struct stat stat = {};
    if (retried([&] { return ::fstat(handle, &stat); }) == -1) return {errno, {}};
    return {0, info_of(stat)};
  }
  Io<FileInfo> info_at(Handle at, const std::string& name) override {
    struct stat stat = {};
    if (retried([&] { return ::fstatat(folder_of(at), name.c_str(), &stat, AT_SYMLINK_NOFOLLOW); }) == -1) {
      return {errno, {}};
    }
    return {0, info_of(stat)};
  }
  Io<std::vector<std::string>> list(Handle folder) override {
    // Opened anew: a descriptor shares its position with its duplicates.
    const int fd = retried([&] { return ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); });
    if (fd == -1) return {errno, {}};
    DIR* stream = ::fdopendir(fd);
    while (stream == nullptr && errno == EINTR) stream = ::fdopendir(fd);
    if (stream == nullptr) {
      const int error = errno;
      ::close(fd);
      return {error, {}};
    }
    std::vector<std::string> names;
    const int error = read_names(stream, names);
    ::closedir(stream);
    std::sort(names.begin(), names.end());
    return {error, std::move(names)};
  }
  Io<std::string> read_link(Handle at, const std::string& name) override {
    std::string target(4096, '\0');
    const ssize_t size =
        retried([&] { return ::readlinkat(folder_of(at), name.c_str(), target.data(), target.size()); });
    if (size == -1) return {errno, {}};
    target.resize(static_cast<std::size_t>(size));
    return {0, std::move(target)};
  }
  Io<std::string> real_path(const std::string& path) override {
    char* resolved = ::realpath(path.c_str(), nullptr);
    while (resolved == nullptr && errno == EINTR) resolved = ::realpath(path.c_str(), nullptr);
    if (resolved == nullptr) return {errno, {}};
    std::string out = resolved;
    ::free(resolved);  // NOLINT(cppcoreguidelines-no-malloc): realpath allocates it
    return {0, std::move(out)};
  }

  Io<std::size_t> write(Handle file, std::string_view bytes) override {
    const ssize_t size = retried([&] { return ::write(file, bytes.data(), bytes.size()); });
    if (size == -1) return {errno, 0};
    return {0, static_cast<std::size_t>(size)};
  }
  Io<std::size_t> overwrite(Handle file, std::string_view bytes) override {
    const ssize_t size = retried([&] { return ::pwrite(file, bytes.data(), bytes.size(), 0); });
    if (size == -1) return {errno, 0};
    return {0, static_cast<std::size_t>(size)};
  }
  Io<Done> sync(Handle handle) override {
    return done([&] { return ::fsync(handle); });
  }
  Io<Done> rename(Handle at, const std::string& from, Handle to_at, const std::string& to) override {
    return done([&] { return ::renameat(folder_of(at), from.c_str(), folder_of(to_at), to.c_str()); });
  }
  Io<Done> exchange(Handle at, const std::string& one, const std::string& other) override {
    return rename_with(at, one, other, RENAME_EXCHANGE);
  }
  Io<Done> rename_new(Handle at, const std::string& from, const std::string& to) override {
    return rename_with(at, from, to, RENAME_NOREPLACE);
  }
  Io<Done> link(Handle at, const std::string& from, Handle to_at, const std::string& to) override {
    return done([&] { return ::linkat(folder_of(at), from.c_str(), folder_of(to_at), to.c_str(), 0); });
  }
  Io<Done> remove(Handle at, const std::string& name) override {
    return done([&] { return ::unlinkat(folder_of(at), name.c_str(), 0); });
  }
  Io<Done> make_folder(Handle at, const std::string& name, std::uint32_t mode) override {
    return done([&] { return ::mkdirat(folder_of(at), name.c_str(), mode); });
  }
  Io<Done> remove_folder(Handle at, const std::string& name) override {
    return done([&] { return ::unlinkat(folder_of(at), name.c_str(), AT_REMOVEDIR); });
  }

  Io<Done> set_mode(Handle file, std::uint32_t mode) override {
    return done([&] { return ::fchmod(file, mode); });
  }
  Io<Done> set_owner(Handle file, std::uint32_t uid, std::uint32_t gid) override {
    return done([&] { return ::fchown(file, uid, gid); });
  }
  Io<Done> set_modified(Handle file, std::int64_t seconds) override {
    const timespec times[2] = {{0, UTIME_OMIT}, {static_cast<time_t>(seconds), 0}};
    return done([&] { return ::futimens(file, times); });
  }
  Io<Done> may_change(Handle folder) override {
    return done([&] { return ::faccessat(folder, ".", W_OK | X_OK, AT_EACCESS); });
  }
  Io<std::vector<std::string>> xattrs(Handle file) override {
    std::string buffer;
    ssize_t size = 0;
    do {  // the list may grow between the two calls
      size = retried([&] { return ::flistxattr(file, nullptr, 0); });
      if (size <= 0) break;
      buffer.resize(static_cast<std::size_t>(size));
      size = retried([&] { return ::flistxattr(file, buffer.data(), buffer.size()); });
    } while (size == -1 && errno == ERANGE);
    if (size == -1) return {errno, {}};
    buffer.resize(static_cast<std::size_t>(size));
    std::vector<std::string> names;
    for (std::size_t at = 0; at < buffer.size(); at += names.back().size() + 1) names.emplace_back(buffer.c_str() + at);
    return {0, std::move(names)};
  }
  Io<std::string> xattr(Handle file, const std::string& name) override {
    std::string value;
    ssize_t size = 0;
    do {
      size = retried([&] { return ::fgetxattr(file, name.c_str(), nullptr, 0); });
      if (size <= 0) break;
      value.resize(static_cast<std::size_t>(size));
      size = retried([&] { return ::fgetxattr(file, name.c_str(), value.data(), value.size()); });
    } while (size == -1 && errno == ERANGE);
    if (size == -1) return {errno, {}};
    value.resize(static_cast<std::size_t>(size));
    return {0, std::move(value)};
  }
  Io<Done> set_xattr(Handle file, const std::string& name, const std::string& value) override {
    return done([&] { return ::fsetxattr(file, name.c_str(), value.data(), value.size(), 0); });
  }
  Io<Done> remove_xattr(Handle file, const std::string& name) override {
    return done([&] { return ::fremovexattr(file, name.c_str()); });
  }

  Io<Done> try_lock(Handle file, bool shared) override {
    return done([&] { return ::flock(file, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB); });
  }
  void sleep(std::chrono::milliseconds time) override { std::this_thread::sleep_for(time); }
  std::chrono::milliseconds now() override {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch());
  }
  std::string unique_token() override {
    std::uint64_t value = 0;
    if (::getrandom(&value, sizeof value, 0) != static_cast<ssize_t>(sizeof value)) {
      static std::atomic<std::uint64_t> count{0};
      value = (static_cast<std::uint64_t>(::getpid()) << 32U) ^ static_cast<std::uint64_t>(now().count()) ^ ++count;
    }
    std::string token(16, '0');
    for (char& digit : token) {
      digit = "0123456789abcdef"[value & 15U];
      value >>= 4U;
    }
    return token;
  }
  std::string who() override {
    char host[256] = {};
    const bool named = ::gethostname(host, sizeof host - 1) == 0 && host[0] != '\0';
    return "process " + std::to_string(::getpid()) + (named ? std::string(" on ") + host : std::string());
  }

 private:
  static Io<Done> rename_with(Handle at, const std::string& from, const std::string& to, unsigned flags) {
    const Io<Done> renamed =
        done([&] { return ::renameat2(folder_of(at), from.c_str(), folder_of(at), to.c_str(), flags); });
    // A file system, or a kernel, that does not know the flag.
    return renamed.error == EINVAL || renamed.error == ENOSYS ? Io<Done>{ENOTSUP, {}} : renamed;
  }
  // Until the end, or the errno.
  static int read_names(DIR* stream, std::vector<std::string>& names) {
    while (true) {
      errno = 0;
      const dirent* entry = ::readdir(stream);
      if (entry == nullptr && errno == EINTR) continue;
      if (entry == nullptr) return errno;
      const std::string name = entry->d_name;
      if (name != "." && name != "..") names.push_back(name);
    }
  }
  static Io<Handle> open(Handle at, const std::string& name, int flags, std::uint32_t mode) {
    const int fd =
        retried([&] { return ::openat(folder_of(at), name.c_str(), flags | follow_flag(at) | O_CLOEXEC, mode); });
    if (fd == -1) return {errno, {}};
    return {0, fd};
  }
};

}  // namespace

FileSystem& real_file_system() {
  static RealFileSystem file_system;
  return file_system;
}

}  // namespace suture
