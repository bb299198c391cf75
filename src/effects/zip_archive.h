// A zip archive, read only: its members, and the bytes of one. zip_archive.cc is the only file that includes minizip.
//
// Nothing that the archive says about itself is believed: names that no installer should unpack are an error when it is
// opened, and a member's size is counted while it is inflated, whatever its header says.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "effects/file_system.h"

namespace suture {

struct ZipMember {
  // other: a symbolic link or a device, by the mode that the archive keeps of it. It is never followed or made.
  enum class Kind { file, folder, other } kind = Kind::file;
  std::string name;        // relative, "/" between its parts, none of them empty, "." or ".."; no "/" at its end
  std::uint64_t size = 0;  // as the archive's directory says it
  std::uint64_t directory_offset = 0, number = 0;  // where its directory entry is
};

class ZipArchive {
 public:
  // Opens the archive at `path`, and keeps it open. Error (Exit::file_system): it cannot be opened, is no zip
  // archive or is cut off, its directory is damaged or too large, or a member has a name that leads out of it.
  static Result<std::unique_ptr<ZipArchive>> open(FileSystem& fs, const std::string& path);

  ZipArchive(const ZipArchive&) = delete;
  ZipArchive& operator=(const ZipArchive&) = delete;
  ~ZipArchive();

  // As the directory has them; a name may stand there twice.
  [[nodiscard]] const std::vector<ZipMember>& members() const { return members_; }
  // The bytes of a file. EFBIG: more than `limit`, found while inflating. kEncrypted, kDamaged (bytes that do not inflate,
  // have another CRC or another size than the archive says), kUnknownCompression, or the errno of a read that failed.
  [[nodiscard]] Io<std::string> read(const ZipMember& member, std::uint64_t limit);

 private:
  struct Stream;  // what minizip reads from
  ZipArchive();
  Status read_directory(const std::string& path);
  Result<ZipMember> read_entry(const std::string& path);
  [[nodiscard]] bool more_follow(const ZipMember& last);
  [[nodiscard]] Io<std::string> read_member(const ZipMember& member, std::uint64_t limit);
  [[nodiscard]] Io<std::string> inflate(std::uint64_t size, std::uint64_t limit);

  std::unique_ptr<Stream> stream_;
  void* zip_ = nullptr;  // minizip's unzFile
  std::vector<ZipMember> members_;
};

}  // namespace suture
