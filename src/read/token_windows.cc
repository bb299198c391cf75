// See token_windows.h. Tests: tests/unit/token_windows_test.cc.
#include "read/token_windows.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text.h"

namespace suture {
namespace {

constexpr std::string_view kBom = "\xEF\xBB\xBF";

// The string that a raw control character, or the end, stands in: its quote, and where that is.
std::pair<std::size_t, std::size_t> broken_string(std::string_view bytes) {
  std::size_t quote = 0;
  bool inside = false;
  bool escaped = false;  // outside of strings too, where no JSON has a backslash: so the tokens were found
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const char c = bytes[at];
    if (inside && static_cast<unsigned char>(c) < 0x20) return {quote, at};
    if (c == '"' && !escaped) {
      inside = !inside;
      if (inside) quote = at;
    }
    escaped = c == '\\' && !escaped;
  }
  return {inside ? quote : bytes.size(), bytes.size()};
}

}  // namespace

void TokenWindow::fail(std::uint64_t at, Error why) {
  offset = at;
  tokens = {};
  replaced.clear();
  broken.reset();
  raw = false;
  last = true;
  error = std::move(why);
  size_ = 0;
}

WindowCutter::WindowCutter(ByteSource& source, const WindowOptions& options) : source_(source), options_(options) {
  options_.window = std::max<std::size_t>(options_.window, 64);
}

void WindowCutter::next(TokenWindow& window) {
  window.filled_ = 0;
  window.tokens = {};
  window.replaced.clear();
  window.broken.reset();
  read(window, options_.window);
  if (!std::exchange(begun_, true)) begin(window);
  window.offset = offset_;
  window.raw = raw_;
  window.size_ = raw_ ? window.filled_ : find_tokens(window, cut(window));
  raw_ = raw_ || window.broken;
  rest_.assign(window.buffer_.get() + window.size_, window.filled_ - window.size_);
  offset_ += window.size_;
  window.last = ended_ && rest_.empty();
  if (window.last || (window.broken && window.broken->at_end)) window.error = error_;
}

// What is left, and further bytes of the source until there are `up_to`, or none.
void WindowCutter::read(TokenWindow& window, std::size_t up_to) {
  if (window.capacity_ < std::max(up_to, rest_.size())) {
    const std::size_t capacity = std::max(up_to, rest_.size());
    auto larger = std::make_unique_for_overwrite<char[]>(capacity);
    if (window.filled_ > 0) std::memcpy(larger.get(), window.buffer_.get(), window.filled_);
    window.buffer_ = std::move(larger);
    window.capacity_ = capacity;
  }
  if (!rest_.empty()) std::memcpy(window.buffer_.get(), rest_.data(), rest_.size());
  window.filled_ += rest_.size();
  rest_.clear();
  while (window.filled_ < up_to && !ended_) {
    const Result<std::size_t> got = source_.read(window.buffer_.get() + window.filled_, up_to - window.filled_);
    if (!got) error_ = got.error();
    ended_ = !got || *got == 0;
    if (got) window.filled_ += *got;
  }
}

// The first bytes: a mark of their encoding, or none at all.
void WindowCutter::begin(TokenWindow& window) {
  const std::string_view bytes(window.buffer_.get(), window.filled_);
  raw_ = bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF");
  if (!bytes.starts_with(kBom)) return;
  window.filled_ -= kBom.size();
  offset_ = kBom.size();
  std::memmove(window.buffer_.get(), window.buffer_.get() + kBom.size(), window.filled_);
}

// Where the window ends. A token that is larger than the window makes it larger.
std::size_t WindowCutter::cut(TokenWindow& window) {
  for (std::size_t up_to = options_.window;; up_to *= 2) {
    if (ended_) return window.filled_;
    const std::size_t size = cut_between_tokens({window.buffer_.get(), window.filled_});
    if (size > 0) return size;
    if (window.filled_ >= options_.largest_token) {
      window.broken = TokenWindow::Broken{offset_, "", true};
      return 0;
    }
    read(window, std::max(up_to, window.filled_) * 2);
  }
}

// Finds the tokens of the first `size` bytes; where a string has no end, of what stands before it. Returns how many bytes that is.
std::size_t WindowCutter::find_tokens(TokenWindow& window, std::size_t size) {
  char* const bytes = window.buffer_.get();
  while (true) {
    const JsonTokens::Verdict verdict = window.found_.find({bytes, size});
    if (verdict == JsonTokens::Verdict::good) break;
    if (verdict == JsonTokens::Verdict::not_utf8) {
      // Read as "?": names lose a character, and nothing else.
      std::size_t from = 0;
      while (const auto bad = first_bad_utf8({bytes + from, size - from})) {
        from += *bad;
        bytes[from] = '?';
        window.replaced.push_back(static_cast<std::uint32_t>(from));
      }
      continue;
    }
    const auto [begin, at] = broken_string({bytes, size});
    if (verdict == JsonTokens::Verdict::out_of_memory || begin == size) {
      window.broken = TokenWindow::Broken{offset_, "the text cannot be split into tokens"};
      return 0;
    }
    window.broken = TokenWindow::Broken{
        offset_ + at,
        at < size ? "a string holds a raw control character, or a quote is missing" : "the file ends within a string",
        false, at == size};
    size = begin;
  }
  window.tokens = window.found_.places();
  return size;
}

}  // namespace suture
