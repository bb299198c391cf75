// Small operations on text that more than one layer needs. Nothing here knows of Python or YAML.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace suture {

// --- UTF-8 ------------------------------------------------------------------

// Bytes of the well-formed UTF-8 sequence at `at`, 1 to 4; 0 where there is none (overlong forms, surrogates,
// code points past U+10FFFF and truncated sequences are none). Precondition: at < text.size().
std::size_t utf8_length(std::string_view text, std::size_t at);
// Offset of the first byte that is not UTF-8.
std::optional<std::size_t> first_bad_utf8(std::string_view text);
// Code points; a byte that is not UTF-8 counts as one, so that a column in a Latin-1 line is right too.
std::size_t count_characters(std::string_view text);

// --- Words ------------------------------------------------------------------

// Insertions, deletions, changes and swaps of neighbours that lead from a to b (optimal string alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);
// The candidate that `word` is most likely a slip of: distance at most a third of the longer word (at least 1 for
// words of three letters and more); the first one where several are as near. Also a candidate that differs in
// case or in "-" against "_" only.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& candidates);

// 'text' for a message: on one line (newlines and other control characters as escapes), shortened past 60 characters.
std::string in_quotes(std::string_view text);

// `text` on one line: blanks and newlines folded into single spaces; cut, with "...", where that is longer than `most` bytes.
std::string one_line(std::string_view text, std::size_t most);

// "a, b and c" with the last separator given; "" for none.
std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::string join(const std::vector<std::string>& parts, std::string_view separator, std::string_view last);

// --- Words ------------------------------------------------------------------

// A letter, digit or underscore of ASCII.
inline bool is_ascii_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// --- Lines ------------------------------------------------------------------

// Lines without their newlines ("\n", "\r\n", "\r"); a newline at the end begins no further line. "" has none.
std::vector<std::string_view> split_lines(std::string_view text);
// Without spaces, tabs, form feeds and newlines at both ends / at the end.
std::string_view trim(std::string_view text);
std::string_view trim_end(std::string_view text);
// A block without the blanks that all of its non-blank lines begin with; blank lines become empty; newlines become
// "\n"; a newline at the end stays. Blanks are compared as bytes: a tab is never taken for spaces.
std::string dedent(std::string_view block);

}  // namespace suture
