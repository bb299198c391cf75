// The JSON document of a run. Its fields are a promise: docs/json-schema/report.schema.json describes them, and
// tests/cli checks every document against it. Fields may be added, none is renamed or taken away.
#pragma once

#include <string>

#include "shell/report.h"

namespace suture {

// The whole document, indented, with a newline at the end. Text that is not UTF-8: a diff is given byte for byte as
// Latin-1 and says so ("diff_encoding"); elsewhere the bytes that are no UTF-8 become U+FFFD.
std::string to_json(const Report& report);

}  // namespace suture
