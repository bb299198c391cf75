#include "base/text.h"

#include <algorithm>
#include <cctype>

namespace suture {
namespace {

bool is_continuation(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0u) == 0x80u;
}

// The second byte's range depends on the first where a plain continuation byte would allow an overlong form, a
// surrogate or a code point past U+10FFFF (Unicode, table 3-7).
bool second_byte_fits(unsigned char first, unsigned char second) {
  switch (first) {
    case 0xE0:
      return second >= 0xA0;
    case 0xED:
      return second <= 0x9F;
    case 0xF0:
      return second >= 0x90;
    case 0xF4:
      return second <= 0x8F;
    default:
      return true;
  }
}

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\f';
}
bool is_space(char c) {
  return is_blank(c) || c == '\n' || c == '\r';
}

std::string folded(std::string_view word) {
  std::string out;
  for (const char c : word) {
    out += c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

std::string_view leading_blanks(std::string_view line) {
  const auto end = std::find_if_not(line.begin(), line.end(), is_blank);
  return line.substr(0, static_cast<std::size_t>(end - line.begin()));
}

std::string_view common_prefix(std::string_view a, std::string_view b) {
  const auto ends = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return a.substr(0, static_cast<std::size_t>(ends.first - a.begin()));
}

}  // namespace

std::size_t utf8_length(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xC2 && first <= 0xDF   ? 2
                             : (first & 0xF0u) == 0xE0u       ? 3
                             : first >= 0xF0 && first <= 0xF4 ? 4
                                                              : 0;
  if (length == 0) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(text, at + i)) return 0;
  }
  return second_byte_fits(first, static_cast<unsigned char>(text[at + 1])) ? length : 0;
}

std::optional<std::size_t> first_bad_utf8(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t length = utf8_length(text, at);
    if (length == 0) return at;
    at += length;
  }
  return std::nullopt;
}

std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) at += std::max<std::size_t>(1, utf8_length(text, at));
  return count;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 1;
  std::vector<std::size_t> table((a.size() + 1) * width);
  const auto cell = [&](std::size_t i, std::size_t j) -> std::size_t& { return table[i * width + j]; };
  for (std::size_t i = 0; i <= a.size(); ++i) cell(i, 0) = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cell(0, j) = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
      cell(i, j) = std::min({cell(i - 1, j) + 1, cell(i, j - 1) + 1, cell(i - 1, j - 1) + change});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) cell(i, j) = std::min(cell(i, j), cell(i - 2, j - 2) + 1);
    }
  }
  return cell(a.size(), b.size());
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates) {
  constexpr std::size_t kLongest = 200;  // no name is longer; bounds the table for hostile input
  if (word.empty() || word.size() > kLongest) return std::nullopt;
  const std::string* best = nullptr;
  std::size_t best_distance = 0;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongest) continue;
    const std::size_t longer = std::max(word.size(), candidate.size());
    const std::size_t distance = folded(word) == folded(candidate) ? 0 : edit_distance(word, candidate);
    if (distance > longer / 3) continue;
    if (best == nullptr || distance < best_distance) {
      best = &candidate;
      best_distance = distance;
    }
  }
  return best == nullptr ? std::nullopt : std::optional<std::string>(*best);
}

std::string one_line(std::string_view text, std::size_t most) {
  std::string out;
  bool blank = false;
  for (std::size_t at = 0; at < text.size() && out.size() <= most;) {
    const std::size_t length = std::max<std::size_t>(1, utf8_length(text, at));
    const char c = text[at];
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      blank = !out.empty();
    } else {
      if (blank) out += ' ';
      blank = false;
      out += text.substr(at, length);
    }
    at += length;
  }
  if (out.size() <= most) return out;
  std::size_t cut = 0;
  for (std::size_t at = 0; at + 3 <= most; at += std::max<std::size_t>(1, utf8_length(out, at))) cut = at;
  return out.substr(0, cut) + "...";
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "'";
  std::size_t shown = 0;
  for (std::size_t at = 0; at < text.size() && shown < kLongest; ++shown) {
    const std::size_t length = std::max<std::size_t>(1, utf8_length(text, at));
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == '\n' || byte == '\t' || byte == '\r') {
      out += byte == '\n' ? "\\n" : byte == '\t' ? "\\t" : "\\r";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += "\\x" + std::string{kHex[byte >> 4], kHex[byte & 15]};
    } else {
      out += text.substr(at, length);
    }
    at += length;
  }
  if (count_characters(text) > kLongest) out += "...";
  return out + "'";
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  return join(parts, separator, separator);
}

std::string join(const std::vector<std::string>& parts, std::string_view separator, std::string_view last) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += i + 1 == parts.size() ? last : separator;
    out += parts[i];
  }
  return out;
}

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find_first_of("\r\n");
    lines.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + (text.substr(end, 2) == "\r\n" ? 2 : 1));
  }
  return lines;
}

std::string_view trim_end(std::string_view text) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view trim(std::string_view text) {
  text = trim_end(text);
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  return text;
}

std::string dedent(std::string_view block) {
  const std::vector<std::string_view> lines = split_lines(block);
  std::optional<std::string_view> common;
  for (const std::string_view line : lines) {
    if (trim(line).empty()) continue;
    const std::string_view blanks = leading_blanks(line);
    common = common ? common_prefix(*common, blanks) : blanks;
  }
  const std::size_t cut = common ? common->size() : 0;
  std::string out;
  for (const std::string_view line : lines) {
    if (!trim(line).empty()) out += line.substr(cut);
    out += '\n';
  }
  const bool open_end = !block.empty() && block.back() != '\n' && block.back() != '\r';
  if (open_end) out.pop_back();
  return out;
}

}  // namespace suture
