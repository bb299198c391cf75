// The edition of a patch: a hash of what it does. A receipt from another edition is `outdated`.
#pragma once

#include <string>

#include "read/patch.h"

namespace suture {

// SHA-256 (hex) over the patch's rules, in order, and its added files. Notes, summaries, `ok` texts and examples do not
// count, nor where or in which order of keys, quoting or block style anything is written.
std::string edition_of(const Patch& patch);

}  // namespace suture
