#include "base/printable.h"

#include <algorithm>

#include "base/text.h"

namespace suture {
namespace {

std::string shown(std::string_view text, bool newlines) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text, at);
    const auto byte = static_cast<unsigned char>(text[at]);
    const bool c1 = length == 2 && byte == 0xC2 && static_cast<unsigned char>(text[at + 1]) < 0xA0;
    const bool kept = byte == '\t' || (newlines && byte == '\n');
    const bool control = (byte < 0x20 && !kept) || byte == 0x7F || c1;
    out += length == 0 || control ? std::string_view("\xEF\xBF\xBD") : text.substr(at, length);
    at += std::max<std::size_t>(1, length);
  }
  return out;
}

}  // namespace

std::string printable(std::string_view text) {
  return shown(text, false);
}

std::string printable_lines(std::string_view text) {
  return shown(text, true);
}

}  // namespace suture
