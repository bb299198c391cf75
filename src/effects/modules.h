// Whether modules of other packages can be imported where a tree is.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "effects/file_system.h"
#include "effects/locate.h"

namespace suture {

// The folders that the tree's environment imports from; where none was named: the one that holds the package, and that of its
// metadata.
std::vector<std::string> import_folders(const LocatedTree& tree);

// Those of `names` (top-level modules) that nothing provides: no folder, module or extension module of that name in the
// folders that the tree's environment imports from, else in the one that holds the package and in that of its metadata; and
// no .pth file or editable install of those that points to it. Empty where no distribution is installed in any of them (a
// source checkout), and for a wheel: what it imports is elsewhere.
std::set<std::string> absent_modules(FileSystem& fs, const LocatedTree& tree, const std::set<std::string>& names);

}  // namespace suture
