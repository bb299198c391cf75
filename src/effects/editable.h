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
  // path: a line of a .pth file, which Python searches right after the folder that holds the file. finder: the hook of an
  // editable install, asked after every folder of the environment. record: an egg-link or direct_url.json, which pip
  // reads and Python does not.
  enum class Rank { path, finder, record } rank = Rank::path;
};

// Where `site` points for the import name `folder`, by the first of the lowest rank; nullopt: nowhere. Error: to a zipped egg.
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
