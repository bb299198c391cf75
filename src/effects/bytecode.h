// Stale bytecode. CPython checks a .pyc by the source's seconds and size, or not at all (unchecked hashes), so a
// module that was written within one second, or in an image with fixed times, may run its old code.
#pragma once

#include <string>
#include <vector>

#include "effects/tree_folder.h"

namespace suture {

struct BytecodeReport {
  std::size_t removed = 0;
  std::vector<std::string> problems;  // in words; stale bytecode that stays is for the user to know
};

// Removes the bytecode of a module (a path in the tree that ends in .py) from its __pycache__, for all interpreters
// and optimisation levels, and a .pyc beside it. Nothing else.
void remove_bytecode(const TreeFolder& tree, const std::string& module, BytecodeReport& report);

}  // namespace suture
