#include "effects/editable.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "effects/distribution.h"
#include "read/version.h"

namespace suture {
namespace {

constexpr std::uint64_t kMostText = 4U << 20U;

std::string absolute(const std::string& site, std::string path) {
  if (path.starts_with("/")) return path;
  while (path.starts_with("./")) path.erase(0, 2);
  return site + "/" + path;
}

std::string read_text(FileSystem& fs, const std::string& path) {
  return read_file(fs, kAbsolute, path, kMostText).value;
}

// A package folder as such: a folder, whatever is in it.
std::optional<std::string> package_at(FileSystem& fs, const std::string& path) {
  const Io<std::string> real = fs.real_path(path);
  if (!real) return std::nullopt;
  const Io<FileInfo> info = fs.info_at(kAbsolute, real.value);
  if (!info || info.value.kind != FileInfo::Kind::folder) return std::nullopt;
  return real.value;
}

bool is_file(FileSystem& fs, const std::string& path) {
  const Io<std::string> real = fs.real_path(path);
  if (!real) return false;
  const Io<FileInfo> info = fs.info_at(kAbsolute, real.value);
  return info && info.value.kind == FileInfo::Kind::regular;
}

Error zipped(const std::string& path) {
  Error error;
  error.exit = Exit::file_system;
  error.message = path + " is a zipped egg: suture writes to files, not into archives";
  error.hint = "install the package anew with pip, which unpacks it";
  return error;
}

// A folder or egg that a .pth line names.
Result<std::optional<std::string>> in_root(FileSystem& fs, const std::string& root, const std::string& package,
                                           const std::string& folder) {
  if (root.ends_with(".egg") && is_file(fs, root)) {
    const std::string name = root.substr(root.rfind('/') + 1);
    if (info_folder_version(name.substr(0, name.size() - 4) + ".egg-info", package)) return zipped(root);
  }
  return package_at(fs, root + "/" + folder);
}

using Found = Result<std::optional<PointedPackage>>;

// What the path lines of a .pth file lead to.
Found by_path(FileSystem& fs, const std::string& site, const std::string& file, const PthLines& lines,
              const std::string& package, const std::string& folder) {
  for (const std::string& path : lines.paths) {
    const Result<std::optional<std::string>> found = in_root(fs, absolute(site, path), package, folder);
    if (!found) return found.error();
    if (*found) return std::optional<PointedPackage>({**found, file, PointedPackage::Rank::path});
  }
  return std::optional<PointedPackage>();
}

// What the finders lead to that its import lines install.
std::optional<PointedPackage> by_finder(FileSystem& fs, const std::string& site, const PthLines& lines,
                                        const std::string& folder) {
  for (const std::string& module : lines.imports) {
    const std::string finder = site + "/" + module + ".py";
    const std::optional<std::string> target = mapping_value(read_text(fs, finder), folder);
    const std::optional<std::string> found = target ? package_at(fs, absolute(site, *target)) : std::nullopt;
    if (found) return PointedPackage{*found, finder, PointedPackage::Rank::finder};
  }
  return std::nullopt;
}

// "sglang.egg-link": its first line is the folder that holds the package.
std::optional<PointedPackage> in_egg_link(FileSystem& fs, const std::string& site, const std::string& name,
                                          const std::string& package, const std::string& folder) {
  constexpr std::string_view suffix = ".egg-link";
  if (normalize_name(name.substr(0, name.size() - suffix.size())) != package) return std::nullopt;
  const std::string text = read_text(fs, site + "/" + name);
  const std::vector<std::string_view> lines = split_lines(text);
  if (lines.empty()) return std::nullopt;
  const std::optional<std::string> found =
      package_at(fs, absolute(site, std::string(trim(lines.front()))) + "/" + folder);
  if (!found) return std::nullopt;
  return PointedPackage{*found, site + "/" + name, PointedPackage::Rank::record};
}

std::optional<PointedPackage> in_direct_url(FileSystem& fs, const std::string& site, const std::string& name,
                                            const std::string& package, const std::string& folder) {
  if (!info_folder_version(name, package)) return std::nullopt;
  const std::string file = site + "/" + name + "/direct_url.json";
  const std::optional<std::string> root = editable_url(read_text(fs, file));
  if (!root) return std::nullopt;
  for (const char* below : {"/", "/src/", "/python/"}) {
    const std::optional<std::string> found = package_at(fs, *root + below + folder);
    if (found) return PointedPackage{*found, file, PointedPackage::Rank::record};
  }
  return std::nullopt;
}

// A Python string literal without prefix at the beginning of `text`; its value, and *rest behind it.
std::optional<std::string> string_literal(std::string_view text, std::string_view* rest) {
  if (text.empty() || (text[0] != '\'' && text[0] != '"')) return std::nullopt;
  std::string value;
  for (std::size_t i = 1; i < text.size(); ++i) {
    if (text[i] == text[0]) {
      *rest = text.substr(i + 1);
      return value;
    }
    if (text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '\\' || text[i + 1] == '\'' || text[i + 1] == '"'))
      ++i;
    value += text[i];
  }
  return std::nullopt;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool hex = text[i] == '%' && i + 2 < text.size() &&
                     std::isxdigit(static_cast<unsigned char>(text[i + 1])) != 0 &&
                     std::isxdigit(static_cast<unsigned char>(text[i + 2])) != 0;
    out += hex ? static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16)) : text[i];
    if (hex) i += 2;
  }
  return out;
}

}  // namespace

PthLines parse_pth(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  PthLines out;
  for (std::string_view line : split_lines(text)) {
    line = trim_end(line);
    if (trim(line).empty() || line.front() == '#') continue;
    if (!line.starts_with("import ") && !line.starts_with("import\t")) {
      out.paths.emplace_back(line);
      continue;
    }
    const std::string_view module =
        trim(line.substr(7, line.find(';') == std::string_view::npos ? line.npos : line.find(';') - 7));
    const bool plain = !module.empty() && std::all_of(module.begin(), module.end(), [](char c) {
      return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0;
    });
    if (plain) out.imports.emplace_back(module);
  }
  return out;
}

std::optional<std::string> mapping_value(std::string_view finder, const std::string& name) {
  constexpr std::string_view variable = "MAPPING";
  for (std::size_t at = finder.find(variable); at != std::string_view::npos; at = finder.find(variable, at + 1)) {
    if (at != 0 && finder[at - 1] != '\n') continue;
    const std::size_t brace = finder.find('{', at);
    if (brace == std::string_view::npos || finder.substr(at, brace - at).find('\n') != std::string_view::npos) continue;
    std::string_view rest = trim(finder.substr(brace + 1));
    while (std::optional<std::string> key = string_literal(rest, &rest)) {
      rest = trim(rest);
      if (!rest.starts_with(':')) break;
      std::optional<std::string> value = string_literal(trim(rest.substr(1)), &rest);
      if (!value) break;
      if (*key == name) return value;
      rest = trim(rest);
      if (!rest.starts_with(',')) break;
      rest = trim(rest.substr(1));
    }
  }
  return std::nullopt;
}

std::optional<std::string> editable_url(std::string_view direct_url) {
  const nlohmann::json document = nlohmann::json::parse(direct_url, nullptr, false);
  if (!document.is_object()) return std::nullopt;
  const auto info = document.find("dir_info"), url = document.find("url");
  if (info == document.end() || !info->is_object() || url == document.end() || !url->is_string()) return std::nullopt;
  const auto editable = info->find("editable");
  if (editable == info->end() || !editable->is_boolean() || !editable->get<bool>()) return std::nullopt;
  constexpr std::string_view scheme = "file://";
  const std::string text = url->get<std::string>();
  if (!text.starts_with(scheme)) return std::nullopt;
  const std::size_t path = text.find('/', scheme.size());  // behind an empty host or "localhost"
  return path == std::string::npos ? std::nullopt : std::optional(percent_decoded(std::string_view(text).substr(path)));
}

Found find_pointed(FileSystem& fs, const std::string& site, const std::string& package, const std::string& folder) {
  const Io<std::vector<std::string>> names = list_folder(fs, kAbsolute, site);
  std::optional<PointedPackage> finder;
  for (const std::string& name : names.value) {  // in this order, as site.py reads them
    if (!name.ends_with(".pth")) continue;
    const std::string file = site + "/" + name;
    const PthLines lines = parse_pth(read_text(fs, file));
    Found found = by_path(fs, site, file, lines, package, folder);
    if (!found || *found) return found;
    if (!finder) finder = by_finder(fs, site, lines, folder);
  }
  if (finder) return finder;
  for (const std::string& name : names.value) {
    std::optional<PointedPackage> found;
    if (name.ends_with(".egg-link")) found = in_egg_link(fs, site, name, package, folder);
    if (!found && name.ends_with(".dist-info")) found = in_direct_url(fs, site, name, package, folder);
    if (found) return found;
    const bool egg = name.ends_with(".egg") && is_file(fs, site + "/" + name);
    if (egg && info_folder_version(name.substr(0, name.size() - 4) + ".egg-info", package))
      return zipped(site + "/" + name);
  }
  return std::optional<PointedPackage>();
}

}  // namespace suture
