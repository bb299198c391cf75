// Packages that a site-packages folder only points to: .pth files, editable-install finders, egg-links,
// direct_url.json. Read as text; an `import` line of a .pth file is never run.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "effects/file_system.h"

namespace suture {

struct PointedPackage {
  std::string folder;  // the package folder, real path
  std::string by;      // the file that points there
};

// Where `site` points for the import name `folder`; nullopt: nowhere. Error: to a zipped egg.
Result<std::optional<PointedPackage>> find_pointed(FileSystem& fs, const std::string& site, const std::string& package,
                                                   const std::string& folder);

// --- pure parts ---------------------------------------------------------------------------------------------------

// The path lines of a .pth file (no comments, no import lines), and the modules of its import lines.
struct PthLines {
  std::vector<std::string> paths, imports;
};
PthLines parse_pth(std::string_view text);
// The value of `name` in the MAPPING literal of an editable finder.
std::optional<std::string> mapping_value(std::string_view finder, const std::string& name);
// The folder of an editable direct_url.json.
std::optional<std::string> editable_url(std::string_view direct_url);

}  // namespace suture
