#include "engine/state.h"

#include <set>

#include "base/function_ref.h"
#include "engine/imports.h"
#include "engine/stdlib_modules.h"

namespace suture {
namespace {

// Each import that the patch adds, with each file that it may be written to.
void each_import(const Patch& patch, FunctionRef<void(const CompiledImport&, const std::string&)> visit) {
  for (const Rule& rule : patch.rules) {
    std::vector<const Shape*> shapes = {&rule.base};
    for (const Shape& shape : rule.any_of) shapes.push_back(&shape);
    for (const Shape* shape : shapes) {
      const AddImport* added = shape->edit ? std::get_if<AddImport>(&*shape->edit) : nullptr;
      const auto import = added != nullptr ? read_import(added->statement.value) : std::nullopt;
      if (!import) continue;
      for (const Text& file : rule.files) visit(*import, file.value);
    }
  }
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
  }
  each_import(patch, [&](const CompiledImport& import, const std::string& path) {
    for (std::string& file : module_files(import, path, import_folder)) out.insert(std::move(file));
  });
  for (const AddedFile& added : patch.adds) out.insert(added.path.value);
  for (const auto* list : {&patch.needs, &patch.superseded}) {
    for (const Condition& condition : *list) {
      if (condition.package && condition.package->value != patch.package.value) continue;
      for (const Text& file : condition.file) out.insert(file.value);
    }
  }
  return {out.begin(), out.end()};
}

std::set<std::string> modules_needed(const Patch& patch, const std::string& import_folder) {
  std::set<std::string> out;
  each_import(patch, [&](const CompiledImport& import, const std::string& path) {
    const std::string module = imported_module(import, path, import_folder);
    const std::string top = module.substr(0, module.find('.'));
    if (!top.empty() && top != import_folder && !is_stdlib_module(top)) out.insert(top);
  });
  return out;
}

}  // namespace suture
