// See wrapper_table.h. Test: tests/unit/audit_test.cc.
#include "read/wrapper_table.h"

#include <algorithm>
#include <utility>

#include "read/yaml_fields.h"
#include "read/yaml_reader.h"

namespace suture {
namespace {

std::vector<std::string> values(const Fields& fields, std::string_view key) {
  std::vector<std::string> out;
  for (const Text& text : fields.texts(key)) out.push_back(text.value);
  return out;
}

WrapperTable::Class read_class(const YamlNode& node, Problems& problems) {
  static const Keys kKeys{"a class", {"class", "table"}, {}, {}};
  static const Keys kEntry{"an entry of 'table'", {"versions", "parameters"}, {}, {}};
  const Fields fields(node, kKeys, problems);
  WrapperTable::Class out;
  out.name = fields.required("class", "write its name").value;
  for (const YamlNode& entry : fields.items("table")) {
    const Fields each(entry, kEntry, problems);
    const std::optional<Text> versions = each.specifiers("versions");
    out.table.push_back(
        {versions ? versions->value : "", each.required("parameters", "write them as in Python").value});
  }
  return out;
}

}  // namespace

const WrapperTable::Class* WrapperTable::find(const std::string& name) const {
  const auto found = std::find_if(classes.begin(), classes.end(), [&](const Class& c) { return c.name == name; });
  return found == classes.end() ? nullptr : &*found;
}

bool WrapperTable::holds_module(const std::string& module) const {
  return std::any_of(modules.begin(), modules.end(),
                     [&](const std::string& root) { return module == root || module.starts_with(root + "."); });
}

Result<WrapperTable> read_wrapper_table(const std::shared_ptr<const Source>& yaml) {
  static const Keys kKeys{
      "a table of signatures",
      {"signatures", "modules", "methods", "runs", "keywords", "names", "kv_dtype", "q_dtype", "classes"},
      {},
      {}};
  const Result<YamlNode> root = read_yaml(*yaml);
  if (!root) return root.error();
  Problems problems(*yaml);
  const Fields fields(*root, kKeys, problems);
  WrapperTable out;
  out.package = normalize_name(fields.required("signatures", "name the distribution").value);
  out.modules = values(fields, "modules");
  out.methods = values(fields, "methods");
  out.runs = values(fields, "runs");
  out.keywords = values(fields, "keywords");
  out.names = values(fields, "names");
  out.kv_dtype = values(fields, "kv_dtype");
  out.q_dtype = values(fields, "q_dtype");
  for (const YamlNode& node : fields.items("classes")) out.classes.push_back(read_class(node, problems));
  if (!problems.none()) return problems.first();
  return out;
}

}  // namespace suture
