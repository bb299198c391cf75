// Small help with the columns and counts of the shell's messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/printable.h"

namespace suture {

// `text` and blanks up to `width` characters; at least one blank follows a longer text.
std::string pad(std::string_view text, std::size_t width);

// Blanks and `text`, up to `width` characters; at least one blank is before a longer text.
std::string pad_left(std::string_view text, std::size_t width);

// "849.50"
std::string fixed(double value, int decimals);
// "1,987,994"
std::string grouped(std::uint64_t n);

// "1 site", "3 sites"
std::string count_of(std::size_t n, std::string_view one, std::string_view many);

}  // namespace suture
