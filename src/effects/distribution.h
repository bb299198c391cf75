// What pip left beside a package: dist-info and egg-info folders, METADATA, RECORD. Read, never imported.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "effects/file_system.h"
#include "effects/locate.h"
#include "engine/state.h"

namespace suture {

// The distribution `package` (normalised) of a located tree. Every dist-info or egg-info of that name counts;
// METADATA's Name and Version decide over the folder's name. Two that disagree on the version: unknown, `found` has
// both. Without any, a version.py or _version.py of the package with a literal __version__ is taken (version_source
// says so). Of RECORD only the paths in `wanted` are kept: it lists thousands. Error: metadata that is there and cannot be
// read.
Result<Distribution> read_distribution(FileSystem& fs, const LocatedTree& tree, const std::string& package,
                                       const std::string& folder, const std::set<std::string>& wanted);

// --- pure parts ---------------------------------------------------------------------------------------------------

// RECORD: CSV of path, hash, size. The paths of `wanted`, relative to `folder`, with their SHA-256 in hexadecimal. That of a
// wheel names a file where it lies in the wheel, which may be below NAME-V.data: it is taken as where it is installed.
std::map<std::string, std::string> parse_record(std::string_view record, const std::string& folder,
                                                const std::set<std::string>& wanted);
// A header of METADATA or PKG-INFO.
std::optional<std::string> metadata_header(std::string_view metadata, std::string_view name);
// The literal that a module assigns to __version__ at the beginning of a line.
std::optional<std::string> literal_version(std::string_view module);
// "sglang-0.5.6.dist-info" for "sglang": its version text, which may be empty. nullopt: another distribution's.
std::optional<std::string> info_folder_version(const std::string& name, const std::string& package);

}  // namespace suture
