// See word_flow.h. Tests: tests/unit/word_flow_test.cc; tests/audit compares with parsing everything.
#include "engine/word_flow.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "base/text.h"

namespace suture {
namespace {

// Behind the word that begins at `at`.
std::size_t word_end(std::string_view text, std::size_t at) {
  while (at < text.size() && is_ascii_word(text[at])) ++at;
  return at;
}

// Words that no code binds. (`print`, `match`, `type`, `async` and the like are names to the grammar.)
bool is_keyword(std::string_view word) {
  constexpr std::array<std::string_view, 20> kWords = {"if",  "elif", "else",   "for",    "in",    "is",    "not",
                                                       "and", "or",   "lambda", "return", "yield", "while", "with",
                                                       "as",  "from", "assert", "None",   "True",  "False"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

// A name by itself, no attribute. (`x. name` with a blank is let pass.)
bool is_plain(std::string_view text, std::size_t at) {
  return at == 0 || (text[at - 1] != '.' && !is_ascii_word(text[at - 1]));
}

// Behind blanks, line ends, continuations and comments.
std::size_t behind_blanks(std::string_view text, std::size_t at) {
  while (true) {
    at = std::min(text.find_first_not_of(kGaps, at), text.size());
    if (at == text.size() || text[at] != '#') return at;
    at = std::min(text.find('\n', at), text.size());
  }
}

bool is_operand_end(std::string_view text, std::size_t end) {
  while (end > 0 && (text[end - 1] == ' ' || text[end - 1] == '\t')) --end;
  if (end == 0) return false;
  const char c = text[end - 1];
  if (!is_ascii_word(c)) return c == ')' || c == ']' || c == '}' || c == '"' || c == '\'';
  std::size_t begin = end;
  while (begin > 0 && is_ascii_word(text[begin - 1])) --begin;
  return !is_keyword(text.substr(begin, end - begin));
}

// Before blanks, line ends and continuations; a comment is not passed over.
std::size_t before_blanks(std::string_view text, std::size_t end) {
  return text.substr(0, end).find_last_not_of(kGaps) + 1;  // npos + 1 is 0
}

bool is_closing(char c) {
  return c == ')' || c == ']' || c == '}';
}
bool is_opening(char c) {
  return c == '(' || c == '[' || c == '{';
}

// Where what closes at `end` opens; nullopt: not in this line.
std::optional<std::size_t> opening(std::string_view text, std::size_t line, std::size_t end) {
  int depth = 0;
  for (std::size_t at = end; at > line; --at) {
    if (is_closing(text[at - 1])) ++depth;
    if (is_opening(text[at - 1]) && --depth == 0) return at - 1;
  }
  return std::nullopt;
}

bool has_comment(std::string_view text, std::size_t begin, std::size_t end) {
  return text.substr(begin, end - begin).find('#') != std::string_view::npos;
}

// Where the expression begins that ends at `end` and of which an attribute can be taken: names, calls, indexing, brackets. nullopt: not
// sure, for a string on the way or a comment in the line.
std::optional<std::size_t> primary_before(std::string_view text, std::size_t line, std::size_t end) {
  if (has_comment(text, line, end)) return std::nullopt;
  std::size_t at = before_blanks(text, end);
  std::size_t begin = at;
  while (at > line) {
    if (is_closing(text[at - 1])) {
      const auto opens = opening(text, line, at);
      if (!opens) return std::nullopt;
      begin = at = *opens;
    } else if (is_ascii_word(text[at - 1])) {
      while (at > line && is_ascii_word(text[at - 1])) --at;
      if (is_keyword(text.substr(at, word_end(text, at) - at))) break;
      begin = at;
      const std::size_t point = before_blanks(text, at);
      if (point <= line || text[point - 1] != '.') break;
      at = point - 1;
    } else {
      break;
    }
    at = before_blanks(text, at);
  }
  const std::string_view all = text.substr(begin, end - begin);
  return all.empty() || all.find_first_of("\"'") != std::string_view::npos ? std::nullopt : std::optional(begin);
}

// Whether the name at `at` surely stands in the arguments of a call or in an index, with no `:=` between: then no assignment of the
// line gives it on. Quotes, comments and continuations on the way: not sure.
bool is_argument(std::string_view text, std::size_t line, std::size_t at) {
  if (has_comment(text, line, at)) return false;
  int depth = 0;
  while (at > line) {
    const char c = text[--at];
    if (c == '"' || c == '\'' || c == '\\') return false;
    if (depth == 0 && c == '=' && at > line && text[at - 1] == ':') return false;
    if (is_closing(c)) ++depth;
    if (!is_opening(c)) continue;
    if (depth == 0 && c != '{' && is_operand_end(text, at)) return true;
    depth = std::max(depth - 1, 0);
  }
  return false;
}

}  // namespace

WordFlow::WordFlow(const Prefilter& prefilter, std::string_view text, const Outline& outline, Range part)
    : prefilter_(prefilter), text_(text), part_(part) {
  const auto first = std::partition_point(outline.lines.begin(), outline.lines.end(),
                                          [&](const LogicalLine& line) { return line.begin < part.begin; });
  const auto last =
      std::partition_point(first, outline.lines.end(), [&](const LogicalLine& line) { return line.begin < part.end; });
  lines_.assign(first, last);
  ascii_ = std::none_of(first, last, [](const LogicalLine& line) { return line.wide; });
}

bool WordFlow::admits(const Need& need) {
  if (need.whole_file) return true;
  const Lines sites = with_anchors(need.site);
  if (std::find(sites.begin(), sites.end(), true) == sites.end()) return false;
  return !ascii_ || std::all_of(need.values.begin(), need.values.end(),
                                [&](const OriginOfValue& value) { return admits(value, sites); });
}

bool WordFlow::admits(const OriginOfValue& value, const Lines& sites) {
  if (value.origin.anchors.empty() || value.any_method) return true;
  const Reached& from = reached(value.origin);
  if (value.method) {
    return prefilter_.find(*value.method, text_, part_, [&](std::uint32_t at) {
      const auto line = line_at(at);
      return line && sites[*line] && takes(value, from, at);
    });
  }
  for (std::size_t i = 0; i < sites.size(); ++i) {
    if (sites[i] && from.lines[i]) return true;
  }
  return false;
}

// Whether what the method is taken of may be the value.
bool WordFlow::takes(const OriginOfValue& value, const Reached& from, std::uint32_t method) const {
  const std::size_t line = *line_at(method);
  const std::size_t begin = lines_[line].begin;
  const std::size_t point = before_blanks(text_, method);
  const auto primary =
      point > begin && text_[point - 1] == '.' ? primary_before(text_, begin, point - 1) : std::nullopt;
  if (!primary) return from.lines[line] || has_name({static_cast<std::uint32_t>(begin), lines_[line].end}, from, true);
  const bool name = word_end(text_, *primary) >= before_blanks(text_, point - 1);
  if (from.origins[line] && (!name || value.origin.bare)) return true;
  return has_name({static_cast<std::uint32_t>(*primary), static_cast<std::uint32_t>(point - 1)}, from, false);
}

// Whether one of the names stands in the part of a line, whatever follows it or so that its value is left at the part's end.
bool WordFlow::has_name(Range part, const Reached& from, bool whatever) const {
  const std::string_view until = text_.substr(0, part.end);
  for (std::size_t at = part.begin; at < until.size();) {
    const std::size_t begin = at;
    at = word_end(until, at);
    const bool known =
        at > begin && is_plain(until, begin) &&
        std::find(from.names.begin(), from.names.end(), until.substr(begin, at - begin)) != from.names.end();
    if (known && (whatever || keeps(until, at, from.origin))) return true;
    if (at == begin) ++at;
  }
  return false;
}

// nullopt: a comment or blank line between two of them.
std::optional<std::size_t> WordFlow::line_at(std::uint32_t at) const {
  const auto behind =
      std::partition_point(lines_.begin(), lines_.end(), [at](const LogicalLine& line) { return line.begin <= at; });
  if (behind == lines_.begin() || at >= std::prev(behind)->end) return std::nullopt;
  return static_cast<std::size_t>(behind - lines_.begin()) - 1;
}

const WordFlow::Lines& WordFlow::with_anchor(std::size_t anchor) {
  for (const auto& [known, lines] : anchors_) {
    if (known == anchor) return lines;
  }
  Lines lines(lines_.size());
  prefilter_.find(anchor, text_, part_, [&](std::uint32_t at) {
    if (const auto line = line_at(at)) lines[*line] = true;
    return false;
  });
  return anchors_.emplace_back(anchor, std::move(lines)).second;
}

WordFlow::Lines WordFlow::with_anchors(const std::vector<std::size_t>& anchors) {
  Lines out(lines_.size(), true);
  for (const std::size_t anchor : anchors) {
    const Lines& lines = with_anchor(anchor);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = out[i] && lines[i];
  }
  return out;
}

// The lines that hold the origin, and those that use a name which may stand for it; with those names.
const WordFlow::Reached& WordFlow::reached(const Origin& origin) {
  for (const Reached& known : reached_) {
    if (known.origin == origin) return known;
  }
  Reached out{origin, Lines(lines_.size()), Lines(lines_.size()), {}};
  std::vector<std::string_view> names;
  if (origin.parameter) {
    prefilter_.find(origin.anchors[0], text_, part_, [&](std::uint32_t at) {
      std::size_t begin = at;
      while (begin > 0 && is_ascii_word(text_[begin - 1])) --begin;
      names.push_back(text_.substr(begin, word_end(text_, begin) - begin));
      return false;
    });
  } else {
    out.lines = out.origins = with_anchors(origin.anchors);
    for (std::size_t i = 0; i < out.lines.size(); ++i) {
      if (out.lines[i]) add_bound(i, names);
    }
  }
  follow(std::move(names), out);
  return reached_.emplace_back(std::move(out));
}

// From the names to the lines that use one of them, and on to the names that these bind.
void WordFlow::follow(std::vector<std::string_view> names, Reached& out) const {
  Lines followed(lines_.size());
  const std::string_view until = text_.substr(0, part_.end);
  while (!names.empty()) {
    const std::string_view name = names.back();
    names.pop_back();
    if (std::find(out.names.begin(), out.names.end(), name) != out.names.end()) continue;
    out.names.push_back(name);
    for (std::size_t at = until.find(name, part_.begin); at != std::string_view::npos;
         at = until.find(name, at + name.size())) {
      if (!is_plain(until, at) || word_end(until, at) != at + name.size()) continue;
      const auto line = line_at(static_cast<std::uint32_t>(at));
      if (!line || followed[*line] || !keeps(text_.substr(0, lines_[*line].end), at + name.size(), out.origin))
        continue;
      out.lines[*line] = true;
      if (!out.origin.arguments && is_argument(until, lines_[*line].begin, at)) continue;
      followed[*line] = true;
      add_bound(*line, names);
    }
  }
}

// Whether what follows a name, in a text that ends with its line, leaves its value: anything but an attribute that no clause looks through.
bool WordFlow::keeps(std::string_view until, std::size_t name_end, const Origin& origin) {
  const std::size_t point = behind_blanks(until, name_end);
  if (!origin.through || point >= until.size() || until[point] != '.') return true;
  const std::size_t begin = behind_blanks(until, point + 1);
  const std::string_view attribute = until.substr(begin, word_end(until, begin) - begin);
  return std::find(origin.through->begin(), origin.through->end(), attribute) != origin.through->end();
}

// The names that an assignment or `:=` in the line may bind: what stands before its last `=`, and is neither called, indexed
// nor asked for an attribute.
void WordFlow::add_bound(std::size_t line, std::vector<std::string_view>& names) const {
  const LogicalLine& own = lines_[line];
  const std::string_view until = text_.substr(0, own.end);
  for (std::size_t at = own.begin; at < until.size();) {
    if (!is_ascii_word(until[at])) {
      ++at;
      continue;
    }
    const std::size_t begin = at;
    at = word_end(until, at);
    if (!is_plain(until, begin) || (until[begin] >= '0' && until[begin] <= '9')) continue;
    const std::size_t behind = behind_blanks(until, at);
    const char next = behind < until.size() ? until[behind] : '\n';
    if (next == '.' || next == '(' || next == '[') continue;
    const std::string_view name = until.substr(begin, at - begin);
    if ((begin < own.assigns || until.substr(behind, 2) == ":=") && !is_keyword(name)) names.push_back(name);
  }
}

}  // namespace suture
