// Reading zip archives with minizip, over a FileSystem. Contract: effects/zip_archive.h.
// Tests: tests/unit/wheel_file_system_test.cc, tests/cli/wheel_test.py.
//
// Rejected: libarchive. It reads the archive from front to back, and as a static archive it needs nettle, ACLs and four
// compressors that no wheel uses.
#include "effects/zip_archive.h"

#include <minizip/unzip.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

namespace suture {
namespace {

constexpr std::uint64_t kMostMembers = 1'000'000;
constexpr std::uint64_t kLongestName = 4096;  // as the kernel's paths
constexpr std::uint64_t kBuffer = 1U << 15U, kChunk = 1U << 16U;
constexpr std::uint64_t kEntryHeader = 46;  // of a directory entry, in front of its name

Error unfit(const std::string& path, const std::string& what, std::string hint) {
  return {Exit::file_system, path + " " + what, std::nullopt, std::move(hint)};
}

constexpr const char* kFetchAgain = "get the file again; python3 -m zipfile -t FILE tests it";

// For messages: whatever could speak to the terminal is replaced.
std::string shown(std::string_view name) {
  std::string out;
  for (const char c : name.substr(0, 120)) {
    if (c >= ' ' && c <= '~') {
      out += c;
    } else {
      out += "\xEF\xBF\xBD";  // U+FFFD
    }
  }
  return name.size() > 120 ? out + "..." : out;
}

// Whether a name stays below the folder that the archive is unpacked in, in one reading.
bool is_plain_path(std::string_view name) {
  if (name.empty() || name.find('\0') != std::string_view::npos) return false;
  while (true) {
    const std::size_t slash = name.find('/');
    const std::string_view part = name.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == std::string_view::npos) return true;
    name.remove_prefix(slash + 1);
  }
}

ZipMember::Kind kind_of(const unz_file_info64& info, bool folder_name) {
  constexpr std::uint64_t unix_host = 3, type_mask = 0170000, regular = 0100000, folder = 0040000;
  const std::uint64_t type = info.version >> 8U == unix_host ? info.external_fa >> 16U & type_mask : 0;
  if (type != 0 && type != regular && type != folder) return ZipMember::Kind::other;
  return folder_name ? ZipMember::Kind::folder : ZipMember::Kind::file;
}

}  // namespace

// minizip reads a directory in pieces of four bytes: they come from a buffer.
struct ZipArchive::Stream {
  Stream(FileSystem& file_system, Handle handle, std::uint64_t bytes)
      : fs(file_system), file(file_system, handle), size(bytes) {}

  FileSystem& fs;
  Opened file;
  std::uint64_t size, at = 0, buffer_at = 0;
  std::string buffer;
  int error = 0;
  bool cut_off = false;  // more was wanted than there is: minizip takes a byte behind the end for a 0 if nobody says so

  // Fewer bytes than `wanted`: the end, or an error.
  std::uint64_t read(char* to, std::uint64_t wanted) {
    std::uint64_t done = 0;
    while (done < wanted && (at - buffer_at < buffer.size() || fill())) {
      const std::uint64_t from = at - buffer_at;
      const std::uint64_t count = std::min(wanted - done, buffer.size() - from);
      std::memcpy(to + done, buffer.data() + from, count);
      done += count;
      at += count;
    }
    cut_off = cut_off || done < wanted;
    return done;
  }

  bool seek(std::uint64_t offset, int origin) {
    // Offsets wrap, as minizip means them to: a negative one is a large one.
    const std::uint64_t base = origin == ZLIB_FILEFUNC_SEEK_CUR ? at : origin == ZLIB_FILEFUNC_SEEK_END ? size : 0;
    if (base + offset > size) return false;
    at = base + offset;
    if (at < buffer_at) buffer.clear();
    return true;
  }

 private:
  bool fill() {
    if (at >= size) return false;
    Io<std::string> part = fs.read(file.handle(), at, kBuffer);
    if (!part) error = part.error;
    buffer = std::move(part.value);
    buffer_at = at;
    return !buffer.empty();
  }
};

ZipArchive::ZipArchive() = default;
ZipArchive::~ZipArchive() {
  if (zip_ != nullptr) unzClose(zip_);
}

Result<std::unique_ptr<ZipArchive>> ZipArchive::open(FileSystem& fs, const std::string& path) {
  const Io<Handle> handle = fs.open_file(kAbsolute, path);
  if (!handle) return io_error("open", path, handle.error);
  std::unique_ptr<ZipArchive> archive(new ZipArchive);  // its constructor is private
  archive->stream_ = std::make_unique<Stream>(fs, handle.value, 0);
  const Io<FileInfo> info = fs.info(handle.value);
  if (!info) return io_error("look at", path, info.error);
  archive->stream_->size = info.value.size;

  zlib_filefunc64_def calls = {};
  calls.opaque = archive->stream_.get();
  calls.zopen64_file = [](voidpf stream, const void*, int) { return stream; };
  calls.zread_file = [](voidpf, voidpf stream, void* to, uLong size) {
    return static_cast<uLong>(static_cast<Stream*>(stream)->read(static_cast<char*>(to), size));
  };
  calls.zwrite_file = [](voidpf, voidpf, const void*, uLong) { return uLong{0}; };
  calls.ztell64_file = [](voidpf, voidpf stream) { return static_cast<ZPOS64_T>(static_cast<Stream*>(stream)->at); };
  calls.zseek64_file = [](voidpf, voidpf stream, ZPOS64_T offset, int origin) {
    return static_cast<Stream*>(stream)->seek(offset, origin) ? 0L : -1L;
  };
  calls.zclose_file = [](voidpf, voidpf) { return 0; };
  calls.zerror_file = [](voidpf, voidpf stream) {
    return static_cast<Stream*>(stream)->error != 0 || static_cast<Stream*>(stream)->cut_off ? 1 : 0;
  };
  archive->zip_ = unzOpen2_64(path.c_str(), &calls);
  if (archive->stream_->error != 0) return io_error("read", path, archive->stream_->error);
  if (archive->zip_ == nullptr) {
    return unfit(path, "is not a zip archive, or is cut off: it does not end in a directory of members", kFetchAgain);
  }
  if (const Status read = archive->read_directory(path); !read) return read.error();
  return archive;
}

Status ZipArchive::read_directory(const std::string& path) {
  unz_global_info64 global = {};
  if (unzGetGlobalInfo64(zip_, &global) != UNZ_OK) return unfit(path, "has a damaged directory", kFetchAgain);
  if (global.number_entry > kMostMembers) {
    return unfit(path, "says that it holds " + std::to_string(global.number_entry) + " members",
                 "more than " + std::to_string(kMostMembers) + " are not read");
  }
  // The count decides, not minizip's end of the list: it takes 65,535 for "more than can be said".
  for (std::uint64_t i = 0; i < global.number_entry; ++i) {
    const int moved = i == 0 ? unzGoToFirstFile(zip_) : unzGoToNextFile(zip_);
    if (moved != UNZ_OK) return unfit(path, "has a damaged directory", kFetchAgain);
    Result<ZipMember> member = read_entry(path);
    if (!member) return member.error();
    members_.push_back(std::move(*member));
  }
  const bool more = members_.empty() ? unzGoToFirstFile(zip_) == UNZ_OK : more_follow(members_.back());
  if (more) {
    return unfit(path, "says that it holds " + std::to_string(global.number_entry) + " members, and holds more",
                 "readers of zip archives disagree on such a file; get it from somewhere else");
  }
  return Nothing{};
}

Result<ZipMember> ZipArchive::read_entry(const std::string& path) {
  unz_file_info64 info = {};
  unz64_file_pos position = {};
  if (unzGetCurrentFileInfo64(zip_, &info, nullptr, 0, nullptr, 0, nullptr, 0) != UNZ_OK ||
      unzGetFilePos64(zip_, &position) != UNZ_OK) {
    return unfit(path, "has a damaged directory", kFetchAgain);
  }
  std::string name(std::min<std::uint64_t>(info.size_filename, kLongestName + 1), '\0');
  if (unzGetCurrentFileInfo64(zip_, &info, name.data(), name.size(), nullptr, 0, nullptr, 0) != UNZ_OK) {
    return unfit(path, "has a damaged directory", kFetchAgain);
  }
  if (name.size() > kLongestName) {
    return unfit(path, "holds a member with a name of " + std::to_string(info.size_filename) + " bytes: " + shown(name),
                 "no file system takes such a name; get the file from somewhere else");
  }
  const bool folder_name = name.ends_with('/');
  if (folder_name) name.pop_back();
  if (!is_plain_path(name)) {
    return unfit(path, "holds a member named \"" + shown(name) + "\", which is no path inside it",
                 "unpacking it could write anywhere; get the file from somewhere else");
  }
  return ZipMember{kind_of(info, folder_name), std::move(name), info.uncompressed_size, position.pos_in_zip_directory,
                   position.num_of_file};
}

// Whether the directory goes on behind what is taken for its last entry: Python reads it by its length, not by its count.
bool ZipArchive::more_follow(const ZipMember& last) {
  constexpr std::string_view entry_signature = "PK\1\2";
  unz_file_info64 info = {};
  char next[4] = {};
  return unzGetCurrentFileInfo64(zip_, &info, nullptr, 0, nullptr, 0, nullptr, 0) == UNZ_OK &&
         stream_->seek(
             last.directory_offset + kEntryHeader + info.size_filename + info.size_file_extra + info.size_file_comment,
             ZLIB_FILEFUNC_SEEK_SET) &&
         stream_->read(next, sizeof next) == sizeof next && std::string_view(next, sizeof next) == entry_signature;
}

Io<std::string> ZipArchive::read(const ZipMember& member, std::uint64_t limit) {
  stream_->error = 0;
  stream_->cut_off = false;
  Io<std::string> bytes = read_member(member, limit);
  // minizip tells a read that failed as damage.
  return stream_->error == 0 ? std::move(bytes) : Io<std::string>{stream_->error, {}};
}

Io<std::string> ZipArchive::read_member(const ZipMember& member, std::uint64_t limit) {
  constexpr std::uint64_t encrypted = 1, strong_encryption = 1U << 6U;
  const unz64_file_pos position = {member.directory_offset, member.number};
  unz_file_info64 info = {};
  if (unzGoToFilePos64(zip_, &position) != UNZ_OK ||
      unzGetCurrentFileInfo64(zip_, &info, nullptr, 0, nullptr, 0, nullptr, 0) != UNZ_OK) {
    return {kDamaged, {}};
  }
  if ((info.flag & (encrypted | strong_encryption)) != 0) return {kEncrypted, {}};
  if (info.compression_method != 0 && info.compression_method != Z_DEFLATED) return {kUnknownCompression, {}};
  if (unzOpenCurrentFile(zip_) != UNZ_OK) return {kDamaged, {}};
  Io<std::string> bytes = inflate(info.uncompressed_size, limit);
  const int closed = unzCloseCurrentFile(zip_);  // it tells a wrong CRC
  if (bytes && closed != UNZ_OK) return {kDamaged, {}};
  return bytes;
}

Io<std::string> ZipArchive::inflate(std::uint64_t size, std::uint64_t limit) {
  std::string all;
  std::string chunk(kChunk, '\0');
  while (true) {
    const int count = unzReadCurrentFile(zip_, chunk.data(), static_cast<unsigned>(chunk.size()));
    if (count < 0) return {kDamaged, {}};
    if (count == 0) break;
    all.append(chunk, 0, static_cast<std::size_t>(count));
    if (all.size() > limit) return {EFBIG, {}};
  }
  // minizip checks the CRC only where the size is as announced.
  if (all.size() != size) return {kDamaged, {}};
  return {0, std::move(all)};
}

}  // namespace suture
