// Python source -> a flat tree. syntax.cc is the only file that includes
// tree-sitter; everything above sees this arena and nothing else.
//
// Why a copy of the tree and not tree-sitter's own nodes: parent() is O(depth)
// there and O(1) here, a subtree is a contiguous run of ids (so "inside" and
// "has" are comparisons), pattern and target are the same type, and the parser's
// tree, which takes 33 bytes for each source byte, is freed at once. Rejected:
// ts_query (quadratic in depth, its predicates are not evaluated by the C
// library) and ts_node_string (overflows the stack on deep trees).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/source.h"

namespace suture {

using Kind = std::uint16_t;  // a grammar symbol
using NodeId = std::uint32_t;
inline constexpr NodeId kNone = 0xFFFFFFFF;

struct Node {
  std::uint32_t begin = 0, end = 0;  // bytes of the source
  NodeId parent = kNone;
  NodeId subtree_end = 0;  // ids of the subtree are [id, subtree_end)
  Kind kind = 0;
  std::uint8_t field = 0;  // of the parent; 0: none
  bool named : 1 = false;
  bool extra : 1 = false;    // a comment or a line continuation
  bool error : 1 = false;    // an ERROR node
  bool missing : 1 = false;  // a token that the parser invented (zero width)
  bool broken : 1 = false;   // an ERROR or MISSING node lies in the subtree (itself included)
  bool misread : 1 = false;  // to Python this is other code (python_reading.h)
};

// The grammar symbols that the engine speaks of by name, resolved once from the language; each is a member of
// Kinds ("float_" and the like stand for names that C++ reserves).
// clang-format off
#define SUTURE_KINDS(X)                                                                                          \
  X(module) X(block) X(comment) X(line_continuation)                                                             \
  X(expression_statement) X(assignment) X(augmented_assignment)                                                  \
  X(if_statement) X(elif_clause) X(else_clause) X(for_statement) X(while_statement) X(try_statement)             \
  X(with_statement) X(match_statement) X(case_clause) X(except_clause) X(finally_clause)                         \
  X(function_definition) X(class_definition) X(decorated_definition) X(decorator) X(lambda)                      \
  X(call) X(argument_list) X(keyword_argument) X(generator_expression) X(attribute) X(identifier) X(slice)       \
  X(subscript) X(list_splat) X(dictionary_splat) X(list_splat_pattern) X(dictionary_splat_pattern)               \
  X(parameters) X(lambda_parameters) X(default_parameter) X(typed_parameter) X(typed_default_parameter)          \
  X(parenthesized_expression) X(tuple) X(list) X(set) X(dictionary) X(pair) X(expression_list) X(pattern_list)   \
  X(binary_operator) X(boolean_operator) X(comparison_operator) X(unary_operator) X(not_operator)                \
  X(conditional_expression) X(named_expression) X(await) X(yield) X(as_pattern) X(list_comprehension)            \
  X(string) X(string_start) X(string_content) X(string_end) X(interpolation) X(concatenated_string)              \
  X(integer) X(import_statement) X(import_from_statement) X(future_import_statement) X(aliased_import)           \
  X(dotted_name) X(relative_import) X(import_prefix) X(wildcard_import) X(type) X(type_alias_statement)          \
  X(pass_statement) X(print_statement) X(exec_statement) X(return_statement) X(raise_statement)                  \
  X(delete_statement) X(assert_statement)
// clang-format on
struct Kinds {
#define SUTURE_KIND_MEMBER(name) Kind name = 0;
  SUTURE_KINDS(SUTURE_KIND_MEMBER)
#undef SUTURE_KIND_MEMBER
};
const Kinds& kinds();

// The fields that the engine speaks of by name.
struct Fields {
  std::uint8_t name, body, parameters, return_type, type_parameters, superclasses, type, left, right, value, function,
      arguments, object, attribute, operator_, condition, consequence, alternative, definition, module_name, alias;
};
const Fields& fields();

// 0 where the grammar has no such symbol / field.
Kind kind_named(std::string_view name, bool named = true);
std::string_view kind_name(Kind kind);
std::uint8_t field_named(std::string_view name);

class Tree {
 public:
  [[nodiscard]] const Node& operator[](NodeId id) const { return nodes_[id]; }
  [[nodiscard]] NodeId root() const { return 0; }
  [[nodiscard]] NodeId size() const { return static_cast<NodeId>(nodes_.size()); }

  [[nodiscard]] NodeId first_child(NodeId id) const { return nodes_[id].subtree_end > id + 1 ? id + 1 : kNone; }
  [[nodiscard]] NodeId next_sibling(NodeId id) const {
    const NodeId p = nodes_[id].parent;
    const NodeId next = nodes_[id].subtree_end;
    return p != kNone && next < nodes_[p].subtree_end ? next : kNone;
  }
  // First child with that field; kNone.
  [[nodiscard]] NodeId child(NodeId id, std::uint8_t field) const;
  // All children / the named ones without comments and line continuations.
  [[nodiscard]] std::vector<NodeId> children(NodeId id) const;
  [[nodiscard]] std::vector<NodeId> named_children(NodeId id) const;

  [[nodiscard]] bool is(NodeId id, Kind kind) const { return nodes_[id].kind == kind; }
  [[nodiscard]] bool is_leaf(NodeId id) const { return nodes_[id].subtree_end == id + 1; }
  [[nodiscard]] bool contains(NodeId outer, NodeId inner) const {
    return outer <= inner && inner < nodes_[outer].subtree_end;
  }
  [[nodiscard]] Range range(NodeId id) const { return {nodes_[id].begin, nodes_[id].end}; }
  // An ERROR or MISSING node, or what the parser only admits on the root: a file
  // can be broken with no visible broken node.
  [[nodiscard]] bool broken() const { return broken_; }
  [[nodiscard]] std::uint32_t error_count() const { return error_count_; }

 private:
  friend class SyntaxBuilder;
  friend class TreeRepair;
  std::vector<Node> nodes_;
  bool broken_ = false;
  std::uint32_t error_count_ = 0;
};

// Bounds on one parse, so that hostile input ends in an error and not in a
// long wait. Counts and not a clock: a busy machine changes no verdict.
struct ParseLimits {
  std::uint32_t max_bytes = 16u << 20;
  std::uint32_t max_depth = 4096;  // nesting of the syntax tree
  // Progress callbacks of the parser (one per 100 of its operations): base + per_byte * size. Real code takes
  // under 0.01 a byte, the densest that Python admits (`a,b=c,d`) 0.07; tests/unit/syntax_test.cc holds both apart.
  std::uint64_t base_callbacks = 10'000;
  double callbacks_per_byte = 0.15;
  // Chunks of 4 KiB that the lexer reads, some of them again: base + per_byte * size. A parse of real code reads each
  // about once. The callbacks do not see the lexer: a million line continuations are scanned to their end from each
  // one.
  std::uint64_t base_reads = 10'000;
  double reads_per_byte = 0.01;
};

// Parses `source`. Errors (Exit::refused, located where they can be): larger
// than max_bytes, nested deeper than max_depth, parser gave up. A file with
// syntax errors still gives a Tree; see Tree::broken(). What the grammar reads
// otherwise than Python is set right, or marked (python_reading.h).
// The bytes must be UTF-8 (the caller checks); NUL is an ordinary byte.
// parts: what to parse of it, sorted, each from the begin of a line to the end of one; empty: all. Offsets stay those of the source.
Result<Tree> parse_python(const Source& source, const ParseLimits& limits = {}, const std::vector<Range>& parts = {});

}  // namespace suture
