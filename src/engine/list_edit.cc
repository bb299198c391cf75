// See list_edit.h. Tests: tests/unit/list_edit_test.cc.
#include "engine/list_edit.h"

#include <algorithm>

#include "engine/layout.h"
#include "engine/token.h"

namespace suture {
namespace {

std::string_view token_text(const CodeView& target, NodeId node) {
  return (*target.tree)[node].named ? std::string_view{} : target.source->text(target.tree->range(node));
}

bool is_comma(const CodeView& target, NodeId node) {
  return node != kNone && token_text(target, node) == ",";
}

NodeId next_token(const Tree& tree, NodeId node) {
  do node = tree.next_sibling(node);
  while (node != kNone && tree[node].extra);
  return node;
}

// One list of one file, with what surrounds an element.
class ListEditor {
 public:
  ListEditor(const CodeView& target, const CommaList& list)
      : target_(target), source_(*target.source), tree_(*target.tree), list_(list), newline_(source_.newline()) {
    for (NodeId c = tree_.first_child(list.node); c != kNone; c = tree_.next_sibling(c)) {
      const std::string_view text = token_text(target, c);
      if (open_ == kNone && is_opening(text)) open_ = c;
      if (is_closing(text)) close_ = c;
    }
  }

  std::vector<Splice> insert(NodeId after, ElementText text) const {
    if (list_.elements.empty()) return insert_only(text);
    return after == kNone ? insert_first(text) : insert_behind(after, text);
  }

  Removal remove(NodeId first, NodeId last) const {
    const NodeId before = neighbour(first, -1);
    const NodeId after = neighbour(last, +1);
    if (before == kNone && after == kNone) return remove_all(first, last);
    const NodeId comma = comma_behind(last);
    const std::uint32_t end = comma == kNone ? tree_[last].end : tree_[comma].end;
    if (has_own_lines(first, end, after)) return keep_tuple(first, last, {whole_lines(first, end)});
    if (after != kNone && before == kNone)
      return keep_tuple(first, last, {cut(tree_[first].begin, tree_[after].begin)});
    const bool trailing = after == kNone && comma == kNone;
    const std::uint32_t from = trailing ? tree_[before].end : tree_[comma_behind(before)].end;
    return keep_tuple(first, last, {cut(from, end)});
  }

 private:
  static Splice cut(std::uint32_t begin, std::uint32_t end) { return {begin, end, "", "", false}; }
  // joint: what another element that is put at the same place needs in front of it.
  static Splice put(std::uint32_t at, std::string text, std::string joint = "") {
    return {at, at, std::move(text), "", false, false, std::move(joint)};
  }

  bool is_tuple() const { return tree_.is(list_.node, kinds().tuple); }
  NodeId comma_behind(NodeId element) const {
    const NodeId next = next_token(tree_, element);
    return is_comma(target_, next) ? next : kNone;
  }
  NodeId neighbour(NodeId element, int step) const {
    const auto at = std::find(list_.elements.begin(), list_.elements.end(), element) - list_.elements.begin() + step;
    return at < 0 || at >= static_cast<std::ptrdiff_t>(list_.elements.size())
               ? kNone
               : list_.elements[static_cast<std::size_t>(at)];
  }
  std::string indentation_of(NodeId node) const { return std::string(source_.indentation_at(tree_[node].begin)); }
  // The first byte of the line behind the one that holds `at`.
  std::uint32_t next_line(std::uint32_t at) const {
    const std::uint32_t line = source_.line_of(at);
    return line + 1 < source_.line_count() ? source_.line_begin(line + 1) : source_.size();
  }

  std::vector<Splice> insert_only(ElementText text) const {
    const std::string comma = is_tuple() ? "," : "";
    if (source_.line_of(tree_[open_].end) == source_.line_of(tree_[close_].begin))
      return {put(tree_[open_].end, text(indentation_of(open_)) + comma, is_tuple() ? " " : ", ")};
    const std::string indentation =
        indentation_of(close_) + indentation_unit(target_, suite_of(tree_, statement_of(tree_, list_.node)));
    return {put(next_line(tree_[open_].end), indentation + text(indentation) + "," + newline_)};
  }

  std::vector<Splice> insert_first(ElementText text) const {
    const NodeId first = list_.elements.front();
    const std::string indentation = indentation_of(first);
    if (open_ == kNone || !first_on_line(source_, tree_[first].begin))
      return {put(tree_[first].begin, text(indentation) + ", ")};
    return {put(next_line(tree_[open_].end), indentation + text(indentation) + "," + newline_)};
  }

  std::vector<Splice> insert_behind(NodeId element, ElementText text) const {
    const NodeId comma = comma_behind(element);
    const NodeId after = neighbour(element, +1);
    const std::uint32_t end = comma == kNone ? tree_[element].end : tree_[comma].end;
    const std::string indentation = indentation_of(element);
    const bool own_line = open_ != kNone && first_on_line(source_, tree_[element].begin);
    const NodeId next = after == kNone ? close_ : after;
    const bool shared = next == kNone || source_.line_of(tree_[next].begin) == source_.line_of(end);
    if (!own_line || (shared && after != kNone)) return {insert_inline(end, comma, after, text(indentation))};
    if (shared) {
      // The bracket closes behind the last element.
      const std::string line = newline_ + indentation + text(indentation);
      return {put(end, comma == kNone ? "," + line : line + ",")};
    }
    const std::uint32_t line_end = source_.line_end(source_.line_of(end));
    const std::string line = newline_ + indentation + text(indentation);
    if (comma != kNone) return {put(line_end, line + ",")};
    if (line_end == end) return {put(end, "," + line)};
    return {put(end, ","), put(line_end, line, ",")};
  }

  Splice insert_inline(std::uint32_t end, NodeId comma, NodeId after, const std::string& text) const {
    if (comma == kNone) return put(end, ", " + text);
    const bool last_of_one = after == kNone && is_tuple() && list_.elements.size() == 1;
    return last_of_one ? put(end, " " + text, ",") : put(end, " " + text + ",");
  }

  // Whether the lines from the element to its comma hold nothing else.
  bool has_own_lines(NodeId first, std::uint32_t end, NodeId after) const {
    if (open_ == kNone || !first_on_line(source_, tree_[first].begin)) return false;
    const NodeId next = after == kNone ? close_ : after;
    return source_.line_of(tree_[next].begin) != source_.line_of(end);
  }
  Splice whole_lines(NodeId first, std::uint32_t end) const {
    return cut(source_.line_begin(source_.line_of(tree_[first].begin)), next_line(end));
  }

  Removal remove_all(NodeId first, NodeId last) const {
    if (open_ == kNone) return {{}, "it is the only element, and nothing else could stand here"};
    const bool index = tree_.is(list_.node, kinds().subscript) || kind_name(tree_[list_.node].kind) == "type_parameter";
    if (index) return {{}, "nothing would be left between the brackets"};
    if (tree_.is(list_.node, kinds().set)) return {{}, "a set without elements would be a dictionary"};
    const NodeId comma = comma_behind(last);
    const std::uint32_t end = comma == kNone ? tree_[last].end : tree_[comma].end;
    if (has_own_lines(first, end, kNone)) return {{whole_lines(first, end)}, ""};
    return {{cut(tree_[first].begin, end)}, ""};
  }

  // `(a, b)` without b is `(a,)`.
  Removal keep_tuple(NodeId first, NodeId last, std::vector<Splice> splices) const {
    const bool bare = tree_.is(list_.node, kinds().expression_list) || tree_.is(list_.node, kinds().pattern_list);
    std::vector<NodeId> left;
    for (const NodeId element : list_.elements) {
      if (element < first || element > last) left.push_back(element);
    }
    if ((!is_tuple() && !bare) || left.size() != 1) return {std::move(splices), ""};
    const NodeId comma = comma_behind(left[0]);
    const bool cut_off = comma != kNone && std::any_of(splices.begin(), splices.end(), [&](const Splice& s) {
                           return s.begin < tree_[comma].end && tree_[comma].begin < s.end;
                         });
    if (comma != kNone && !cut_off) return {std::move(splices), ""};
    if (cut_off) {
      splices.front().text = ",";
    } else {
      splices.push_back(put(tree_[left[0]].end, ","));
    }
    return {std::move(splices), ""};
  }

  CodeView target_;
  const Source& source_;
  const Tree& tree_;
  const CommaList& list_;
  std::string newline_;
  NodeId open_ = kNone, close_ = kNone;
};

bool is_list(const Tree& tree, NodeId node) {
  const Kinds& k = kinds();
  for (const Kind kind : {k.list, k.tuple, k.set, k.dictionary, k.argument_list, k.parameters, k.lambda_parameters,
                          k.expression_list, k.pattern_list}) {
    if (tree.is(node, kind)) return true;
  }
  return kind_name(tree[node].kind) == "type_parameter";  // of an annotation
}

}  // namespace

CommaList list_at(const Tree& tree, NodeId node) {
  CommaList out{node, tree.named_children(node)};
  if (tree.is(node, kinds().subscript)) out.elements.erase(out.elements.begin());
  return out;
}

std::optional<CommaList> list_of(const Tree& tree, NodeId element) {
  const NodeId parent = tree[element].parent;
  if (parent == kNone) return std::nullopt;
  const Kinds& k = kinds();
  const bool index = tree.is(parent, k.subscript) && tree[element].field != fields().value;
  if (is_list(tree, parent) || index) return list_at(tree, parent);
  const bool import = tree.is(parent, k.import_statement) || tree.is(parent, k.import_from_statement) ||
                      tree.is(parent, k.future_import_statement);
  if (!import || tree[element].field != fields().name) return std::nullopt;
  CommaList out{parent, {}};
  for (const NodeId child : tree.named_children(parent)) {
    if (tree[child].field == fields().name) out.elements.push_back(child);
  }
  return out;
}

std::vector<Splice> insert_element(const CodeView& target, const CommaList& list, NodeId after, ElementText text) {
  return ListEditor(target, list).insert(after, text);
}

Removal remove_elements(const CodeView& target, const CommaList& list, NodeId first, NodeId last) {
  return ListEditor(target, list).remove(first, last);
}

}  // namespace suture
