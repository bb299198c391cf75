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
