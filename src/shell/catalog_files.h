// The folders of --rules-dir and --patches-dir as values for build_catalog.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "effects/file_system.h"
#include "read/catalog.h"

namespace suture {

// Appends every *.yaml and *.yml below `folder` (any depth), sorted by path. Names are `folder` as it was given and the
// path below it. Errors: no such folder, a file that cannot be read (file_system); a file over 1 MiB, which is no rule
// file and is not read (bad_rule).
Status read_rule_folder(FileSystem& fs, const std::string& folder, std::vector<NamedBytes>& files);

// Appends every *.yaml, *.py and *.md below `folder`: each patch.yaml with the files and the page beside it. `folder` may
// be one patch's folder itself.
Status read_patch_folder(FileSystem& fs, const std::string& folder, std::vector<NamedBytes>& files);

// What `suture test` is given: a rule file (of any name), a patch.yaml with the files beside it, or a folder of both.
// Errors also: a folder that has neither (usage).
Status read_tested(FileSystem& fs, const std::string& path, CatalogInput& input);

}  // namespace suture
