// Windows of tokens, made ahead on a thread of their own: while one is walked, the next ones are read and their tokens found.
//
// Three are in memory at most. That thread is the only one that reads from the source; the source may be closed once this is gone.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <thread>

#include "read/token_windows.h"

namespace suture {

class WindowsAhead final : public TokenWindows {
 public:
  explicit WindowsAhead(ByteSource& source, const WindowOptions& options = {});
  // Waits until the thread has ended; a read that it is in is waited for.
  ~WindowsAhead() override;
  WindowsAhead(const WindowsAhead&) = delete;
  WindowsAhead& operator=(const WindowsAhead&) = delete;
  const TokenWindow& next() override;

 private:
  static constexpr std::size_t kWindows = 3;
  void work();

  WindowCutter cutter_;
  std::array<TokenWindow, kWindows> windows_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t made_ = 0, taken_ = 0;  // counts; the one that is walked is taken_ - 1, and is not filled meanwhile
  bool stopped_ = false;
  std::thread worker_;
};

}  // namespace suture
