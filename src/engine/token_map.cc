#include "engine/token_map.h"

#include <algorithm>

#include "engine/token.h"

namespace suture {
namespace {

// The blanks in front of `end`, back to `from` at most: what a string ends with is no gap.
std::string blanks_before(const Source& source, std::uint32_t from, std::uint32_t end) {
  const std::string& bytes = source.bytes();
  std::uint32_t begin = end;
  while (begin > from && (bytes[begin - 1] == ' ' || bytes[begin - 1] == '\n' || bytes[begin - 1] == '\t')) --begin;
  return bytes.substr(begin, end - begin);
}

// What the alignment compares. The parentheses of a call are not those around an expression: the call's can hold a
// trailing comma.
std::string token_text(const Pattern& snippet, NodeId token) {
  const Tree& tree = snippet.tree();
  const std::string text = without_placeholders(snippet.source().text(tree.range(token)));
  const NodeId parent = tree[token].parent;
  const bool grouping =
      (text == "(" || text == ")") && parent != kNone && tree.is(parent, kinds().parenthesized_expression);
  return grouping ? "group " + text : text;
}

}  // namespace

std::vector<SnippetToken> snippet_tokens(const Pattern& snippet, const std::vector<NodeId>& roots) {
  std::vector<SnippetToken> out;
  const Tree& tree = snippet.tree();
  for (NodeId root : roots) {
    for (NodeId id = root; id < tree[root].subtree_end;) {
      const Metavariable* mv = snippet.metavariable(id);
      if (!tree[id].extra && (mv != nullptr || is_token(tree, id))) {
        if (tree[id].begin < tree[id].end) {
          const auto key = mv != nullptr ? "mv " + mv->spelled() : token_text(snippet, id);
          out.push_back(
              {id,
               key,
               mv,
               {},
               false,
               out.empty() ? "" : blanks_before(snippet.source(), tree[out.back().node].end, tree[id].begin)});
        }
        id = tree[id].subtree_end;
      } else {
        id = tree[id].extra ? tree[id].subtree_end : id + 1;
      }
    }
  }
  return out;
}

bool is_text(const Pattern& snippet, const SnippetToken& token, std::string_view text) {
  return token.mv == nullptr && snippet.source().text(snippet.tree().range(token.node)) == text;
}

void drop_empty_runs(const Pattern& snippet, std::vector<SnippetToken>& tokens, const Bindings& bindings) {
  for (std::size_t i = 0; i < tokens.size();) {
    const Metavariable* mv = tokens[i].mv;
    const bool empty =
        mv != nullptr && mv->run &&
        (mv->name.empty() ? !tokens[i].in_target : bindings.contains(mv->name) && bindings.at(mv->name).nodes.empty());
    if (!empty) {
      ++i;
      continue;
    }
    std::string gap = tokens[i].gap;
    tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(i));
    if (i < tokens.size() && is_text(snippet, tokens[i], ",")) {
      tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(i));
    } else if (i > 0 && is_text(snippet, tokens[i - 1], ",")) {
      gap = tokens[--i].gap;
      tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (i < tokens.size()) tokens[i].gap = gap;
  }
}

std::vector<std::size_t> align(const std::vector<SnippetToken>& a, const std::vector<SnippetToken>& b) {
  const std::size_t n = a.size();
  const std::size_t m = b.size();
  std::vector<std::vector<std::uint32_t>> length(n + 1, std::vector<std::uint32_t>(m + 1, 0));
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t j = m; j-- > 0;) {
      length[i][j] = a[i].key == b[j].key ? length[i + 1][j + 1] + 1 : std::max(length[i + 1][j], length[i][j + 1]);
    }
  }
  std::vector<std::size_t> out(m, kNoToken);
  for (std::size_t i = 0, j = 0; i < n && j < m;) {
    if (a[i].key == b[j].key && length[i][j] == length[i + 1][j + 1] + 1) {
      out[j++] = i++;
    } else if (length[i + 1][j] >= length[i][j + 1]) {
      ++i;
    } else {
      ++j;
    }
  }
  return out;
}

TokenMap::TokenMap(const CodeView& target, const Pattern& pattern, const Match& match,
                   const std::vector<NodeId>& pattern_nodes, const std::vector<NodeId>& target_nodes)
    : t_(*target.tree), p_(pattern.tree()), tokens_(tokens_of(t_, target_nodes)) {
  for (std::uint32_t i = 0; i < tokens_.size(); ++i) index_[tokens_[i]] = i;
  for (const auto& [p, t] : match.pairs) node_[p] = {t};
  for (const auto& [p, ts] : match.runs) node_[p] = ts;
  for (const auto& [p, t] : match.pairs) parents_[p] = t;
  snippet_ = snippet_tokens(pattern, pattern_nodes);
  for (SnippetToken& token : snippet_) map(token);
}

bool TokenMap::in_order() const {
  std::uint32_t next = 0;
  for (const SnippetToken& token : snippet_) {
    for (std::size_t i = 0; i < token.target.size(); ++i) {
      if (token.target[i] < next || (i > 0 && token.target[i] != token.target[i - 1] + 1)) return false;
      next = token.target[i] + 1;
    }
  }
  return true;
}

void TokenMap::map(SnippetToken& token) {
  const auto it = node_.find(token.node);
  if (it != node_.end()) {
    for (NodeId node : it->second) add(token, node);
    token.in_target = !it->second.empty();
  } else if (token.mv == nullptr) {
    const NodeId found = punctuation(token.node);
    if (found != kNone) {
      add(token, found);
      claimed_.insert(found);
      token.in_target = true;
    }
  }
  fill_run(token);
}
void TokenMap::add(SnippetToken& token, NodeId node) {
  for (NodeId t : tokens_of(t_, {node})) {
    if (const auto at = index_.find(t); at != index_.end()) token.target.push_back(at->second);
  }
}
// The commas between the elements of a run belong to it, where nothing else stands between them.
void TokenMap::fill_run(SnippetToken& token) const {
  if (token.mv == nullptr || !token.mv->run || token.target.size() < 2) return;
  std::vector<std::uint32_t> filled;
  for (std::size_t i = 0; i + 1 < token.target.size(); ++i) {
    filled.push_back(token.target[i]);
    if (token.target[i + 1] == token.target[i] + 2 && !t_[tokens_[token.target[i] + 1]].named)
      filled.push_back(token.target[i] + 1);
  }
  filled.push_back(token.target.back());
  token.target = filled;
}

// The punctuation of the target that stands where this one stands in the pattern; kNone.
NodeId TokenMap::punctuation(NodeId p) const {
  const NodeId parent = p_[p].parent;
  const auto it = parents_.find(parent);
  if (it == parents_.end()) return kNone;
  const NodeId target_parent = it->second;
  if (p_.next_sibling(p) == kNone) return last_child(target_parent, p_[p].kind);  // a closing bracket
  NodeId after = kNone;
  for (NodeId c = p_.first_child(parent); c != p; c = p_.next_sibling(c)) {
    const auto known = node_.find(c);
    if (known != node_.end() && !known->second.empty()) after = child_over(target_parent, known->second.back(), after);
  }
  NodeId until = kNone;
  for (NodeId c = p_.next_sibling(p); c != kNone && until == kNone; c = p_.next_sibling(c)) {
    const auto known = node_.find(c);
    if (known != node_.end() && !known->second.empty()) until = child_over(target_parent, known->second.front(), kNone);
  }
  const bool arguments = p_.is(parent, kinds().argument_list);
  const NodeId from = after == kNone ? t_.first_child(target_parent) : t_.next_sibling(after);
  for (NodeId c = from; c != kNone && c != until; c = t_.next_sibling(c)) {
    if (t_[c].extra) continue;
    if (t_[c].kind == p_[p].kind && !claimed_.contains(c)) return c;
    // What is crossed is what the pattern leaves unsaid: `-> T` in front of a colon, `: T` in front of a `=`.
    if (t_[c].named && (arguments || until == kNone)) break;
  }
  return arguments ? comma_in_front(p, after) : kNone;
}
// Keywords in another order: the comma behind the pattern's element is one in front of it here.
NodeId TokenMap::comma_in_front(NodeId p, NodeId element) const {
  NodeId last = kNone;
  if (element == kNone) return last;
  for (NodeId c = t_.first_child(t_[element].parent); c != kNone && c != element; c = t_.next_sibling(c)) {
    if (!t_[c].extra && t_[c].kind == p_[p].kind && kind_name(t_[c].kind) == "," && !claimed_.contains(c)) last = c;
  }
  return last;
}
NodeId TokenMap::last_child(NodeId parent, Kind kind) const {
  NodeId last = kNone;
  for (NodeId c = t_.first_child(parent); c != kNone; c = t_.next_sibling(c)) {
    if (!t_[c].extra) last = c;
  }
  return last != kNone && t_[last].kind == kind && !claimed_.contains(last) ? last : kNone;
}
// The direct child of `parent` that holds `node`.
NodeId TokenMap::child_over(NodeId parent, NodeId node, NodeId otherwise) const {
  NodeId at = node;
  while (at != kNone && t_[at].parent != parent) at = t_[at].parent;
  return at == kNone ? otherwise : at;
}

}  // namespace suture
