// Whether an added import would resolve: proved in the tree, with the files that its patch adds, before anything is written.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/imports.h"
#include "engine/run.h"

namespace suture {

class Resolver {
 public:
  struct Problem {
    std::string reason, hint;
    std::optional<Evidence> searched;
  };
  Resolver(Workbench& bench, const TreeState& state, const std::vector<AddedFile>& adds)
      : bench_(bench), state_(state), adds_(adds) {}

  // nullopt: it resolves, or what it names was never looked at. path: the file that it is written to.
  std::optional<Problem> problem(const CompiledImport& import, const std::string& path);

 private:
  [[nodiscard]] const FileState* file_at(const std::string& path) const;
  // Known to be there or not.
  [[nodiscard]] bool known(const std::string& path) const;
  // The module's file; null where there is none.
  std::shared_ptr<const ParsedFile> module_file(const std::string& path);
  std::optional<Problem> in_package(const CompiledImport& import, const std::vector<std::string>& paths);

  Workbench& bench_;
  const TreeState& state_;
  const std::vector<AddedFile>& adds_;
};

}  // namespace suture
