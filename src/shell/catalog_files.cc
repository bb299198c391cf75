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

bool is_rule_file(std::string_view name) {
  return name.ends_with(".yaml") || name.ends_with(".yml");
}
bool is_patch_file(std::string_view name) {
  return name.ends_with(".yaml") || name.ends_with(".py") || name.ends_with(".md");
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
    const std::string child_shown = shown + "/" + name;
    Io<Handle> folder = fs.open_folder(kAbsolute, child);
    if (folder) {
      fs.close(folder.value);
      if (Status read = read_folder(fs, child, child_shown, wanted, depth + 1, files); !read) return read;
    } else if (wanted(name)) {
      if (Status read = read_one(fs, child, child_shown, files); !read) return read;
    }
  }
  return Nothing{};
}

Status read_given(FileSystem& fs, std::string folder, Wanted wanted, std::vector<NamedBytes>& files) {
  while (folder.size() > 1 && folder.ends_with('/')) folder.pop_back();
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

}  // namespace suture
