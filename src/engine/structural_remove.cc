// delete and remove_import: what goes takes its comma or its lines along.
#include <algorithm>

#include "engine/layout.h"
#include "engine/list_edit.h"
#include "engine/structural_parts.h"

namespace suture {
namespace {

// A clause or a decorator: what is deleted as lines of its own, though it is no statement.
bool is_own_lines(const Tree& tree, NodeId node) {
  return is_clause(tree, node) || tree.is(node, kinds().decorator);
}

// What the statement would be without the clause: nothing, where it is the last that it must have.
bool is_needed(const Tree& tree, NodeId clause) {
  const Kinds& k = kinds();
  const NodeId statement = tree[clause].parent;
  const auto siblings = tree.named_children(statement);
  if (tree.is(clause, k.case_clause)) return siblings.size() == 1;
  if (!tree.is(statement, k.try_statement)) return false;
  const auto handles = [&](NodeId n) {
    return n != clause && (tree.is(n, k.except_clause) || tree.is(n, k.finally_clause) ||
                           kind_name(tree[n].kind) == "except_group_clause");
  };
  const bool has_else =
      std::any_of(siblings.begin(), siblings.end(), [&](NodeId n) { return tree.is(n, k.else_clause) && n != clause; });
  const bool has_except = std::any_of(siblings.begin(), siblings.end(),
                                      [&](NodeId n) { return handles(n) && !tree.is(n, k.finally_clause); });
  return std::none_of(siblings.begin(), siblings.end(), handles) || (has_else && !has_except);
}

bool is_blank(const Source& source, std::uint32_t line) {
  return source.text({source.line_begin(line), source.line_end(line)}).find_first_not_of(" \t\r") ==
         std::string_view::npos;
}

// The clause's lines; with the blank one below where there is one above too, or where it is the first of its statement.
Splice clause_lines(const CodeView& target, NodeId clause) {
  const Source& source = *target.source;
  const Tree& tree = *target.tree;
  const std::uint32_t first = source.line_of(tree[clause].begin);
  const std::uint32_t begin = source.line_begin(first);
  std::uint32_t next = source.line_of(tree[clause].end) + 1;
  const bool leads = tree.is(clause, kinds().case_clause) && tree.named_children(tree[clause].parent)[0] == clause;
  const bool apart = leads || (first > 0 && is_blank(source, first - 1));
  if (apart && next < source.line_count() && is_blank(source, next)) ++next;
  const std::uint32_t end = next < source.line_count() ? source.line_begin(next) : source.size();
  return {begin == 0 ? source.bom() : begin, end, "", "", false};
}

Examined settled(const StructuralSite& site, std::vector<Splice> splices) {
  if (auto problem = settle_comments(site, splices)) return Examined::refused(std::move(*problem));
  return Examined::to_do(std::move(splices));
}

// Neighbours in one list, or one clause.
Examined remove_nodes(const StructuralSite& site, const std::vector<NodeId>& nodes) {
  const Tree& tree = *site.target.tree;
  const Range range{tree[nodes.front()].begin, tree[nodes.back()].end};
  if (is_own_lines(tree, nodes.front())) {
    if (is_needed(tree, nodes.front()))
      return Examined::refused(
          {"the statement is nothing without this clause", "delete or replace the whole statement", range});
    return settled(site, {clause_lines(site.target, nodes.front())});
  }
  const auto list = list_of(tree, nodes.front());
  if (!list)
    return Examined::refused(
        {"only statements, clauses and elements of a list can be deleted; this is part of an expression",
         "match the whole statement, or replace the expression", range});
  Removal removal = remove_elements(site.target, *list, nodes.front(), nodes.back());
  if (!removal.problem.empty()) return Examined::refused({removal.problem, "replace the whole instead", range});
  return settled(site, std::move(removal.splices));
}

// The element that the node is, or is all of; for the value of a keyword or of a key, the whole of it: it cannot stand
// without.
NodeId element_of(const Tree& tree, NodeId node) {
  const auto is_value = [&](NodeId parent) {
    const bool named = tree.is(parent, kinds().keyword_argument) || tree.is(parent, kinds().pair);
    return named && tree[node].field == fields().value;
  };
  while (tree[node].parent != kNone && !list_of(tree, node) && !is_suite(tree, tree[node].parent) &&
         (tree.range(tree[node].parent) == tree.range(node) || is_value(tree[node].parent)))
    node = tree[node].parent;
  return node;
}

Examined remove_part(const StructuralSite& site, std::vector<NodeId> nodes) {
  const Tree& tree = *site.target.tree;
  const auto statements = whole_statements(tree, nodes);
  if (statements && !is_own_lines(tree, nodes.front()))
    return settled(site, take_out(site.target, statements->front(), statements->back()));
  for (NodeId& node : nodes) node = element_of(tree, node);
  return remove_nodes(site, nodes);
}

// --- imports -------------------------------------------------------------------------------------------------------

struct ImportedName {
  std::string module, name, alias;
  NodeId node = kNone;
};

std::vector<ImportedName> imported_names(const CodeView& code, NodeId statement) {
  const Tree& tree = *code.tree;
  const bool from = tree.is(statement, kinds().import_from_statement);
  std::vector<ImportedName> out;
  if (!from && !tree.is(statement, kinds().import_statement)) return out;
  const NodeId module = tree.child(statement, fields().module_name);
  for (const NodeId child : tree.named_children(statement)) {
    if (child == module) continue;
    ImportedName one;
    one.node = child;
    NodeId name = child;
    if (tree.is(child, kinds().aliased_import)) {
      one.alias = text_of(code, tree.child(child, fields().alias));
      name = tree.child(child, fields().name);
    }
    (from ? one.name : one.module) = text_of(code, name);
    if (from) one.module = text_of(code, module);
    out.push_back(std::move(one));
  }
  return out;
}

// Why the name may be the wanted one under another spelling; empty: it is another.
std::string doubt(const ImportedName& found, const ImportedName& wanted) {
  if (found.name == "*" && found.module == wanted.module) return "imports all of " + wanted.module;
  if (found.name != wanted.name) return "";
  if (found.module == wanted.module) return "imports it under another name";
  const std::size_t dots = found.module.find_first_not_of('.');
  const bool relative = !found.module.empty() && found.module.front() == '.';
  const std::string rest = dots == std::string::npos ? "" : found.module.substr(dots);
  return relative && wanted.module.ends_with(rest) ? "imports it by the relative name " + found.module : "";
}

// The names of the statement that go; a name that may be one of them under another spelling is told in `why`.
std::vector<NodeId> names_to_go(const CodeView& target, NodeId statement, const std::vector<ImportedName>& wanted,
                                std::string& why) {
  std::vector<NodeId> out;
  for (const ImportedName& name : imported_names(target, statement)) {
    const auto is_it = [&](const ImportedName& w) {
      return name.module == w.module && name.name == w.name && name.alias == w.alias;
    };
    if (std::any_of(wanted.begin(), wanted.end(), is_it)) {
      out.push_back(name.node);
      continue;
    }
    for (const ImportedName& w : wanted) {
      if (why.empty()) why = doubt(name, w);
    }
  }
  return out;
}

// Neighbours of the list among the nodes, as first and last.
std::vector<std::pair<NodeId, NodeId>> runs_of(const CommaList& list, const std::vector<NodeId>& nodes) {
  std::vector<std::pair<NodeId, NodeId>> out;
  bool open = false;
  for (const NodeId element : list.elements) {
    const bool goes = std::find(nodes.begin(), nodes.end(), element) != nodes.end();
    if (goes && open) out.back().second = element;
    if (goes && !open) out.emplace_back(element, element);
    open = goes;
  }
  return out;
}

// The import statements of the scope, not those of definitions in it.
std::vector<NodeId> imports_in(const Tree& tree, NodeId scope) {
  std::vector<NodeId> out;
  for (NodeId id = scope + 1; id < tree[scope].subtree_end; ++id) {
    if (tree.is(id, kinds().function_definition) || tree.is(id, kinds().class_definition)) {
      id = tree[id].subtree_end - 1;
    } else if (tree.is(id, kinds().import_statement) || tree.is(id, kinds().import_from_statement)) {
      out.push_back(id);
    }
  }
  return out;
}

struct FoundImport {
  NodeId statement = kNone;
  std::vector<NodeId> names;  // of the statement's, those that go
  bool whole = false;         // all of them
};

}  // namespace

Examined examine_delete(const CompiledStructural& edit, const StructuralSite& site) {
  if (edit.of.empty()) return remove_part(site, site.match->nodes);
  Examined out = Examined::to_do({});
  for (const std::string& name : edit.of) {
    const auto it = site.match->bindings.find(name);
    if (it == site.match->bindings.end() || it->second.nodes.empty()) continue;  // an empty run: nothing to delete
    Examined part = remove_part(site, it->second.nodes);
    if (part.rewrite.problem) return part;
    out.rewrite.splices.insert(out.rewrite.splices.end(), part.rewrite.splices.begin(), part.rewrite.splices.end());
  }
  return out;
}

Examined examine_import(const CompiledStructural& edit, const StructuralSite& site, NodeId scope) {
  const CodeView& target = site.target;
  const Tree& tree = *target.tree;
  const CodeView code{&edit.code->source(), &edit.code->tree()};
  const std::vector<ImportedName> wanted = imported_names(code, edit.node);
  std::vector<FoundImport> found;
  for (const NodeId statement : imports_in(tree, scope)) {
    std::string why;
    FoundImport here{statement, names_to_go(target, statement, wanted, why), false};
    if (!why.empty())
      return Examined::unfit(why + ", at line " + std::to_string(target.source->line_of(tree[statement].begin) + 1));
    if (here.names.empty()) continue;
    here.whole = here.names.size() == imported_names(target, statement).size();
    found.push_back(std::move(here));
  }
  if (found.empty()) return Examined::in_place();
  std::vector<Splice> splices;
  for (const FoundImport& import : found) {
    std::vector<Splice> part;
    if (import.whole) {
      part = take_out(target, import.statement, import.statement);
    } else {
      const CommaList list = *list_of(tree, import.names.front());
      for (const auto& [first, last] : runs_of(list, import.names)) {
        const auto removal = remove_elements(target, list, first, last);
        part.insert(part.end(), removal.splices.begin(), removal.splices.end());
      }
    }
    splices.insert(splices.end(), part.begin(), part.end());
  }
  return settled(site, std::move(splices));
}

}  // namespace suture
