// See resolver.h. Tests: tests/unit/judge_test.cc.
#include "engine/resolver.h"

#include <algorithm>

#include "base/sha256.h"

namespace suture {
namespace {

std::string unresolved(const CompiledImport& import, const std::string& why) {
  return "`" + import.statement + "` would not resolve: " + why;
}

}  // namespace

std::optional<Resolver::Problem> Resolver::problem(const CompiledImport& import, const std::string& path) {
  const std::string module = imported_module(import, path, state_.folder);
  if (module.empty())
    return Problem{unresolved(import, "it leaves " + state_.folder + ", seen from " + path), "", std::nullopt};
  const std::vector<std::string> paths = module_files(import, path, state_.folder);
  if (!paths.empty()) return in_package(import, paths);
  const std::string top = module.substr(0, module.find('.'));
  if (!state_.absent_modules.contains(top)) return std::nullopt;
  return Problem{unresolved(import, "there is no " + top + " beside " + state_.folder),
                 "install it there, or name the environment that holds both with -t TREE or --python EXE",
                 std::nullopt};
}

std::optional<Resolver::Problem> Resolver::in_package(const CompiledImport& import,
                                                      const std::vector<std::string>& paths) {
  if (std::none_of(paths.begin(), paths.end(), [&](const std::string& p) { return known(p); })) return std::nullopt;
  // The first half could hold the module, the second half a submodule of the name.
  const std::size_t of_module = import.name.empty() ? paths.size() : paths.size() / 2;
  for (std::size_t i = of_module; i < paths.size(); ++i) {
    if (module_file(paths[i])) return std::nullopt;
  }
  for (std::size_t i = 0; i < of_module; ++i) {
    const std::shared_ptr<const ParsedFile> file = module_file(paths[i]);
    if (!file) continue;
    if (import.name.empty() || file->problem || defines(file->target(), import.name)) return std::nullopt;
    return Problem{unresolved(import, paths[i] + " does not define " + import.name), "",
                   Evidence{paths[i], Location{}, "searched for " + import.name}};
  }
  return Problem{unresolved(import, "there is no " + paths[0]), "", std::nullopt};
}

const FileState* Resolver::file_at(const std::string& path) const {
  const auto file = state_.files.find(path);
  return file == state_.files.end() ? nullptr : &file->second;
}

bool Resolver::known(const std::string& path) const {
  return file_at(path) != nullptr ||
         std::any_of(adds_.begin(), adds_.end(), [&](const AddedFile& added) { return added.path.value == path; });
}

std::shared_ptr<const ParsedFile> Resolver::module_file(const std::string& path) {
  for (const AddedFile& added : adds_) {
    if (added.path.value == path) return bench_.files().get(path, added.bytes, sha256_hex(added.bytes));
  }
  const FileState* file = file_at(path);
  return file != nullptr && file->kind == FileState::Kind::regular ? bench_.files().get(path, *file) : nullptr;
}

}  // namespace suture
