// See rewrite.h and token_rewrite.h. Tests: tests/unit/rewrite_test.cc.
#include "engine/token_rewrite.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/precedence.h"
#include "engine/token.h"
#include "engine/token_gaps.h"

namespace suture {
namespace {

// Rewrites the token list of one match (or of one statement of it).
class TokenRewriter : private TokenGaps {
 public:
  TokenRewriter(const CodeView& target, const Bindings& bindings, const Pattern& replacement,
                std::vector<NodeId> replacement_roots, Comments comments)
      : TokenGaps(target, replacement, snippet_tokens(replacement, replacement_roots)),
        bindings_(bindings),
        comments_(comments),
        roots_(std::move(replacement_roots)) {}

  // `have`: the pattern's tokens mapped to `tokens` of the target. outer: insertions go outside of redundant
  // parentheses.
  Rewrite run(const Pattern& pattern, std::vector<SnippetToken> have, const std::vector<NodeId>& tokens, NodeId whole,
              TokenRewrite::Way way) {
    tokens_ = tokens;
    pattern_ = &pattern;
    part_ = whole == kNone;
    drop_empty_runs(pattern, have, bindings_);
    drop_empty_runs(replacement_, want_, bindings_);
    have_ = std::move(have);
    same_ = align(have_, want_);
    afresh_ = way == TokenRewrite::Way::afresh;
    if (afresh_) same_.assign(want_.size(), kNoToken);
    place(have_, way == TokenRewrite::Way::outside);
    wrap_whole(whole);
    tidy_commas();
    trailing_commas_first();
    keep_inside_brackets(whole);
    return emit();
  }

 private:
  // --- which tokens stay, and where the new ones go
  // ------------------------------------------------------------------------

  void place(const std::vector<SnippetToken>& have, bool outer) {
    std::vector<bool> gone(tokens_.size(), afresh_);
    std::vector<std::size_t> snippet_of(tokens_.size(), kNoToken);
    std::vector<bool> known(tokens_.size(), false);
    std::set<std::size_t> stays;
    for (std::size_t j = 0; j < want_.size(); ++j) {
      if (same_[j] != kNoToken) stays.insert(same_[j]);
    }
    for (std::size_t i = 0; i < have.size(); ++i) {
      for (std::uint32_t t : have[i].target) {
        known[t] = true;
        if (!stays.contains(i)) gone[t] = true;
      }
    }
    for (std::uint32_t t = 0; t + 1 < tokens_.size(); ++t) {
      // A trailing comma goes with its closing bracket.
      if (!known[t] && text_of(t) == "," && gone[t + 1] && t_[tokens_[t]].parent == t_[tokens_[t + 1]].parent)
        gone[t] = true;
    }
    remove_empty_parentheses(known, gone);
    keep_first_comma(known, gone);
    // Insertions, by the target token that they follow (index + 1; 0: in front of all).
    std::map<std::size_t, std::vector<Item>> inserted;
    std::size_t at = first_anchor(have);
    bool anchored = false;
    for (std::size_t j = 0; j < want_.size(); ++j) {
      const SnippetToken* token = same_[j] == kNoToken ? nullptr : &have[same_[j]];
      if (token != nullptr && !token->target.empty()) {
        for (std::uint32_t t : token->target) snippet_of[t] = j;
        parenthesise(j, *token);
        at = token->target.back() + 1;
        anchored = true;
        if (outer) {
          while (at < tokens_.size() && !known[at] && text_of(at) == ")" && !gone[at] &&
                 is_redundant(static_cast<std::uint32_t>(at)))
            ++at;
        }
        continue;
      }
      if ((token != nullptr && skip_virtual(j)) || brings_its_own(j)) continue;
      std::size_t place_at = at;
      if (const std::size_t gap = afresh_ ? kNoToken : replaced_here(have, j, at, anchored); gap != kNoToken) {
        place_at = gap;
      } else if (!outer) {
        while (place_at < tokens_.size() && !known[place_at] && text_of(place_at) == "(") ++place_at;
      } else if (!anchored) {
        while (place_at > 0 && !known[place_at - 1] && text_of(place_at - 1) == "(") --place_at;
      }
      append(j, inserted[place_at]);
    }
    gone_ = gone;
    for (std::uint32_t t = 0; t <= tokens_.size(); ++t) {
      if (const auto it = before_.find(t); it != before_.end() && t < tokens_.size() && !gone[t])
        pending_open_ = it->second;
      if (const auto it = inserted.find(t); it != inserted.end())
        items_.insert(items_.end(), it->second.begin(), it->second.end());
      if (t == tokens_.size() || gone[t]) continue;
      for (int n = pending_open_; n > 0; --n) items_.push_back({Item::Kind::open, 0, kNoToken, false});
      pending_open_ = 0;
      items_.push_back({Item::Kind::kept, t, snippet_of[t], false});
      if (const auto it = after_.find(t); it != after_.end()) {
        for (int n = it->second; n > 0; --n) items_.push_back({Item::Kind::close, 0, kNoToken, false});
      }
    }
  }

  // Redundant parentheses go with what stood in them; the inner ones first.
  void remove_empty_parentheses(const std::vector<bool>& known, std::vector<bool>& gone) const {
    for (std::uint32_t open = static_cast<std::uint32_t>(tokens_.size()); open-- > 0;) {
      if (known[open] || gone[open] || text_of(open) != "(" || !is_redundant(open)) continue;
      std::uint32_t close = open + 1;
      while (close < tokens_.size() && gone[close]) ++close;
      if (close == tokens_.size() || text_of(close) != ")" || t_[tokens_[close]].parent != t_[tokens_[open]].parent)
        continue;
      gone[open] = gone[close] = true;
    }
  }

  // Of the commas around a last element that goes, the trailing one goes with it: what stands behind the other one stays.
  void keep_first_comma(const std::vector<bool>& known, std::vector<bool>& gone) const {
    for (std::uint32_t last = 1; last < tokens_.size(); ++last) {
      if (known[last] || gone[last] || text_of(last) != "," || !gone[last - 1]) continue;
      std::uint32_t first = last - 1;
      while (first > 0 && gone[first - 1]) --first;
      if (text_of(first) != "," || t_[tokens_[first]].parent != t_[tokens_[last]].parent) continue;
      gone[first] = false;
      gone[last] = true;
    }
  }

  // A new token takes the place of those that it replaces: the first target token of the pattern's between the kept
  // neighbours of want_[j]. kNoToken: it replaces none, or they stand somewhere else (keywords in another order).
  std::size_t replaced_here(const std::vector<SnippetToken>& have, std::size_t j, std::size_t at, bool anchored) const {
    std::size_t first = 0;
    for (std::size_t k = j; k-- > 0;) {
      if (same_[k] == kNoToken) continue;
      first = same_[k] + 1;
      break;
    }
    std::size_t next = j;
    while (next < want_.size() && same_[next] == kNoToken) ++next;
    const std::size_t last = next < want_.size() ? same_[next] : have.size();
    std::size_t out = kNoToken;
    for (std::size_t i = first; i < last; ++i) {
      if (!have[i].target.empty()) out = std::min<std::size_t>(out, have[i].target.front());
    }
    const bool in_front =
        next < want_.size() && !have[last].target.empty() && out + (last - first) == have[last].target.front();
    return out != kNoToken && (!anchored || out >= at || in_front) ? out : kNoToken;
  }

  // Where tokens of the replacement go that come before any kept one: in front of the first kept token of the target.
  std::size_t first_anchor(const std::vector<SnippetToken>& have) const {
    for (std::size_t j = 0; j < want_.size(); ++j) {
      if (same_[j] != kNoToken && !have[same_[j]].target.empty()) return have[same_[j]].target.front();
    }
    return 0;
  }

  bool is_redundant(std::uint32_t t) const { return t_.is(t_[tokens_[t]].parent, kinds().parenthesized_expression); }

  // A token that pattern and replacement share and the target does not have: a redundant parenthesis, a trailing comma.
  bool skip_virtual(std::size_t j) const {
    const auto text = replacement_.source().text(replacement_.tree().range(want_[j].node));
    if (text == "(" || text == ")")
      return replacement_.tree().is(replacement_.tree()[want_[j].node].parent, kinds().parenthesized_expression);
    const bool closer_follows =
        j + 1 < want_.size() && (is_text(replacement_, want_[j + 1], ")") || is_text(replacement_, want_[j + 1], "]") ||
                                 is_text(replacement_, want_[j + 1], "}"));
    return text == "," && closer_follows;
  }

  // The parentheses of a call whose one argument is a capture with parentheses: a generator needs no others, and `float((n))` is
  // `float(n)`. Those of a yield are its own.
  bool brings_its_own(std::size_t j) const {
    const Tree& tree = replacement_.tree();
    if (!is_text(replacement_, want_[j], "(") && !is_text(replacement_, want_[j], ")")) return false;
    const NodeId list = tree[want_[j].node].parent;
    if (!tree.is(list, kinds().argument_list) || tree.named_children(list).size() != 1) return false;
    const Metavariable* mv = replacement_.metavariable(tree.named_children(list)[0]);
    const Binding* binding = mv == nullptr ? nullptr : find_binding(*mv);
    if (binding == nullptr || binding->nodes.size() != 1) return false;
    const NodeId node = binding->nodes[0];
    const bool in_parentheses =
        t_.is(node, kinds().parenthesized_expression) && !t_.is(strip_parentheses(t_, node), kinds().yield);
    return in_parentheses || t_.is(node, kinds().generator_expression);
  }

  void append(std::size_t j, std::vector<Item>& out) {
    const SnippetToken& token = want_[j];
    const Binding* binding = token.mv == nullptr ? nullptr : find_binding(*token.mv);
    if (binding == nullptr) {
      out.push_back({Item::Kind::code, 0, j, false});
      return;
    }
    const bool wrap = wants_parentheses(token.node, *binding);
    if (wrap) out.push_back({Item::Kind::open, 0, j, false});
    bool first = true;
    for (NodeId node : binding->nodes) {
      if (!first) out.push_back({Item::Kind::code, 0, kComma, false});
      bool continues = false;
      for (NodeId t : tokens_of(t_, {node})) {
        out.push_back({Item::Kind::copied, t, first && !continues ? j : kNoToken, continues});
        continues = true;
      }
      first = false;
    }
    if (wrap) out.push_back({Item::Kind::close, 0, kNoToken, false});
  }

  // A capture that stays can still come into a place that binds tighter than its old one.
  void parenthesise(std::size_t j, const SnippetToken& token) {
    if (token.mv == nullptr || token.target.empty()) return;
    const Binding* binding = find_binding(*want_[j].mv);
    if (binding == nullptr || !wants_parentheses(want_[j].node, *binding)) return;
    // As loose as it was where it stood without them.
    if (needs_parentheses(target_, binding->nodes[0], target_, binding->nodes[0])) return;
    ++before_[token.target.front()];
    ++after_[token.target.back()];
  }

  const Binding* find_binding(const Metavariable& mv) const {
    const auto it = bindings_.find(mv.name);
    return mv.name.empty() || it == bindings_.end() ? nullptr : &it->second;
  }

  bool wants_parentheses(NodeId place, const Binding& binding) const {
    if (binding.run || binding.nodes.size() != 1) return false;
    const CodeView code{&replacement_.source(), &replacement_.tree()};
    // Of a whole expression that breaks its lines, keep_inside_brackets makes one pair.
    const bool bare = part_ && breaks_line(target_, binding.nodes[0]) && !in_brackets(code, place);
    return bare || needs_parentheses(target_, binding.nodes[0], code, place);
  }

  // The replacement as a whole, where it stands in the target.
  void wrap_whole(NodeId whole) {
    if (whole == kNone || roots_.size() != 1) return;
    CodeView code{&replacement_.source(), &replacement_.tree()};
    NodeId root = roots_[0];
    if (const Metavariable* mv = replacement_.metavariable(root)) {
      const Binding* binding = find_binding(*mv);
      if (binding == nullptr || binding->nodes.size() != 1) return;
      code = target_;
      root = binding->nodes[0];
    }
    if (needs_parentheses(code, root, target_, whole) && !needs_parentheses(target_, whole, target_, whole))
      wrap_items();
  }
  void wrap_items() {
    items_.insert(items_.begin(), {Item::Kind::open, 0, kNoToken, false});
    items_.push_back({Item::Kind::close, 0, kNoToken, false});
  }

  // --- well-formed lists
  // ------------------------------------------------------------------------------------------------------

  // Never `f(, x)` nor `,,`: a comma directly behind an opening bracket or another comma goes.
  void tidy_commas() {
    for (std::size_t i = 1; i < items_.size();) {
      const auto before = text(items_[i - 1]);
      const bool stray = text(items_[i]) == "," && (before == "(" || before == "[" || before == "{" || before == ",");
      if (stray) {
        items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
  }

  // A new last element goes behind the trailing comma of the one before it, and brings its own: so a comment behind that comma
  // stays with what it speaks of.
  void trailing_commas_first() {
    for (std::size_t last = 2; last + 1 < items_.size(); ++last) {
      const bool trailing = items_[last].kind == Item::Kind::kept && items_[last].snippet == kNoToken &&
                            text(items_[last]) == "," && items_[last + 1].kind == Item::Kind::kept &&
                            is_closing(text(items_[last + 1]));
      if (!trailing) continue;
      std::size_t first = last;
      while (first > 0 && items_[first - 1].kind != Item::Kind::kept) --first;
      if (first == last || first == 0 || text(items_[first]) != "," ||
          items_[first - 1].target + 1 != items_[last].target)
        continue;
      std::swap(items_[first], items_[last]);
      items_[first].snippet = items_[last].snippet;
    }
  }

  // An expression that now breaks its line outside of any bracket gets a pair; in a part of a statement such gaps
  // become blanks.
  void keep_inside_brackets(NodeId whole) {
    if (whole != kNone && in_brackets(target_, whole)) return;
    int depth = 0;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const auto now = text(items_[i]);
      const std::string between = i == 0 ? "" : bytes_of(gap(i), i);
      if (depth == 0 && between.find('\n') != std::string::npos && between.find('\\') == std::string::npos) {
        if (whole != kNone) return wrap_items();
        if (was_in_brackets(i)) flat_.insert(i);  // a decorator ends its line, too
      }
      if (is_opening(now)) ++depth;
      if (is_closing(now)) --depth;
    }
  }

  bool was_in_brackets(std::size_t i) const {
    while (items_[i].kind == Item::Kind::open && i + 1 < items_.size()) ++i;
    return items_[i].kind == Item::Kind::kept && in_brackets(target_, tokens_[items_[i].target]);
  }

  // --- bytes
  // ------------------------------------------------------------------------------------------

  Rewrite emit() {
    Rewrite out;
    if (tokens_.empty()) return out;
    std::uint32_t cursor = t_[tokens_.front()].begin;
    const std::uint32_t end = t_[tokens_.back()].end;
    std::string pending;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const Gap g = i == 0 ? Gap{} : gap(i);
      if (g.stays.size() > 0) {
        add(out, cursor, g.stays.begin, pending);
        pending.clear();
        cursor = g.stays.end;
      }
      pending += g.text;
      if (items_[i].kind != Item::Kind::kept) {
        pending += without_placeholders(std::string(text(items_[i])));
        continue;
      }
      const std::uint32_t begin = t_[tokens_[items_[i].target]].begin;
      add(out, cursor, g.resumes == kNone ? begin : g.resumes, pending);
      pending.clear();
      cursor = t_[tokens_[items_[i].target]].end;
    }
    add(out, cursor, end, pending);
    return out;
  }

  // Inside of a capture that the replacement has: copied with it.
  [[nodiscard]] bool is_captured(Range comment) const {
    const auto& names = replacement_.names();
    return std::any_of(names.begin(), names.end(), [&](const Metavariable& mv) {
      const Binding* binding = find_binding(mv);
      return binding != nullptr && std::any_of(binding->nodes.begin(), binding->nodes.end(),
                                               [&](NodeId node) { return t_.range(node).contains(comment); });
    });
  }

  void add(Rewrite& out, std::uint32_t begin, std::uint32_t end, std::string text) {
    if (source_.text({begin, end}) == text) return;
    for (NodeId id = 0; id < t_.size() && comments_ != Comments::drop; ++id) {
      if (!t_.is(id, kinds().comment) || t_[id].begin < begin || t_[id].end > end || is_captured(t_.range(id)))
        continue;
      if (comments_ == Comments::keep) {
        const std::uint32_t line = source_.line_of(t_[id].begin);
        text = std::string(source_.text({begin == t_[id].begin ? begin : t_[id].begin, t_[id].end})) +
               std::string(source_.newline()) + std::string(source_.indentation_at(source_.line_begin(line))) + text;
        continue;
      }
      out.problem = RewriteProblem{"a comment stands where code is replaced",
                                   "say `comments: keep` or `comments: drop` in the rule", t_.range(id)};
      return;
    }
    out.splices.push_back(Splice{begin, end, std::move(text), "", false});
  }

  const Bindings& bindings_;
  const Pattern* pattern_ = nullptr;
  Comments comments_;
  std::vector<NodeId> roots_;
  bool afresh_ = false;
  std::map<std::uint32_t, int> before_, after_;
  int pending_open_ = 0;
  bool part_ = false;  // of a statement, not an expression
};

}  // namespace

Rewrite rewrite_tokens(const TokenRewrite& job, const TokenMap& map) {
  TokenRewriter rewriter(job.target, *job.bindings, *job.replacement, job.replacement_roots, job.comments);
  return rewriter.run(*job.pattern, map.snippet(), map.tokens(), job.whole, job.way);
}

}  // namespace suture
