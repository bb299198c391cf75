// Pipes and devices: what has a name among files, and neither an offset nor a content that could be replaced. They are no disk, so they are
// not part of FileSystem (whose open_file never waits for a pipe's other end); calls here wait.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "effects/file_system.h"

namespace suture {

// Whether a path leads to one, links followed. Nothing is opened: a reader that comes and goes would end a pipe's writer, and one that
// opens it twice may wait for ever, for the writer may have left in between.
bool is_pipe(const std::string& path);

class PipeReader {
 public:
  // Links are followed. Waits for nobody: read() does.
  static Io<PipeReader> open(const std::string& path);
  PipeReader() = default;
  PipeReader(PipeReader&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  PipeReader& operator=(PipeReader&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  PipeReader(const PipeReader&) = delete;
  PipeReader& operator=(const PipeReader&) = delete;
  ~PipeReader();

  // The next bytes, when there are some: how many; 0 at the end.
  Io<std::size_t> read(char* into, std::size_t at_most);

 private:
  int descriptor_ = -1;
};

// All bytes into what is there; nothing is created. Of a pipe, waits for who reads it.
Io<Done> write_pipe(const std::string& path, std::string_view bytes);

}  // namespace suture
