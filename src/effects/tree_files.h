// Reading files of a package folder into FileStates: paths, what globs name, and what may define a class.
#pragma once

#include <cstddef>
#include <set>
#include <string>

#include "effects/tree_folder.h"
#include "engine/state.h"

namespace suture {

// Reads into `files` what `wanted` (paths and globs, relative to the folder) names: a path whether it is there or not; of a glob
// the files that are there. With `classes`, every Python file of the folder is searched, and those that may define one of them
// are read too. Returns how many were searched for classes.
//
// A path follows links inside the tree (TreeFolder). A glob enters no link to a folder: what lies behind it is reached by its own
// path where that is in the tree; a folder that is a link out of the tree, or that cannot be listed, is in `files` as unreadable,
// by the folder's path, so that nobody takes it for empty. `.suture`, `__pycache__` and what begins with a dot are passed over.
std::size_t read_files(const TreeFolder& tree, const std::set<std::string>& wanted,
                       const std::set<std::string>& classes, Files& files);

}  // namespace suture
