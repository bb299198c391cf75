// range_within: from a position in a decoded text to the bytes of the file. Test: tests/unit/rule_test.cc.
#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "read/rule.h"

namespace suture {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// Walks the file's bytes beside the decoded text. Blanks need not agree: a folded line end is one space of the text,
// and what is left of a run of blanks is skipped before the next character.
class Walk {
 public:
  Walk(std::string_view raw, std::size_t indent) : raw_(raw), indent_(indent) {
    const bool closed = raw.size() >= 2 && raw.front() == raw.back();
    if (closed && (raw.front() == '"' || raw.front() == '\'')) {
      quote_ = raw.front();
      at_ = 1;
    }
  }

  // Stands on the bytes that give value[v] from here on.
  std::size_t position(char c) {
    while (quote_ == '"' && at_ + 1 < raw_.size() && raw_[at_] == '\\' && is_space(raw_[at_ + 1]) &&
           raw_[at_ + 1] != ' ' && raw_[at_ + 1] != '\t') {
      at_ += 2;  // an escaped line end gives nothing
      skip_blanks();
    }
    if (!is_space(c) && !at_escape()) skip_blanks();
    return std::min(at_, raw_.size());
  }

  // Past them; returns how many bytes of the value they gave.
  std::size_t step(std::string_view value, std::size_t v) {
    if (at_escape()) {
      at_ += escape_length();
      return std::max<std::size_t>(1, utf8_length(value, v));
    }
    if (at_ >= raw_.size()) return 1;
    if (is_space(value[v])) {
      if (is_space(raw_[at_])) step_blank();
      return 1;
    }
    at_ += quote_ == '\'' && raw_[at_] == '\'' ? 2 : 1;
    return 1;
  }

 private:
  [[nodiscard]] bool at_escape() const { return quote_ == '"' && at_ < raw_.size() && raw_[at_] == '\\'; }

  [[nodiscard]] std::size_t escape_length() const {
    const char kind = at_ + 1 < raw_.size() ? raw_[at_ + 1] : ' ';
    return kind == 'x' ? 4 : kind == 'u' ? 6 : kind == 'U' ? 10 : 2;
  }

  void skip_blanks() {
    while (at_ < raw_.size() && is_space(raw_[at_])) ++at_;
  }

  // One blank, or a line end and the indentation of the line below.
  void step_blank() {
    if (raw_.substr(at_, 2) == "\r\n") ++at_;
    const bool newline = raw_[at_] == '\n';
    ++at_;
    if (!newline) return;
    for (std::size_t i = 0; i < indent_ && at_ < raw_.size() && raw_[at_] == ' '; ++i) ++at_;
  }

  std::string_view raw_;
  std::size_t indent_;
  char quote_ = '\0';
  std::size_t at_ = 0;
};

}  // namespace

Range range_within(const Source& yaml, const Text& text, std::size_t begin, std::size_t end) {
  const std::string_view raw = yaml.text(text.at);
  const std::string_view value = text.value;
  begin = std::min(begin, value.size());
  end = std::clamp(end, begin, value.size());
  const auto shifted = [&](std::size_t offset) { return text.at.begin + static_cast<std::uint32_t>(offset); };
  if (raw == value) return {shifted(begin), shifted(end)};
  Walk walk(raw, text.at.begin - yaml.line_begin(yaml.line_of(text.at.begin)));
  std::size_t from = raw.size(), to = raw.size();
  for (std::size_t v = 0; v < value.size() && v < std::max(end, begin + 1);) {
    const std::size_t here = walk.position(value[v]);
    const std::size_t next = v + walk.step(value, v);
    if (v <= begin && begin < next) from = here;
    if (v < end && end <= next) to = walk.position(next < value.size() && next < end ? value[next] : ' ');
    v = next;
  }
  if (begin == end) to = from;
  return {shifted(std::min(from, to)), shifted(to)};
}

}  // namespace suture
