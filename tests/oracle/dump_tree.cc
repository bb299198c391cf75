// Prints the trees that the parser makes, for tests/oracle/grammar_oracle.py to hold against Python's own `ast`.
//
// stdin: paths, one a line. stdout: "FIELDS id=name ..."; then for each path "FILE path" and one line a node: depth, begin, end, field,
// flags and kind. A file that is called *.snippets holds several sources, each ended by a byte 0x1E: "FILE path#0" and so on.
// Comments and punctuation that says nothing are left out. Flags: n named, ! an ERROR or MISSING node, ? misread, - none.
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "engine/parsed_file.h"
#include "read/syntax.h"

namespace suture {
namespace {

bool counts(const Tree& tree, NodeId id) {
  const Node& node = tree[id];
  if (node.error || node.missing) return true;  // the parser calls an ERROR an extra, too
  if (node.extra) return false;
  const auto name = kind_name(node.kind);
  return node.named || (name != "," && name != ";" && name != "(" && name != ")" && name != ".");
}

std::string fields_line() {
  std::string out = "FIELDS";
  for (const char* name : {"alias",
                           "alternative",
                           "argument",
                           "arguments",
                           "attribute",
                           "body",
                           "cause",
                           "condition",
                           "consequence",
                           "definition",
                           "function",
                           "guard",
                           "key",
                           "left",
                           "module_name",
                           "name",
                           "object",
                           "operator",
                           "operators",
                           "parameters",
                           "return_type",
                           "right",
                           "subject",
                           "subscript",
                           "superclasses",
                           "type",
                           "type_conversion",
                           "type_parameters",
                           "value",
                           "format_specifier",
                           "expression"})
    out += " " + std::to_string(field_named(name)) + "=" + name;
  return out + "\n";
}

const char* flag(const Node& node) {
  if (node.error || node.missing) return "!";
  if (node.misread) return "?";
  return node.named ? "n" : "-";
}

void dump(const Tree& tree) {
  std::vector<NodeId> open;
  std::string out;
  for (NodeId id = 0; id < tree.size(); ++id) {
    while (!open.empty() && id >= tree[open.back()].subtree_end) open.pop_back();
    const Node& node = tree[id];
    if (counts(tree, id)) {
      out += std::to_string(open.size()) + " " + std::to_string(node.begin) + " " + std::to_string(node.end) + " " +
             std::to_string(node.field) + " " + flag(node) + " " + std::string(kind_name(node.kind)) + "\n";
    }
    open.push_back(id);
  }
  std::cout << out;
}

void dump_source(const std::string& name, const std::string& bytes) {
  const auto file = parse_file(name, bytes);
  std::cout << "FILE " << name << "\n";
  if (file->problem) {
    std::cout << "REFUSED " << file->problem->message << "\n";
  } else {
    dump(file->tree);
  }
}

void run() {
  std::cout << fields_line();
  std::string path;
  while (std::getline(std::cin, path)) {
    std::ifstream in(path, std::ios::binary);
    if (!path.ends_with(".snippets")) {
      dump_source(path, std::string(std::istreambuf_iterator<char>(in), {}));
      continue;
    }
    std::string snippet;
    for (std::size_t i = 0; std::getline(in, snippet, '\x1E'); ++i)
      dump_source(path + "#" + std::to_string(i), snippet);
  }
}

}  // namespace
}  // namespace suture

int main() {
  suture::run();
  return 0;
}
