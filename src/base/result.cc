// How an Error looks on a terminal. Test: tests/unit/result_test.cc.
#include "base/result.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/printable.h"
#include "base/text.h"

namespace suture {
namespace {

constexpr std::string_view kIndent = "    ";
constexpr std::string_view kCut = "...";
constexpr std::size_t kLongestLine = 400;  // characters; a longer line is shown around its caret only
constexpr std::size_t kBeforeCaret = 80, kWindow = 160;

// The characters of a line as they are printed: one for each that it has, so that the columns stay.
std::vector<std::string> characters(std::string_view line) {
  const std::string text = printable(line);
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size(); at += out.back().size())
    out.push_back(text.substr(at, utf8_length(text, at)));
  return out;
}

std::string head(const Error& error) {
  const std::string message = printable_lines(error.message);
  if (!error.where) return "error: " + message + "\n";
  const Location& where = *error.where;
  std::string out = printable(where.file);
  if (where.line > 0) out += ":" + std::to_string(where.line) + ":" + std::to_string(where.column);
  return out + ": error: " + message + "\n";
}

std::string quoted_line(const Location& where) {
  const std::vector<std::string> line = characters(where.text);
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
  if (!error.hint.empty()) out += "  hint: " + printable_lines(error.hint) + "\n";
  return out;
}

}  // namespace suture
