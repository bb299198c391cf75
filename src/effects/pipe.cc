// See pipe.h. Tests: tests/trace/output_test.py.
#include "effects/pipe.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace suture {
namespace {

template <class Call>
auto retried(Call call) {
  auto result = call();
  while (result == -1 && errno == EINTR) result = call();
  return result;
}

int opened(const std::string& path, int flags) {
  return retried([&] { return ::open(path.c_str(), flags | O_NOCTTY | O_CLOEXEC); });
}

}  // namespace

bool is_pipe(const std::string& path) {
  struct stat stat = {};
  return ::stat(path.c_str(), &stat) == 0 && !S_ISREG(stat.st_mode) && !S_ISDIR(stat.st_mode);
}

Io<PipeReader> PipeReader::open(const std::string& path) {
  const int descriptor = opened(path, O_RDONLY | O_NONBLOCK);
  if (descriptor == -1) return {errno, {}};
  PipeReader reader;
  reader.descriptor_ = descriptor;
  return {0, std::move(reader)};
}

PipeReader::~PipeReader() {
  if (descriptor_ != -1) ::close(descriptor_);
}

Io<std::size_t> PipeReader::read(char* into, std::size_t at_most) {
  ssize_t size = -1;
  do {  // poll waits for a writer who has not come yet, too
    pollfd waited = {descriptor_, POLLIN, 0};
    if (retried([&] { return ::poll(&waited, 1, -1); }) == -1) return {errno, {}};
    size = retried([&] { return ::read(descriptor_, into, at_most); });
  } while (size == -1 && errno == EAGAIN);
  if (size == -1) return {errno, {}};
  return {0, static_cast<std::size_t>(size)};
}

Io<Done> write_pipe(const std::string& path, std::string_view bytes) {
  const int descriptor = opened(path, O_WRONLY);
  if (descriptor == -1) return {errno, {}};
  int error = 0;
  while (!bytes.empty() && error == 0) {
    const ssize_t size = retried([&] { return ::write(descriptor, bytes.data(), bytes.size()); });
    if (size == -1) error = errno;
    if (size > 0) bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  ::close(descriptor);
  return {error, {}};
}

}  // namespace suture
