// Bytes in order, from wherever they come: what a reader of a long file pulls from. The file itself is effects/byte_stream.h; tests
// hand out strings in pieces of any size.
#pragma once

#include <cstddef>

#include "base/result.h"

namespace suture {

class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  // Puts up to `room` (at least 1) bytes at `into`, and returns how many; 0: the end. An error ends it too: what was handed out
  // before stays good.
  virtual Result<std::size_t> read(char* into, std::size_t room) = 0;
};

}  // namespace suture
