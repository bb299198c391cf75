#include "effects/bytecode.h"

#include <algorithm>
#include <cerrno>

namespace suture {
namespace {

constexpr std::string_view kSource = ".py", kBytecode = ".pyc";

// A module's path in its parts: "srt/", "layer".
struct Module {
  std::string folder, stem;
};

Module parts_of(const std::string& module) {
  const std::string name = TreeFolder::name_of(module);
  return {module.substr(0, module.size() - name.size()), name.substr(0, name.size() - kSource.size())};
}

// "name.cpython-311.pyc", "name.cpython-311.opt-2.pyc"
bool is_cache_of(std::string_view file, std::string_view stem) {
  return file.size() > stem.size() + kBytecode.size() + 1 && file.starts_with(stem) && file[stem.size()] == '.' &&
         file.ends_with(kBytecode);
}

std::vector<std::string> caches_among(std::vector<std::string> names, const std::string& stem) {
  std::erase_if(names, [&stem](const std::string& name) { return !is_cache_of(name, stem); });
  return names;
}

}  // namespace

std::optional<Bytecode::Cache> Bytecode::beside(const std::string& module, std::vector<std::string>& problems) const {
  const auto [folder, stem] = parts_of(module);
  const std::string cache = folder + "__pycache__";
  const Result<TreeFolder::Place> place = tree_.resolve(cache);
  if (!place) {
    problems.push_back("stale bytecode may stay: " + place.error().message);
    return std::nullopt;
  }
  if (!place->info || place->info->kind != FileInfo::Kind::folder) return std::nullopt;
  const Io<Handle> handle = tree_.fs().open_folder(place->folder->handle(), place->name);
  if (!handle) return std::nullopt;
  auto opened = std::make_shared<Opened>(tree_.fs(), handle.value);
  const Io<std::vector<std::string>> names = tree_.fs().list(opened->handle());
  if (!names) {
    problems.push_back("stale bytecode may stay: cannot read " + tree_.shown(cache) + ": " + errno_words(names.error));
    return std::nullopt;
  }
  return Cache{opened, tree_.shown(cache) + "/", caches_among(names.value, stem)};
}

// The prefix is the user's own word for a folder: links on the way to it are followed.
std::optional<Bytecode::Cache> Bytecode::below_prefix(const std::string& module) const {
  if (!prefix_.starts_with("/")) return std::nullopt;
  const auto [folder, stem] = parts_of(module);
  const std::string path = prefix_ + tree_.path() + "/" + folder;
  const Io<Handle> handle = tree_.fs().open_folder(kAbsolute, path);
  if (!handle) return std::nullopt;
  auto opened = std::make_shared<Opened>(tree_.fs(), handle.value);
  return Cache{opened, path, caches_among(tree_.fs().list(opened->handle()).value, stem)};
}

std::vector<Bytecode::Cache> Bytecode::caches_of(const std::string& module, std::vector<std::string>& problems) const {
  std::vector<Cache> caches;
  if (!module.ends_with(kSource)) return caches;
  if (std::optional<Cache> cache = beside(module, problems)) caches.push_back(std::move(*cache));
  if (std::optional<Cache> cache = below_prefix(module)) caches.push_back(std::move(*cache));
  const auto [folder, stem] = parts_of(module);
  const Result<TreeFolder::Place> legacy = tree_.resolve(folder + stem + std::string(kBytecode));
  if (legacy && legacy->info && legacy->info->kind == FileInfo::Kind::regular) {
    caches.push_back({legacy->folder, tree_.shown(folder), {legacy->name}});
  }
  return caches;
}

void Bytecode::remove(const std::string& module, BytecodeReport& report) const {
  for (const Cache& cache : caches_of(module, report.problems)) {
    for (const std::string& name : cache.names) {
      const Io<Done> removed = tree_.fs().remove(cache.folder->handle(), name);
      if (removed) ++report.removed;
      if (removed || removed.error == ENOENT) continue;
      const bool unchecked = is_unchecked(cache, name);
      report.problems.push_back((unchecked ? "stale bytecode stays, and Python runs it: cannot remove "
                                           : "old bytecode stays, which Python sees to be old: cannot remove ") +
                                cache.shown + name + ": " + errno_words(removed.error));
    }
  }
}

// PEP 552: four bytes of magic number, then flags; 1: by hash, and unchecked.
bool Bytecode::is_unchecked(const Cache& cache, const std::string& name) const {
  const Io<Handle> handle = tree_.fs().open_file(cache.folder->handle(), name);
  if (!handle) return false;
  const Opened file(tree_.fs(), handle.value);
  const Io<std::string> head = tree_.fs().read(file.handle(), 0, 8);
  return head && head.value.size() == 8 && head.value.substr(4) == std::string_view("\1\0\0\0", 4);
}

Status Bytecode::can_remove(const std::string& module) const {
  std::vector<std::string> ignored;  // remove() says them
  for (const Cache& cache : caches_of(module, ignored)) {
    if (cache.names.empty()) continue;
    const Io<Done> may = tree_.fs().may_change(cache.folder->handle());
    if (may) continue;
    for (const std::string& name : cache.names) {
      if (!is_unchecked(cache, name)) continue;
      Error error = io_error("remove", cache.shown + name, may.error);
      error.message += "; Python does not check that bytecode, and would run it instead of what is written";
      error.hint = "nothing was written; " + error.hint;
      return error;
    }
  }
  return Nothing{};
}

}  // namespace suture
