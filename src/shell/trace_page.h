// The style sheet and the script of the page of `suture trace --html` (src/shell/trace_page, embedded by CMake).
#pragma once

#include <vector>

#include "read/catalog.h"

namespace suture {

const std::vector<NamedBytes>& trace_page_files();

}  // namespace suture
