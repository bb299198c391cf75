// Small help with the columns and counts of the shell's messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace suture {

// `text` and blanks up to `width` characters; at least one blank follows a longer text.
std::string pad(std::string_view text, std::size_t width);

// `text` as it may be shown on a terminal: a byte that is no UTF-8 and a control character (a hostile file must not speak
// to the terminal) become U+FFFD; tabs stay.
std::string printable(std::string_view text);

// Blanks and `text`, up to `width` characters; at least one blank is before a longer text.
std::string pad_left(std::string_view text, std::size_t width);

// "849.50"
std::string fixed(double value, int decimals);
// "1,987,994"
std::string grouped(std::uint64_t n);

// "1 site", "3 sites"
std::string count_of(std::size_t n, std::string_view one, std::string_view many);

}  // namespace suture
