// Test: tests/unit/yaml_reader_test.cc.
#include "read/yaml_span.h"

#include <algorithm>

#include "base/text.h"

namespace suture {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// A plain scalar: its words stand in the file as they are; a blank of the value is a run of blanks there, perhaps with
// line ends in it.
std::optional<std::uint32_t> plain_end(const Source& source, std::uint32_t begin, std::string_view value) {
  const std::string& bytes = source.bytes();
  std::uint32_t at = begin;
  bool pending_space = false;
  for (const char c : value) {
    if (is_space(c)) {
      pending_space = true;
      continue;
    }
    const std::uint32_t before = at;
    while (pending_space && at < source.size() && is_space(bytes[at])) ++at;
    if (pending_space && at == before) return std::nullopt;
    pending_space = false;
    if (at >= source.size() || bytes[at] != c) return std::nullopt;
    ++at;
  }
  return at;
}

std::optional<std::uint32_t> quoted_end(const Source& source, std::uint32_t begin) {
  const std::string& bytes = source.bytes();
  const char quote = bytes[begin];
  for (std::uint32_t at = begin + 1; at < source.size(); ++at) {
    if (quote == '"' && bytes[at] == '\\') {
      ++at;
    } else if (bytes[at] == quote) {
      const bool doubled = quote == '\'' && at + 1 < source.size() && bytes[at + 1] == quote;
      if (!doubled) return at + 1;
      ++at;
    }
  }
  return std::nullopt;
}

std::size_t leading_spaces(std::string_view line) {
  return std::min(line.find_first_not_of(' '), line.size());
}

// "|", ">", with "-" or "+" and an indentation digit in either order, and at most a comment after a blank. Not ">+":
// yaml-cpp loses one of its newlines.
bool is_block_header(std::string_view header) {
  std::size_t at = 1;
  bool chomping = false, digit = false;
  for (; at < header.size(); ++at) {
    const bool is_chomping = header[at] == '-' || header[at] == '+';
    const bool is_digit = header[at] >= '1' && header[at] <= '9';
    if ((!is_chomping && !is_digit) || (is_chomping && chomping) || (is_digit && digit)) break;
    chomping = chomping || is_chomping;
    digit = digit || is_digit;
  }
  const std::string_view rest = header.substr(at);
  if (header.substr(0, at).find('+') != std::string_view::npos && header.front() == '>') return false;
  return trim(rest).empty() || (is_space(rest.front()) && trim(rest).front() == '#');
}

// Spaces before the first character of a block's value that is neither space nor newline; nullopt: there is none.
std::optional<std::size_t> first_lead(std::string_view value) {
  const std::size_t first = value.find_first_not_of(" \n");
  if (first == std::string_view::npos) return std::nullopt;
  const std::size_t newline = value.substr(0, first).rfind('\n');
  return newline == std::string_view::npos ? first : first - newline - 1;
}

// A block scalar's indentation is not in the value: it is what the first line has more than the value's.
std::optional<YamlSpan> block_span(const Source& source, std::uint32_t begin, std::string_view value) {
  const auto line_text = [&](std::uint32_t line) {
    return source.text({source.line_begin(line), source.line_end(line)});
  };
  const std::uint32_t header = source.line_of(begin);
  YamlSpan span{YamlNode::Style::block, {begin, source.line_end(header)}, {begin, source.line_end(header)}};
  if (!is_block_header(source.text(span.at))) return std::nullopt;
  const std::optional<std::size_t> lead = first_lead(value);
  if (!lead) return span;
  std::uint32_t line = header + 1;
  while (line < source.line_count() && leading_spaces(line_text(line)) == line_text(line).size()) ++line;
  if (line == source.line_count() || leading_spaces(line_text(line)) < *lead) return std::nullopt;
  const std::size_t indent = leading_spaces(line_text(line)) - *lead;
  std::uint32_t last = line;
  for (; line < source.line_count(); ++line) {
    const std::size_t spaces = leading_spaces(line_text(line));
    const bool blank = spaces == line_text(line).size();
    if (!blank && spaces < indent) break;
    if (!blank) last = line;
  }
  const std::size_t first_indent = std::min(indent, line_text(header + 1).size());
  span.at = {source.line_begin(header + 1) + static_cast<std::uint32_t>(first_indent), source.line_end(last)};
  span.whole.end = span.at.end;
  return span;
}

bool opens_comment(const Source& source, std::uint32_t at) {
  return source.bytes()[at] == '#' && (at == source.bom() || is_space(source.bytes()[at - 1]));
}

bool is_punctuation(char c) {
  return std::string_view("-:,[]{}").find(c) != std::string_view::npos;
}

// "..." alone on its line: the end of a document.
bool is_document_end(const Source& source, std::uint32_t at) {
  const std::uint32_t line = source.line_of(at);
  return trim_end(source.text({source.line_begin(line), source.line_end(line)})) == "...";
}

std::uint32_t skip_blanks(const Source& source, std::uint32_t at) {
  while (at < source.size() && (source.bytes()[at] == ' ' || source.bytes()[at] == '\t')) ++at;
  return at;
}

}  // namespace

std::optional<YamlSpan> yaml_span(const Source& source, std::uint32_t begin, std::string_view value) {
  if (begin >= source.size()) return std::nullopt;
  const char first = source.bytes()[begin];
  if (first == '|' || first == '>') return block_span(source, begin, value);
  const bool quoted = first == '"' || first == '\'';
  const std::optional<std::uint32_t> end = quoted ? quoted_end(source, begin) : plain_end(source, begin, value);
  if (!end) return std::nullopt;
  const Range range{begin, *end};
  return YamlSpan{quoted ? YamlNode::Style::quoted : YamlNode::Style::plain, range, range};
}

std::optional<YamlStray> first_stray_byte(const Source& source, const std::vector<Range>& spans) {
  auto span = spans.begin();
  std::uint32_t at = source.bom();
  bool line_begins = true;
  while (at < source.size()) {
    const char c = source.bytes()[at];
    if (span != spans.end() && at >= span->begin) {
      at = std::max(at, span->end);
      ++span;
      line_begins = false;
    } else if (opens_comment(source, at)) {
      at = source.line_end(source.line_of(at));
    } else if (line_begins && (c == ' ' || c == '\t')) {
      const std::uint32_t content = skip_blanks(source, at);
      const bool indents =
          content < source.size() && std::string_view("#\r\n").find(source.bytes()[content]) == std::string_view::npos;
      const std::size_t tab = source.text({at, content}).find('\t');
      if (indents && tab != std::string_view::npos) return YamlStray{at + static_cast<std::uint32_t>(tab), true};
      at = content;
      line_begins = false;
    } else {
      const bool known = is_space(c) || is_punctuation(c) || (c == '.' && is_document_end(source, at));
      if (!known) return YamlStray{at, false};
      line_begins = c == '\n';
      ++at;
    }
  }
  return std::nullopt;
}

}  // namespace suture
