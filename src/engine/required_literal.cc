// What every text holds in which a regular expression is found. Contract: engine/prefilter.h. Test: tests/unit/audit_test.cc.
#include <algorithm>

#include "engine/prefilter.h"

namespace suture {
namespace {

bool is_ascii_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Walks a regular expression and collects the runs of characters that stand in every match. What it does not know ends a
// run; what may change the meaning of the rest (`|` at the top, flags) ends the walk with nothing.
class RegexRuns {
 public:
  explicit RegexRuns(std::string_view regex) : text_(regex) {}

  std::string longest() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '|') return "";
      if (c == '(') {
        if (text_.substr(at_, 2) == "(?" && text_.substr(at_, 3) != "(?:" && text_.substr(at_, 3) != "(?P") return "";
        skip_group();
        end_run();
        skip_quantifier();
      } else if (c == '[') {
        skip_class();
        end_run();
        skip_quantifier();
      } else if (c == '\\') {
        escape();
      } else if (is_ascii_word(c)) {
        ++at_;
        literal(c);
      } else {
        ++at_;
        end_run();
        skip_quantifier();
      }
    }
    end_run();
    return best_;
  }

 private:
  void escape() {
    const char c = at_ + 1 < text_.size() ? text_[at_ + 1] : '\\';
    at_ += 2;
    if (c == 'Q' || c == 'p' || c == 'P' || c == 'x' || (c >= '0' && c <= '9')) {
      at_ = text_.size();  // longer escapes: no more is read
      run_.clear();
      return;
    }
    if (c != 'b') end_run();  // a boundary takes no character, but the run may not go on over it either
    if (c == 'b') end_run();
    skip_quantifier();
  }
  void literal(char c) {
    const std::size_t before = at_;
    const bool optional = skip_quantifier();
    if (at_ == before) {
      run_ += c;
      return;
    }
    if (!optional) run_ += c;  // `c+`: it is there, and what follows is not beside it for certain
    end_run();
  }
  // Whether it lets what stands before it be missing.
  bool skip_quantifier() {
    bool optional = false;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '{') {
        const std::size_t end = text_.find('}', at_);
        optional = true;
        at_ = end == std::string_view::npos ? text_.size() : end + 1;
      } else if (c == '*' || c == '?' || c == '+') {
        optional = optional || c != '+';
        ++at_;
      } else {
        break;
      }
    }
    return optional;
  }
  void skip_class() {
    ++at_;
    if (at_ < text_.size() && text_[at_] == '^') ++at_;
    if (at_ < text_.size() && text_[at_] == ']') ++at_;
    while (at_ < text_.size() && text_[at_] != ']') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + 1, text_.size());
  }
  void skip_group() {
    int depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '\\') {
        at_ += 2;
        continue;
      }
      if (c == '[') {
        skip_class();
        continue;
      }
      ++at_;
      if (c == '(') ++depth;
      if (c == ')' && --depth == 0) return;
    }
    at_ = text_.size();
  }
  void end_run() {
    if (run_.size() > best_.size()) best_ = run_;
    run_.clear();
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string run_, best_;
};

}  // namespace

std::string required_literal(std::string_view regex) {
  return RegexRuns(regex).longest();
}

}  // namespace suture
