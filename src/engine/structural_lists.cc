// add_argument, add_element, set_key: elements of lists with commas, operands of a condition.
#include <algorithm>

#include "engine/layout.h"
#include "engine/list_edit.h"
#include "engine/precedence.h"
#include "engine/structural_parts.h"
#include "engine/token.h"

namespace suture {
namespace {

std::string keyword_of(const CodeView& code, NodeId argument) {
  const Tree& tree = *code.tree;
  return tree.is(argument, kinds().keyword_argument) ? text_of(code, tree.child(argument, fields().name)) : "";
}

bool is_positional(const Tree& tree, NodeId argument) {
  return !tree.is(argument, kinds().keyword_argument) && !tree.is(argument, kinds().dictionary_splat);
}

Examined added(const CompiledStructural& edit, const StructuralSite& site, const CommaList& list, NodeId after) {
  const auto text = [&](const std::string& indentation) { return code_text(edit, site, indentation); };
  return Examined::to_do(insert_element(site.target, list, after, ElementText(text)));
}

// f(x for x in y) gets parentheses around what becomes one argument of two.
Examined added_to_generator(const CompiledStructural& edit, const StructuralSite& site, NodeId generator) {
  const Range range = site.target.tree->range(generator);
  const std::string text = code_text(edit, site, "");
  return Examined::to_do({Splice{range.begin + 1, range.begin + 1, "(", "", false},
                          Splice{range.end - 1, range.end - 1, "), " + text, "", false}});
}

// The argument as the call has it: there, absent, or passed in another way.
Examined look_for_keyword(const CompiledStructural& edit, const StructuralSite& site, const CommaList& list,
                          const Rendered& wanted) {
  const Tree& tree = *site.target.tree;
  const std::string name = keyword_of(wanted.view(), wanted.node);
  for (const NodeId argument : list.elements) {
    if (keyword_of(site.target, argument) == name) {
      if (equal_code(site.target, argument, wanted.view(), wanted.node)) return Examined::in_place();
      return Examined::unfit("passes `" + text_of(site.target, argument) + "` already");
    }
    if (tree.is(argument, kinds().dictionary_splat))
      return Examined::unfit("may pass " + name + " by `" + text_of(site.target, argument) + "`");
  }
  return added(edit, site, list, list.elements.empty() ? kNone : list.elements.back());
}

// `**more`. Another one may hold the same names, and then the call fails.
Examined look_for_splat(const CompiledStructural& edit, const StructuralSite& site, const CommaList& list,
                        const Rendered& wanted) {
  const Tree& tree = *site.target.tree;
  for (const NodeId argument : list.elements) {
    if (!tree.is(argument, kinds().dictionary_splat)) continue;
    if (equal_code(site.target, argument, wanted.view(), wanted.node)) return Examined::in_place();
    return Examined::unfit("passes `" + text_of(site.target, argument) + "` already");
  }
  return added(edit, site, list, list.elements.empty() ? kNone : list.elements.back());
}

Examined look_for_positional(const CompiledStructural& edit, const StructuralSite& site, const CommaList& list,
                             const Rendered& wanted) {
  NodeId last = kNone;
  for (const NodeId argument : list.elements) {
    if (is_positional(*site.target.tree, argument)) last = argument;
  }
  if (last != kNone && equal_code(site.target, last, wanted.view(), wanted.node)) return Examined::in_place();
  return added(edit, site, list, last);
}

// --- conditions ----------------------------------------------------------------------------------------------------

// The operands of a chain of the same operator.
std::vector<NodeId> operands(const CodeView& target, NodeId node, std::string_view op) {
  const Tree& tree = *target.tree;
  node = strip_parentheses(tree, node);
  const bool chain =
      tree.is(node, kinds().boolean_operator) && text_of(target, tree.child(node, fields().operator_)) == op;
  if (!chain) return {node};
  std::vector<NodeId> out = operands(target, tree.child(node, fields().left), op);
  const auto right = operands(target, tree.child(node, fields().right), op);
  out.insert(out.end(), right.begin(), right.end());
  return out;
}

// The chain of the operator that the node is an operand of, or the node: the match may name the first operand alone.
NodeId whole_condition(const CodeView& target, NodeId node, std::string_view op) {
  const Tree& tree = *target.tree;
  for (NodeId at = tree[node].parent; at != kNone; at = tree[at].parent) {
    if (tree.is(at, kinds().parenthesized_expression)) continue;
    if (!tree.is(at, kinds().boolean_operator) || text_of(target, tree.child(at, fields().operator_)) != op) break;
    node = at;
  }
  return node;
}

// `$MATCH or CODE`, with parentheses around CODE where it would be taken apart without them.
std::optional<Pattern> joined(const std::string& code, const std::string& op) {
  for (const bool parentheses : {false, true}) {
    auto pattern = compile_pattern("$MATCH " + op + (parentheses ? " (" + code + ")" : " " + code), nullptr);
    if (!pattern || pattern->form() != Pattern::Form::expression) continue;
    const Tree& tree = pattern->tree();
    const NodeId root = pattern->roots()[0];
    const NodeId left = tree.is(root, kinds().boolean_operator) ? tree.child(root, fields().left) : kNone;
    if (left != kNone && pattern->metavariable(left) != nullptr) return pattern;
  }
  return std::nullopt;
}

// An operand begins a line of its own where the one before it does: behind the operator's line, or with the operator. nullopt: it
// does not, and the new one goes on as the last one did.
std::optional<std::vector<Splice>> operand_on_its_line(const CompiledStructural& edit, const StructuralSite& site,
                                                       NodeId chain, const std::string& op, const Rendered& wanted) {
  const Tree& tree = *site.target.tree;
  const Source& source = *site.target.source;
  const NodeId sign = tree.is(chain, kinds().boolean_operator) ? tree.child(chain, fields().operator_) : kNone;
  if (sign == kNone || text_of(site.target, sign) != op) return std::nullopt;
  const NodeId last = tree.child(chain, fields().right);
  const auto breaks = [&](std::uint32_t begin, std::uint32_t end) {
    const auto gap = source.text({begin, end});
    return gap.find('\n') != std::string_view::npos && gap.find('\\') == std::string_view::npos;
  };
  const bool leads = breaks(tree[tree.child(chain, fields().left)].end, tree[sign].begin);
  if (!leads && !breaks(tree[sign].end, tree[last].begin)) return std::nullopt;
  const std::uint32_t end = tree[last].end;
  const std::uint32_t line_end = source.line_end(source.line_of(end));
  const std::size_t behind = source.text({end, line_end}).find_first_not_of(" \t");
  const bool free = behind == std::string_view::npos || source.bytes()[end + behind] == '#';
  const std::uint32_t at = free ? line_end : end;
  const std::string indentation(source.indentation_at(leads ? tree[sign].begin : tree[last].begin));
  std::string code = code_text(edit, site, indentation);
  if (needs_parentheses(wanted.view(), wanted.node, site.target, last)) code = "(" + code + ")";
  const std::string line = std::string(source.newline()) + indentation;
  if (leads) return std::vector<Splice>{{at, at, line + op + " " + code, "", false}};
  if (at == end) return std::vector<Splice>{{end, end, " " + op + line + code, "", false}};
  return std::vector<Splice>{{end, end, " " + op, "", false}, {at, at, line + code, "", false}};
}

Examined examine_condition(const CompiledStructural& edit, const StructuralSite& site, NodeId node) {
  const Tree& tree = *site.target.tree;
  const std::string op = edit.into == Into::disjunction ? "or" : "and";
  const Rendered wanted = render(edit, site);
  if (wanted.node == kNone) return Examined::unfit("the operand cannot be written here");
  for (const NodeId operand : operands(site.target, whole_condition(site.target, node, op), op)) {
    if (equal_code(site.target, operand, wanted.view(), wanted.node)) return Examined::in_place();
  }
  if (auto splices = operand_on_its_line(edit, site, node, op, wanted)) return Examined::to_do(std::move(*splices));
  // `(x := a)` is one operand with its parentheses.
  if (tree.is(node, kinds().named_expression) && tree.is(tree[node].parent, kinds().parenthesized_expression))
    node = tree[node].parent;
  const auto replacement = joined(edit.code->spelled(edit.node), op);
  if (!replacement) return Examined::unfit("the operand cannot be written here");
  Rewrite rewrite = replace_node(site.target, node, "MATCH", site.match->bindings, *replacement, site.comments);
  return {Examined::State::to_do, "", std::move(rewrite)};
}

}  // namespace

Examined examine_argument(const CompiledStructural& edit, const StructuralSite& site, NodeId call) {
  const Tree& tree = *site.target.tree;
  const NodeId arguments = tree.is(call, kinds().call) ? tree.child(call, fields().arguments) : kNone;
  if (arguments == kNone) return Examined::unfit("is no call");
  if (tree.is(arguments, kinds().generator_expression)) return added_to_generator(edit, site, arguments);
  const Rendered wanted = render(edit, site);
  if (wanted.node == kNone) return Examined::unfit("the argument cannot be written here");
  const CommaList list = list_at(tree, arguments);
  if (wanted.view().tree->is(wanted.node, kinds().dictionary_splat)) return look_for_splat(edit, site, list, wanted);
  return keyword_of(wanted.view(), wanted.node).empty() ? look_for_positional(edit, site, list, wanted)
                                                        : look_for_keyword(edit, site, list, wanted);
}

Examined examine_element(const CompiledStructural& edit, const StructuralSite& site, NodeId node) {
  if (edit.into != Into::literal) return examine_condition(edit, site, node);
  const Tree& tree = *site.target.tree;
  const Kinds& k = kinds();
  const bool literal =
      tree.is(node, k.list) || tree.is(node, k.tuple) || tree.is(node, k.set) || tree.is(node, k.expression_list);
  if (!literal) return Examined::unfit("is no list, tuple or set");
  const Rendered wanted = render(edit, site);
  if (wanted.node == kNone) return Examined::unfit("the element cannot be written here");
  const CommaList list = list_at(tree, node);
  const bool there = std::any_of(list.elements.begin(), list.elements.end(), [&](NodeId element) {
    return equal_code(site.target, element, wanted.view(), wanted.node);
  });
  if (there) return Examined::in_place();
  const bool front = edit.end == End::first || list.elements.empty();
  return added(edit, site, list, front ? kNone : list.elements.back());
}

Examined examine_key(const CompiledStructural& edit, const StructuralSite& site, NodeId dictionary) {
  const Tree& tree = *site.target.tree;
  if (!tree.is(dictionary, kinds().dictionary)) return Examined::unfit("is no dictionary written with braces");
  const Rendered wanted = render(edit, site);
  if (wanted.node == kNone) return Examined::unfit("the entry cannot be written here");
  const NodeId key = wanted.tree->named_children(wanted.node)[0];
  const CommaList list = list_at(tree, dictionary);
  std::vector<NodeId> same;
  for (const NodeId entry : list.elements) {
    if (tree.is(entry, kinds().pair) && equal_code(site.target, tree.named_children(entry)[0], wanted.view(), key))
      same.push_back(entry);
  }
  if (same.size() > 1) return Examined::unfit("has the key " + text_of(wanted.view(), key) + " twice");
  if (same.empty()) return added(edit, site, list, list.elements.empty() ? kNone : list.elements.back());
  if (equal_code(site.target, same[0], wanted.view(), wanted.node)) return Examined::in_place();
  return Examined::unfit("has `" + text_of(site.target, same[0]) + "` already");
}

}  // namespace suture
