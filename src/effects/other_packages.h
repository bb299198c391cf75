// Packages that conditions speak of, beside the tree: where they are, which version, and their files. Read, never imported or run.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "effects/file_system.h"
#include "effects/locate.h"
#include "engine/state.h"

namespace suture {

// The package `name` (normalised), with what `needs` names of it. Looked for in the folders that the tree's environment imports
// from, else in the one that holds the tree's package and in that of its metadata; in each by its metadata (RECORD and
// top_level.txt say what its import name is), else by a folder of its name; what .pth files and editable installs point to counts.
//
// with: the value of --with for it, or empty. A package folder, or what TREE of -t may be (a wheel that is mounted:
// effects/wheel_file_system.h); only there it is looked for then. Error (Exit::file_system): no such folder. Not installed is no error: present == false, and `searched` says
// where it was looked for. Nor is a package that cannot be read, whose conditions do not hold: what has nothing to do with them,
// as revert, goes on.
Result<OtherPackage> load_other(FileSystem& fs, const LocatedTree& tree, const std::string& name,
                                const OtherNeeds& needs, const std::string& with,
                                const std::map<std::string, std::string>& environment);

}  // namespace suture
