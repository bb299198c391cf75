// The check that --python asks for: the interpreter compiles every file that the plans would write, in memory, before anything is written.
#pragma once

#include <vector>

#include "shell/planning.h"

namespace suture {

// Where --python is given and the plans write Python files. A file that compiled as it is (or is new) and would not compile makes the
// outcomes of the patches that edit it fatal (Exit::bad_rule); one that did not compile before may go on failing as it does, which is
// noted. Error: the interpreter cannot be run (compile_check.h).
Status check_compiles(const Session& session, std::vector<Planned>& all);

}  // namespace suture
