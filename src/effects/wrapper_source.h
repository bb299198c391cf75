// Signatures of attention wrappers as they are installed beside a package: read from source, never imported.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/result.h"
#include "effects/file_system.h"
#include "effects/locate.h"
#include "engine/plan_site.h"

namespace suture {

// Those of the package that `table` names, beside the tree, or where `with` says (as --with does). Where it is not there, or defines none
// of the classes: the table's own, for the version that the tree's package pins. `source` says which. Error: `with` leads
// nowhere.
Result<WrapperSignatures> wrapper_signatures(FileSystem& fs, const LocatedTree& tree, const WrapperTable& table,
                                             const std::string& with,
                                             const std::map<std::string, std::string>& environment);

// The version that METADATA pins a distribution to: "Requires-Dist: flashinfer_python==0.7.2". Pure.
std::optional<std::string> pinned_version(std::string_view metadata, std::string_view distribution);

}  // namespace suture
