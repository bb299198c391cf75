// JSON text of any length as windows: pieces that are cut between tokens, each with its tokens. What read/trace_reader.h walks.
//
// The tokens of windows behind one another, put together, are those of the whole text. So a reader keeps what has not ended in a
// window, with its tokens, and no byte is looked at twice. Finding tokens needs nothing of what they mean, and can be done ahead
// on another thread: effects/windows_ahead.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "read/byte_source.h"
#include "read/json_tokens.h"

namespace suture {

// One window. It keeps its buffers when it is filled anew.
class TokenWindow {
 public:
  std::uint64_t offset = 0;               // of its first byte, in the whole
  std::span<const std::uint32_t> tokens;  // ascending places in `bytes` (read/json_tokens.h)
  std::vector<std::uint32_t> replaced;    // places of bytes that were no UTF-8 and are "?" now
  bool raw = false;  // not looked at: the whole is UTF-16, or the window is behind one that is broken
  bool last = false;
  // Behind this window no more tokens are found, because of what is at `offset`. Bytes still come, as raw windows.
  struct Broken {
    std::uint64_t offset = 0;
    std::string why;
    bool too_large = false;  // a single token is
    bool at_end = false;     // where the bytes end, whatever ended them: `error` says
  };
  std::optional<Broken> broken;
  std::optional<Error> error;  // of the source, behind the last window; also in one that is broken where the bytes end

  [[nodiscard]] std::string_view bytes() const { return {buffer_.get(), size_}; }
  [[nodiscard]] std::uint64_t end() const { return offset + size_; }
  // Makes it the last one, with nothing in it.
  void fail(std::uint64_t at, Error why);

 private:
  friend class WindowCutter;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0, filled_ = 0, size_ = 0;
  JsonTokens found_;
};

struct WindowOptions {
  std::size_t window = std::size_t{256} << 10U;        // bytes that are read together; at least 64 are
  std::size_t largest_token = std::size_t{64} << 20U;  // a larger one breaks the text
};

// Fills one window after the other from a source, on the thread that asks.
class WindowCutter {
 public:
  WindowCutter(ByteSource& source, const WindowOptions& options);
  // Not to be called again behind the last one. The first begins behind a byte order mark.
  void next(TokenWindow& window);

 private:
  void read(TokenWindow& window, std::size_t up_to);
  void begin(TokenWindow& window);
  std::size_t cut(TokenWindow& window);
  std::size_t find_tokens(TokenWindow& window, std::size_t size);

  ByteSource& source_;
  WindowOptions options_;
  std::string rest_;  // read, and behind the cut
  std::uint64_t offset_ = 0;
  bool begun_ = false, ended_ = false, raw_ = false;
  std::optional<Error> error_;
};

// Windows, wherever they are made.
class TokenWindows {
 public:
  TokenWindows() = default;
  TokenWindows(const TokenWindows&) = delete;
  TokenWindows& operator=(const TokenWindows&) = delete;
  virtual ~TokenWindows() = default;
  // Valid until the next call. Not to be called again behind the last one.
  virtual const TokenWindow& next() = 0;
};

}  // namespace suture
