#include "engine/state.h"

#include <set>

#include "base/function_ref.h"
#include "engine/imports.h"
#include "engine/stdlib_modules.h"
#include "read/glob.h"

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

// The conditions on the package itself, or those on others.
void each_condition(const Patch& patch, bool own, FunctionRef<void(const Condition&)> visit) {
  for (const auto* list : {&patch.needs, &patch.superseded}) {
    for (const Condition& condition : *list) {
      const bool is_own = !condition.package || condition.package->value == patch.package.value;
      if (is_own == own) visit(condition);
    }
  }
}

bool is_there(const FileState& file) {
  return file.kind != FileState::Kind::absent && file.kind != FileState::Kind::folder;
}

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\f' || c == '\\' || c == '\n' || c == '\r';
}

}  // namespace

std::vector<std::string> files_named(const Files& files, const std::string& candidate) {
  if (!is_glob(candidate)) {
    const auto file = files.find(candidate);
    return file != files.end() && is_there(file->second) ? std::vector<std::string>{candidate}
                                                         : std::vector<std::string>();
  }
  const Glob glob(candidate);
  std::vector<std::string> out;
  std::set<std::string> reached;  // by links
  for (const auto& [path, file] : files) {
    const bool closed = file.kind == FileState::Kind::unreadable && glob.enters(path);
    if (!is_there(file) || (!closed && !glob.matches(path))) continue;
    if (!file.link_to.empty() && (glob.matches(file.link_to) || !reached.insert(file.link_to).second)) continue;
    out.push_back(path);
  }
  return out;
}

bool may_define_class(std::string_view text, std::string_view name) {
  constexpr std::string_view keyword = "class";
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    std::size_t before = at;
    while (before > 0 && is_blank(text[before - 1])) --before;
    if (before < at && text.substr(0, before).ends_with(keyword)) return true;
  }
  return false;
}

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
  each_condition(patch, true, [&](const Condition& condition) {
    for (const Text& file : condition.file) out.insert(file.value);
  });
  return {out.begin(), out.end()};
}

std::set<std::string> classes_needed(const Patch& patch) {
  std::set<std::string> out;
  each_condition(patch, true, [&](const Condition& condition) {
    if (condition.class_name) out.insert(condition.class_name->value);
  });
  return out;
}

std::map<std::string, OtherNeeds> others_needed(const Patch& patch) {
  std::map<std::string, OtherNeeds> out;
  each_condition(patch, false, [&](const Condition& condition) {
    OtherNeeds& needs = out[condition.package->value];
    for (const Text& file : condition.file) needs.files.insert(file.value);
    if (condition.class_name) needs.classes.insert(condition.class_name->value);
    if (condition.folder) needs.folders.insert(condition.folder->value);
  });
  return out;
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
