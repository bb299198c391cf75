#include "shell/words.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/text.h"

namespace suture {

std::string pad(std::string_view text, std::size_t width) {
  const std::size_t size = count_characters(text);
  return std::string(text) + std::string(size < width ? width - size : 1, ' ');
}

std::string printable(std::string_view text) {
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool c1 = length == 2 && byte == 0xC2 && static_cast<unsigned char>(text[at + 1]) < 0xA0;
    const bool control = (byte < 0x20 && byte != '\t') || byte == 0x7F || c1;
    shown += length == 0 || control ? std::string_view("\xEF\xBF\xBD") : text.substr(at, length);
    at += std::max<std::size_t>(1, length);
  }
  return shown;
}

std::string pad_left(std::string_view text, std::size_t width) {
  const std::size_t size = count_characters(text);
  return std::string(size < width ? width - size : 1, ' ') + std::string(text);
}

std::string fixed(double value, int decimals) {
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.*f", decimals, value);
  return buffer.data();
}

std::string grouped(std::uint64_t n) {
  std::string out = std::to_string(n);
  for (std::size_t at = out.size(); at > 3;) {
    at -= 3;
    out.insert(at, 1, ',');
  }
  return out;
}

std::string count_of(std::size_t n, std::string_view one, std::string_view many) {
  return std::to_string(n) + " " + std::string(n == 1 ? one : many);
}

}  // namespace suture
