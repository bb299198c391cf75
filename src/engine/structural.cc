// See structural.h. Tests: tests/unit/structural_test.cc.
#include "engine/structural.h"

#include <algorithm>

#include "engine/layout.h"
#include "engine/structural_parts.h"

namespace suture {
namespace {

// The node that the edit is made on: what `of` stands for, else the match. kNone: `of` stands for a run.
NodeId edited_node(const CompiledStructural& edit, const StructuralSite& site) {
  const Tree& tree = *site.target.tree;
  NodeId node = site.match->nodes.front();
  if (!edit.of.empty()) {
    const auto it = site.match->bindings.find(edit.of.front());
    if (it == site.match->bindings.end() || it->second.nodes.size() != 1) return kNone;
    node = it->second.nodes.front();
  }
  if (tree.is(node, kinds().expression_statement) && tree.named_children(node).size() == 1)
    node = tree.named_children(node)[0];
  if (tree.is(node, kinds().decorated_definition)) node = tree.child(node, fields().definition);
  return strip_parentheses(tree, node);
}

// The comment behind a statement on its line: what it says, or tells a linter, is of that statement.
NodeId comment_behind(const CodeView& target, NodeId statement) {
  const Tree& tree = *target.tree;
  const auto line = [&](std::uint32_t at) { return target.source->line_of(at); };
  NodeId at = statement;
  while (tree.next_sibling(at) == kNone && tree[at].parent != kNone) at = tree[at].parent;
  const NodeId next = tree.next_sibling(at);
  const bool behind =
      next != kNone && tree.is(next, kinds().comment) && line(tree[next].begin) == line(tree[statement].end);
  return behind ? next : kNone;
}

// Whether the wrapper has lines below $MATCH.
bool goes_on_below(const Pattern& wrapper) {
  const std::string& code = wrapper.written();
  const std::size_t at = code.find("$MATCH");
  return code.find_first_not_of(" \t\r\n", at + std::string_view("$MATCH").size()) != std::string::npos;
}

Examined examine_wrap(const CompiledStructural& edit, const StructuralSite& site) {
  const CodeView& target = site.target;
  const Tree& tree = *target.tree;
  Match match = *site.match;
  if (edit.code->form() == Pattern::Form::expression) {
    if (match.nodes.size() == 1 && !is_suite(tree, tree[match.nodes[0]].parent)) {
      Rewrite rewrite = replace_node(target, match.nodes[0], "MATCH", match.bindings, *edit.code, site.comments);
      return {Examined::State::to_do, "", std::move(rewrite)};
    }
    return Examined::refused(
        {"statements cannot be wrapped into an expression", "match the expression alone", match.range(tree)});
  }
  const auto statements = whole_statements(tree, match.nodes);
  if (!statements)
    return Examined::refused({"an expression within a statement cannot be wrapped into a statement",
                              "match the whole statement", match.range(tree)});
  std::vector<NodeId> wrapped = *statements;
  const NodeId comment = goes_on_below(*edit.code) ? comment_behind(target, wrapped.back()) : kNone;
  if (comment != kNone) wrapped.push_back(comment);
  match.bindings["MATCH"] = Binding{true, wrapped};
  const NodeId suite = tree[statements->front()].parent;
  const std::string block = render_block(*edit.code, target, match.bindings, suite_indentation(target, suite),
                                         indentation_unit(target, suite), target.source->newline());
  std::vector<Splice> splices = put_in_place(target, statements->front(), statements->back(), block);
  if (comment != kNone) splices.push_back(Splice{tree[statements->back()].end, tree[comment].end, "", "", false});
  return Examined::to_do(std::move(splices));
}

// The comments of [splice.begin, splice.end), each on a line of its own, where whole lines go.
std::string kept_lines(const StructuralSite& site, const Splice& splice, const std::vector<NodeId>& comments) {
  const Source& source = *site.target.source;
  const std::string indentation(source.indentation_at(source.line_begin(source.line_of(splice.begin))));
  std::string out;
  for (const NodeId comment : comments) {
    out += indentation + std::string(source.text(site.target.tree->range(comment))) + std::string(source.newline());
  }
  return out;
}

}  // namespace

Examined examine(const CompiledStructural& edit, const StructuralSite& site) {
  if (edit.kind == Structure::remove) return examine_delete(edit, site);
  if (edit.kind == Structure::wrap) return examine_wrap(edit, site);
  if (edit.kind == Structure::remove_import) return examine_import(edit, site, site.match->nodes.front());
  const NodeId node = edited_node(edit, site);
  if (node == kNone) return Examined::unfit("$" + edit.of.front() + " stands for several nodes here");
  switch (edit.kind) {
    case Structure::add_argument:
      return examine_argument(edit, site, node);
    case Structure::add_element:
      return examine_element(edit, site, node);
    case Structure::set_key:
      return examine_key(edit, site, node);
    case Structure::add_branch:
      return examine_branch(edit, site, node);
    case Structure::add_member:
      return examine_member(edit, site, node);
    case Structure::add_decorator:
      return examine_new_decorator(edit, site, node);
    default:
      return examine_old_decorator(edit, site, node);
  }
}

bool is_examined(const CompiledStructural& edit) {
  return edit.kind != Structure::remove && edit.kind != Structure::wrap;
}

bool changes(const CompiledStructural& edit, const Pattern& match, const std::string& name) {
  if (!edit.of.empty()) return std::find(edit.of.begin(), edit.of.end(), name) != edit.of.end();
  const Metavariable* root = match.metavariable(strip_parentheses(match.tree(), match.roots().front()));
  if (root != nullptr) return root->name == name;
  const bool adds = edit.kind == Structure::add_argument || edit.kind == Structure::add_element ||
                    edit.kind == Structure::set_key || edit.kind == Structure::add_member;
  const auto& names = match.names();
  return adds &&
         std::any_of(names.begin(), names.end(), [&](const Metavariable& mv) { return mv.run && mv.name == name; });
}

std::optional<std::vector<NodeId>> whole_statements(const Tree& tree, const std::vector<NodeId>& nodes) {
  const NodeId first = nodes.front();
  if (tree[first].parent != kNone && is_suite(tree, tree[first].parent)) return nodes;
  const NodeId parent = tree[first].parent;
  if (parent != kNone && tree.is(parent, kinds().expression_statement) && tree.named_children(parent).size() == 1)
    return std::vector<NodeId>{parent};
  if (is_definition(tree, first) && parent != kNone && tree.is(parent, kinds().decorated_definition))
    return std::vector<NodeId>{parent};
  return std::nullopt;
}

Rendered render(const CompiledStructural& edit, const StructuralSite& site) {
  const Pattern& code = *edit.code;
  // As the snippet was parsed, with its context: a clause needs one.
  std::string text = render_lines(code, whole_snippet(code), site.target, site.match->bindings, "", "    ", "\n");
  Rendered out;
  out.source = std::make_shared<const Source>("edit", std::move(text));
  auto tree = parse_python(*out.source);
  if (!tree) return out;
  out.tree = std::make_shared<const Tree>(std::move(*tree));
  // The same way down from the root: a capture is longer than its name, and no wider.
  std::vector<std::size_t> way;
  for (NodeId at = edit.node; code.tree()[at].parent != kNone; at = code.tree()[at].parent) {
    const auto siblings = code.tree().named_children(code.tree()[at].parent);
    way.push_back(static_cast<std::size_t>(std::find(siblings.begin(), siblings.end(), at) - siblings.begin()));
  }
  NodeId node = out.tree->root();
  for (auto step = way.rbegin(); step != way.rend(); ++step) {
    const auto children = out.tree->named_children(node);
    if (*step >= children.size()) return out;
    node = children[*step];
  }
  out.node = node;
  return out;
}

std::string code_lines(const CompiledStructural& edit, const StructuralSite& site, const std::string& indentation) {
  const NodeId suite = suite_of(*site.target.tree, statement_of(*site.target.tree, site.match->nodes.front()));
  const NodeId place = suite == kNone ? site.target.tree->root() : suite;
  return render_lines(*edit.code, edit.code->tree().range(edit.node), site.target, site.match->bindings, indentation,
                      indentation_unit(site.target, place), site.target.source->newline());
}

std::string code_text(const CompiledStructural& edit, const StructuralSite& site, const std::string& indentation) {
  std::string text = code_lines(edit, site, indentation);
  text.erase(0, std::min(indentation.size(), text.size()));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

std::optional<RewriteProblem> settle_comments(const StructuralSite& site, std::vector<Splice>& splices) {
  const Tree& tree = *site.target.tree;
  const Source& source = *site.target.source;
  if (site.comments == Comments::drop) return std::nullopt;
  for (Splice& splice : splices) {
    std::vector<NodeId> comments;
    for (NodeId id = 0; id < tree.size(); ++id) {
      if (tree.is(id, kinds().comment) && Range{splice.begin, splice.end}.contains(tree.range(id)))
        comments.push_back(id);
    }
    if (comments.empty()) continue;
    const bool lines = splice.begin == source.line_begin(source.line_of(splice.begin)) && splice.text.empty();
    if (site.comments == Comments::keep && lines) {
      splice.text = kept_lines(site, splice, comments);
      continue;
    }
    return RewriteProblem{"a comment stands in code that is deleted",
                          "say in the rule what becomes of it: comments: keep or drop", tree.range(comments.front())};
  }
  return std::nullopt;
}

}  // namespace suture
