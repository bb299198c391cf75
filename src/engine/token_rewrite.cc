// See rewrite.h and token_rewrite.h. Tests: tests/unit/rewrite_test.cc.
#include "engine/token_rewrite.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/precedence.h"
#include "engine/token.h"

namespace suture {
namespace {

// One token of the result: of the target in its place, a copy of target tokens, code of the replacement, or a parenthesis that precedence needs.
struct Item {
  enum class Kind { kept, copied, code, open, close } kind = Kind::code;
  std::uint32_t target = 0;        // kept, copied: index of the target token
  std::size_t snippet = kNoToken;  // index into the replacement's tokens
  bool continues = false;          // copied: follows its neighbour in the target, gap and all
};

// Rewrites the token list of one match (or of one statement of it).
class TokenRewriter {
 public:
  TokenRewriter(const CodeView& target, const Bindings& bindings, const Pattern& replacement,
                std::vector<NodeId> replacement_roots, Comments comments)
      : target_(target),
        t_(*target.tree),
        source_(*target.source),
        bindings_(bindings),
        replacement_(replacement),
        comments_(comments),
        want_(snippet_tokens(replacement, replacement_roots)),
        roots_(std::move(replacement_roots)) {}

  // `have`: the pattern's tokens mapped to `tokens` of the target. outer: insertions go outside of redundant parentheses.
  Rewrite run(const Pattern& pattern, std::vector<SnippetToken> have, const std::vector<NodeId>& tokens, NodeId whole,
              bool outer) {
    tokens_ = tokens;
    pattern_ = &pattern;
    drop_empty_runs(pattern, have, bindings_);
    drop_empty_runs(replacement_, want_, bindings_);
    same_ = align(have, want_);
    place(have, outer);
    wrap_whole(whole);
    tidy_commas();
    keep_inside_brackets(whole);
    return emit();
  }

 private:
  // --- which tokens stay, and where the new ones go ------------------------------------------------------------------------

  void place(const std::vector<SnippetToken>& have, bool outer) {
    std::vector<bool> gone(tokens_.size(), false);
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
                 closes_redundant(static_cast<std::uint32_t>(at)))
            ++at;
        }
        continue;
      }
      if (token != nullptr && skip_virtual(j)) continue;
      std::size_t place_at = at;
      if (!outer) {
        place_at = next_anchor(have, j, at);
      } else if (!anchored) {
        while (place_at > 0 && !known[place_at - 1] && text_of(place_at - 1) == "(") --place_at;
      }
      append(j, inserted[place_at]);
    }
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

  // Where tokens of the replacement go that come before any kept one: in front of the first kept token of the target.
  std::size_t first_anchor(const std::vector<SnippetToken>& have) const {
    for (std::size_t j = 0; j < want_.size(); ++j) {
      if (same_[j] != kNoToken && !have[same_[j]].target.empty()) return have[same_[j]].target.front();
    }
    return 0;
  }

  // In front of the next kept token of the target: inside of redundant parentheses that open before it.
  std::size_t next_anchor(const std::vector<SnippetToken>& have, std::size_t j, std::size_t otherwise) const {
    for (; j < want_.size(); ++j) {
      if (same_[j] != kNoToken && !have[same_[j]].target.empty()) return have[same_[j]].target.front();
    }
    return otherwise;
  }

  bool closes_redundant(std::uint32_t t) const {
    return t_.is(t_[tokens_[t]].parent, kinds().parenthesized_expression);
  }

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

  void append(std::size_t j, std::vector<Item>& out) {
    const SnippetToken& token = want_[j];
    const Binding* binding = token.mv == nullptr ? nullptr : find_binding(*token.mv);
    if (binding == nullptr) {
      out.push_back({Item::Kind::code, 0, j, false});
      return;
    }
    const bool wrap = needs_parentheses(token.node, *binding);
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
    if (binding == nullptr || !needs_parentheses(want_[j].node, *binding)) return;
    const int before = precedence_wanted(pattern_->source(), pattern_->tree(), token.node);
    if (precedence_wanted(replacement_.source(), replacement_.tree(), want_[j].node) <= before) return;
    ++before_[token.target.front()];
    ++after_[token.target.back()];
  }

  const Binding* find_binding(const Metavariable& mv) const {
    const auto it = bindings_.find(mv.name);
    return mv.name.empty() || it == bindings_.end() ? nullptr : &it->second;
  }

  bool needs_parentheses(NodeId place, const Binding& binding) const {
    if (binding.run || binding.nodes.size() != 1) return false;
    const int wanted = precedence_wanted(replacement_.source(), replacement_.tree(), place);
    const NodeId node = binding.nodes[0];
    if (precedence(source_, t_, node) >= wanted && !is_number_before_dot(place, node)) return false;
    // Already as loose where it stands, and in parentheses that are its own: `(a, b)` is a tuple.
    return true;
  }
  bool is_number_before_dot(NodeId place, NodeId node) const {
    const NodeId parent = replacement_.tree()[place].parent;
    return t_.is(node, kinds().integer) && parent != kNone && replacement_.tree().is(parent, kinds().attribute);
  }

  // The replacement as a whole, where it stands in the target.
  void wrap_whole(NodeId whole) {
    if (whole == kNone || roots_.size() != 1) return;
    const int wanted = precedence_wanted(source_, t_, whole);
    NodeId root = roots_[0];
    const int has =
        replacement_.metavariable(root) != nullptr ? 16 : precedence(replacement_.source(), replacement_.tree(), root);
    int real = has;
    if (const Metavariable* mv = replacement_.metavariable(root)) {
      if (const Binding* b = find_binding(*mv); b != nullptr && b->nodes.size() == 1)
        real = precedence(source_, t_, b->nodes[0]);
    }
    if (real >= wanted || precedence(source_, t_, whole) < wanted) return;
    wrap_items();
  }
  void wrap_items() {
    items_.insert(items_.begin(), {Item::Kind::open, 0, kNoToken, false});
    items_.push_back({Item::Kind::close, 0, kNoToken, false});
  }

  // --- well-formed lists ------------------------------------------------------------------------------------------------------

  [[nodiscard]] std::string_view text_of(std::size_t t) const { return source_.text(t_.range(tokens_[t])); }
  [[nodiscard]] std::string_view text(const Item& item) const {
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
    return item.snippet == kComma ? ","
                                  : replacement_.source().text(replacement_.tree().range(want_[item.snippet].node));
  }

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

  // An expression that now breaks its line outside of any bracket gets a pair.
  void keep_inside_brackets(NodeId whole) {
    if (whole == kNone || in_brackets(whole)) return;
    int depth = 0;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const auto now = text(items_[i]);
      if (i > 0 && depth == 0 && gap(i).text.find('\n') != std::string::npos &&
          gap(i).text.find('\\') == std::string::npos) {
        wrap_items();
        return;
      }
      if (now == "(" || now == "[" || now == "{") ++depth;
      if (now == ")" || now == "]" || now == "}") --depth;
    }
  }
  bool in_brackets(NodeId node) const {
    for (NodeId at = t_[node].parent; at != kNone && !is_suite(t_, at); at = t_[at].parent) {
      const NodeId first = t_.first_child(at);
      for (NodeId c = first; c != kNone && t_[c].begin < t_[node].begin; c = t_.next_sibling(c)) {
        const auto open = source_.text(t_.range(c));
        if (!t_[c].named && (open == "(" || open == "[" || open == "{")) return true;
      }
    }
    return false;
  }

  // --- bytes ------------------------------------------------------------------------------------------------------------------

  struct Gap {
    std::string text;
    bool kept = false;  // the target's own bytes in front of this kept token
    std::uint32_t begin = 0;
  };

  // The bytes between items i-1 and i.
  Gap gap(std::size_t i) const {
    const Item& before = items_[i - 1];
    std::size_t next = i;  // an inserted `(` stands in the gap of what it opens
    while (items_[next].kind == Item::Kind::open && next + 1 < items_.size()) ++next;
    const Item& here = items_[next];
    if (here.kind == Item::Kind::copied && here.continues) {
      const std::uint32_t end = t_[here.target].begin;
      return {std::string(source_.text({t_[before.target].end, end})), false, 0};
    }
    if (before.kind == Item::Kind::open || here.kind == Item::Kind::close) return {};
    if (here.kind == Item::Kind::kept && here.target > 0) {
      const std::uint32_t begin = t_[tokens_[here.target - 1]].end;
      const std::uint32_t end = t_[tokens_[here.target]].begin;
      const auto own = source_.text({begin, end});
      const bool neighbours = last_target(i) + 1 == here.target;
      if (neighbours || own.find('\n') != std::string_view::npos) return {std::string(own), true, begin};
      if (here.snippet == kNoToken) return {std::string(own), false, 0};
    }
    return {replacement_gap(before, here), false, 0};
  }

  // The target token of the item before i, inserted parentheses aside; npos where it is no kept one.
  std::size_t last_target(std::size_t i) const {
    while (i > 0 && items_[i - 1].kind == Item::Kind::close) --i;
    return i > 0 && items_[i - 1].kind == Item::Kind::kept ? items_[i - 1].target : kNoToken - 1;
  }

  std::string replacement_gap(const Item& before, const Item& here) const {
    if (here.snippet == kComma) return "";
    std::size_t j = here.snippet;
    if (j == kNoToken || j >= want_.size()) return before.snippet == kComma ? " " : "";
    if (before.snippet == kComma) return " ";
    return want_[j].gap;
  }

  Rewrite emit() {
    Rewrite out;
    if (tokens_.empty()) return out;
    std::uint32_t cursor = t_[tokens_.front()].begin;
    const std::uint32_t end = t_[tokens_.back()].end;
    std::string pending;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      const Gap g = i == 0 ? Gap{} : gap(i);
      if (items_[i].kind != Item::Kind::kept) {
        if (g.kept) {
          add(out, cursor, g.begin, pending);
          pending.clear();
          cursor = g.begin + static_cast<std::uint32_t>(g.text.size());
        } else {
          pending += g.text;
        }
        pending += without_placeholders(std::string(text(items_[i])));
        continue;
      }
      if (!g.kept) pending += g.text;
      add(out, cursor, g.kept ? g.begin : t_[tokens_[items_[i].target]].begin, pending);
      pending.clear();
      cursor = t_[tokens_[items_[i].target]].end;
    }
    add(out, cursor, end, pending);
    return out;
  }

  void add(Rewrite& out, std::uint32_t begin, std::uint32_t end, std::string text) {
    if (source_.text({begin, end}) == text) return;
    for (NodeId id = 0; id < t_.size() && comments_ != Comments::drop; ++id) {
      if (!t_.is(id, kinds().comment) || t_[id].begin < begin || t_[id].end > end) continue;
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

  static constexpr std::size_t kComma = kNoToken - 1;

  CodeView target_;
  const Tree& t_;
  const Source& source_;
  const Bindings& bindings_;
  const Pattern* pattern_ = nullptr;
  const Pattern& replacement_;
  Comments comments_;
  std::vector<SnippetToken> want_;
  std::vector<NodeId> roots_;
  std::vector<NodeId> tokens_;
  std::vector<std::size_t> same_;
  std::vector<Item> items_;
  std::map<std::uint32_t, int> before_, after_;
  int pending_open_ = 0;
};

}  // namespace

Rewrite rewrite_tokens(const TokenRewrite& job, const TokenMap& map) {
  TokenRewriter rewriter(job.target, *job.bindings, *job.replacement, job.replacement_roots, job.comments);
  return rewriter.run(*job.pattern, map.snippet(), map.tokens(), job.whole, job.outer);
}

}  // namespace suture
