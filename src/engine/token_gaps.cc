// See token_gaps.h. Tests: tests/unit/rewrite_test.cc.
#include "engine/token_gaps.h"

#include <algorithm>

#include "engine/layout.h"
#include "engine/token.h"

namespace suture {

std::string_view TokenGaps::text_of(std::size_t t) const {
  return source_.text(t_.range(tokens_[t]));
}
std::string_view TokenGaps::text(const Item& item) const {
  switch (item.kind) {
    case Item::Kind::kept:
      return text_of(item.target);
    case Item::Kind::copied:
      return source_.text(t_.range(item.target));
    case Item::Kind::open:
      return "(";
    case Item::Kind::close:
      return ")";
    case Item::Kind::code:
      break;
  }
  return item.snippet == kComma ? "," : replacement_.source().text(replacement_.tree().range(want_[item.snippet].node));
}

TokenGaps::Gap TokenGaps::stay(Range range) const {
  return {range, "", kNone};
}
TokenGaps::Gap TokenGaps::write(std::string text) {
  return {{}, std::move(text), kNone};
}

std::string TokenGaps::bytes_of(const Gap& gap, std::size_t i) const {
  std::string out(source_.text({gap.stays.begin, gap.stays.end}));
  out += gap.text;
  if (gap.resumes != kNone) out += source_.text({gap.resumes, t_[tokens_[items_[i].target]].begin});
  return out;
}

TokenGaps::Gap TokenGaps::gap(std::size_t i) const {
  const Item& before = items_[i - 1];
  std::size_t next = i;  // an inserted `(` stands in the gap of what it opens
  while (items_[next].kind == Item::Kind::open && next + 1 < items_.size()) ++next;
  const Item& here = items_[next];
  if (here.kind == Item::Kind::copied && here.continues)
    return write(std::string(source_.text({t_[before.target].end, t_[here.target].begin})));
  if (before.kind == Item::Kind::open || here.kind == Item::Kind::close) return {};
  if (flat_.contains(i)) {
    const bool known = here.snippet < want_.size() && follows(before, here);
    return write(known ? replacement_gap(before, here) : " ");
  }
  if (here.kind == Item::Kind::kept && here.target > 0) {
    if (auto own = own_gap(i, next); own) return next == i ? *own : in_front_of_parenthesis(*own, here);
  }
  if (begins_lines(i)) return stay(gap_range(before.target));
  if (const auto same = same_gap(before, here); same) return write(*same);
  if (const auto own_line = line_of_its_own(i); own_line) return *own_line;
  if (before.kind == Item::Kind::kept && here.kind != Item::Kind::kept && here.snippet < want_.size() &&
      !follows(before, here) && before.target + 1 < tokens_.size()) {
    // Behind a token that is not its neighbour in the replacement: what stood there before.
    return stay(gap_range(before.target));
  }
  if (is_opening(text(before)) && !breaks_in_replacement(before, here)) return {};
  return write(replacement_gap(before, here));
}

// Neighbours in the replacement.
bool TokenGaps::follows(const Item& before, const Item& here) {
  return before.snippet != kNoToken && before.snippet + 1 == here.snippet;
}

// The gap of a kept token that gets a parenthesis: it stands in front of that.
TokenGaps::Gap TokenGaps::in_front_of_parenthesis(Gap gap, const Item& here) const {
  const Range rest{gap.resumes, t_[tokens_[here.target]].begin};
  if (gap.resumes == kNone) return gap;
  gap.resumes = kNone;
  if (gap.stays.size() == 0 && gap.text.empty()) return stay(rest);
  gap.text += source_.text(rest);
  return gap;
}

// In front of a kept token: the target's own bytes, as long as they say something of it.
std::optional<TokenGaps::Gap> TokenGaps::own_gap(std::size_t i, std::size_t next) const {
  const Item& before = items_[i - 1];
  const Item& here = items_[next];
  const Range own = gap_range(here.target - 1);
  const std::string bytes(source_.text(own));
  const bool breaks = bytes.find('\n') != std::string::npos;
  if (last_target(i) + 1 == here.target) {
    if (!breaks && breaks_anew(before, here)) return write(replacement_gap(before, here));
    return Gap{{}, "", own.begin};
  }
  if (before.kind == Item::Kind::kept && before.target < here.target) return gap_over_gone(before, here, own);
  if (breaks && next == i) {
    const Gap first = first_inserted_gap(i);
    const std::uint32_t taken = first.stays.begin == own.begin ? first.stays.end : own.begin;
    if (taken < own.end) return Gap{{}, "", taken};
    if (first.stays.end == own.end && first.stays.begin == own.begin)
      return write(text(before) == "," ? line_break_at(t_[tokens_[here.target]].begin) : replacement_gap(before, here));
  } else if (breaks) {
    return Gap{{}, "", own.begin};
  }
  if (here.snippet == kNoToken && !is_opening(text(before))) return write(bytes);
  return std::nullopt;
}

// A token that takes the place of another one, where pattern and replacement have the same blanks: so has the target.
std::optional<std::string> TokenGaps::same_gap(const Item& before, const Item& here) const {
  if (here.snippet >= want_.size() || !follows(before, here)) return std::nullopt;
  std::size_t old = kNoToken;  // of the pattern: what stands behind the gap there
  std::uint32_t behind = 0;    // of the target
  if (before.kind == Item::Kind::kept && here.kind != Item::Kind::kept && same_[before.snippet] != kNoToken) {
    old = same_[before.snippet] + 1;
    behind = before.target + 1;
  } else if (before.kind != Item::Kind::kept && here.kind == Item::Kind::kept && here.target > 0 &&
             gone_[here.target - 1]) {
    old = same_[here.snippet];
    behind = here.target;
  }
  if (old >= have_.size() || behind == 0 || behind >= tokens_.size() || have_[old].gap != want_[here.snippet].gap)
    return std::nullopt;
  const auto& stands_for = have_[old].target;
  if (stands_for.empty() || stands_for.front() != behind) return std::nullopt;
  std::string own = target_gap(behind);
  if (own.find_first_not_of(" \t") != std::string::npos) return std::nullopt;
  return own;
}

// Between two kept tokens, what stood between them is gone. A comment on the line of the first stays there; one on a line that
// goes as a whole goes too (and add() has a word to say).
std::optional<TokenGaps::Gap> TokenGaps::gap_over_gone(const Item& before, const Item& here, Range own) const {
  const Range first = gap_range(before.target);
  const bool led = source_.text(first).find('\n') != std::string_view::npos;
  const Range stays = led ? comment_on_line(first) : Range{first.begin, first.begin};
  if (source_.text(own).find('\n') != std::string_view::npos)
    return Gap{stays, "", led ? comment_on_line(own).end : own.begin};
  if (led && !is_closing(text(here))) {
    const Range rest{stays.end, first.end};
    if (source_.text(rest).find('#') == std::string_view::npos) return stay(first);
  }
  if (here.snippet == kNoToken && !is_opening(text(before))) return write(std::string(source_.text(own)));
  return std::nullopt;
}

// The gap of the first new item behind the last kept one in front of i.
TokenGaps::Gap TokenGaps::first_inserted_gap(std::size_t i) const {
  std::size_t k = i;
  while (k > 0 && items_[k - 1].kind != Item::Kind::kept) --k;
  Gap out;
  for (; k > 0 && k < i; ++k) {
    out = gap(k);
    if (out.stays.size() > 0) return out;
  }
  return out;
}

// New items between a comma or an opening bracket and what begins a line behind it: they begin that line.
bool TokenGaps::begins_lines(std::size_t i) const {
  const Item& before = items_[i - 1];
  if (before.kind != Item::Kind::kept || items_[i].kind == Item::Kind::kept || flat_.contains(i)) return false;
  if (text(before) != "," && !is_opening(text(before))) return false;
  std::size_t n = i;
  while (n < items_.size() && items_[n].kind != Item::Kind::kept) ++n;
  return n < items_.size() && items_[n].target == before.target + 1 && !is_closing(text(items_[n])) &&
         target_gap(before.target + 1).find('\n') != std::string::npos;
}

// What takes the place of something that began a line begins it too, and so does a new element beside others that do.
std::optional<TokenGaps::Gap> TokenGaps::line_of_its_own(std::size_t i) const {
  const Item& before = items_[i - 1];
  if (items_[i].kind == Item::Kind::kept || flat_.contains(i)) return std::nullopt;
  if (before.kind == Item::Kind::kept && before.target + 1 < tokens_.size() && gone_[before.target + 1]) {
    const bool led = target_gap(before.target + 1).find('\n') != std::string::npos;
    if (led && !is_closing(text_of(before.target + 1))) return stay(gap_range(before.target));
  }
  if (text(before) != ",") return std::nullopt;
  std::size_t k = i - 1;
  while (k > 0 && items_[k].kind != Item::Kind::kept) --k;
  if (items_[k].kind != Item::Kind::kept) return std::nullopt;
  const bool trailing = k == i - 1;  // a comma of the target
  if (!trailing && before.snippet >= want_.size()) return std::nullopt;
  const NodeId list = trailing ? t_[tokens_[items_[k].target]].parent
                               : kept_list(replacement_.tree()[want_[before.snippet].node].parent);
  if (list == kNone || items_[k].target + 1 >= tokens_.size()) return std::nullopt;
  const std::uint32_t begin = line_of_element(items_[k].target - (trailing ? 1 : 0), list);
  const Range behind = comment_on_line(gap_range(items_[k].target));
  const bool first_new = k == i - 1 || (k + 2 == i && text(items_[k + 1]) == ",");
  if (begin == kNone && behind.size() == 0) return std::nullopt;
  const std::string line = begin == kNone ? rebased("\n ") : line_break_at(begin);
  return Gap{first_new && behind.size() > 0 ? behind : Range{}, line, kNone};
}
// A line end, and the indentation of the line of that byte.
std::string TokenGaps::line_break_at(std::uint32_t at) const {
  return std::string(source_.newline()) + std::string(source_.indentation_at(at));
}
// Behind the token, up to the next one.
Range TokenGaps::gap_range(std::uint32_t t) const {
  return {t_[tokens_[t]].end, t + 1 < tokens_.size() ? t_[tokens_[t + 1]].begin : t_[tokens_[t]].end};
}
// Its part up to the end of a comment on its first line; empty: there is none.
Range TokenGaps::comment_on_line(Range gap) const {
  const auto bytes = source_.text(gap);
  const std::size_t end = std::min(bytes.find_first_of("\r\n"), bytes.size());
  const bool comment = bytes.substr(0, end).find('#') != std::string_view::npos;
  return {gap.begin, gap.begin + (comment ? static_cast<std::uint32_t>(end) : 0)};
}
std::string TokenGaps::target_gap(std::uint32_t t) const {
  return std::string(source_.text({t_[tokens_[t - 1]].end, t_[tokens_[t]].begin}));
}
// The target's list that this one of the replacement is: its bracket is kept. kNone: the list is new.
NodeId TokenGaps::kept_list(NodeId list) const {
  const NodeId bracket = replacement_.tree().first_child(list);
  for (const Item& item : items_) {
    if (item.kind == Item::Kind::kept && item.snippet < want_.size() && want_[item.snippet].node == bracket)
      return t_[tokens_[item.target]].parent;
  }
  return kNone;
}
// Where the element of that list begins which ends in this token, if it begins its line; else kNone.
std::uint32_t TokenGaps::line_of_element(std::uint32_t token, NodeId list) const {
  NodeId element = tokens_[token];
  while (t_[element].parent != kNone && t_[element].end == t_[tokens_[token]].end && t_[element].parent != list)
    element = t_[element].parent;
  if (t_[element].parent != list || t_[element].end != t_[tokens_[token]].end) return kNone;
  const std::uint32_t begin = t_[element].begin;
  const std::uint32_t line = source_.line_begin(source_.line_of(begin));
  return line + source_.indentation_at(begin).size() == begin ? begin : kNone;
}

// The target token of the item before i, inserted parentheses aside; npos where it is no kept one.
std::size_t TokenGaps::last_target(std::size_t i) const {
  while (i > 0 && items_[i - 1].kind == Item::Kind::close) --i;
  return i > 0 && items_[i - 1].kind == Item::Kind::kept ? items_[i - 1].target : kNoToken - 1;
}

std::string TokenGaps::replacement_gap(const Item& before, const Item& here) const {
  if (here.snippet == kComma) return "";
  std::size_t j = here.snippet;
  if (j == kNoToken || j >= want_.size()) return before.snippet == kComma ? " " : "";
  if (before.snippet == kComma) return " ";
  return rebased(want_[j].gap);
}
// The replacement breaks the line between these two, which are neighbours there.
bool TokenGaps::breaks_in_replacement(const Item& before, const Item& here) const {
  return here.snippet < want_.size() && here.snippet > 0 && follows(before, here) &&
         want_[here.snippet].gap.find('\n') != std::string::npos;
}
// ... and the pattern does not.
bool TokenGaps::breaks_anew(const Item& before, const Item& here) const {
  if (!breaks_in_replacement(before, here)) return false;
  const std::size_t was = same_[here.snippet];
  return was == kNoToken || have_[was].gap.find('\n') == std::string::npos;
}
// A line break of the replacement in the target's lines: its indentation counts in levels, from that of the match's line.
std::string TokenGaps::rebased(const std::string& gap) const {
  const std::size_t line = gap.rfind('\n');
  if (line == std::string::npos) return gap;
  const std::size_t blanks = gap.size() - line - 1;
  std::size_t unit = std::max<std::size_t>(blanks, 1);
  for (const SnippetToken& token : want_) {
    const std::size_t at = token.gap.rfind('\n');
    if (at != std::string::npos && at + 1 < token.gap.size()) unit = std::min(unit, token.gap.size() - at - 1);
  }
  std::string out;
  for (auto n = std::count(gap.begin(), gap.end(), '\n'); n > 0; --n) out += source_.newline();
  out += source_.indentation_at(t_[tokens_.front()].begin);
  const std::string level = indentation_unit(target_, suite_of(t_, statement_of(t_, tokens_.front())));
  for (std::size_t n = 0; n < blanks / unit; ++n) out += level;
  return out + std::string(blanks % unit, ' ');
}

}  // namespace suture
