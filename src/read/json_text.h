// Scalars of JSON text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace suture {

// A JSON number of microseconds as nanoseconds, to the nearest: "5094929536985.607" -> 5094929536985607. A double has no room for
// both such a time and its nanoseconds. nullopt: no JSON number (NaN, Infinity, 1., .5, +1), or beyond 126 years, so that two of them
// can be added.
std::optional<std::int64_t> nanoseconds_of(std::string_view microseconds);

// Whether it is a number as JSON has them, of whatever size.
bool is_json_number(std::string_view text);

// A whole number from 0 to 2^64 - 1, exactly; with a fraction of zeros or an exponent too where the value is whole.
std::optional<std::uint64_t> whole_number(std::string_view number);

// What stands between the quotes of a JSON string, escapes resolved. A lone surrogate, or an escape that JSON does not have,
// becomes U+FFFD.
std::string unescaped(std::string_view raw);

}  // namespace suture
