// How an Error looks on a terminal. Test: tests/unit/result_test.cc.
#include "base/result.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace suture {
namespace {

constexpr std::string_view kIndent = "    ";
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD
constexpr std::string_view kCut = "...";
constexpr std::size_t kLongestLine = 400;  // characters; a longer line is shown around its caret only
constexpr std::size_t kBeforeCaret = 80, kWindow = 160;

// The characters of a line as they are printed. Bytes that are not UTF-8 and control characters (a hostile file must
// not speak to the terminal) become U+FFFD, one a character, so that the columns stay.
std::vector<std::string> printable(std::string_view line) {
  std::vector<std::string> out;
  std::size_t at = 0;
  while (at < line.size()) {
    const std::size_t length = utf8_length(line, at);
    const auto byte = static_cast<unsigned char>(line[at]);
    const bool c1 = length == 2 && byte == 0xC2 && static_cast<unsigned char>(line[at + 1]) < 0xA0;
    const bool control = (byte < 0x20 && byte != '\t') || byte == 0x7F || c1;
    out.emplace_back(length == 0 || control ? kReplacement : line.substr(at, length));
    at += std::max<std::size_t>(1, length);
  }
  return out;
}

std::string head(const Error& error) {
  if (!error.where) return "error: " + error.message + "\n";
  const Location& where = *error.where;
  std::string out = where.file;
  if (where.line > 0) out += ":" + std::to_string(where.line) + ":" + std::to_string(where.column);
  return out + ": error: " + error.message + "\n";
}

std::string quoted_line(const Location& where) {
  const std::vector<std::string> line = printable(where.text);
  const std::size_t caret = where.column > 0 ? where.column - 1 : 0;
  const bool cut = line.size() > kLongestLine;
  const std::size_t first = cut && caret > kBeforeCaret ? std::min(caret - kBeforeCaret, line.size()) : 0;
  const std::size_t last = cut ? std::min(line.size(), first + kWindow) : line.size();
  std::string text(kIndent), marks(kIndent);
  if (first > 0) {
    text += kCut;
    marks.append(kCut.size(), ' ');
  }
  for (std::size_t i = first; i < last; ++i) text += line[i];
  if (last < line.size()) text += kCut;
  // A tab stays a tab, so that the caret stands below its character whatever the width of a tab is.
  for (std::size_t i = first; i < caret; ++i) marks += i < line.size() && line[i] == "\t" ? '\t' : ' ';
  const std::size_t room = cut && last > caret ? last - caret : where.width;
  marks += "^" + std::string(std::max<std::size_t>(1, std::min<std::size_t>(where.width, room)) - 1, '~');
  return text + "\n" + marks + "\n";
}

}  // namespace

std::string to_text(const Error& error) {
  std::string out = head(error);
  if (error.where && error.where->line > 0) out += quoted_line(*error.where);
  if (!error.hint.empty()) out += "  hint: " + error.hint + "\n";
  return out;
}

}  // namespace suture
