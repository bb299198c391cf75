// Sentences with code in them, for people: `explain`. On one line where that is short enough, else the code in lines of its
// own, indented.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace suture {

// A piece of a sentence: words, or code.
struct Piece {
  std::string text;
  bool code = false;
};
using Sentence = std::vector<Piece>;

Piece words(std::string text);
Piece code(std::string text);
Sentence operator+(Sentence first, const Sentence& then);

// With a newline at its end; `indent` in front of each line.
std::string to_text(const Sentence& sentence, std::string_view indent);

// Words folded at blanks, within the width of a page.
std::string paragraph(std::string_view text, std::string_view indent);
// Lines as they are, indented; blank lines stay empty.
std::string indented(std::string_view block, std::string_view indent);

}  // namespace suture
