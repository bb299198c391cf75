// add_member, add_decorator, remove_decorator.
#include <algorithm>

#include "engine/imports.h"
#include "engine/layout.h"
#include "engine/structural_parts.h"

namespace suture {
namespace {

NodeId undecorated(const Tree& tree, NodeId statement) {
  return tree.is(statement, kinds().decorated_definition) ? tree.child(statement, fields().definition) : statement;
}

std::vector<NodeId> decorators_of(const Tree& tree, NodeId definition) {
  std::vector<NodeId> out;
  const NodeId wrapper = tree[definition].parent;
  if (wrapper == kNone || !tree.is(wrapper, kinds().decorated_definition)) return out;
  for (const NodeId child : tree.named_children(wrapper)) {
    if (tree.is(child, kinds().decorator)) out.push_back(child);
  }
  return out;
}

// --- members -------------------------------------------------------------------------------------------------------

// The name that a member of a class binds; empty: none, or several.
std::string member_name(const CodeView& code, NodeId statement) {
  const Tree& tree = *code.tree;
  const NodeId node = undecorated(tree, statement);
  if (is_definition(tree, node)) return text_of(code, tree.child(node, fields().name));
  const auto inner = tree.named_children(node);
  if (!tree.is(node, kinds().expression_statement) || inner.empty() || !tree.is(inner[0], kinds().assignment))
    return "";
  const NodeId left = tree.child(inner[0], fields().left);
  return tree.is(left, kinds().identifier) ? text_of(code, left) : "";
}

bool is_field(const Tree& tree, NodeId statement) {
  const auto inner = tree.named_children(statement);
  return tree.is(statement, kinds().expression_statement) && !inner.empty() && tree.is(inner[0], kinds().assignment);
}

// Members that share their name on purpose: the setter of a property, an overload.
bool shares_its_name(const CodeView& code, NodeId statement) {
  const Tree& tree = *code.tree;
  const auto decorators = decorators_of(tree, undecorated(tree, statement));
  return std::any_of(decorators.begin(), decorators.end(), [&](NodeId decorator) {
    const std::string text = text_of(code, decorator);
    return text.ends_with(".setter") || text.ends_with(".deleter") || text.ends_with(".getter") ||
           text.ends_with("overload") || text.find(".register") != std::string::npos;
  });
}

// The body's statements, those of suites that run with it among them (an `if` in a class).
void each_member(const Tree& tree, NodeId suite, std::vector<NodeId>& out) {
  for (const NodeId statement : statements_of(tree, suite)) {
    out.push_back(statement);
    if (is_definition(tree, undecorated(tree, statement))) continue;
    for (NodeId id = statement; id < tree[statement].subtree_end; ++id) {
      if (!tree.is(id, kinds().block)) continue;
      each_member(tree, id, out);
      id = tree[id].subtree_end - 1;
    }
  }
}

std::uint32_t blank_lines_above(const CodeView& target, NodeId statement) {
  const Source& source = *target.source;
  std::uint32_t line = source.line_of((*target.tree)[statement].begin);
  std::uint32_t blanks = 0;
  while (line > 0) {
    --line;
    const auto begin = source.line_begin(line);
    if (begin + source.indentation_at(begin).size() < source.line_end(line)) break;
    ++blanks;
  }
  return blanks;
}

// How many blank lines the class has between its methods: one, where it does not say.
std::uint32_t blank_lines_between(const CodeView& target, const std::vector<NodeId>& statements) {
  for (std::size_t i = statements.size(); i-- > 1;) {
    if (is_definition(*target.tree, undecorated(*target.tree, statements[i])))
      return blank_lines_above(target, statements[i]);
  }
  return 1;
}

// `pass` or `...` that is all of the body, a docstring aside, and has its line to itself: it was there for want of a member.
NodeId filler_of(const CodeView& target, NodeId suite) {
  const Tree& tree = *target.tree;
  const Source& source = *target.source;
  const auto statements = statements_of(tree, suite);
  const NodeId last = statements.back();
  const bool alone = statements.size() == 1 || (statements.size() == 2 && docstring_of(tree, suite) == statements[0]);
  const std::string text = text_of(target, last);
  if (!alone || (text != "pass" && text != "...")) return kNone;
  const auto rest = source.text({tree[last].end, source.line_end(source.line_of(tree[last].end))});
  return rest.find_first_not_of(" \t") == std::string_view::npos ? last : kNone;
}

// Apart from each other, so that two rules can put a member each in the filler's place; joint: what then stands between them.
std::vector<Splice> put_in_place_of_filler(const CodeView& target, NodeId suite, NodeId filler,
                                           const std::string& block, const std::string& joint) {
  const Tree& tree = *target.tree;
  NodeId colon = tree.first_child(tree[suite].parent);
  while (tree.next_sibling(colon) != suite) colon = tree.next_sibling(colon);
  Splice gone{tree[colon].end, tree[filler].end, "", "", false};
  if (first_on_line(*target.source, tree[filler].begin)) gone = remove_lines(target, tree.range(filler), "");
  Splice member = insert_line(target, tree[filler].end, block);
  member.joint = joint;
  return {std::move(gone), std::move(member)};
}

// In front of all members: above the comments of the first one, and apart from a method.
std::vector<Splice> put_first(const CodeView& target, NodeId first, const std::string& lines) {
  const Tree& tree = *target.tree;
  const std::string newline(target.source->newline());
  const std::string block = is_definition(tree, undecorated(tree, first)) ? lines + newline : lines;
  const NodeId owner = tree[tree[first].parent].parent;
  const std::uint32_t begin = with_comments(target, {first}, tree.range(owner)).begin;
  if (!first_on_line(*target.source, tree[first].begin)) return insert_above(target, first, block);
  const std::uint32_t line = target.source->line_begin(target.source->line_of(begin));
  return {Splice{line, line, block, "", false}};
}

std::vector<Splice> put_member(const CompiledStructural& edit, const StructuralSite& site, NodeId suite, bool field) {
  const CodeView& target = site.target;
  const Tree& tree = *target.tree;
  const auto statements = statements_of(tree, suite);
  const std::string indentation = suite_indentation(target, suite);
  const std::string unit = indentation_unit(target, suite);
  const std::string newline(target.source->newline());
  const std::string lines = render_lines(*edit.code, edit.code->tree().range(edit.node), target, site.match->bindings,
                                         indentation, unit, newline);
  std::string blanks;
  for (std::uint32_t i = 0; i < blank_lines_between(target, statements); ++i) blanks += newline;
  if (const NodeId filler = filler_of(target, suite); filler != kNone) {
    const bool apart = !field && statements.size() > 1 && blank_lines_above(target, filler) == 0;
    return put_in_place_of_filler(target, suite, filler, apart ? blanks + lines : lines, field || apart ? "" : blanks);
  }
  if (!field) {
    return insert_below(target, statements.back(), blanks + lines);
  }
  const auto last_field =
      std::find_if(statements.rbegin(), statements.rend(), [&](NodeId statement) { return is_field(tree, statement); });
  if (last_field != statements.rend()) return insert_below(target, *last_field, lines);
  const NodeId docstring = docstring_of(tree, suite);
  if (docstring == kNone) return put_first(target, statements.front(), lines);
  const bool close =
      statements.size() > 1 && is_definition(tree, undecorated(tree, statements[1])) &&
      target.source->line_of(tree[statements[1]].begin) == target.source->line_of(tree[docstring].end) + 1;
  return insert_below(target, docstring, close ? lines + newline : lines);
}

// --- decorators ----------------------------------------------------------------------------------------------------

std::string without_blanks(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; });
  return text;
}

// `@f(1)` and `@f` have the same callee.
std::string callee_of(const CodeView& code, NodeId decorator) {
  const Tree& tree = *code.tree;
  NodeId expression = strip_parentheses(tree, tree.named_children(decorator)[0]);
  if (tree.is(expression, kinds().call)) expression = tree.child(expression, fields().function);
  return without_blanks(text_of(code, expression));
}

// Whether the decorator has the callee anywhere: `@partial(f, 1)` and `@f(1) if fast else g` decorate with f too.
bool has_callee(const CodeView& code, NodeId decorator, const std::string& callee) {
  const Tree& tree = *code.tree;
  if (callee_of(code, decorator) == callee) return true;
  for (NodeId id = decorator + 1; id < tree[decorator].subtree_end; ++id) {
    const NodeId parent = tree[id].parent;
    const bool name = tree.is(id, kinds().identifier) || tree.is(id, kinds().attribute);
    const bool part = tree.is(parent, kinds().attribute) ||
                      (tree.is(parent, kinds().keyword_argument) && tree[id].field == fields().name);
    if (name && !part && without_blanks(text_of(code, id)) == callee) return true;
  }
  return false;
}

bool matches(const Pattern& pattern, const StructuralSite& site, NodeId node) {
  const auto admit = [](const std::string&, const Binding&) { return true; };
  const auto accept = [](const Match&) { return true; };
  return match_at(Search{&pattern, site.target, site.match->bindings}, node, Admit(admit), Accept(accept));
}

}  // namespace

Examined examine_member(const CompiledStructural& edit, const StructuralSite& site, NodeId definition) {
  const Tree& tree = *site.target.tree;
  if (!tree.is(definition, kinds().class_definition)) return Examined::unfit("is no class");
  const NodeId suite = tree.child(definition, fields().body);
  const Rendered wanted = render(edit, site);
  if (wanted.node == kNone || suite == kNone || statements_of(tree, suite).empty())
    return Examined::unfit("the member cannot be written here");
  const std::string name = member_name(wanted.view(), wanted.node);
  const bool shared = shares_its_name(wanted.view(), wanted.node);
  std::vector<NodeId> members;
  each_member(tree, suite, members);
  NodeId other = kNone;
  for (const NodeId member : members) {
    if (equal_code(site.target, member, wanted.view(), wanted.node)) return Examined::in_place();
    if (!shared && !name.empty() && (member_name(site.target, member) == name || binds(site.target, member, name)))
      other = member;
  }
  if (other != kNone) {
    const std::uint32_t line = site.target.source->line_of(tree[other].begin) + 1;
    return Examined::unfit("has another member " + name + ", at line " + std::to_string(line));
  }
  return Examined::to_do(put_member(edit, site, suite, is_field(*wanted.tree, wanted.node)));
}

Examined examine_new_decorator(const CompiledStructural& edit, const StructuralSite& site, NodeId definition) {
  const Tree& tree = *site.target.tree;
  if (!is_definition(tree, definition)) return Examined::unfit("is no definition");
  const Rendered wanted = render(edit, site);
  if (wanted.node == kNone) return Examined::unfit("the decorator cannot be written here");
  const auto decorators = decorators_of(tree, definition);
  for (const NodeId decorator : decorators) {
    if (equal_code(site.target, decorator, wanted.view(), wanted.node)) return Examined::in_place();
    if (callee_of(site.target, decorator) == callee_of(wanted.view(), wanted.node))
      return Examined::unfit("has `" + text_of(site.target, decorator) + "` already");
  }
  const NodeId anchor = edit.end == End::first && !decorators.empty() ? decorators.front() : definition;
  const std::string indentation(site.target.source->indentation_at(tree[definition].begin));
  return Examined::to_do(insert_above(site.target, anchor, code_lines(edit, site, indentation)));
}

Examined examine_old_decorator(const CompiledStructural& edit, const StructuralSite& site, NodeId definition) {
  const Tree& tree = *site.target.tree;
  const Source& source = *site.target.source;
  if (!is_definition(tree, definition)) return Examined::unfit("is no definition");
  const CodeView code{&edit.code->source(), &edit.code->tree()};
  std::vector<Splice> splices;
  for (const NodeId decorator : decorators_of(tree, definition)) {
    if (matches(*edit.code, site, decorator)) {
      const std::uint32_t begin = source.line_begin(source.line_of(tree[decorator].begin));
      const std::uint32_t line = source.line_of(tree[decorator].end);
      splices.push_back(Splice{begin == 0 ? source.bom() : begin, source.line_begin(line + 1), "", "", false});
    } else if (has_callee(site.target, decorator, callee_of(code, edit.node))) {
      return Examined::unfit("has `" + text_of(site.target, decorator) + "`, which is another");
    }
  }
  if (splices.empty()) return Examined::in_place();
  if (auto problem = settle_comments(site, splices)) return Examined::refused(std::move(*problem));
  return Examined::to_do(std::move(splices));
}

}  // namespace suture
