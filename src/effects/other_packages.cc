// See other_packages.h. Test: tests/unit/other_packages_test.cc.
#include "effects/other_packages.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <vector>

#include "base/text.h"
#include "effects/distribution.h"
#include "effects/editable.h"
#include "effects/environment.h"
#include "effects/modules.h"
#include "effects/tree_files.h"
#include "read/version.h"

namespace suture {
namespace {

constexpr std::uint64_t kMostText = 16U << 20U;

// Where a package is: `site` holds its metadata, where it has some. A distribution of single modules has no folder.
struct Home {
  std::string folder, site;
};

class Finder {
 public:
  Finder(FileSystem& fs, const std::string& name, const std::set<std::string>& folders)
      : fs_(fs), name_(name), folders_(folders) {}

  std::optional<Home> in_sites(const std::vector<std::string>& sites) const {
    for (const std::string& site : sites) {
      if (std::optional<Home> home = in_site(site)) return home;
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::optional<Home> in_site(const std::string& site) const {
    const std::vector<std::string> names = list_folder(fs_, kAbsolute, site).value;
    std::vector<std::string> infos;
    std::copy_if(names.begin(), names.end(), std::back_inserter(infos),
                 [&](const std::string& info) { return is_metadata(site, info); });
    for (const std::string& module : import_names(site, infos)) {
      if (is_folder(site + "/" + module)) return Home{real(site + "/" + module), site};
      const auto pointed = find_pointed(fs_, site, name_, module);
      if (pointed && *pointed) return Home{(*pointed)->folder, site};
      const bool single = std::any_of(names.begin(), names.end(), [&module](const std::string& file) {
        return file.starts_with(module + ".") && (file.ends_with(".py") || file.ends_with(".so"));
      });
      if (single && !infos.empty()) return Home{"", site};
    }
    return std::nullopt;
  }

  [[nodiscard]] bool is_metadata(const std::string& site, const std::string& info) const {
    if (!info_folder_version(info, name_)) return false;
    const auto own = metadata_header(text(site + "/" + info + "/METADATA"), "Name");
    return !own || normalize_name(*own) == name_;
  }

  // What it may be imported as: what its metadata says, the one that is called as it is first, then what the conditions say and
  // its own name.
  [[nodiscard]] std::vector<std::string> import_names(const std::string& site,
                                                      const std::vector<std::string>& infos) const {
    std::vector<std::string> out;
    for (const std::string& info : infos) {
      for (std::string& folder : record_folders(text(site + "/" + info + "/RECORD"))) add(out, std::move(folder));
      const std::string top_level = text(site + "/" + info + "/top_level.txt");
      for (const std::string_view line : split_lines(top_level)) add(out, std::string(trim(line)));
    }
    for (const std::string& folder : folders_) add(out, folder);
    std::string module = name_;
    std::replace(module.begin(), module.end(), '-', '_');
    add(out, module);
    std::stable_partition(out.begin(), out.end(), [this](const std::string& folder) { return is_its_name(folder); });
    return out;
  }
  [[nodiscard]] bool is_its_name(const std::string& folder) const {
    return normalize_name(folder) == name_ || folders_.contains(folder);
  }
  static void add(std::vector<std::string>& out, std::string folder) {
    const bool plain = !folder.empty() && folder.find('/') == std::string::npos && folder.front() != '.';
    if (plain && std::find(out.begin(), out.end(), folder) == out.end()) out.push_back(std::move(folder));
  }

  // The folders with Python in them that RECORD lists: the first part of "flashinfer/mla.py,sha256=...,12".
  static std::vector<std::string> record_folders(const std::string& record) {
    std::vector<std::string> out;
    for (const std::string_view row : split_lines(record)) {
      const std::string_view path = row.substr(0, row.find(','));
      const std::size_t slash = path.find('/');
      if (slash == std::string_view::npos || path.front() == '"' || !path.ends_with(".py")) continue;
      if (out.empty() || out.back() != path.substr(0, slash)) out.emplace_back(path.substr(0, slash));
    }
    return out;
  }

  [[nodiscard]] std::string text(const std::string& path) const {
    return read_file(fs_, kAbsolute, path, kMostText).value;
  }
  [[nodiscard]] std::string real(const std::string& path) const {
    const Io<std::string> target = fs_.real_path(path);
    return target ? target.value : path;
  }
  [[nodiscard]] bool is_folder(const std::string& path) const {
    const Io<FileInfo> info = fs_.info_at(kAbsolute, real(path));
    return info && info.value.kind == FileInfo::Kind::folder;
  }

  FileSystem& fs_;
  const std::string& name_;
  const std::set<std::string>& folders_;
};

Error not_found(const std::string& name, std::string message) {
  return {Exit::file_system, "--with " + name + ": " + std::move(message), std::nullopt,
          "give the folder of the package, the site-packages folder or environment that holds it, or a wheel"};
}

// The folders of --with that may hold the package, or the package itself.
struct Given {
  std::optional<Home> home;
  std::vector<std::string> sites;
};

Result<Given> read_with(FileSystem& fs, const std::string& name, const OtherNeeds& needs, const std::string& with,
                        const std::map<std::string, std::string>& environment) {
  const Io<std::string> root = fs.real_path(with);
  if (!root) return not_found(name, "cannot look at " + with + ": " + errno_words(root.error));
  const Io<FileInfo> info = fs.info_at(kAbsolute, root.value);
  if (!info) return not_found(name, "cannot look at " + with + ": " + errno_words(info.error));
  if (info.value.kind != FileInfo::Kind::folder) return not_found(name, with + " is neither a folder nor a wheel");
  if (fs.info_at(kAbsolute, root.value + "/__init__.py").error == 0) {
    const std::string folder = base_of(root.value);
    if (!needs.folders.empty() && !needs.folders.contains(folder))
      return not_found(name, with + " is the package " + folder + ", and not " + *needs.folders.begin());
    return Given{Home{root.value, parent_of(root.value)}, {}};
  }
  Given out;
  if (is_prefix(fs, root.value)) {
    for (const auto& group : site_folders(fs, {root.value, "", "--with"}, environment))
      out.sites.insert(out.sites.end(), group.begin(), group.end());
  } else {
    for (const char* below : {"", "/python", "/src"}) out.sites.push_back(root.value + below);
  }
  return out;
}

}  // namespace

Result<OtherPackage> load_other(FileSystem& fs, const LocatedTree& tree, const std::string& name,
                                const OtherNeeds& needs, const std::string& with,
                                const std::map<std::string, std::string>& environment) {
  OtherPackage out;
  Given given;
  if (with.empty()) {
    given.sites = out.searched = import_folders(tree);
  } else {
    Result<Given> read = read_with(fs, name, needs, with, environment);
    if (!read) return read.error();
    given = std::move(*read);
    out.searched = {with};
    out.with = with;
  }
  const std::optional<Home> home = given.home ? given.home : Finder(fs, name, needs.folders).in_sites(given.sites);
  if (!home) return out;
  out.present = true;
  const bool modules_only = home->folder.empty();
  out.folder = modules_only ? name : base_of(home->folder);
  LocatedTree located;
  located.package_folder = modules_only ? home->site + "/" + name : home->folder;
  located.metadata_folder = home->site;
  Result<Distribution> dist = read_distribution(fs, located, name, out.folder, {});
  if (dist) out.dist = std::move(*dist);
  if (!dist) out.problem = dist.error().message;
  if (!dist || modules_only) return out;
  const Result<TreeFolder> folder = TreeFolder::open(fs, home->folder);
  if (!folder) out.problem = folder.error().message;
  if (folder) out.python_files = read_files(*folder, needs.files, needs.classes, out.files);
  return out;
}

}  // namespace suture
