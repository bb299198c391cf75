// See edits.h. Tests: tests/unit/edits_test.cc.
#include "engine/edits.h"

#include <algorithm>

#include "engine/empty_suites.h"
#include "engine/layout.h"
#include "engine/structural.h"

namespace suture {
namespace {

Rewrite problem(const CodeView& target, const Site& site, std::string message) {
  return {{}, RewriteProblem{std::move(message), "", site.match.range(*target.tree)}};
}

Rewrite replace_parts(const CompiledRule& rule, const CompiledReplace& replace, const CodeView& target,
                      const Site& site) {
  Rewrite out;
  for (const auto& [name, pattern] : replace.parts) {
    const auto it = site.match.bindings.find(name);
    if (it == site.match.bindings.end() || it->second.run || it->second.nodes.size() != 1)
      return problem(target, site, "$" + name + " stands for a run here, and only a node can be replaced");
    // A name that occurs several times: each place is changed.
    std::vector<NodeId> nodes = {it->second.nodes.front()};
    for (const auto& [p, t] : site.match.pairs) {
      const CompiledShape& shape = rule.shapes[site.shape];
      const Metavariable* mv = shape.narrow.match->metavariable(p);
      if (mv != nullptr && mv->name == name && std::find(nodes.begin(), nodes.end(), t) == nodes.end())
        nodes.push_back(t);
    }
    for (NodeId node : nodes) {
      Rewrite one = replace_node(target, node, name, site.match.bindings, pattern, rule.rule->comments);
      if (one.problem) return one;
      out.splices.insert(out.splices.end(), one.splices.begin(), one.splices.end());
    }
  }
  return out;
}

Rewrite insert(const CompiledInsert& edit, const CodeView& target, const Site& site) {
  const Tree& tree = *target.tree;
  NodeId anchor = kNone;
  NodeId suite = kNone;
  bool above = true;
  if (edit.place == Place::prepend_body || edit.place == Place::append_body) {
    const NodeId node = site.match.nodes[0];
    suite = tree.is(node, kinds().module) ? node : tree.child(node, fields().body);
    if (suite == kNone) return problem(target, site, "there is no body here to insert into");
    const auto statements = statements_of(tree, suite);
    if (statements.empty())
      return problem(target, site, "there is no statement in the body here: Python does not take it");
    const NodeId docstring = docstring_of(tree, suite);
    if (edit.place == Place::append_body) {
      anchor = statements.back();
      above = false;
    } else {
      anchor = docstring == kNone ? statements.front() : docstring;
      above = docstring == kNone;
    }
  } else {
    above = edit.place == Place::insert_before;
    anchor = statement_of(tree, above ? site.match.nodes.front() : site.match.nodes.back());
    suite = tree[anchor].parent;
    if (suite == kNone) return problem(target, site, "nothing can be inserted beside the module itself");
  }
  const std::string block = render_block(edit.block, target, site.match.bindings, suite_indentation(target, suite),
                                         indentation_unit(target, suite), target.source->newline());
  return {above ? insert_above(target, anchor, block) : insert_below(target, anchor, block), std::nullopt};
}

// The metavariables that stand in the braces of an f-string.
std::vector<std::pair<std::string, NodeId>> in_f_strings(const Pattern& pattern) {
  std::vector<std::pair<std::string, NodeId>> out;
  const Tree& tree = pattern.tree();
  for (NodeId id = 0; id < tree.size(); ++id) {
    const Metavariable* mv = pattern.metavariable(id);
    if (mv == nullptr || mv->name.empty() || !tree.is(id, kinds().identifier)) continue;
    for (NodeId at = tree[id].parent; at != kNone; at = tree[at].parent) {
      if (!tree.is(at, kinds().interpolation)) continue;
      out.emplace_back(mv->name, tree[at].parent);
      break;
    }
  }
  return out;
}

// Until Python 3.12 what stands in an f-string's braces holds none of its quotes, no backslash, no comment; its lines
// are those of the string.
std::optional<RewriteProblem> unfit_for_f_string(const CompiledShape& shape, const Pattern& edit,
                                                 const CodeView& target, const Site& site) {
  std::vector<std::pair<std::string, NodeId>> before;
  if (shape.narrow.match) before = in_f_strings(*shape.narrow.match);
  for (const auto& [name, string] : in_f_strings(edit)) {
    const auto it = site.match.bindings.find(name);
    const bool was =
        std::any_of(before.begin(), before.end(), [wanted = name](const auto& b) { return b.first == wanted; });
    if (was || it == site.match.bindings.end()) continue;
    const char quote = edit.source().bytes()[edit.tree()[edit.tree().first_child(string)].end - 1];
    for (const NodeId node : it->second.nodes) {
      const Range range = target.tree->range(node);
      if (target.source->text(range).find_first_of(std::string("\\\n#") + quote) == std::string_view::npos) continue;
      return RewriteProblem{
          "$" + name + " cannot stand in the braces of an f-string here: it holds its quotes, a backslash or a newline",
          "", range};
    }
  }
  return std::nullopt;
}

// All code that the edit writes.
std::vector<const Pattern*> patterns_of(const CompiledEdit& edit) {
  std::vector<const Pattern*> out;
  if (const auto* replace = std::get_if<CompiledReplace>(&edit)) {
    if (replace->whole) out.push_back(&*replace->whole);
    for (const auto& part : replace->parts) out.push_back(&part.second);
  }
  if (const auto* argument = std::get_if<CompiledArgument>(&edit)) out.push_back(&argument->becomes);
  if (const auto* insert = std::get_if<CompiledInsert>(&edit)) out.push_back(&insert->block);
  const auto* structural = std::get_if<CompiledStructural>(&edit);
  if (structural != nullptr && structural->code && structural->kind != Structure::remove_decorator)
    out.push_back(&*structural->code);
  return out;
}

bool is_addition(const CompiledEdit& edit) {
  const auto* structural = std::get_if<CompiledStructural>(&edit);
  return structural != nullptr && is_examined(*structural) && structural->kind != Structure::remove_decorator &&
         structural->kind != Structure::remove_import;
}

// Two keys of one dictionary, two methods of one class ... end at one place: one stands behind the other. What both need
// in front of theirs, a comma or a line for the suite, is written once. Whether each rule then finds its result is checked
// on what comes out, as for every plan.
void join_additions(std::vector<Splice>& splices) {
  for (std::size_t i = 1; i < splices.size();) {
    Splice& a = splices[i - 1];
    const Splice& b = splices[i];
    const bool one_place = a.begin == b.begin && a.end == b.end && a.addition && b.addition && a.rule != b.rule;
    const bool insertions = a.begin == a.end;
    if (!one_place || (!insertions && a.text != b.text)) {
      ++i;
      continue;
    }
    if (insertions && !(a.text == "," && b.text == ",")) {
      a.text += a.joint + b.text;
      a.joint = b.joint;
    }
    splices.erase(splices.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// `a; b` without both: each would take the `;` with it.
void share_separators(const CodeView& target, std::vector<Splice>& splices) {
  for (std::size_t i = 1; i < splices.size(); ++i) {
    const Splice& a = splices[i - 1];
    Splice& b = splices[i];
    if (a.end <= b.begin || a.end > b.end || !a.text.empty() || !b.text.empty()) continue;
    const auto both = target.source->text({b.begin, a.end});
    if (both.find_first_not_of(" \t;") == std::string_view::npos) b.begin = a.end;
  }
}

}  // namespace

Rewrite edit_site(const CompiledRule& rule, const CodeView& target, const Site& site) {
  const CompiledShape& shape = rule.shapes[site.shape];
  Rewrite out;
  for (const Pattern* pattern : patterns_of(*shape.edit)) {
    if (auto unfit = unfit_for_f_string(shape, *pattern, target, site)) return {{}, std::move(unfit)};
  }
  if (const auto* replace = std::get_if<CompiledReplace>(&*shape.edit)) {
    out = replace->whole ? replace_match(target, *shape.narrow.match, site.match, *replace->whole, rule.rule->comments)
                         : replace_parts(rule, *replace, target, site);
  } else if (const auto* argument = std::get_if<CompiledArgument>(&*shape.edit)) {
    out = replace_node(target, site.argument, "ARG", site.match.bindings, argument->becomes, rule.rule->comments);
  } else if (const auto* block = std::get_if<CompiledInsert>(&*shape.edit)) {
    out = insert(*block, target, site);
  } else if (const auto* structural = std::get_if<CompiledStructural>(&*shape.edit)) {
    out = examine(*structural, {target, &site.match, rule.rule->comments}).rewrite;
  }
  for (Splice& s : out.splices) {
    s.rule = rule.rule->id;
    s.addition = is_addition(*shape.edit);
  }
  return out;
}

std::optional<Overlap> order_splices(const CodeView& target, std::vector<Splice>& splices) {
  std::stable_sort(splices.begin(), splices.end(), [](const Splice& a, const Splice& b) {
    return a.begin != b.begin ? a.begin < b.begin
                              : (a.begin == a.end) > (b.begin == b.end);  // at one point: insertions first
  });
  join_additions(splices);
  share_separators(target, splices);
  for (std::size_t i = 1; i < splices.size(); ++i) {
    const Splice& a = splices[i - 1];
    const Splice& b = splices[i];
    const bool same_point = a.begin == a.end && b.begin == b.end && a.begin == b.begin && !(a.import && b.import);
    if (a.end > b.begin || same_point) return Overlap{a.rule, b.rule, {b.begin, std::max(a.end, b.begin)}};
  }
  fill_empty_suites(target, splices);
  return std::nullopt;
}

}  // namespace suture
