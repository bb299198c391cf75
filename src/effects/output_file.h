// A file that the user names for output, such as a page: replaced whole or not at all, and nothing but a file is replaced.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "effects/file_system.h"

namespace suture {

// A regular file, or none yet: written beside it and renamed over it; one that is there keeps its permissions. A link stays, and
// what it leads to is written. A pipe or a device is written through. Error (file_system): what cannot be written, and why.
Status write_output(FileSystem& fs, const std::string& path, std::string_view bytes);

// Whether two paths lead to one regular file, by links or by two names of it; false where either is not there.
bool lead_to_one_file(FileSystem& fs, const std::string& one, const std::string& other);

}  // namespace suture
