#include "engine/token.h"

#include <algorithm>
#include <cctype>

namespace suture {
namespace {

// r, b, f, u of a string's prefix, lower case.
std::string prefix_key(std::string_view start) {
  std::string prefix;
  for (char c : start) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0) prefix += static_cast<char>(std::tolower(c));
  }
  std::sort(prefix.begin(), prefix.end());  // rb and br are one prefix
  return "str:" + prefix + ":";
}

std::string string_key(const Source& source, const Tree& tree, NodeId node) {
  std::string key;
  for (NodeId c = tree.first_child(node); c != kNone; c = tree.next_sibling(c)) {
    const auto text = source.text(tree.range(c));
    if (tree.is(c, kinds().string_start)) {
      key += prefix_key(text);
    } else if (!tree.is(c, kinds().string_end)) {
      key += text;
    }
  }
  return key;
}

bool is_f_string(const Tree& tree, NodeId node) {
  for (NodeId c = tree.first_child(node); c != kNone; c = tree.next_sibling(c)) {
    if (tree.is(c, kinds().interpolation)) return true;
  }
  return false;
}

}  // namespace

// An f-string is the code in its braces and the texts between them.
bool is_token(const Tree& tree, NodeId node) {
  static const Kind format_specifier = kind_named("format_specifier");
  if (tree.is(node, kinds().string)) return !is_f_string(tree, node);
  return tree.is_leaf(node) || tree.is(node, kinds().string_content) || tree.is(node, format_specifier) ||
         !tree[node].named;
}

bool is_opening(std::string_view token) {
  return token == "(" || token == "[" || token == "{";
}
bool is_closing(std::string_view token) {
  return token == ")" || token == "]" || token == "}";
}

std::vector<NodeId> tokens_of(const Tree& tree, const std::vector<NodeId>& nodes) {
  std::vector<NodeId> out;
  for (NodeId node : nodes) {
    for (NodeId id = node; id < tree[node].subtree_end;) {
      if (tree[id].extra) {
        id = tree[id].subtree_end;
      } else if (is_token(tree, id)) {
        if (tree[id].begin < tree[id].end) out.push_back(id);
        id = tree[id].subtree_end;
      } else {
        ++id;
      }
    }
  }
  return out;
}

std::string token_key(const Source& source, const Tree& tree, NodeId token) {
  if (tree.is(token, kinds().string)) return string_key(source, tree, token);
  if (tree.is(token, kinds().string_start)) return prefix_key(source.text(tree.range(token)));
  if (tree.is(token, kinds().string_end)) return "str";
  if (!tree.is_leaf(token) && !tree[token].named)
    return std::string(kind_name(tree[token].kind));  // `is not`, `not in`
  return std::string(source.text(tree.range(token)));
}

std::vector<std::string> token_sequence(const Source& source, const Tree& tree) {
  std::vector<std::string> out;
  std::vector<NodeId> ends;  // suites that are open
  for (NodeId id = 0; id < tree.size();) {
    while (!ends.empty() && id >= tree[ends.back()].subtree_end) {
      out.emplace_back("<dedent>");
      ends.pop_back();
    }
    if (tree[id].extra) {
      id = tree[id].subtree_end;
      continue;
    }
    if (tree.is(id, kinds().block)) {
      out.emplace_back("<indent>");
      ends.push_back(id);
    }
    if (!is_token(tree, id)) {
      ++id;
      continue;
    }
    const NodeId next = tree[id].subtree_end;
    std::string key = token_key(source, tree, id);
    const NodeId parent = tree[id].parent;
    // A trailing comma before a closing bracket is layout, but in a tuple of one.
    const bool trailing = key == "," && tree.next_sibling(id) != kNone &&
                          tree.next_sibling(tree.next_sibling(id)) == kNone && !tree[tree.next_sibling(id)].named &&
                          !tree.is(parent, kinds().tuple);
    if (!trailing && tree[id].begin < tree[id].end && key != ";") out.push_back(std::move(key));
    id = next;
  }
  for (std::size_t i = 0; i < ends.size(); ++i) out.emplace_back("<dedent>");
  return out;
}

}  // namespace suture
