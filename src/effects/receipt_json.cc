#include "effects/receipt_json.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "effects/sealed_json.h"
#include "effects/tree_folder.h"

namespace suture {
namespace {

using nlohmann::json;
constexpr const char* kWhat = "the receipt";

json edit_to_json(const WrittenEdit& edit) {
  json out{{"offset", edit.offset}, {"removed", bytes_to_json(edit.removed)}, {"written", bytes_to_json(edit.written)}};
  if (!edit.rule.empty()) out["rule"] = edit.rule;
  if (edit.import) out["import"] = true;
  if (edit.touched) out["touched"] = true;
  return out;
}

// get<> would cut a larger number, a negative one or a fraction to size in silence.
std::uint32_t offset_from_json(const json& value) {
  const bool whole =
      value.is_number_unsigned() && value.get<std::uint64_t>() <= std::numeric_limits<std::uint32_t>::max();
  if (!whole) throw json::other_error::create(501, "an offset is out of range", nullptr);
  return value.get<std::uint32_t>();
}

WrittenEdit edit_from_json(const json& value) {
  WrittenEdit edit;
  edit.offset = offset_from_json(value.at("offset"));
  edit.removed = bytes_from_json(value.at("removed"));
  edit.written = bytes_from_json(value.at("written"));
  edit.rule = value.value("rule", "");
  edit.import = value.value("import", false);
  edit.touched = value.value("touched", false);
  return edit;
}

json entry_to_json(const ReceiptEntry& entry) {
  json edits = json::object();
  for (const auto& [path, list] : entry.edits) {
    json& out = edits[path] = json::array();
    for (const WrittenEdit& edit : list) out.push_back(edit_to_json(edit));
  }
  return {{"patch", entry.patch},
          {"edition", entry.edition},
          {"version", entry.version},
          {"edits", edits},
          {"adds", entry.adds}};
}

ReceiptEntry entry_from_json(const json& value) {
  ReceiptEntry entry;
  entry.patch = value.at("patch").get<std::string>();
  entry.edition = value.at("edition").get<std::string>();
  entry.version = value.at("version").get<std::string>();
  for (const auto& [path, list] : value.at("edits").items()) {
    std::vector<WrittenEdit>& edits = entry.edits[path];
    for (const json& edit : list) edits.push_back(edit_from_json(edit));
  }
  entry.adds = value.at("adds").get<std::map<std::string, std::string>>();
  return entry;
}

Receipt from_json(const json& document) {
  Receipt receipt;
  for (const auto& [path, value] : document.at("files").items()) {
    receipt.files[path] = {value.at("original").get<std::string>(), value.at("left").get<std::string>(),
                           value.at("record").get<std::string>(), value.value("existed", false)};
  }
  for (const json& value : document.at("patches")) receipt.patches.push_back(entry_from_json(value));
  receipt.folders = document.at("folders").get<std::vector<std::string>>();
  return receipt;
}

bool is_hash_or_empty(const std::string& text) {
  return text.empty() || is_sha256(text);
}

// What is wrong with a receipt whose checksum holds; empty: nothing.
std::string problem_of(const Receipt& receipt) {
  std::set<std::string> names;
  for (const auto& [path, file] : receipt.files) {
    if (!is_tree_path(path)) return "'" + path + "' is not a path in the tree";
    const bool hashes =
        is_hash_or_empty(file.original_sha256) && is_sha256(file.left_sha256) && is_hash_or_empty(file.record_sha256);
    if (!hashes) return "a hash of " + path + " is none";
  }
  for (const std::string& folder : receipt.folders) {
    if (!is_tree_path(folder)) return "'" + folder + "' is not a path in the tree";
  }
  for (const ReceiptEntry& entry : receipt.patches) {
    if (!names.insert(entry.patch).second) return "the patch " + entry.patch + " is listed twice";
    for (const auto& [path, edits] : entry.edits) {
      if (!receipt.files.contains(path)) return path + " is edited, but not among the files";
      const bool ascending =
          std::is_sorted(edits.begin(), edits.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
      if (!ascending) return "the edits of " + path + " are not in order";
    }
    for (const auto& [path, hash] : entry.adds) {
      if (!receipt.files.contains(path) || !is_sha256(hash)) return path + " is added, but not among the files";
    }
  }
  return "";
}

}  // namespace

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::string receipt_to_json(const Receipt& receipt, const std::string& package) {
  json document{{"format", kReceiptFormat}, {"package", package}, {"folders", receipt.folders}};
  json& files = document["files"] = json::object();
  for (const auto& [path, file] : receipt.files) {
    files[path] = {{"original", file.original_sha256}, {"left", file.left_sha256}, {"record", file.record_sha256}};
    if (file.existed) files[path]["existed"] = true;
  }
  json& patches = document["patches"] = json::array();
  for (const ReceiptEntry& entry : receipt.patches) patches.push_back(entry_to_json(entry));
  return seal(std::move(document));
}

std::string receipt_package(std::string_view text) {
  const json document = parse_flat(text);
  if (!document.is_object()) return "";
  const auto package = document.find("package");
  return package != document.end() && package->is_string() ? package->get<std::string>() : "";
}

Result<Receipt> receipt_from_json(std::string_view text, const std::string& path) {
  Result<json> document = unseal(text, kReceiptFormat, kWhat, path);
  if (!document) return document.error();
  try {
    Receipt receipt = from_json(*document);
    const std::string problem = problem_of(receipt);
    if (!problem.empty()) return damaged(kWhat, path, problem);
    return receipt;
  } catch (const json::exception& error) {
    return damaged(kWhat, path, error);
  }
}

}  // namespace suture
