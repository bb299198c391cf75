// For the drivers beside it.
//
//   audit_probe depths TREE     audits a package folder twice, parsing what can hold a site and parsing everything; prints what
//                               differs, then a summary; exit 1 where anything does
//   audit_probe outline FILE... the logical lines of files: "FILE", then "BEGIN END INDENT" a line, or "unsure"
#include <iostream>
#include <set>
#include <string>
#include <thread>

#include "effects/audit_tree.h"
#include "effects/file_system.h"
#include "engine/outline.h"
#include "read/catalog.h"

namespace {

using namespace suture;

std::vector<Rule> shipped_rules() {
  std::vector<Rule> rules;
  for (const NamedBytes& file : embedded_files()) {
    if (!is_audit_file(file) || is_wrapper_table(file)) continue;
    auto read = read_rules(std::make_shared<const Source>(file.path, file.bytes));
    if (!read) throw std::runtime_error(to_text(read.error()));
    for (Rule& rule : *read) rules.push_back(std::move(rule));
  }
  return rules;
}

std::string line_of(const std::string& path, const AuditSite& site) {
  std::string text = path + ":" + std::to_string(site.line) + ":" + std::to_string(site.byte_column) + "-" +
                     std::to_string(site.end_line) + ":" + std::to_string(site.end_column) + " " +
                     std::to_string(site.rule) + " " + site.scope + " " + site.text + " " + site.callee;
  for (const AuditArgument& a : site.arguments) text += " [" + a.keyword + "|" + a.text + "|" + a.origin + "]";
  if (site.receiver)
    text += " {" + std::to_string(static_cast<int>(site.receiver->kind)) + " " + site.receiver->module + " " +
            site.receiver->name + " " + site.receiver->evidence + "}";
  for (const Replacement& r : site.replaced) text += " <" + r.method + " " + r.module + " " + r.function + ">";
  for (const std::string& call : site.calls) text += " " + call + "()";
  return text + (site.broken ? " broken" : "");
}

std::set<std::string> lines_of(const TreeAudit& audit) {
  std::set<std::string> out;
  for (const AuditedFile& file : audit.files) {
    for (const AuditSite& site : file.audit.sites) out.insert(line_of(file.path, site));
  }
  return out;
}

int depths(const std::string& path) {
  const std::vector<Rule> rules = shipped_rules();
  std::vector<const Rule*> pointers;
  for (const Rule& rule : rules) pointers.push_back(&rule);
  const auto compiled = AuditRules::compile(pointers);
  const auto folder = TreeFolder::open(real_file_system(), path);
  if (!compiled || !folder) throw std::runtime_error("cannot begin: " + path);
  const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  const TreeAudit some = audit_tree(*folder, *compiled, {threads, AuditDepth::excerpts});
  const TreeAudit all = audit_tree(*folder, *compiled, {threads, AuditDepth::whole});
  const std::set<std::string> few = lines_of(some), full = lines_of(all);
  int differing = 0;
  for (const std::string& line : full) {
    if (!few.contains(line)) std::cout << "only by parsing everything: " << line << "\n", ++differing;
  }
  for (const std::string& line : few) {
    if (!full.contains(line)) std::cout << "only by parsing parts: " << line << "\n", ++differing;
  }
  std::cout << full.size() << " sites; parsed " << some.parsed << " files (" << some.parsed_bytes << " bytes) and "
            << all.parsed << " files (" << all.parsed_bytes << " bytes)\n";
  return differing == 0 ? 0 : 1;
}

void outline(const std::string& path) {
  const auto bytes = read_file(real_file_system(), kAbsolute, path, 16U << 20U);
  std::vector<Hit> none;
  const Outline lines = outline_of(bytes.value, none);
  std::cout << path << "\n";
  if (!lines.sure) {
    std::cout << "unsure\n";
    return;
  }
  for (const LogicalLine& line : lines.lines) std::cout << line.begin << " " << line.end << " " << line.indent << "\n";
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string mode = argc > 1 ? argv[1] : "";
    if (mode == "depths" && argc == 3) return depths(argv[2]);
    if (mode != "outline") return 2;
    for (int i = 2; i < argc; ++i) outline(argv[i]);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
}
