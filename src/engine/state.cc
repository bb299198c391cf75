#include "engine/state.h"

#include <set>

#include "engine/imports.h"

namespace suture {
namespace {

void add_import_files(const Shape& shape, const std::string& folder, std::set<std::string>& out) {
  const AddImport* import = shape.edit ? std::get_if<AddImport>(&*shape.edit) : nullptr;
  if (import == nullptr) return;
  for (std::string& path : module_files_of(import->statement.value, folder)) out.insert(std::move(path));
}

}  // namespace

const ReceiptEntry* Receipt::find(const std::string& patch) const {
  for (const ReceiptEntry& entry : patches) {
    if (entry.patch == patch) return &entry;
  }
  return nullptr;
}

std::vector<std::string> files_needed(const Patch& patch, const std::string& import_folder) {
  std::set<std::string> out;
  for (const Rule& rule : patch.rules) {
    for (const Text& file : rule.files) out.insert(file.value);
    add_import_files(rule.base, import_folder, out);
    for (const Shape& shape : rule.any_of) add_import_files(shape, import_folder, out);
  }
  for (const AddedFile& added : patch.adds) out.insert(added.path.value);
  for (const auto* list : {&patch.needs, &patch.superseded}) {
    for (const Condition& condition : *list) {
      if (condition.package && condition.package->value != patch.package.value) continue;
      for (const Text& file : condition.file) out.insert(file.value);
    }
  }
  return {out.begin(), out.end()};
}

}  // namespace suture
