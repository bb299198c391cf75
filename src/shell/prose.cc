// See prose.h. Tests: tests/unit/shell_report_test.cc.
#include "shell/prose.h"

#include <algorithm>

#include "base/text.h"

namespace suture {
namespace {

constexpr std::size_t kPage = 100;        // characters of a line
constexpr std::size_t kLongestCode = 48;  // that stands within a sentence

// Words one after the other, folded at the width of a page.
class Page {
 public:
  explicit Page(std::string_view indent) : indent_(indent) {}

  // glued: without a blank before it.
  void add(std::string_view word, bool glued) {
    const std::size_t width = count_characters(word);
    const std::size_t blank = glued || column_ == 0 ? 0 : 1;
    if (column_ > 0 && !glued && column_ + blank + width > kPage) end_line();
    if (column_ == 0) {
      text_ += indent_;
      column_ = indent_.size();
    } else if (blank == 1) {
      text_ += ' ';
      ++column_;
    }
    text_ += word;
    column_ += width;
  }
  // All words of the text; glued: the first one stands at what is before it.
  void add_words(std::string_view text, bool glued) {
    for (std::string_view rest = trim(text); !rest.empty(); glued = false) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      add(rest.substr(0, end), glued);
      rest = trim(rest.substr(end));
    }
  }
  void end_line() {
    if (column_ > 0) text_ += '\n';
    column_ = 0;
  }
  void blank_line() {
    end_line();
    if (!text_.empty()) text_ += '\n';
  }
  std::string text() {
    end_line();
    return std::move(text_);
  }

 private:
  std::string_view indent_;
  std::string text_;
  std::size_t column_ = 0;
};

bool is_short(const Piece& piece) {
  const std::string_view code = trim(piece.text);
  return code.find('\n') == std::string_view::npos && count_characters(code) <= kLongestCode;
}

// Pieces of words that follow one another are one.
Sentence merged(const Sentence& sentence) {
  Sentence out;
  for (const Piece& piece : sentence) {
    if (!out.empty() && !out.back().code && !piece.code) {
      out.back().text += piece.text;
    } else {
      out.push_back(piece);
    }
  }
  return out;
}

std::string within_lines(const Sentence& sentence, std::string_view indent) {
  Page page(indent);
  bool glued = false;
  for (const Piece& piece : sentence) {
    if (piece.code) {
      page.add("`" + std::string(trim(piece.text)) + "`", glued);
    } else {
      page.add_words(piece.text, !piece.text.starts_with(' '));
    }
    glued = !piece.code && !piece.text.ends_with(' ');
  }
  return page.text();
}

}  // namespace

Piece words(std::string text) {
  return {std::move(text), false};
}
Piece code(std::string text) {
  return {std::move(text), true};
}
Sentence operator+(Sentence first, const Sentence& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

std::string indented(std::string_view block, std::string_view indent) {
  std::string text;
  for (const std::string_view line : split_lines(block)) {
    if (!line.empty()) text += std::string(indent) + std::string(line);
    text += "\n";
  }
  return text;
}

std::string paragraph(std::string_view text, std::string_view indent) {
  Page page(indent);
  for (const std::string_view line : split_lines(trim(text))) {
    if (trim(line).empty()) page.blank_line();
    page.add_words(line, false);
  }
  return page.text();
}

std::string to_text(const Sentence& sentence, std::string_view indent) {
  const Sentence pieces = merged(sentence);
  if (std::all_of(pieces.begin(), pieces.end(), [](const Piece& piece) { return !piece.code || is_short(piece); }))
    return within_lines(pieces, indent);
  std::string text;
  for (const Piece& piece : pieces) {
    std::string_view words = piece.text;
    if (words.starts_with(", ")) words.remove_prefix(2);  // behind a line of code
    text += piece.code ? indented(dedent(piece.text), std::string(indent) + "    ") : paragraph(words, indent);
  }
  return text;
}

}  // namespace suture
