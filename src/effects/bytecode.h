// Stale bytecode. CPython checks a .pyc by the source's seconds and size, by its hash, or not at all (unchecked hashes: images
// with fixed times have them), so a module that was written may go on running its old code.
//
// Two things stand against that: a written file is always younger by a second (effects/stage.h), and the bytecode of written
// modules is removed. What is not checked and cannot be removed would run instead of what was written: nothing is written
// then. Bytecode that is checked may stay.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "effects/tree_folder.h"

namespace suture {

struct BytecodeReport {
  std::size_t removed = 0;
  std::vector<std::string> problems;  // in words; stale bytecode that stays is for the user to know
};

class Bytecode {
 public:
  // `prefix`: PYTHONPYCACHEPREFIX, absolute, a folder that mirrors the file system; empty: not set.
  Bytecode(const TreeFolder& tree, std::string prefix) : tree_(tree), prefix_(std::move(prefix)) {}

  // Removes the bytecode of a module (a path in the tree that ends in .py) from its __pycache__ and from below the prefix,
  // for all interpreters and optimisation levels, and a .pyc beside it. Nothing else.
  void remove(const std::string& module, BytecodeReport& report) const;
  // Whether all of it that Python runs unchecked can be removed. Error (Exit::file_system): names one that cannot.
  [[nodiscard]] Status can_remove(const std::string& module) const;

 private:
  // An open folder with bytecode of a module in it.
  struct Cache {
    std::shared_ptr<Opened> folder;
    std::string shown;               // with '/' at the end
    std::vector<std::string> names;  // of that bytecode
  };
  std::vector<Cache> caches_of(const std::string& module, std::vector<std::string>& problems) const;
  std::optional<Cache> beside(const std::string& module, std::vector<std::string>& problems) const;
  std::optional<Cache> below_prefix(const std::string& module) const;
  [[nodiscard]] bool is_unchecked(const Cache& cache, const std::string& name) const;

  const TreeFolder& tree_;
  std::string prefix_;
};

}  // namespace suture
