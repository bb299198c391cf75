// Finding the tree: a package folder, a site-packages folder, a virtual environment, a source checkout (python/<pkg>
// below the root too), or a wheel (a mounted one: effects/wheel_file_system.h); with no -t the environment of --python EXE, else VIRTUAL_ENV, else python3 on
// PATH. Nothing of the target is imported or run: metadata files, .pth and editable-install records are read.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "effects/file_system.h"

namespace suture {

struct TreeRequest {
  std::string tree;                                // -t; empty: not given
  std::string python;                              // --python
  std::map<std::string, std::string> environment;  // VIRTUAL_ENV, PATH, HOME, PYTHON...: as Python reads them
};

struct LocatedTree {
  std::string package_folder;   // absolute, symlinks resolved; holds the package
  std::string metadata_folder;  // where dist-info is searched (site-packages); may be empty
  std::string display;
  bool present = false;  // false: there is a tree, but no such package folder in it (package_folder: where it would be)
  std::string how;  // how it was found and what it hides, or where it was looked for: for -v, and where it is absent
  std::vector<std::string> sites;  // what its environment imports from, where an environment was named
  std::string bytecode_prefix;     // PYTHONPYCACHEPREFIX; empty: not set
  bool read_only = false;          // a wheel: package_folder is below its path, and nothing is installed beside it
};

// `package` normalised distribution name, `folder` import name. Errors: Exit::file_system where the path does not
// exist or cannot be read (what was tried, the nearest thing that exists), is a file (a zipped egg is
// named as that), or where two interpreters of one prefix hold the package. "No such package there" is not an error:
// present == false.
Result<LocatedTree> locate(FileSystem& fs, const TreeRequest& request, const std::string& package,
                           const std::string& folder);

// The package folders of that tree that hold a .suture folder, absolute: the tree itself, or those one level below what the
// tree (its environment's site-packages, its python/ or src/) is. None where the tree cannot be found: locate() says why.
std::vector<std::string> patched_folders(FileSystem& fs, const TreeRequest& request);

}  // namespace suture
