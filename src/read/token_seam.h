// What has begun in a window of tokens and does not end there (an event, a key with its value), put together with the windows behind
// it until it can be walked. The tokens are kept as they were found: their places move, and no byte is looked at again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "read/token_text.h"

namespace suture {

class TokenSeam {
 public:
  [[nodiscard]] bool empty() const { return tokens_.empty(); }
  [[nodiscard]] TokenText text() const { return {bytes_, tokens_}; }
  [[nodiscard]] std::size_t size() const { return tokens_.size(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_.size(); }
  // How many tokens should be there before the next try: each is tried with twice as many as the last, for a try walks all of them.
  [[nodiscard]] std::size_t wanted() const { return wanted_; }

  // `text` from `token` on.
  void begin(const TokenText& text, std::size_t token) {
    clear();
    if (token < text.places.size()) append(text, token, text.places.size());
    tried();
  }
  // The tokens of a window from `token` to `end`, which follow on what is there, with the bytes that belong to them.
  void append(const TokenText& window, std::size_t token, std::size_t end) {
    const std::size_t count = window.places.size();
    const bool first = token == 0 && !empty();  // with the blanks before it
    const std::size_t from = first || count == 0 ? 0 : token < count ? window.places[token] : window.bytes.size();
    const std::size_t to = end < count ? window.places[end] : window.bytes.size();
    const std::size_t shift = bytes_.size() - from;
    bytes_.append(window.bytes.substr(from, to - from));
    for (std::size_t i = token; i < end; ++i) tokens_.push_back(static_cast<std::uint32_t>(window.places[i] + shift));
  }
  void tried() { wanted_ = tokens_.size() * 2 + 64; }
  void clear() {
    bytes_.clear();
    tokens_.clear();
  }

 private:
  std::string bytes_;
  std::vector<std::uint32_t> tokens_;
  std::size_t wanted_ = 0;
};

}  // namespace suture
