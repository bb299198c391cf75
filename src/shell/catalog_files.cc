// Rule and patch folders are small trees of text files, written by people: a file over 1 MiB is none of them, and is
// refused before it is read. Links are followed; the depth is bounded, so that a link which leads back ends in an error.
#include "shell/catalog_files.h"

#include <algorithm>
#include <cerrno>
#include <functional>
#include <string_view>
#include <utility>

namespace suture {
namespace {

constexpr std::uint64_t kLargestFile = std::uint64_t{1} << 20U;
constexpr int kDeepest = 16;

using Wanted = bool (*)(std::string_view name);

// "" for a name alone.
std::string parent(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash);
}
std::string below(const std::string& folder, const std::string& name) {
  return folder.empty() ? name : folder + "/" + name;
}
std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

// Of a patch.yaml.
bool is_sibling(std::string_view name) {
  return name.ends_with(".py") || name.ends_with(".md");
}
bool is_rule_file(std::string_view name) {
  return name.ends_with(".yaml") || name.ends_with(".yml");
}
bool is_patch_file(std::string_view name) {
  return name.ends_with(".yaml") || is_sibling(name);
}

// ENOENT: a link that leads nowhere.
bool is_no_folder(int error) {
  return error == ENOTDIR || error == ENOENT;
}

Status read_one(FileSystem& fs, const std::string& path, const std::string& shown, std::vector<NamedBytes>& files) {
  Io<std::string> bytes = read_file(fs, kAbsolute, path, kLargestFile);
  if (bytes.error == EFBIG) {
    return Error{Exit::bad_rule, "the file is larger than 1 MiB: no rule or patch file is",
                 Location{.file = shown, .text = {}}, "give a folder that holds rules and patches alone"};
  }
  if (!bytes) return io_error("read", shown, bytes.error);
  files.push_back({shown, std::move(bytes.value)});
  return Nothing{};
}

// `path`: absolute; `shown`: as the user wrote it.
Status read_folder(FileSystem& fs, const std::string& path, const std::string& shown, Wanted wanted, int depth,
                   std::vector<NamedBytes>& files) {
  if (depth > kDeepest) {
    return Error{Exit::file_system, shown + " is nested deeper than " + std::to_string(kDeepest) + " folders",
                 std::nullopt, "is there a link that leads back to a folder above it?"};
  }
  Io<std::vector<std::string>> names = list_folder(fs, kAbsolute, path);
  if (names.error == ENOTDIR) {
    return Error{Exit::file_system, shown + " is a file, not a folder", std::nullopt, "give the folder that it is in"};
  }
  if (!names) return io_error("read the folder", shown, names.error);
  for (const std::string& name : names.value) {
    if (name.starts_with('.') || name == "__pycache__") continue;
    const std::string child = path + "/" + name;
    const std::string child_shown = below(shown, name);
    Io<Handle> folder = fs.open_folder(kAbsolute, child);
    if (folder) {
      fs.close(folder.value);
      if (Status read = read_folder(fs, child, child_shown, wanted, depth + 1, files); !read) return read;
    } else if (!is_no_folder(folder.error)) {
      return io_error("read the folder", child_shown,
                      folder.error);  // passed over, its patches would seem not to exist
    } else if (wanted(name)) {
      if (Status read = read_one(fs, child, child_shown, files); !read) return read;
    }
  }
  return Nothing{};
}

std::string without_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

// Files of several patches stand in `shared` beside a patch's folder; where that is, so must they be for its patch.yaml.
Status read_shared(FileSystem& fs, const std::string& folder, const std::string& shown,
                   std::vector<NamedBytes>& files) {
  const std::string shared = parent(folder) + "/shared";
  Io<Handle> there = fs.open_folder(kAbsolute, shared);
  if (is_no_folder(there.error)) return Nothing{};
  if (!there) return io_error("read the folder", shared, there.error);
  fs.close(there.value);
  return read_folder(fs, shared, below(parent(shown), "shared"), is_sibling, 0, files);
}

Status read_tested_folder(FileSystem& fs, const std::string& folder, const std::string& shown, CatalogInput& input) {
  const std::size_t rules = input.tested_rules.size(), patches = input.tested_patches.size();
  if (Status read = read_folder(fs, folder, shown, is_rule_file, 0, input.tested_rules); !read) return read;
  if (input.tested_rules.size() == rules) {
    return Error{Exit::usage, "there is no rule file and no patch.yaml below " + shown, std::nullopt,
                 "they end in .yaml or .yml"};
  }
  if (Status read = read_folder(fs, folder, shown, is_patch_file, 0, input.tested_patches); !read) return read;
  const auto is_patch = [](const NamedBytes& file) { return file_name(file.path) == "patch.yaml"; };
  const auto first = input.tested_patches.begin() + static_cast<std::ptrdiff_t>(patches);
  if (std::none_of(first, input.tested_patches.end(), is_patch)) return Nothing{};
  return read_shared(fs, folder, shown, input.tested_patches);
}

Status read_given(FileSystem& fs, const std::string& given, Wanted wanted, std::vector<NamedBytes>& files) {
  const std::string folder = without_slash(given);
  Io<std::string> real = fs.real_path(folder);
  if (!real) {
    Error error = io_error("read the folder", folder, real.error);
    if (error.hint.empty()) error.hint = "--rules-dir and --patches-dir take folders that are there";
    return error;
  }
  return read_folder(fs, real.value, folder, wanted, 0, files);
}

}  // namespace

Status read_rule_folder(FileSystem& fs, const std::string& folder, std::vector<NamedBytes>& files) {
  return read_given(fs, folder, is_rule_file, files);
}

Status read_patch_folder(FileSystem& fs, const std::string& folder, std::vector<NamedBytes>& files) {
  return read_given(fs, folder, is_patch_file, files);
}

Status read_tested(FileSystem& fs, const std::string& path, CatalogInput& input) {
  const std::string shown = without_slash(path);
  const Io<std::string> real = fs.real_path(shown);
  if (!real) return io_error("read", shown, real.error);
  if (Io<Handle> folder = fs.open_folder(kAbsolute, real.value); folder) {
    fs.close(folder.value);
    return read_tested_folder(fs, real.value, shown, input);
  }
  if (file_name(shown) != "patch.yaml") return read_one(fs, real.value, shown, input.tested_rules);
  if (Status read = read_one(fs, real.value, shown, input.tested_patches); !read) return read;
  const std::string folder = parent(real.value);
  if (Status read = read_folder(fs, folder, parent(shown), is_sibling, 0, input.tested_patches); !read) return read;
  return read_shared(fs, folder, parent(shown), input.tested_patches);
}

}  // namespace suture
