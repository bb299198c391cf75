// See imports.h. Tests: tests/unit/imports_test.cc.
#include "engine/imports.h"

#include <algorithm>

#include "base/function_ref.h"
#include "engine/layout.h"

namespace suture {
namespace {

std::string text(const CodeView& target, NodeId node) {
  return std::string(target.source->text(target.tree->range(node)));
}

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

// The absolute name of what `from X import` names.
std::string absolute_module(const CodeView& target, NodeId name, const std::string& path, const std::string& folder) {
  const std::string written = text(target, name);
  const auto dots = written.find_first_not_of('.');
  const std::size_t level = dots == std::string::npos ? written.size() : dots;
  if (level == 0) return written;
  const std::string package = package_of(path, folder, level);
  const std::string rest = dots == std::string::npos ? "" : written.substr(dots);
  return rest.empty() ? package : package + "." + rest;
}

bool is_type_checking(const CodeView& target, NodeId statement) {
  const NodeId condition = target.tree->child(statement, fields().condition);
  if (condition == kNone) return false;
  const std::string c = text(target, condition);
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
      module = absolute_module(target, c, path, folder);
      continue;
    }
    NodeId name = c;
    std::string alias;
    if (tree.is(c, kinds().aliased_import)) {
      alias = text(target, tree.child(c, fields().alias));
      name = tree.child(c, fields().name);
    }
    const std::string written = tree.is(name, kinds().wildcard_import) ? "*" : text(target, name);
    if (from) {
      out.push_back({module, written, alias.empty() ? written : alias});
    } else {
      out.push_back({written, "", alias.empty() ? written.substr(0, written.find('.')) : alias});
    }
  }
  return out;
}

// Names that a statement other than an import binds: targets of assignments, definitions, for, with.
bool binds_otherwise(const CodeView& target, NodeId statement, const std::string& name) {
  const Tree& tree = *target.tree;
  const Kinds& k = kinds();
  NodeId node = statement;
  if (tree.is(node, k.decorated_definition)) node = tree.child(node, fields().definition);
  if (node == kNone) return false;
  if (tree.is(node, k.function_definition) || tree.is(node, k.class_definition)) {
    const NodeId own = tree.child(node, fields().name);
    return own != kNone && text(target, own) == name;
  }
  for (NodeId id = node; id < tree[node].subtree_end; ++id) {
    if (tree.is(id, k.block) || tree.is(id, k.lambda) || tree.is(id, k.attribute) || tree.is(id, k.subscript)) {
      id = tree[id].subtree_end - 1;
      continue;
    }
    if (!tree.is(id, k.identifier) || text(target, id) != name) continue;
    for (NodeId at = id; at != node && tree[at].parent != kNone; at = tree[at].parent) {
      const NodeId parent = tree[at].parent;
      const bool is_target = tree[at].field == fields().left &&
                             (tree.is(parent, k.assignment) || tree.is(parent, k.augmented_assignment) ||
                              tree.is(parent, k.for_statement));
      if (is_target || kind_name(tree[at].kind) == "as_pattern_target" ||
          (tree.is(parent, k.named_expression) && tree[at].field == fields().name))
        return true;
    }
  }
  return false;
}

}  // namespace

ImportStatus find_import(const CodeView& target, const CompiledImport& import, const std::string& path,
                         const std::string& folder) {
  ImportStatus out;
  const std::string bound = import.bound();
  const auto visit = [&](NodeId statement, bool type_checking) {
    if (type_checking || out.kind == ImportStatus::Kind::satisfied) return;
    for (const Imported& i : imported(target, statement, path, folder)) {
      if (i.bound != bound) continue;
      const bool same = i.module == import.module && i.name == import.name;
      // `import a.b` and `import a.c` both bind `a`, to the same thing.
      const bool same_top = import.name.empty() && i.name.empty() && import.alias.empty() &&
                            i.module.substr(0, i.module.find('.')) == bound;
      if (same) {
        out = {ImportStatus::Kind::satisfied, statement};
      } else if (!same_top) {
        out = {ImportStatus::Kind::taken, statement};
      }
      return;
    }
    if (binds_otherwise(target, statement, bound)) out = {ImportStatus::Kind::taken, statement};
  };
  module_statements(target, target.tree->root(), visit);
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

std::vector<std::string> module_files(const CompiledImport& import, const std::string& folder) {
  const auto files = [&](const std::string& module, std::vector<std::string>& out) {
    std::string rest;
    if (module != folder) {
      if (module.compare(0, folder.size() + 1, folder + ".") != 0) return;
      rest = module.substr(folder.size() + 1);
    }
    std::replace(rest.begin(), rest.end(), '.', '/');
    if (!rest.empty()) out.push_back(rest + ".py");
    out.push_back(rest.empty() ? "__init__.py" : rest + "/__init__.py");
  };
  std::vector<std::string> out;
  files(import.module, out);
  if (!import.name.empty()) files(import.module + "." + import.name, out);
  return out;
}

std::vector<std::string> module_files_of(const std::string& statement, const std::string& folder) {
  const auto pattern = compile_pattern(statement, nullptr);
  if (!pattern) return {};
  const CodeView target{&pattern->source(), &pattern->tree()};
  for (const Imported& i : imported(target, pattern->roots()[0], "", folder)) {
    CompiledImport import;
    import.module = i.module;
    import.name = i.name;
    return module_files(import, folder);
  }
  return {};
}

bool defines(const CodeView& target, const std::string& name) {
  bool found = false;
  const auto visit = [&](NodeId statement, bool type_checking) {
    if (type_checking || found) return;
    for (const Imported& i : imported(target, statement, "", "")) found = found || i.bound == name || i.name == "*";
    found = found || binds_otherwise(target, statement, name);
  };
  module_statements(target, target.tree->root(), visit);
  return found;
}

}  // namespace suture
