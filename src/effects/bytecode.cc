#include "effects/bytecode.h"

#include <cerrno>

namespace suture {
namespace {

constexpr std::string_view kSource = ".py", kBytecode = ".pyc";

void remove_one(const TreeFolder& tree, Handle folder, const std::string& name, const std::string& shown,
                BytecodeReport& report) {
  const Io<Done> removed = tree.fs().remove(folder, name);
  if (removed) ++report.removed;
  if (!removed && removed.error != ENOENT) {
    report.problems.push_back("stale bytecode stays: cannot remove " + shown + ": " + errno_words(removed.error));
  }
}

// "name.cpython-311.pyc", "name.cpython-311.opt-2.pyc"
bool is_cache_of(std::string_view file, std::string_view stem) {
  return file.size() > stem.size() + kBytecode.size() + 1 && file.starts_with(stem) && file[stem.size()] == '.' &&
         file.ends_with(kBytecode);
}

void remove_cached(const TreeFolder& tree, const std::string& folder, const std::string& stem, BytecodeReport& report) {
  const std::string cache = folder + "__pycache__";
  const Result<TreeFolder::Place> place = tree.resolve(cache);
  if (!place) {
    report.problems.push_back("stale bytecode may stay: " + place.error().message);
    return;
  }
  if (!place->info || place->info->kind != FileInfo::Kind::folder) return;
  const Io<Handle> handle = tree.fs().open_folder(place->folder->handle(), place->name);
  if (!handle) return;
  const Opened opened(tree.fs(), handle.value);
  const Io<std::vector<std::string>> names = tree.fs().list(opened.handle());
  if (!names) {
    report.problems.push_back("stale bytecode may stay: cannot read " + tree.shown(cache) + ": " +
                              errno_words(names.error));
    return;
  }
  for (const std::string& name : names.value) {
    if (is_cache_of(name, stem)) remove_one(tree, opened.handle(), name, tree.shown(cache + "/" + name), report);
  }
}

}  // namespace

void remove_bytecode(const TreeFolder& tree, const std::string& module, BytecodeReport& report) {
  if (!module.ends_with(kSource)) return;
  const std::string name = TreeFolder::name_of(module);
  const std::string folder = module.substr(0, module.size() - name.size());
  const std::string stem = name.substr(0, name.size() - kSource.size());
  remove_cached(tree, folder, stem, report);
  const std::string beside = folder + stem + std::string(kBytecode);
  const Result<TreeFolder::Place> legacy = tree.resolve(beside);
  if (!legacy || !legacy->info || legacy->info->kind != FileInfo::Kind::regular) return;
  remove_one(tree, legacy->folder->handle(), legacy->name, tree.shown(beside), report);
}

}  // namespace suture
