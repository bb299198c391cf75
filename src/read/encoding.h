// What encoding a Python file says that it is in, as CPython's tokenizer reads it (PEP 263), and whether the engine can
// work on its bytes as they are.
#pragma once

#include <string>
#include <string_view>

namespace suture {

// The encoding that a cookie in the first two lines names, as it is written there; empty without one. A second line counts
// only below a line that is blank or a comment.
std::string declared_encoding(std::string_view bytes);

enum class EncodingKind {
  utf8,
  single_byte,  // each byte is a character, and the lower half is ASCII
  ascii,        // as single_byte, and Python refuses a byte over 127
  other,        // several bytes a character, another lower half, or unknown to Python
};
// Of a name in any spelling that Python takes ("Latin_1", "iso8859-15", "cp1252"). A name that is in no list is `other`.
EncodingKind encoding_kind(std::string_view name);

}  // namespace suture
