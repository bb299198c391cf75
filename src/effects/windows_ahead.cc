// See windows_ahead.h. Tests: tests/unit/token_windows_test.cc.
#include "effects/windows_ahead.h"

#include <exception>
#include <string>

namespace suture {

WindowsAhead::WindowsAhead(ByteSource& source, const WindowOptions& options) : cutter_(source, options) {
  worker_ = std::thread([this] { work(); });
}

WindowsAhead::~WindowsAhead() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  worker_.join();
}

const TokenWindow& WindowsAhead::next() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return made_ > taken_; });
  const TokenWindow& window = windows_[taken_++ % kWindows];
  lock.unlock();
  changed_.notify_all();  // the one before may be filled anew
  return window;
}

void WindowsAhead::work() {
  std::uint64_t end = 0;
  for (bool last = false; !last;) {
    std::unique_lock lock(mutex_);
    // One less than there are: the one that is walked.
    changed_.wait(lock, [this] { return made_ + 1 < taken_ + kWindows || stopped_; });
    if (stopped_) return;
    TokenWindow& window = windows_[made_ % kWindows];
    lock.unlock();
    try {
      cutter_.next(window);
    } catch (const std::exception& thrown) {
      window.fail(end, {Exit::file_system, std::string("reading ended: ") + thrown.what(), std::nullopt, ""});
    }
    last = window.last;
    end = window.end();
    lock.lock();
    ++made_;
    lock.unlock();
    changed_.notify_all();
  }
}

}  // namespace suture
