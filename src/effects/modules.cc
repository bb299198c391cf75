// See modules.h. Test: tests/unit/modules_test.cc.
#include "effects/modules.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "effects/editable.h"
#include "read/version.h"

namespace suture {
namespace {

bool is_metadata(std::string_view name) {
  return name.ends_with(".dist-info") || name.ends_with(".egg-info");
}

// "torch", "six.py", "_C.cpython-311-x86_64-linux-gnu.so" -> "torch", "six", "_C".
std::string module_of(const std::string& name) {
  const std::size_t dot = name.find('.');
  const bool module = dot == std::string::npos || name.ends_with(".py") || name.ends_with(".so") ||
                      name.ends_with(".pyd") || name.ends_with(".pyc");
  return module ? name.substr(0, dot) : std::string();
}

bool points_to(FileSystem& fs, const std::string& folder, const std::string& name) {
  const Result<std::optional<PointedPackage>> pointed = find_pointed(fs, folder, normalize_name(name), name);
  return !pointed || *pointed;  // a zipped egg is there too
}

}  // namespace

std::vector<std::string> import_folders(const LocatedTree& tree) {
  std::vector<std::string> all = tree.sites;
  const std::size_t slash = tree.package_folder.rfind('/');
  for (const std::string& folder : {tree.package_folder.substr(0, slash), tree.metadata_folder}) {
    if (!folder.empty() && std::find(all.begin(), all.end(), folder) == all.end()) all.push_back(folder);
  }
  return all;
}

std::set<std::string> absent_modules(FileSystem& fs, const LocatedTree& tree, const std::set<std::string>& names) {
  std::set<std::string> absent = names;
  if (names.empty()) return absent;
  if (tree.read_only) return {};
  bool any_installed = false;
  for (const std::string& folder : import_folders(tree)) {
    for (const std::string& name : list_folder(fs, kAbsolute, folder).value) {
      any_installed = any_installed || is_metadata(name);
      absent.erase(module_of(name));
    }
    std::erase_if(absent, [&](const std::string& name) { return points_to(fs, folder, name); });
  }
  return any_installed ? absent : std::set<std::string>();
}

}  // namespace suture
