// See imports.h. Tests: tests/unit/imports_test.cc.
#include "engine/imports.h"

#include <algorithm>

#include "base/function_ref.h"
#include "engine/layout.h"

namespace suture {
namespace {

// "srt/layers/x.py" of sglang, one dot -> "sglang.srt.layers"; each further dot one part less.
std::string package_of(const std::string& path, const std::string& folder, std::size_t dots) {
  std::string module = folder + "/" + path;
  for (std::size_t i = 0; i < dots; ++i) {
    const auto slash = module.rfind('/');
    if (slash == std::string::npos) return "";
    module.erase(slash);
  }
  std::replace(module.begin(), module.end(), '/', '.');
  return module;
}

// The absolute name of the X of `from X import`; empty: it leaves the package.
std::string absolute_module(const std::string& written, const std::string& path, const std::string& folder) {
  const auto dots = written.find_first_not_of('.');
  const std::size_t level = dots == std::string::npos ? written.size() : dots;
  if (level == 0) return written;
  const std::string package = package_of(path, folder, level);
  const std::string rest = dots == std::string::npos ? "" : written.substr(dots);
  return rest.empty() || package.empty() ? package : package + "." + rest;
}

bool is_type_checking(const CodeView& target, NodeId statement) {
  const NodeId condition = target.tree->child(statement, fields().condition);
  if (condition == kNone) return false;
  const std::string c = text_of(target, condition);
  return c == "TYPE_CHECKING" || c == "typing.TYPE_CHECKING";
}

// Statements of module scope: the module's own and those of suites that run with it (if, try, with, for ...), not of definitions.
void module_statements(const CodeView& target, NodeId suite, FunctionRef<void(NodeId, bool)> visit,
                       bool type_checking = false) {
  const Tree& tree = *target.tree;
  for (NodeId statement : statements_of(tree, suite)) {
    visit(statement, type_checking);
    if (tree.is(statement, kinds().function_definition) || tree.is(statement, kinds().class_definition) ||
        tree.is(statement, kinds().decorated_definition))
      continue;
    const bool typing =
        type_checking || (tree.is(statement, kinds().if_statement) && is_type_checking(target, statement));
    for (NodeId id = statement; id < tree[statement].subtree_end;) {
      if (!tree.is(id, kinds().block)) {
        ++id;
        continue;
      }
      // `else` of `if TYPE_CHECKING` does run.
      const bool consequence = tree[id].parent == statement;
      module_statements(target, id, visit, typing && consequence);
      id = tree[id].subtree_end;
    }
  }
}

// (module, name, bound) of each thing that an import statement brings.
struct Imported {
  std::string module, name, bound;
};
std::vector<Imported> imported(const CodeView& target, NodeId statement, const std::string& path,
                               const std::string& folder) {
  const Tree& tree = *target.tree;
  std::vector<Imported> out;
  const bool from = tree.is(statement, kinds().import_from_statement);
  if (!from && !tree.is(statement, kinds().import_statement)) return out;
  std::string module;
  for (NodeId c : tree.named_children(statement)) {
    if (from && tree[c].field == fields().module_name) {
      module = absolute_module(text_of(target, c), path, folder);
      continue;
    }
    NodeId name = c;
    std::string alias;
    if (tree.is(c, kinds().aliased_import)) {
      alias = text_of(target, tree.child(c, fields().alias));
      name = tree.child(c, fields().name);
    }
    const std::string written = tree.is(name, kinds().wildcard_import) ? "*" : text_of(target, name);
    if (from) {
      out.push_back({module, written, alias.empty() ? written : alias});
    } else {
      out.push_back({written, "", alias.empty() ? written.substr(0, written.find('.')) : alias});
    }
  }
  return out;
}

// Grammar symbols that only this file speaks of.
struct BindingKinds {
  Kind as_pattern_target = kind_named("as_pattern_target"), case_pattern = kind_named("case_pattern"),
       union_pattern = kind_named("union_pattern"), keyword_pattern = kind_named("keyword_pattern"),
       splat_pattern = kind_named("splat_pattern"), tuple_pattern = kind_named("tuple_pattern"),
       list_pattern = kind_named("list_pattern"), generic_type = kind_named("generic_type"),
       global_statement = kind_named("global_statement");
};
const BindingKinds& binding_kinds() {
  static const BindingKinds kKinds;
  return kKinds;
}

// A name of a pattern of `case`: a capture, not a class, a constant or a keyword.
bool is_capture(const Tree& tree, NodeId dotted_name) {
  const BindingKinds& b = binding_kinds();
  const NodeId parent = tree[dotted_name].parent;
  if (tree.named_children(dotted_name).size() != 1) return false;
  return tree.is(parent, b.case_pattern) || tree.is(parent, b.union_pattern) ||
         (tree.is(parent, b.keyword_pattern) && tree.named_children(parent).front() != dotted_name);
}

// What a list of targets is made of: a name in it is bound where the list is.
bool is_target_list(const Tree& tree, NodeId node) {
  const Kinds& k = kinds();
  const BindingKinds& b = binding_kinds();
  for (const Kind kind : {k.pattern_list, b.tuple_pattern, b.list_pattern, k.list_splat_pattern, k.tuple, k.list,
                          k.expression_list, k.parenthesized_expression, k.type}) {
    if (tree.is(node, kind)) return true;
  }
  return false;
}

// Whether the name that stands here is bound here (or deleted, which makes it something else too).
enum class Bound { no, yes, deleted };
Bound bound_at(const Tree& tree, NodeId identifier) {
  const Kinds& k = kinds();
  const BindingKinds& b = binding_kinds();
  const auto when = [](bool condition) { return condition ? Bound::yes : Bound::no; };
  for (NodeId at = identifier, parent = tree[at].parent; parent != kNone; at = parent, parent = tree[at].parent) {
    const std::uint8_t field = tree[at].field;
    if (tree.is(parent, k.assignment) || tree.is(parent, k.augmented_assignment) || tree.is(parent, k.for_statement) ||
        tree.is(parent, k.type_alias_statement))
      return when(field == fields().left);
    if (tree.is(parent, k.named_expression) || tree.is(parent, k.function_definition) ||
        tree.is(parent, k.class_definition))
      return when(field == fields().name);
    if (tree.is(parent, k.delete_statement)) return Bound::deleted;
    if (tree.is(parent, b.as_pattern_target) || tree.is(parent, b.splat_pattern)) return Bound::yes;
    if (tree.is(parent, k.as_pattern)) return when(tree.named_children(parent).front() != at);
    if (tree.is(parent, k.dotted_name)) return when(is_capture(tree, parent));
    const bool alias = tree.is(parent, b.generic_type) && tree.named_children(parent).front() == at;  // type X[T] = ...
    if (!alias && !is_target_list(tree, parent)) return Bound::no;
  }
  return Bound::no;
}

// Whether a statement other than an import binds the name in the scope that it stands in. The suites in it are others'.
bool binds_otherwise(const CodeView& target, NodeId statement, const std::string& name, bool deletions) {
  const Tree& tree = *target.tree;
  for (NodeId id = statement; id < tree[statement].subtree_end; ++id) {
    if (id != statement && (tree.is(id, kinds().block) || tree.is(id, kinds().lambda))) {
      id = tree[id].subtree_end - 1;
      continue;
    }
    if (!tree.is(id, kinds().identifier) || text_of(target, id) != name) continue;
    const Bound bound = bound_at(tree, id);
    if (bound == Bound::yes || (bound == Bound::deleted && deletions)) return true;
  }
  return false;
}

// The bodies of definitions that declare the name `global`: what they bind, they bind in the module.
std::vector<NodeId> bodies_with_global(const CodeView& target, const std::string& name) {
  const Tree& tree = *target.tree;
  std::vector<NodeId> out;
  for (NodeId id = 0; id < tree.size(); ++id) {
    if (!tree.is(id, binding_kinds().global_statement)) continue;
    const auto names = tree.named_children(id);
    if (std::none_of(names.begin(), names.end(), [&](NodeId n) { return text_of(target, n) == name; })) continue;
    NodeId at = tree[id].parent;
    while (at != kNone && !tree.is(at, kinds().function_definition) && !tree.is(at, kinds().class_definition))
      at = tree[at].parent;
    const NodeId body = at == kNone ? kNone : tree.child(at, fields().body);
    if (body != kNone) out.push_back(body);
  }
  return out;
}

// What one statement says of an import: it is it, it binds its name to something else, or neither.
ImportStatus::Kind status_of(const CodeView& target, NodeId statement, const CompiledImport& import,
                             const std::string& path, const std::string& folder) {
  using Found = ImportStatus::Kind;
  const std::string bound = import.bound();
  const std::string module = imported_module(import, path, folder);
  for (const Imported& i : imported(target, statement, path, folder)) {
    if (i.bound != bound) continue;
    if (i.module == module && i.name == import.name) return Found::satisfied;
    // `import a.b` and `import a.c` both bind `a`, to the same thing.
    const bool same_top = import.name.empty() && i.name.empty() && import.alias.empty() &&
                          i.module.substr(0, i.module.find('.')) == bound;
    return same_top ? Found::missing : Found::taken;
  }
  return binds_otherwise(target, statement, bound, true) ? Found::taken : Found::missing;
}

}  // namespace

std::string imported_module(const CompiledImport& import, const std::string& path, const std::string& folder) {
  return absolute_module(import.module, path, folder);
}

ImportStatus find_import(const CodeView& target, const CompiledImport& import, const std::string& path,
                         const std::string& folder) {
  using Found = ImportStatus::Kind;
  ImportStatus out;
  const auto visit = [&](NodeId statement, bool type_checking) {
    if (type_checking || out.kind == Found::satisfied) return;
    const Found kind = status_of(target, statement, import, path, folder);
    if (kind != Found::missing) out = {kind, statement};
  };
  module_statements(target, target.tree->root(), visit);
  if (out.kind != Found::missing) return out;
  for (const NodeId body : bodies_with_global(target, import.bound())) {
    module_statements(target, body, [&](NodeId statement, bool) {
      if (status_of(target, statement, import, path, folder) == Found::taken) out = {Found::taken, statement};
    });
  }
  return out;
}

std::vector<Splice> insert_import(const CodeView& target, const CompiledImport& import) {
  const Tree& tree = *target.tree;
  const Kinds& k = kinds();
  const std::string line = import.statement + std::string(target.source->newline());
  NodeId last = kNone;         // the last import of the header
  NodeId last_string = kNone;  // the last string statement before any import
  const auto statements = statements_of(tree, tree.root());
  for (NodeId statement : statements) {
    const bool is_import = tree.is(statement, k.import_statement) || tree.is(statement, k.import_from_statement) ||
                           tree.is(statement, k.future_import_statement);
    const auto inner = tree.named_children(statement);
    const bool is_string = tree.is(statement, k.expression_statement) && inner.size() == 1 &&
                           (tree.is(inner[0], k.string) || tree.is(inner[0], k.concatenated_string));
    if (!is_import && !is_string) break;
    if (is_import) {
      last = statement;
    } else if (last == kNone) {
      last_string = statement;
    }
  }
  std::vector<Splice> out;
  if (last != kNone || last_string != kNone) {
    out = insert_below(target, last != kNone ? last : last_string, line);
  } else if (!statements.empty()) {
    out = insert_above(target, statements.front(), line);
  } else {
    out = {Splice{target.source->size(), target.source->size(), line, "", false}};
  }
  for (Splice& s : out) s.import = true;
  return out;
}

std::optional<CompiledImport> read_import(const std::string& statement) {
  const auto pattern = compile_pattern(statement, nullptr);
  if (!pattern) return std::nullopt;
  const CodeView target{&pattern->source(), &pattern->tree()};
  const Tree& tree = pattern->tree();
  const NodeId root = pattern->roots()[0];
  const auto names = imported(target, root, "", "");
  if (names.size() != 1) return std::nullopt;
  CompiledImport out;
  out.statement = statement;
  out.name = names[0].name;
  out.module = names[0].module;
  const NodeId module = tree.child(root, fields().module_name);
  if (module != kNone) out.module = text_of(target, module);  // as it is written: relative to a file
  if (names[0].bound != out.bound()) out.alias = names[0].bound;
  return out;
}

std::vector<std::string> module_files(const CompiledImport& import, const std::string& path,
                                      const std::string& folder) {
  std::vector<std::string> out;
  const auto add_files = [&](const std::string& module) {
    std::string rest;
    if (module != folder) {
      if (module.compare(0, folder.size() + 1, folder + ".") != 0) return;
      rest = module.substr(folder.size() + 1);
    }
    std::replace(rest.begin(), rest.end(), '.', '/');
    if (!rest.empty()) out.push_back(rest + ".py");
    out.push_back(rest.empty() ? "__init__.py" : rest + "/__init__.py");
  };
  const std::string module = imported_module(import, path, folder);
  add_files(module);
  if (!import.name.empty()) add_files(module + "." + import.name);
  return out;
}

bool binds(const CodeView& target, NodeId statement, const std::string& name) {
  const std::vector<Imported> names = imported(target, statement, "", "");
  return binds_otherwise(target, statement, name, false) ||
         std::any_of(names.begin(), names.end(), [&](const Imported& i) { return i.bound == name; });
}

bool defines(const CodeView& target, const std::string& name) {
  bool found = false;
  const auto visit = [&](NodeId statement, bool type_checking) {
    if (type_checking || found) return;
    for (const Imported& i : imported(target, statement, "", "")) found = found || i.bound == name || i.name == "*";
    found = found || binds_otherwise(target, statement, name, false);
  };
  module_statements(target, target.tree->root(), visit);
  return found;
}

}  // namespace suture
