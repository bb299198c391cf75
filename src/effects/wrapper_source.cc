// See wrapper_source.h. Tests: tests/unit/audit_test.cc, tests/cli/audit_test.py.
#include "effects/wrapper_source.h"

#include <utility>

#include "base/text.h"
#include "effects/distribution.h"
#include "effects/other_packages.h"
#include "read/version.h"

namespace suture {
namespace {

constexpr std::uint64_t kMostText = 16U << 20U;

// The pin in the metadata of the distribution that the tree's package is of.
std::optional<std::string> pin(FileSystem& fs, const LocatedTree& tree, const std::string& distribution) {
  const std::string& site = tree.metadata_folder;
  if (site.empty()) return std::nullopt;
  const std::string package = tree.package_folder.substr(tree.package_folder.rfind('/') + 1);
  for (const std::string& name : list_folder(fs, kAbsolute, site).value) {
    if (!info_folder_version(name, normalize_name(package))) continue;
    const std::string metadata = read_file(fs, kAbsolute, site + "/" + name + "/METADATA", kMostText).value;
    if (auto version = pinned_version(metadata, distribution)) return version;
  }
  return std::nullopt;
}

WrapperSignatures installed(const OtherPackage& package, const WrapperTable& table) {
  WrapperSignatures out;
  for (const auto& [path, file] : package.files) {
    if (!file.bytes) continue;
    for (const WrapperTable::Class& each : table.classes) {
      if (out.by_class.contains(each.name) || !may_define_class(*file.bytes, each.name)) continue;
      if (auto signature = method_of_class(path, *file.bytes, each.name, table.methods))
        out.by_class.emplace(each.name, std::move(*signature));
    }
  }
  out.installed = !out.by_class.empty();
  out.source = table.package + " " + package.dist.version.value_or("of unknown version") + ", installed here";
  return out;
}

}  // namespace

std::optional<std::string> pinned_version(std::string_view metadata, std::string_view distribution) {
  for (const std::string_view line : split_lines(metadata)) {
    if (line.empty()) break;  // the description
    constexpr std::string_view kKey = "Requires-Dist:";
    if (!line.starts_with(kKey)) continue;
    const std::string_view requirement = trim(line.substr(kKey.size()));
    const std::size_t name = requirement.find_first_of(" <>=!~;[(");
    if (normalize_name(requirement.substr(0, name)) != distribution) continue;
    const std::size_t equals = requirement.find("==");
    if (equals == std::string_view::npos) continue;
    const std::string_view version = requirement.substr(equals + 2);
    return std::string(trim(version.substr(0, version.find_first_of(",;) "))));
  }
  return std::nullopt;
}

Result<WrapperSignatures> wrapper_signatures(FileSystem& fs, const LocatedTree& tree, const WrapperTable& table,
                                             const std::string& with,
                                             const std::map<std::string, std::string>& environment) {
  OtherNeeds needs;
  for (const WrapperTable::Class& each : table.classes) needs.classes.insert(each.name);
  Result<OtherPackage> package = load_other(fs, tree, table.package, needs, with, environment);
  if (!package) return package.error();
  if (package->present) {
    WrapperSignatures out = installed(*package, table);
    if (out.installed) return out;
  }
  const std::optional<std::string> version = package->present ? package->dist.version : pin(fs, tree, table.package);
  WrapperSignatures out = tabled_signatures(table, version ? parse_version(*version) : std::nullopt);
  const std::string which = version ? table.package + " " + *version + (package->present ? "" : ", which is pinned")
                                    : "the newest " + table.package + " it knows";
  out.source = "suture's own table for " + which;
  return out;
}

}  // namespace suture
