// See outline.h. Tests: tests/unit/audit_test.cc; tests/audit holds it against Python's tokenize on a whole release.
#include "engine/outline.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

namespace suture {
namespace {

constexpr std::uint32_t kMostBrackets = 1000;  // Python itself stops at 200
constexpr int kMostFields = 16;                // f-strings in f-strings
constexpr std::uint16_t kMostColumns = 255;    // the parser's own limit

// What a byte is to code, and to the text of a string. A table: each byte of a file is looked at.
enum Class : unsigned char {
  kWord = 1,   // letters, digits, underscores and what is not ASCII
  kWide = 2,   // not ASCII
  kBlank = 4,  // of code: says nothing of what the line ends with
  kPlain = 8,  // in a string: text, whatever string it is
  kSign = 16,  // of code: stands for itself alone, and is no bracket
};

constexpr std::array<unsigned char, 256> classes() {
  std::array<unsigned char, 256> out{};
  constexpr std::string_view kWords = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  for (std::size_t byte = 0; byte < out.size(); ++byte) {
    const char c = static_cast<char>(byte);
    if (byte > 127) out[byte] = kWord | kWide;
    if (kWords.find(c) != std::string_view::npos) out[byte] = kWord;
    if (std::string_view(" \t\f\n\r\\#").find(c) != std::string_view::npos) out[byte] |= kBlank;
    if (std::string_view("\\\"'\n\r{").find(c) == std::string_view::npos && byte != 0) out[byte] |= kPlain;
    if (std::string_view(".,:;+-*/%@&|^~<>!$?`").find(c) != std::string_view::npos) out[byte] |= kSign;
  }
  return out;
}

bool is(char c, unsigned char wanted) {
  static constexpr std::array<unsigned char, 256> kClasses = classes();
  return (kClasses[static_cast<unsigned char>(c)] & wanted) != 0;
}
bool is_word(char c) {
  return is(c, kWord);
}

LogicalLine::Kind kind_of(std::string_view word) {
  using Kind = LogicalLine::Kind;
  if (word == "def" || word == "async") return Kind::function;  // `async with` is no function: see kind_at()
  if (word == "class") return Kind::klass;
  const bool clause = word == "else" || word == "elif" || word == "except" || word == "finally";
  return clause ? Kind::clause : Kind::other;
}

class Lexer {
 public:
  Lexer(std::string_view text, std::vector<Hit>& hits) : text_(text), hits_(hits) {}

  Outline run() {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    while (at_ < text_.size() && out_.sure) line();
    if (!brackets_.empty()) out_.sure = false;
    keep_hits();
    return std::move(out_);
  }

 private:
  [[nodiscard]] char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void give_up() {
    out_.sure = false;
    at_ = text_.size();
  }

  // One physical line, or a logical line of several.
  void line() {
    LogicalLine line;
    line.begin = line.end = static_cast<std::uint32_t>(at_);
    if (!indentation(line)) return;
    const char c = peek();
    if (at_ >= text_.size()) return;
    if (c == '#') return comment();
    if (c == '\n') return void(++at_);
    if (c == '\r') return peek(1) == '\n' ? void(at_ += 2) : give_up();
    if (c == '\\' || c == '\0') return give_up();
    line.kind = kind_at();
    if (!fits(line.indent)) return give_up();
    assigns_ = 0;
    wide_ = false;
    code();
    line.end = static_cast<std::uint32_t>(at_);
    line.assigns = assigns_;
    line.wide = wide_;
    if (out_.sure) out_.lines.push_back(line);
  }

  // Whether Python admits a line there: deeper only behind a colon, and back only to where a block began.
  bool fits(std::uint16_t indent) {
    const bool deeper = indent > blocks_.back();
    if (deeper != (last_ == ':')) return false;
    if (deeper) blocks_.push_back(indent);
    while (blocks_.back() > indent) blocks_.pop_back();
    return blocks_.back() == indent;
  }

  bool indentation(LogicalLine& line) {
    std::size_t columns = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == ' ') {
        ++columns;
        spaces_ = true;
      } else if (c == '\t') {
        columns = (columns / 8 + 1) * 8;
        tabs_ = true;
      } else if (c == '\f') {
        columns = 0;
      } else {
        break;
      }
    }
    const char c = peek();
    const bool blank = c == '\n' || c == '\r' || c == '#' || at_ >= text_.size();
    if (!blank && ((tabs_ && spaces_) || columns > kMostColumns)) return give_up(), false;
    if (blank) spaces_ = spaces_ && !tabs_;
    line.indent = static_cast<std::uint16_t>(std::min<std::size_t>(columns, kMostColumns));
    return true;
  }

  [[nodiscard]] LogicalLine::Kind kind_at() const {
    if (peek() == '@') return LogicalLine::Kind::decorator;
    std::size_t end = at_;
    while (end < text_.size() && is_word(text_[end])) ++end;
    const std::string_view word = text_.substr(at_, end - at_);
    if (word != "async") return kind_of(word);
    while (end < text_.size() && (text_[end] == ' ' || text_[end] == '\t')) ++end;
    return text_.substr(end, 3) == "def" ? LogicalLine::Kind::function : LogicalLine::Kind::other;
  }

  void comment() {
    const std::size_t begin = at_;
    at_ = std::min(text_.find('\n', at_), text_.size());
    const std::string_view words = text_.substr(begin, at_ - begin);
    const std::size_t cr = words.find('\r');
    if (cr != std::string_view::npos && cr + 1 != words.size()) return give_up();
    text_from(begin);
  }

  // To behind the newline that ends the logical line.
  void code() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (is_word(c)) {
        last_ = c;
        word();
        continue;
      }
      if (c == ' ') {
        ++at_;
        continue;
      }
      if (!is(c, kBlank)) last_ = c;
      if (is(c, kSign)) {
        ++at_;
        continue;
      }
      switch (c) {
        case '\n':
          ++at_;
          if (brackets_.empty()) return;
          break;
        case '\r':
          if (peek(1) != '\n') return give_up();
          ++at_;
          break;
        case '\\':
          if (peek(1) == '\n') {
            at_ += 2;
          } else if (peek(1) == '\r' && peek(2) == '\n') {
            at_ += 3;
          } else {
            return give_up();
          }
          break;
        case '#':
          comment();
          break;
        case '"':
        case '\'':
          string("");
          break;
        case '\0':
          return give_up();
        case '=':
          equals();
          break;
        default:
          if (!bracket(c)) return give_up();
          ++at_;
      }
    }
  }

  void equals() {
    const char before = at_ > 0 ? text_[at_ - 1] : '\0';
    const bool compares = before == '=' || before == '!' || before == '<' || before == '>' || peek(1) == '=';
    if (brackets_.empty() && !compares) assigns_ = static_cast<std::uint32_t>(at_);
    ++at_;
  }

  // false: it does not pair.
  bool bracket(char c) {
    if (c == '(' || c == '[' || c == '{') {
      brackets_ += c == '(' ? ')' : c == '[' ? ']' : '}';
      return brackets_.size() <= kMostBrackets;
    }
    if (c != ')' && c != ']' && c != '}') return true;
    if (brackets_.empty() || brackets_.back() != c) return false;
    brackets_.pop_back();
    return true;
  }

  // A word, which may be the prefix of a string.
  void word() {
    const std::size_t begin = at_;
    unsigned char seen = 0;
    for (; at_ < text_.size() && is_word(text_[at_]); ++at_) seen |= static_cast<unsigned char>(text_[at_]);
    wide_ = wide_ || seen > 127;
    const char c = peek();
    if ((c == '"' || c == '\'') && at_ - begin <= 2) string(text_.substr(begin, at_ - begin));
  }

  void string(std::string_view prefix) {
    const bool field = prefix.find_first_of("fFtT") != std::string_view::npos &&
                       prefix.find_first_not_of("fFtTrR") == std::string_view::npos;
    const std::size_t begin = at_;
    const char quote = text_[at_];
    const bool triple = peek(1) == quote && peek(2) == quote;
    at_ += triple ? 3 : 1;
    while (true) {
      while (at_ < text_.size() && is(text_[at_], kPlain)) ++at_;
      if (at_ >= text_.size()) break;
      const char c = text_[at_];
      if (c == '\\') {
        at_ += text_.substr(at_, 3) == "\\\r\n" ? 3 : 2;
      } else if (c == quote) {
        if (!triple || (peek(1) == quote && peek(2) == quote)) {
          at_ += triple ? 3 : 1;
          if (!field) text_from(begin);
          return;
        }
        ++at_;
      } else if ((c == '\n' && !triple) || c == '\0' || (c == '\r' && peek(1) != '\n')) {
        return give_up();
      } else if (field && c == '{') {
        if (peek(1) == '{') {
          at_ += 2;
        } else {
          replacement();
        }
      } else {
        ++at_;
      }
    }
    give_up();
  }

  // `{...}` in an f-string: code up to a colon at its own level, then a format specifier, which holds further fields.
  void replacement() {
    if (++fields_ > kMostFields) return give_up();
    ++at_;
    const std::string outer = std::move(brackets_);
    brackets_.clear();
    bool specifier = false;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '}' && brackets_.empty()) {
        ++at_;
        brackets_ = outer;
        --fields_;
        return;
      }
      if (specifier) {
        if (c == '{') {
          replacement();
        } else if (c == '\n' || c == '"' || c == '\'' || c == '\\') {
          return give_up();  // legal only in some versions of Python
        } else {
          ++at_;
        }
      } else if (c == ':' && brackets_.empty()) {
        specifier = true;
        ++at_;
      } else if (is_word(c)) {
        word();
      } else if (c == '"' || c == '\'') {
        string("");
      } else if (c == '\\' || c == '#' || c == '\0' || c == '\r') {
        return give_up();
      } else {
        if (!bracket(c)) return give_up();
        ++at_;
      }
    }
    give_up();
  }

  // Text, no code, from `begin` to here: hits in it are none. (Strings within f-strings are left as they are.)
  void text_from(std::size_t begin) {
    if (fields_ > 0) return;
    while (next_hit_ < hits_.size() && hits_[next_hit_].at < begin) kept_.push_back(hits_[next_hit_++]);
    while (next_hit_ < hits_.size() && hits_[next_hit_].at < at_) ++next_hit_;
  }
  void keep_hits() {
    if (!out_.sure) return;
    kept_.insert(kept_.end(), hits_.begin() + static_cast<std::ptrdiff_t>(next_hit_), hits_.end());
    hits_ = std::move(kept_);
  }

  std::string_view text_;
  std::vector<Hit>& hits_;
  std::vector<Hit> kept_;
  std::size_t next_hit_ = 0;
  std::size_t at_ = 0;
  std::uint32_t assigns_ = 0;  // of the line: LogicalLine
  bool wide_ = false;          // of the line, too
  std::string brackets_;       // that are open, as what closes them
  int fields_ = 0;
  bool tabs_ = false, spaces_ = false;
  char last_ = '\n';  // of code, of the line before
  std::vector<std::uint16_t> blocks_ = {0};
  Outline out_;
};

// The line that holds the byte; the one before it where it stands in none (a comment, a blank line).
std::size_t line_at(const Outline& outline, std::uint32_t at) {
  const auto behind = std::upper_bound(outline.lines.begin(), outline.lines.end(), at,
                                       [](std::uint32_t offset, const LogicalLine& l) { return offset < l.begin; });
  return behind == outline.lines.begin() ? 0 : static_cast<std::size_t>(behind - outline.lines.begin()) - 1;
}

// Behind the last line of the block that the line at `first` heads.
std::size_t block_end(const Outline& outline, std::size_t first) {
  std::size_t end = first + 1;
  while (end < outline.lines.size() && outline.lines[end].indent > outline.lines[first].indent) ++end;
  return end;
}

using LineKind = LogicalLine::Kind;

// The compound statement of which the line at `first` heads a clause.
Range with_clauses(const Outline& outline, std::size_t first) {
  const std::vector<LogicalLine>& lines = outline.lines;
  const std::uint16_t indent = lines[first].indent;
  std::size_t begin = first;
  while (lines[begin].kind == LineKind::clause && begin > 0) {
    --begin;
    while (begin > 0 && lines[begin].indent > indent) --begin;
    if (lines[begin].indent < indent) break;  // not Python
  }
  std::size_t end = block_end(outline, first);
  while (end < lines.size() && lines[end].indent == indent && lines[end].kind == LineKind::clause)
    end = block_end(outline, end);
  return {lines[begin].begin, lines[end - 1].end};
}

// The definition, with the decorators above it, that the line at `first` is of.
Range definition_at(const Outline& outline, std::size_t first) {
  const std::vector<LogicalLine>& lines = outline.lines;
  const std::uint16_t indent = lines[first].indent;
  std::size_t begin = first, head = first;
  while (begin > 0 && lines[begin - 1].kind == LineKind::decorator && lines[begin - 1].indent == indent) --begin;
  while (head + 1 < lines.size() && lines[head].kind == LineKind::decorator) ++head;
  return {lines[begin].begin, lines[block_end(outline, head) - 1].end};
}

}  // namespace

Outline outline_of(std::string_view text, std::vector<Hit>& hits) {
  return Lexer(text, hits).run();
}

Excerpt excerpt_around(const Outline& outline, std::uint32_t at) {
  const std::vector<LogicalLine>& lines = outline.lines;
  Excerpt out;
  if (lines.empty()) return out;
  std::vector<std::size_t> around = {line_at(outline, at)};  // innermost first
  for (std::size_t i = around[0]; i-- > 0 && lines[around.back()].indent > 0;) {
    if (lines[i].indent < lines[around.back()].indent) around.push_back(i);
  }
  std::size_t own = around.size();
  while (--own > 0 && lines[around[own]].kind == LineKind::klass)
    out.heads.push_back({lines[around[own]].begin, lines[around[own]].end});
  const std::size_t first = around[own];
  const bool definition = lines[first].kind == LineKind::function || lines[first].kind == LineKind::klass ||
                          lines[first].kind == LineKind::decorator;
  out.body = definition ? definition_at(outline, first) : with_clauses(outline, first);
  return out;
}

std::vector<Range> ranges_of(const std::vector<Excerpt>& excerpts) {
  std::vector<Range> all;
  for (const Excerpt& excerpt : excerpts) {
    all.insert(all.end(), excerpt.heads.begin(), excerpt.heads.end());
    all.push_back(excerpt.body);
  }
  std::sort(all.begin(), all.end(),
            [](Range a, Range b) { return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; });
  std::vector<Range> out;
  for (const Range& each : all) {
    if (!out.empty() && each.begin < out.back().end) {
      out.back().end = std::max(out.back().end, each.end);
    } else if (each.begin < each.end) {
      out.push_back(each);
    }
  }
  return out;
}

}  // namespace suture
