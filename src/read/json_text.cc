// See json_text.h. Tests: tests/unit/json_text_test.cc.
#include "read/json_text.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>

namespace suture {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// JSON's grammar of numbers; the parts that it has.
struct Number {
  bool negative = false;
  std::string_view whole, fraction;
  bool exponent = false;
};

std::string_view digits(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_digit(text[end])) ++end;
  return text.substr(at, end - at);
}

std::optional<Number> read_number(std::string_view text) {
  Number number;
  std::size_t at = 0;
  if (!text.empty() && text[0] == '-') {
    number.negative = true;
    at = 1;
  }
  number.whole = digits(text, at);
  if (number.whole.empty() || (number.whole.size() > 1 && number.whole[0] == '0')) return std::nullopt;
  at += number.whole.size();
  if (at < text.size() && text[at] == '.') {
    number.fraction = digits(text, at + 1);
    if (number.fraction.empty()) return std::nullopt;
    at += 1 + number.fraction.size();
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    number.exponent = true;
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    const std::string_view power = digits(text, at);
    if (power.empty()) return std::nullopt;
    at += power.size();
  }
  if (at != text.size()) return std::nullopt;
  return number;
}

std::optional<double> as_double(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace

namespace {

// The eight digits at `text`, or none: all at once (D. Lemire, "Quickly parsing eight digits").
std::optional<std::uint64_t> eight_digits(const char* text) {
  std::uint64_t word = 0;
  std::memcpy(&word, text, sizeof word);
  constexpr std::uint64_t high = 0xF0F0F0F0F0F0F0F0U, zeros = 0x3030303030303030U, six = 0x0606060606060606U;
  if (((word & high) | (((word + six) & high) >> 4U)) != 0x3333333333333333U) return std::nullopt;
  word -= zeros;
  word = word * 10 + (word >> 8U);
  constexpr std::uint64_t pairs = 0x000000FF000000FFU;
  return ((word & pairs) * (100 + (1'000'000ULL << 32U)) + ((word >> 16U) & pairs) * (1 + (10'000ULL << 32U))) >> 32U;
}

// Appends the digits of `text` to `value`; false: there is something else among them.
bool append_digits(std::string_view text, std::uint64_t& value) {
  if constexpr (std::endian::native == std::endian::little) {
    if (text.size() >= 8) {
      const std::optional<std::uint64_t> eight = eight_digits(text.data());
      if (!eight) return false;
      value = value * 100'000'000 + *eight;
      text.remove_prefix(8);
    }
  }
  for (const char c : text) {
    if (!is_digit(c)) return false;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return true;
}

// "5094929536985.607": up to 15 digits, a point and three more, as profilers write them; -1: otherwise, or it ends elsewhere.
std::int64_t plain_time(std::string_view text) {
  if (text.size() < 5 || text.size() > 19 || text[text.size() - 4] != '.') return -1;
  const std::string_view whole = text.substr(0, text.size() - 4);
  if (whole[0] == '0' && whole.size() > 1) return -1;
  std::uint64_t value = 0;
  if (!append_digits(whole, value) || !append_digits(text.substr(text.size() - 3), value)) return -1;
  return static_cast<std::int64_t>(value);
}

}  // namespace

std::optional<std::int64_t> nanoseconds_of(std::string_view microseconds) {
  if (const std::int64_t plain = plain_time(microseconds); plain >= 0) return plain;
  const std::optional<Number> number = read_number(microseconds);
  if (!number) return std::nullopt;
  constexpr double most = 4e18;
  if (number->exponent || number->whole.size() > 16) {
    const std::optional<double> value = as_double(microseconds);
    if (!value || std::fabs(*value * 1000) > most) return std::nullopt;
    return std::llround(*value * 1000);
  }
  std::int64_t value = 0;
  for (const char c : number->whole) value = value * 10 + (c - '0');
  if (value >= 4'000'000'000'000'000) return std::nullopt;
  for (std::size_t i = 0; i < 3; ++i)
    value = value * 10 + (i < number->fraction.size() ? number->fraction[i] - '0' : 0);
  if (number->fraction.size() > 3 && number->fraction[3] >= '5') ++value;
  return number->negative ? -value : value;
}

bool is_json_number(std::string_view text) {
  return read_number(text).has_value();
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  if (!text.empty() && text.size() <= 18 && text[0] != '0' && append_digits(text, value)) return value;
  value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && (text.size() == 1 || text[0] != '0')) return value;
  const std::optional<Number> number = read_number(text);
  if (!number || number->negative || error == std::errc::result_out_of_range) return std::nullopt;
  const std::optional<double> real = as_double(text);
  if (!real || *real != std::floor(*real) || *real >= 18446744073709551616.0) return std::nullopt;
  return static_cast<std::uint64_t>(*real);
}

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0U | (code >> 6U));
    out += static_cast<char>(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0U | (code >> 12U));
    out += static_cast<char>(0x80U | ((code >> 6U) & 0x3FU));
    out += static_cast<char>(0x80U | (code & 0x3FU));
  } else {
    out += static_cast<char>(0xF0U | (code >> 18U));
    out += static_cast<char>(0x80U | ((code >> 12U) & 0x3FU));
    out += static_cast<char>(0x80U | ((code >> 6U) & 0x3FU));
    out += static_cast<char>(0x80U | (code & 0x3FU));
  }
}

// The four digits behind "\u" at `at`.
std::optional<std::uint32_t> code_unit(std::string_view raw, std::size_t at) {
  if (at + 6 > raw.size() || raw[at] != '\\' || raw[at + 1] != 'u') return std::nullopt;
  std::uint32_t unit = 0;
  const char* begin = raw.data() + at + 2;
  const auto [end, error] = std::from_chars(begin, begin + 4, unit, 16);
  if (error != std::errc() || end != begin + 4) return std::nullopt;
  return unit;
}

// Appends the character of the \u escape at `at`, and returns how many bytes it took.
std::size_t append_unicode(std::string& out, std::string_view raw, std::size_t at) {
  const std::optional<std::uint32_t> high = code_unit(raw, at);
  if (!high) {
    out += kReplacement;
    return 2;
  }
  if (*high < 0xD800 || *high > 0xDFFF) {
    append_utf8(out, *high);
    return 6;
  }
  const std::optional<std::uint32_t> low = code_unit(raw, at + 6);
  if (*high >= 0xDC00 || !low || *low < 0xDC00 || *low > 0xDFFF) {
    out += kReplacement;
    return 6;
  }
  append_utf8(out, 0x10000U + ((*high - 0xD800U) << 10U) + (*low - 0xDC00U));
  return 12;
}

}  // namespace

std::string unescaped(std::string_view raw) {
  constexpr std::string_view escapes = "\"\\/bfnrt", meanings = "\"\\/\b\f\n\r\t";
  std::string out;
  for (std::size_t at = 0; at < raw.size();) {
    if (raw[at] != '\\' || at + 1 == raw.size()) {
      out += raw[at++];
      continue;
    }
    if (raw[at + 1] == 'u') {
      at += append_unicode(out, raw, at);
      continue;
    }
    const std::size_t which = escapes.find(raw[at + 1]);
    if (which == std::string_view::npos) {
      out += kReplacement;
    } else {
      out += meanings[which];
    }
    at += 2;
  }
  return out;
}

}  // namespace suture
