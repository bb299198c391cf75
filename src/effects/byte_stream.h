// A file as a stream of bytes, decompressed where it is compressed: then a thread reads and inflates ahead, into a few buffers of
// fixed size, so that parsing and inflating overlap, and memory does not grow with the file. What is not compressed is read on the
// thread that asks: effects/windows_ahead.h has one for that.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "effects/file_system.h"
#include "read/byte_source.h"
#include "read/inflate.h"

namespace suture {

class ByteStream : public ByteSource {
 public:
  // Of the file as it lies there: for progress. 0 where that is not known: of a pipe.
  [[nodiscard]] virtual std::uint64_t file_size() const = 0;
  [[nodiscard]] virtual std::uint64_t file_read() const = 0;
  [[nodiscard]] virtual Packing packing() const = 0;
  // A pipe: what was read is gone, and there is no second pass.
  [[nodiscard]] virtual bool is_pipe() const = 0;
  // Behind the end: bytes that follow a complete compressed stream and are no further one, from this offset of the file on.
  [[nodiscard]] virtual std::uint64_t garbage_at() const = 0;
};

// A file or a pipe (or a device that is read like one). Error (file_system): not there, a folder, compressed in a way that this build cannot read.
Result<std::unique_ptr<ByteStream>> open_stream(FileSystem& fs, const std::string& path);

}  // namespace suture
