// Files in, catalog out: read, replace by id, resolve. Test: tests/unit/catalog_test.cc.
#include "read/catalog.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "read/edition.h"

namespace suture {
namespace {

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}
// "patches/x/patch.yaml" -> "patches/x/"
std::string_view folder_of(std::string_view path) {
  return path.substr(0, path.rfind('/') + 1);
}

bool is_patch_file(const NamedBytes& file) {
  return file_name(file.path) == "patch.yaml";
}
// A folder may hold a patch and its rules.
bool is_rule_file(const NamedBytes& file) {
  return (ends_with(file.path, ".yaml") || ends_with(file.path, ".yml")) && !is_patch_file(file) &&
         !is_wrapper_table(file);
}
bool is_below(const NamedBytes& file, std::string_view folder) {
  return std::string_view(file.path).substr(0, folder.size()) == folder;
}

using Files = std::vector<const NamedBytes*>;

template <class Test>
Files select(const std::vector<NamedBytes>& files, Test test) {
  Files out;
  for (const NamedBytes& file : files) {
    if (test(file)) out.push_back(&file);
  }
  return out;
}

std::string place(const Source& source, Range at) {
  const Location where = source.locate(at);
  return where.file + ":" + std::to_string(where.line) + ":" + std::to_string(where.column);
}

// --- Rules ------------------------------------------------------------------

using Rules = std::map<std::string, Rule>;
using Errors = std::vector<Error>;

Rules read_rule_files(const Files& files, Errors& errors) {
  Rules rules;
  for (const NamedBytes* file : files) {
    Result<std::vector<Rule>> read = read_rules(std::make_shared<const Source>(file->path, file->bytes));
    if (!read) {
      errors.push_back(read.error());
      continue;
    }
    for (Rule& rule : *read) {
      const auto [first, fresh] = rules.emplace(rule.id, rule);
      if (!fresh) {
        errors.push_back(rule_error(
            rule, rule.at, "the rule " + in_quotes(rule.id) + " is defined twice",
            "the first one is at " + place(*first->second.source, first->second.at) + "; rename one of them"));
      }
    }
  }
  return rules;
}

// --- Patches ----------------------------------------------------------------

const NamedBytes* find_file(const std::vector<NamedBytes>& files, const std::string& path) {
  const auto found = std::find_if(files.begin(), files.end(), [&](const NamedBytes& f) { return f.path == path; });
  return found == files.end() ? nullptr : &*found;
}

// "patches/x/" -> "patches/shared/": files that several patches add stand there once.
std::string shared_folder(const std::string& folder) {
  return std::string(folder_of(folder.substr(0, folder.empty() ? 0 : folder.size() - 1))) + "shared/";
}

Error no_such_file(const Patch& patch, const AddedFile& added, const std::string& folder,
                   const std::vector<NamedBytes>& files) {
  std::vector<std::string> there;
  for (const NamedBytes& file : files) {
    if (!is_patch_file(file) && is_below(file, folder)) there.push_back(file.path.substr(folder.size()));
  }
  return patch_error(patch, added.from.at, "the patch's folder has no file " + in_quotes(added.from.value),
                     there.empty() ? "put the file beside patch.yaml" : "it has " + join(there, ", ", " and "));
}

// Added files and the page come from the folder that patch.yaml is in; an added file also from `shared` beside it, and, where a
// copy of a shipped patch.yaml stands alone, from the shipped patch of that name.
Status read_siblings(Patch& patch, const std::string& folder, const std::vector<NamedBytes>& files,
                     const std::vector<NamedBytes>& shipped) {
  for (AddedFile& added : patch.adds) {
    const NamedBytes* file = find_file(files, folder + added.from.value);
    if (file == nullptr) file = find_file(files, shared_folder(folder) + added.from.value);
    const std::string own = "patches/" + patch.name + "/";
    if (file == nullptr) file = find_file(shipped, own + added.from.value);
    if (file == nullptr && find_file(shipped, own + "patch.yaml") != nullptr) {
      file = find_file(shipped, shared_folder(own) + added.from.value);
    }
    if (file == nullptr) return no_such_file(patch, added, folder, files);
    added.bytes = file->bytes;
    added.file = file->path;
  }
  const NamedBytes* page = find_file(files, folder + "README.md");
  if (page != nullptr) patch.page = page->bytes;
  return Nothing{};
}

using Patches = std::map<std::string, Patch>;

Patches read_patch_files(const std::vector<NamedBytes>& files, const std::vector<NamedBytes>& shipped, Errors& errors) {
  Patches patches;
  for (const NamedBytes* file : select(files, is_patch_file)) {
    Result<Patch> patch = read_patch(std::make_shared<const Source>(file->path, file->bytes));
    Status siblings = patch ? read_siblings(*patch, std::string(folder_of(file->path)), files, shipped) : patch.error();
    if (!siblings) {
      errors.push_back(siblings.error());
      continue;
    }
    const auto [first, fresh] = patches.emplace(patch->name, *patch);
    if (!fresh) {
      errors.push_back(patch_error(
          *patch, patch->at, "the patch " + in_quotes(patch->name) + " is defined twice",
          "the first one is at " + place(*first->second.source, first->second.at) + "; rename one of them"));
    }
  }
  return patches;
}

// --- Together ---------------------------------------------------------------

Status resolve(Patch& patch, const Rules& rules) {
  std::vector<std::string> known;
  for (const auto& [id, rule] : rules) known.push_back(id);
  for (const Text& id : patch.rule_ids) {
    const auto found = rules.find(id.value);
    if (found == rules.end()) {
      const std::optional<std::string> near = nearest(id.value, known);
      return patch_error(patch, id.at,
                         "the patch " + in_quotes(patch.name) + " names an unknown rule " + in_quotes(id.value),
                         near ? "did you mean " + in_quotes(*near) + "?"
                              : "define it in a rule file; --rules-dir names a folder of them");
    }
    if (found->second.audit) {
      return patch_error(patch, id.at, "the rule " + in_quotes(id.value) + " is an audit rule: it edits nothing",
                         "leave it out; suture audit runs it");
    }
    patch.rules.push_back(found->second);
  }
  const auto may_be_absent = [](const Rule& rule) { return rule.expect.min == 0; };
  if (std::all_of(patch.rules.begin(), patch.rules.end(), may_be_absent)) {
    return patch_error(patch, patch.rule_ids.front().at,
                       "no rule of the patch " + in_quotes(patch.name) + " needs a site: all have 'min: 0'",
                       "a patch that finds nothing would pass for applied; give one of its rules a 'min' of 1");
  }
  patch.edition = edition_of(patch);
  return Nothing{};
}

// Those of `over` replace those of `under`.
template <class T>
void lay_over(std::map<std::string, T>& under, std::map<std::string, T> over) {
  over.merge(under);
  under = std::move(over);
}

}  // namespace

bool is_audit_file(const NamedBytes& file) {
  return is_below(file, "rules/audit/") && ends_with(file.path, ".yaml");
}

// By its first key, which no rule file has.
bool is_wrapper_table(const NamedBytes& file) {
  return file.bytes.starts_with("signatures:") || file.bytes.find("\nsignatures:") != std::string::npos;
}

const Patch* Catalog::find(const std::string& name) const {
  const auto found = std::find_if(patches.begin(), patches.end(), [&](const Patch& p) { return p.name == name; });
  return found == patches.end() ? nullptr : &*found;
}

Catalog read_catalog(const CatalogInput& input, std::vector<Error>& errors) {
  const auto shipped_rule = [](const NamedBytes& file) {
    return is_rule_file(file) && is_below(file, "rules/") && !is_audit_file(file);
  };
  // Whatever it is called.
  const auto tested_rule = [](const NamedBytes& file) { return !is_patch_file(file) && !is_wrapper_table(file); };
  Catalog catalog;
  catalog.rules = read_rule_files(select(input.shipped, shipped_rule), errors);
  lay_over(catalog.rules, read_rule_files(select(input.rule_files, is_rule_file), errors));
  lay_over(catalog.rules, read_rule_files(select(input.tested_rules, tested_rule), errors));
  Patches patches = read_patch_files(input.shipped, input.shipped, errors);
  lay_over(patches, read_patch_files(input.patch_files, input.shipped, errors));
  lay_over(patches, read_patch_files(input.tested_patches, input.shipped, errors));
  for (auto& [name, patch] : patches) {
    if (Status resolved = resolve(patch, catalog.rules); resolved) {
      catalog.patches.push_back(std::move(patch));
    } else {
      errors.push_back(resolved.error());
    }
  }
  return catalog;
}

Result<Catalog> build_catalog(const CatalogInput& input) {
  Errors errors;
  Catalog catalog = read_catalog(input, errors);
  if (!errors.empty()) return errors.front();
  return catalog;
}

}  // namespace suture
