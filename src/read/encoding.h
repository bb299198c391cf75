// What encoding a Python file says that it is in, as CPython's tokenizer reads it (PEP 263), and whether the engine can
// work on its bytes as they are.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace suture {

// The encoding that a cookie in the first two lines names, as it is written there; empty without one. A second line counts
// only below a line that is blank or a comment.
std::string declared_encoding(std::string_view bytes);

enum class EncodingKind {
  utf8,
  single_byte,  // bytes below 128 are ASCII, and each of them is a character (EUC too: its pairs are of the upper half)
  ascii,        // as single_byte, and Python refuses a byte over 127
  double_byte,  // GBK, GB18030, Big5: the second byte of a character may be one of ASCII's: a backslash
  shift_jis,    // as double_byte, with other first bytes
  other,        // another lower half, states, or unknown to Python
};
// Of a name in any spelling that Python takes ("Latin_1", "iso8859-15", "cp1252"). A name that is in no list is `other`.
EncodingKind encoding_kind(std::string_view name);

// What the parser is shown of an encoding that is not UTF-8: letters for all bytes of each character outside ASCII, at the
// same offsets.
struct AsciiView {
  std::string text;
  std::optional<std::size_t> bad;  // the offset of a byte that the encoding does not have there
};
// Not of utf8 and other.
AsciiView ascii_view(std::string_view bytes, EncodingKind kind);

}  // namespace suture
