// A piece of JSON text with its tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace suture {

struct TokenText {
  std::string_view bytes;
  std::span<const std::uint32_t> places;  // read/json_tokens.h

  [[nodiscard]] char first(std::size_t token) const { return bytes[places[token]]; }
  // Where a token ends; of the last one of the text, which may be a part, where that ends.
  [[nodiscard]] std::size_t end_of(std::size_t token) const {
    const std::size_t begin = places[token];
    std::size_t end = token + 1 < places.size() ? places[token + 1] : bytes.size();
    while (end > begin && is_blank(bytes[end - 1])) --end;
    return end;
  }
  // A string without its quotes, or a number or literal.
  [[nodiscard]] std::string_view scalar(std::size_t token) const {
    const std::size_t begin = places[token], end = end_of(token);
    if (bytes[begin] != '"') return bytes.substr(begin, end - begin);
    return end - begin < 2 ? std::string_view() : bytes.substr(begin + 1, end - begin - 2);
  }

 private:
  static bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
};

}  // namespace suture
