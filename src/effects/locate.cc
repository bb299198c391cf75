// Finding the tree. Contract: effects/locate.h.
#include "effects/locate.h"

#include <algorithm>
#include <cerrno>

#include "base/text.h"
#include "effects/editable.h"
#include "effects/environment.h"

namespace suture {
namespace {

Error not_found(std::string message, std::string hint) {
  Error error;
  error.exit = Exit::file_system;
  error.message = std::move(message);
  error.hint = std::move(hint);
  return error;
}

class Locator {
 public:
  Locator(FileSystem& fs, const TreeRequest& request, const std::string& package, const std::string& folder)
      : fs_(fs), request_(request), package_(package), folder_(folder) {}

  Result<LocatedTree> run() {
    if (!request_.tree.empty()) return in_tree();
    if (!request_.python.empty()) {
      const Result<Prefix> prefix = prefix_of(fs_, request_.python, request_.environment);
      if (!prefix) return prefix.error();
      return in_prefix(*prefix, prefix->path);
    }
    const std::string venv = value_of(request_.environment, "VIRTUAL_ENV");
    if (!venv.empty()) {
      const Io<std::string> real = fs_.real_path(venv);
      if (!real) {
        return not_found("VIRTUAL_ENV names " + venv + ": " + errno_words(real.error),
                         "activate another environment, or name the tree with -t");
      }
      return in_prefix({real.value, "", "VIRTUAL_ENV"}, venv);
    }
    return on_path();
  }

  // See patched_folders().
  std::vector<std::string> patched() {
    std::vector<std::string> out;
    const auto patched = [this](const std::string& folder) {
      return fs_.info_at(kAbsolute, folder + "/.suture").error == 0;  // one call for each of hundreds
    };
    for (const std::string& holder : holders()) {
      if (patched(holder)) out.push_back(holder);
      for (const std::string& name : list_folder(fs_, kAbsolute, holder).value) {
        if (patched(holder + "/" + name)) out.push_back(holder + "/" + name);
      }
    }
    return out;
  }

 private:
  // Folders that are, or hold, packages.
  std::vector<std::string> holders() {
    if (request_.tree.empty()) {
      const std::optional<Prefix> prefix = named_prefix();
      return prefix ? flat(imported_from(*prefix)) : std::vector<std::string>();
    }
    const Io<std::string> real = fs_.real_path(request_.tree);
    if (!real) return {};
    const std::string& root = real.value;
    if (in_wheel(root)) return {root};
    if (exists(root + "/__init__.py") || !is_prefix(fs_, root)) return {root, root + "/python", root + "/src"};
    return flat(site_folders(fs_, {root, "", "-t"}, request_.environment));
  }

  std::optional<Prefix> named_prefix() const {
    std::string python = request_.python;
    const std::string venv = value_of(request_.environment, "VIRTUAL_ENV");
    if (python.empty() && !venv.empty()) {
      const Io<std::string> real = fs_.real_path(venv);
      return real ? std::optional(Prefix{real.value, "", "VIRTUAL_ENV"}) : std::nullopt;
    }
    if (python.empty()) python = find_on_path(fs_, "python3", value_of(request_.environment, "PATH")).value_or("");
    if (python.empty()) return std::nullopt;
    Result<Prefix> prefix = prefix_of(fs_, python, request_.environment);
    return prefix ? std::optional(std::move(*prefix)) : std::nullopt;
  }

  static std::vector<std::string> flat(const std::vector<std::vector<std::string>>& groups) {
    std::vector<std::string> out;
    for (const auto& group : groups) out.insert(out.end(), group.begin(), group.end());
    return out;
  }

  // --- Paths

  [[nodiscard]] bool is_folder(const std::string& path) const {
    const Io<std::string> real = fs_.real_path(path);
    if (!real) return false;
    const Io<FileInfo> info = fs_.info_at(kAbsolute, real.value);
    return info && info.value.kind == FileInfo::Kind::folder;
  }
  [[nodiscard]] bool exists(const std::string& path) const { return fs_.real_path(path).error == 0; }

  // What suture itself can patch in: a folder with Python in it, or one that only its receipt is left in.
  [[nodiscard]] bool is_package(const std::string& path) const {
    if (exists(path + "/__init__.py") || exists(path + "/.suture")) return true;
    const Io<std::vector<std::string>> names = list_folder(fs_, kAbsolute, path);
    return std::any_of(names.value.begin(), names.value.end(),
                       [](const std::string& name) { return name.ends_with(".py"); });
  }

  LocatedTree found(const std::string& package_folder, const std::string& metadata, const std::string& display,
                    const std::string& how) const {
    LocatedTree tree;
    const Io<std::string> real = fs_.real_path(package_folder);
    tree.present = is_folder(package_folder);
    tree.package_folder = real ? real.value : package_folder;
    tree.metadata_folder = metadata;
    tree.display = display;
    tree.how = how;
    tree.bytecode_prefix = value_of(request_.environment, "PYTHONPYCACHEPREFIX");
    return tree;
  }

  // --- -t TREE

  Result<LocatedTree> in_tree() {
    const Io<std::string> real = fs_.real_path(request_.tree);
    if (!real) return no_such_path(real.error);
    const Io<FileInfo> info = fs_.info_at(kAbsolute, real.value);
    if (!info) return io_error("look at", request_.tree, info.error);
    if (info.value.in_wheel) return wheel(real.value);
    if (info.value.kind != FileInfo::Kind::folder) return is_a_file(real.value);
    if (const Io<std::vector<std::string>> names = list_folder(fs_, kAbsolute, real.value); !names) {
      return io_error("read the folder", request_.tree, names.error);
    }
    return in_folder(real.value);
  }

  [[nodiscard]] bool in_wheel(const std::string& path) const {
    const Io<FileInfo> info = fs_.info_at(kAbsolute, path);
    return info && info.value.in_wheel;
  }

  // What it would install, and nothing else: its .pth files, or a pyvenv.cfg in it, lead nowhere.
  LocatedTree wheel(const std::string& root) const {
    LocatedTree tree = found(root + "/" + folder_, root, request_.tree, "a wheel");
    tree.read_only = true;
    if (!tree.present) tree.how = "a wheel that does not install the package";
    return tree;
  }

  Result<LocatedTree> in_folder(const std::string& root) {
    if (exists(root + "/__init__.py")) return in_package(root);
    if (is_prefix(fs_, root)) return in_prefix({root, "", "-t"}, request_.tree);
    if (is_folder(root + "/" + folder_))
      return found(root + "/" + folder_, root, request_.tree, "a folder that holds the package");
    for (const char* below : {"python", "src"}) {
      const std::string holder = root + "/" + below;
      if (is_folder(holder + "/" + folder_))
        return found(holder + "/" + folder_, holder, request_.tree, "a source checkout");
    }
    const Result<std::optional<PointedPackage>> pointed = find_pointed(fs_, root, package_, folder_);
    if (!pointed) return pointed.error();
    if (*pointed) return found((*pointed)->folder, root, request_.tree, (*pointed)->by);
    // Without __init__.py: a namespace package, or what an uninstall left.
    if (base_of(root) == folder_ && is_package(root))
      return found(root, parent_of(root), request_.tree, "a package folder");
    return found(root + "/" + folder_, root, request_.tree,
                 "a folder without the package: looked in it, below python and src, and where its .pth files and "
                 "editable installs point");
  }

  // The folder of a package. Another one's: the package is not in it, and its neighbours were not named.
  LocatedTree in_package(const std::string& root) const {
    if (base_of(root) == folder_) return found(root, parent_of(root), request_.tree, "a package folder");
    return found(root + "/" + folder_, parent_of(root), request_.tree, "the folder of another package");
  }

  Error no_such_path(int error) const {
    if (error != ENOENT && error != ENOTDIR) return io_error("look at", request_.tree, error);
    std::string near = request_.tree;
    while (near.size() > 1 && near.ends_with('/')) near.pop_back();
    while (near != "/" && near != "." && !exists(near)) near = parent_of(near);
    std::string hint = "the nearest thing that exists is " + near;
    const Io<std::vector<std::string>> names = list_folder(fs_, kAbsolute, near);
    std::string missing = request_.tree.substr(std::min(request_.tree.size(), near == "/"   ? 1
                                                                              : near == "." ? 0
                                                                                            : near.size() + 1));
    missing = missing.substr(0, missing.find('/'));
    const std::optional<std::string> meant = nearest(missing, names.value);
    if (meant) hint += "; did you mean " + (near == "/" ? "/" : near == "." ? "" : near + "/") + *meant + "?";
    return not_found("no such file or folder: " + request_.tree, hint);
  }

  Error is_a_file(const std::string& real) const {
    if (real.ends_with(".egg")) {
      return not_found(request_.tree + " is a zipped egg: suture writes to files, not into archives",
                       "install the package anew with pip, which unpacks it");
    }
    std::string hint =
        "a tree is a package folder, a site-packages folder, a virtual environment, a source checkout or a wheel";
    if (base_of(request_.tree).starts_with("python"))
      hint = "for the environment of an interpreter: --python " + request_.tree;
    return not_found(request_.tree + " is a file, not a tree", hint);
  }

  // --- Environments

  Result<LocatedTree> on_path() {
    const std::string path = value_of(request_.environment, "PATH");
    const std::optional<std::string> python = find_on_path(fs_, "python3", path);
    if (!python) {
      return not_found(
          "no tree: neither -t nor --python is given, VIRTUAL_ENV is not set, and there is no python3 on PATH",
          "name the tree: -t SITE-PACKAGES, -t VENV or -t CHECKOUT");
    }
    const Result<Prefix> prefix = prefix_of(fs_, *python, request_.environment);
    if (!prefix) return prefix.error();
    return in_prefix(*prefix, prefix->path);
  }

  // A package that a folder of the environment holds or points to.
  struct Hit {
    LocatedTree tree;
    PointedPackage::Rank rank = PointedPackage::Rank::path;
    std::size_t group = 0;
    bool by_variable = false;  // PYTHONPATH names its folder
  };

  // What the interpreter imports from. The variable counts where the tree is what this shell's python imports, not where
  // -t names one.
  std::vector<std::vector<std::string>> imported_from(const Prefix& prefix) {
    std::vector<std::vector<std::string>> groups;
    if (request_.tree.empty()) variable_ = path_variable_folders(fs_, request_.environment);
    for (const std::string& folder : variable_) groups.push_back({folder});
    for (std::vector<std::string>& group : site_folders(fs_, prefix, request_.environment)) {
      std::erase_if(group, [this](const std::string& site) { return is_variable(site); });
      if (!group.empty()) groups.push_back(std::move(group));
    }
    return groups;
  }
  [[nodiscard]] bool is_variable(const std::string& site) const {
    return std::find(variable_.begin(), variable_.end(), site) != variable_.end();
  }

  Result<LocatedTree> in_prefix(const Prefix& prefix, const std::string& display) {
    const std::vector<std::vector<std::string>> groups = imported_from(prefix);
    if (groups.empty()) {
      return not_found(display + " has no site-packages (" + prefix.how + ")",
                       "name the folder that holds the package: -t SITE-PACKAGES");
    }
    Result<std::vector<Hit>> hits = all_hits(groups, display, prefix.how);
    if (!hits) return hits.error();
    const std::vector<std::string> sites = flat(groups);
    if (hits->empty()) {
      const std::string how = prefix.how + ": looked in " + join(sites, ", ", " and ");
      return found(sites.front() + "/" + folder_, sites.front(), display, how);
    }
    return first_of(*hits, sites);
  }

  Result<std::vector<Hit>> all_hits(const std::vector<std::vector<std::string>>& groups, const std::string& display,
                                    const std::string& how) const {
    std::vector<Hit> hits;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      for (const std::string& site : groups[i]) {
        Result<std::optional<Hit>> hit = in_site(site, display, how);
        // What an earlier folder holds is imported, whatever this one is.
        if (!hit && !hits.empty() && hits.front().group < i) continue;
        if (!hit) return hit.error();
        if (!*hit) continue;
        (*hit)->group = i;
        hits.push_back(std::move(**hit));
      }
    }
    return hits;
  }

  // The one that is imported: what folders hold before what finders know, in the order of the folders.
  Result<LocatedTree> first_of(std::vector<Hit> hits, const std::vector<std::string>& sites) const {
    std::stable_sort(hits.begin(), hits.end(), [](const Hit& a, const Hit& b) { return a.rank < b.rank; });
    LocatedTree& tree = hits.front().tree;
    std::vector<std::string> rivals = {tree.package_folder}, hidden;
    for (const Hit& hit : hits) {
      // Two folders may point to one package: PYTHONPATH to an editable install, whose metadata is in site-packages.
      if (hit.tree.package_folder == tree.package_folder) {
        if (hits.front().by_variable && !hit.by_variable) tree.metadata_folder = hit.tree.metadata_folder;
        continue;
      }
      (hit.group == hits.front().group ? rivals : hidden).push_back(hit.tree.package_folder);
    }
    if (rivals.size() > 1) return two_interpreters(rivals);
    if (!hidden.empty()) tree.how += "; imported before " + join(hidden, ", ", " and ");
    tree.sites = sites;
    return tree;
  }

  Result<std::optional<Hit>> in_site(const std::string& site, const std::string& display,
                                     const std::string& how) const {
    const std::string direct = site + "/" + folder_;
    const bool by_variable = is_variable(site);
    if (is_folder(direct)) {
      const std::string by = by_variable ? ", PYTHONPATH: " : ", ";
      return std::optional(Hit{.tree = found(direct, site, display, how + by + site), .by_variable = by_variable});
    }
    if (by_variable) return std::optional<Hit>();  // Python reads no .pth files there
    const Result<std::optional<PointedPackage>> pointed = find_pointed(fs_, site, package_, folder_);
    if (!pointed) return pointed.error();
    if (!*pointed) return std::optional<Hit>();
    return std::optional(
        Hit{.tree = found((*pointed)->folder, site, display, how + ", " + (*pointed)->by), .rank = (*pointed)->rank});
  }

  Error two_interpreters(const std::vector<std::string>& folders) const {
    return not_found(
        "more than one interpreter of this environment has " + package_ + ": " + join(folders, ", ", " and "),
        "name one of them: -t " + parent_of(folders.front()));
  }

  FileSystem& fs_;
  const TreeRequest& request_;
  const std::string &package_, &folder_;
  std::vector<std::string> variable_;  // the folders of PYTHONPATH, where it counts
};

}  // namespace

Result<LocatedTree> locate(FileSystem& fs, const TreeRequest& request, const std::string& package,
                           const std::string& folder) {
  return Locator(fs, request, package, folder).run();
}

std::vector<std::string> patched_folders(FileSystem& fs, const TreeRequest& request) {
  const std::string any;
  return Locator(fs, request, any, any).patched();
}

}  // namespace suture
