// The Python files of a package that may hold what a rule has lost: looked at only when a verdict is drifted or absent.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "effects/file_system.h"
#include "effects/locate.h"

namespace suture {

// How good a lead a file is; 0: none.
using RankModule = std::function<int(const std::string& path, const std::string& bytes)>;

// Path (relative to the package folder) and bytes of the best `.py` files, at most two dozen; of equally good ones the
// first by path. Bounded in files, bytes and depth. Links are not followed, `.suture` and hidden folders not entered; what cannot
// be read is passed over: this only helps a message.
std::map<std::string, std::string> find_modules(FileSystem& fs, const LocatedTree& tree, const RankModule& rank);

}  // namespace suture
