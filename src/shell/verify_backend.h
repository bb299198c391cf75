// suture verify --backend: the patched backend file of a tree against its original, in the interpreter of --python.
#pragma once

#include "shell/session.h"

namespace suture {

// Reads the tree, runs the check (effects/backend_check.h) and says what came of it. Writes nothing to the tree.
Report verify_backend(const Session& session);

// The whole environment, as a started program gets it: "NAME=value".
std::vector<std::string> whole_environment(const Session& session);

}  // namespace suture
