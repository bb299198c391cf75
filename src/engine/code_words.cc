// See code_words.h.
#include "engine/code_words.h"

#include <map>

namespace suture {
namespace {

const std::map<std::string_view, Noun>& nouns_by_kind() {
  static const std::map<std::string_view, Noun> nouns = {
      {"else_clause", {"else branch", "else branches"}},
      {"elif_clause", {"elif branch", "elif branches"}},
      {"except_clause", {"except clause", "except clauses"}},
      {"except_group_clause", {"except clause", "except clauses"}},
      {"finally_clause", {"finally clause", "finally clauses"}},
      {"case_clause", {"case", "cases"}},
      {"decorator", {"decorator", "decorators"}},
      {"for_in_clause", {"for clause", "for clauses"}},
      {"if_clause", {"if clause", "if clauses"}},
      {"with_item", {"context manager", "context managers"}},
  };
  return nouns;
}

const std::map<std::string_view, Noun>& nouns_by_parent() {
  static const std::map<std::string_view, Noun> nouns = {
      {"argument_list", {"argument", "arguments"}},
      {"parameters", {"parameter", "parameters"}},
      {"lambda_parameters", {"parameter", "parameters"}},
      {"list", {"element", "elements"}},
      {"tuple", {"element", "elements"}},
      {"set", {"element", "elements"}},
      {"expression_list", {"element", "elements"}},
      {"pattern_list", {"target", "targets"}},
      {"dictionary", {"entry", "entries"}},
      {"block", {"statement", "statements"}},
      {"module", {"statement", "statements"}},
      {"import_from_statement", {"name", "names"}},
      {"import_statement", {"name", "names"}},
      {"comparison_operator", {"operand", "operands"}},
      {"boolean_operator", {"operand", "operands"}},
      {"binary_operator", {"operand", "operands"}},
  };
  return nouns;
}

}  // namespace

Noun noun_of(const Tree& tree, NodeId node) {
  const auto kind = nouns_by_kind().find(kind_name(tree[node].kind));
  if (kind != nouns_by_kind().end()) return kind->second;
  const NodeId parent = tree[node].parent;
  if (parent == kNone) return {"statement", "statements"};
  const auto list = nouns_by_parent().find(kind_name(tree[parent].kind));
  return list != nouns_by_parent().end() ? list->second : Noun{"part", "parts"};
}

std::string_view part_name(const Tree& tree, NodeId node) {
  const Kinds& k = kinds();
  const NodeId parent = tree[node].parent;
  const std::uint8_t field = tree[node].field;
  if (tree.is(node, k.block)) return "the body";
  if (parent == kNone) return "";
  if (field == 0) return tree.is(parent, k.return_statement) ? "the value" : "";
  const bool loop = tree.is(parent, k.for_statement) || kind_name(tree[parent].kind) == "for_in_clause";
  const bool assignment = tree.is(parent, k.assignment) || tree.is(parent, k.augmented_assignment);
  if (field == fields().function) return "the callee";
  if (field == fields().operator_ || kind_name(tree[parent].kind) == "comparison_operator")
    return tree[node].named ? "" : "the operator";
  if (field == fields().condition) return "the condition";
  if (field == fields().left && (loop || assignment)) return loop ? "the loop variable" : "the target";
  if (field == fields().right && (loop || assignment)) return loop ? "what it loops over" : "the value";
  if (field == fields().module_name) return "the module";
  if (field == fields().superclasses) return "the list of bases";
  if (field == fields().return_type) return "the return type";
  if (field == fields().type) return "the annotation";
  if (field == fields().parameters) return "the parameter list";
  if (field == fields().value) return tree.is(parent, k.pair) ? "the value" : "";
  const bool definition = tree.is(parent, k.function_definition) || tree.is(parent, k.class_definition);
  return field == fields().name && definition ? "the name" : "";
}

std::string with_article(std::string_view noun) {
  const bool vowel = !noun.empty() && std::string_view("aeiou").find(noun[0]) != std::string_view::npos;
  return (vowel ? "an " : "a ") + std::string(noun);
}

}  // namespace suture
