// add_import: whether a module has an import, where a new one goes, whether it would resolve.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/compiled_rule.h"
#include "engine/match.h"
#include "engine/revert.h"  // Splice

namespace suture {

struct ImportStatus {
  enum class Kind {
    satisfied,  // the same module and name, in module scope (a top-level if or try counts, TYPE_CHECKING does not)
    missing,
    taken,  // the name is bound by something else
  } kind = Kind::missing;
  NodeId at = kNone;  // the statement that satisfies it or takes the name
};

// path: the file's, relative to the package folder; folder: the package's import name. Both for relative imports.
ImportStatus find_import(const CodeView& target, const CompiledImport& import, const std::string& path,
                         const std::string& folder);

// The line, after the last import of the header: the longest prefix of string statements, `__future__` lines and imports.
std::vector<Splice> insert_import(const CodeView& target, const CompiledImport& import);

// The absolute name of the module that the import names in the file `path` of the package `folder`; empty: a relative import
// that leaves the package.
std::string imported_module(const CompiledImport& import, const std::string& path, const std::string& folder);
// An import statement's text as a value; nullopt where it does not compile.
std::optional<CompiledImport> read_import(const std::string& statement);

// Files of the package, relative to its folder, any of which would hold the module (or, for `from a import b`, the submodule
// b), of an import that is written to the file `path`. Empty: the module is of another package.
std::vector<std::string> module_files(const CompiledImport& import, const std::string& path, const std::string& folder);

// Whether the statement, an import too, binds the name in the scope that it stands in; the suites in it do not count.
bool binds(const CodeView& target, NodeId statement, const std::string& name);

// Whether the module defines (or imports) the name at module level; a `*` import counts as "may".
bool defines(const CodeView& target, const std::string& name);

}  // namespace suture
