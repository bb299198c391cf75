// Words for errno values, and reads and writes that loop until they are done. Contract: effects/file_system.h.
#include "effects/file_system.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace suture {
namespace {

constexpr std::size_t kChunk = 1U << 20U;  // of one read

std::string hint_for(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return "run as the user who owns the tree";
    case EROFS:
      return "the file system is mounted read-only; patch the tree where it is built";
    case ENOSPC:
    case EDQUOT:
      return "make room on that file system and run again";
    case kDamaged:
      return "get the file again; python3 -m zipfile -t FILE tests it";
    case kEncrypted:
      return "no installer takes such a wheel; get it from somewhere else";
    case kUnknownCompression:
      return "unpack the wheel (python3 -m zipfile -e FILE FOLDER) and name the folder";
    default:
      return "";
  }
}

}  // namespace

std::string errno_words(int error) {
  if (error == kEncrypted) return "it is encrypted";
  if (error == kDamaged) return "its bytes are damaged";
  if (error == kUnknownCompression) return "it is neither stored nor deflated, as the members of wheels are";
  char buffer[256] = {};
  // The GNU form may return a text of its own instead of filling the buffer.
  return strerror_r(error, buffer, sizeof buffer);
}

Error io_error(std::string_view doing, const std::string& path, int error) {
  Error out;
  out.exit = Exit::file_system;
  out.message = "cannot " + std::string(doing) + " " + path + ": " + errno_words(error);
  out.hint = hint_for(error);
  return out;
}

Io<std::size_t> FileSystem::read_into(Handle file, std::uint64_t offset, std::span<char> to) {
  const Io<std::string> bytes = read(file, offset, to.size());
  if (!bytes) return {bytes.error, 0};
  std::copy(bytes.value.begin(), bytes.value.end(), to.begin());
  return {0, bytes.value.size()};
}

Io<std::string> read_all(FileSystem& fs, Handle file, std::uint64_t limit, std::uint64_t expected) {
  std::string all;
  while (true) {
    // One byte more than expected: the usual file takes one read, and one that finds the end.
    const std::uint64_t left = expected > all.size() ? expected - all.size() + 1 : 4096;
    Io<std::string> part = fs.read(file, all.size(), static_cast<std::size_t>(std::min<std::uint64_t>(left, kChunk)));
    if (!part) return part;
    if (part.value.empty()) return {0, std::move(all)};
    all += part.value;
    if (all.size() > limit) return {EFBIG, {}};
  }
}

Io<Done> write_all(FileSystem& fs, Handle file, std::string_view bytes) {
  while (!bytes.empty()) {
    const Io<std::size_t> written = fs.write(file, bytes);
    if (!written) return {written.error, {}};
    if (written.value == 0) return {EIO, {}};
    bytes.remove_prefix(written.value);
  }
  return {};
}

Io<RegularFile> open_regular(FileSystem& fs, Handle at, const std::string& name, std::uint64_t limit) {
  const Io<Handle> handle = fs.open_file(at, name);
  if (!handle) return {handle.error, {}};
  Opened file(fs, handle.value);
  const Io<FileInfo> info = fs.info(file.handle());
  if (!info) return {info.error, {}};
  if (info.value.kind == FileInfo::Kind::folder) return {EISDIR, {}};
  if (info.value.kind != FileInfo::Kind::regular) return {EINVAL, {}};
  if (info.value.size > limit) return {EFBIG, {}};
  return {0, {std::move(file), info.value.size}};
}

Io<std::string> read_file(FileSystem& fs, Handle at, const std::string& name, std::uint64_t limit) {
  const Io<RegularFile> opened = open_regular(fs, at, name, limit);
  if (!opened) return {opened.error, {}};
  return read_all(fs, opened.value.file.handle(), limit, opened.value.size);
}

Io<std::vector<std::string>> list_folder(FileSystem& fs, Handle at, const std::string& name) {
  const Io<Handle> handle = fs.open_folder(at, name);
  if (!handle) return {handle.error, {}};
  const Opened folder(fs, handle.value);
  return fs.list(folder.handle());
}

bool same_file(const FileInfo& a, const FileInfo& b) {
  return a.device == b.device && a.inode == b.inode;
}

Io<Done> own_like(FileSystem& fs, Handle made, const FileInfo& folder, std::uint32_t most) {
  const Io<FileInfo> own = fs.info(made);
  if (!own) return {own.error, {}};
  const bool other_owner = own.value.uid != folder.uid || own.value.gid != folder.gid;
  if (other_owner) static_cast<void>(fs.set_owner(made, folder.uid, folder.gid));
  const bool is_folder = own.value.kind == FileInfo::Kind::folder;
  // Of a folder also setgid, which its entries inherit.
  const std::uint32_t mode = is_folder ? (folder.mode & most) | 0700U : (folder.mode & most & 0664U) | 0600U;
  return own.value.mode != mode || other_owner ? fs.set_mode(made, mode) : Io<Done>{};
}

Io<Done> sync_folder(FileSystem& fs, Handle folder) {
  const Io<Done> done = fs.sync(folder);
  if (done.error == EINVAL || done.error == ENOTSUP) return {};
  return done;
}

}  // namespace suture
