// Interpreters and their environments, by their files alone: where an executable's site-packages are.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "effects/file_system.h"

namespace suture {

// "/usr" and "3.11": a prefix, and which interpreter of it is meant; version empty: any.
struct Prefix {
  std::string path;
  std::string version;
  std::string how;  // "the environment of /venv/bin/python"
};

// The folders of PYTHONPATH, which come before all of an environment: those that exist, without doubles, real paths. Relative
// ones are left out: they are relative to the folder that the server starts in.
std::vector<std::string> path_variable_folders(FileSystem& fs, const std::map<std::string, std::string>& environment);

// The prefix of an interpreter, found as it finds it itself: pyvenv.cfg beside the executable as it was called or
// one folder above, else the folder above that of the real file. Nothing is run. Error: no such file, or a script (a
// shim).
Result<Prefix> prefix_of(FileSystem& fs, const std::string& executable,
                         const std::map<std::string, std::string>& environment);
// `name` searched on PATH. nullopt: not there.
std::optional<std::string> find_on_path(FileSystem& fs, const std::string& name, const std::string& path);

// Whether a folder looks like an environment: pyvenv.cfg, or lib/python3*.
bool is_prefix(FileSystem& fs, const std::string& folder);

// Folders that its interpreter imports from, in that order, as groups: one group holds the folders of several
// interpreters where the version is not known. site-packages, dist-packages (Debian), the user's (below PYTHONUSERBASE,
// else HOME; none with PYTHONNOUSERSITE), and those of the base where pyvenv.cfg includes them. Those that exist, without doubles, real paths.
std::vector<std::vector<std::string>> site_folders(FileSystem& fs, const Prefix& prefix,
                                                   const std::map<std::string, std::string>& environment);

// "/a" of "/a/b", "/" of "/a", "." of a bare name; and the last part.
std::string parent_of(const std::string& path);
std::string base_of(const std::string& path);
// A variable of the environment; empty where it is not set.
std::string value_of(const std::map<std::string, std::string>& environment, const std::string& name);

}  // namespace suture
