// See syntax.h. The parser runs once, its tree is copied in preorder into the arena and freed; then read as Python does.
#include "read/syntax.h"

#include <tree_sitter/api.h>

#include <algorithm>
#include <cassert>
#include <string>
#include <utility>

#include "read/python_reading.h"

extern "C" const TSLanguage* tree_sitter_python(void);

namespace suture {
namespace {

struct ParserFree {
  void operator()(TSParser* p) const { ts_parser_delete(p); }
};
struct TreeFree {
  void operator()(TSTree* t) const { ts_tree_delete(t); }
};

Kind symbol(std::string_view name, bool named) {
  return ts_language_symbol_for_name(tree_sitter_python(), name.data(), static_cast<std::uint32_t>(name.size()), named);
}

Kinds resolve_kinds() {
  Kinds k;
#define SUTURE_RESOLVE(name)    \
  k.name = symbol(#name, true); \
  assert(k.name != 0);
  SUTURE_KINDS(SUTURE_RESOLVE)
#undef SUTURE_RESOLVE
  return k;
}

Error parse_error(const Source& source, std::string message, std::string hint) {
  Location where;
  where.file = source.name();
  return Error{Exit::refused, std::move(message), std::move(where), std::move(hint)};
}

constexpr std::uint32_t kChunk = 4096;

// The text of one parse and what work on it is left.
struct Input {
  const Source* source = nullptr;
  std::uint64_t callbacks = 0, reads = 0;
  bool exhausted = false;
};

bool out_of_budget(TSParseState* state) {
  auto* input = static_cast<Input*>(state->payload);
  if (input->exhausted || input->callbacks == 0) return input->exhausted = true;
  --input->callbacks;
  return false;
}

// The end of the text, too, once the reads are used up: the parser cannot be stopped from within its lexer.
const char* read_chunk(void* payload, std::uint32_t offset, TSPoint /*unused*/, std::uint32_t* length) {
  auto* input = static_cast<Input*>(payload);
  const Source& source = *input->source;
  *length = 0;
  if (offset >= source.size()) return "";
  if (input->reads == 0) {
    input->exhausted = true;
    return "";
  }
  --input->reads;
  *length = std::min(source.size() - offset, kChunk);
  return source.bytes().data() + offset;
}

TSPoint point_of(const Source& source, std::uint32_t offset) {
  const std::uint32_t line = source.line_of(offset);
  return {line, offset - source.line_begin(line)};
}

std::vector<TSRange> ranges_of(const Source& source, const std::vector<Range>& parts) {
  std::vector<TSRange> out;
  for (const Range& part : parts)
    out.push_back({point_of(source, part.begin), point_of(source, part.end), part.begin, part.end});
  return out;
}

std::uint64_t budget(std::uint64_t base, double per_byte, const Source& source) {
  return base + static_cast<std::uint64_t>(per_byte * static_cast<double>(source.size()));
}

}  // namespace

// Copies a tree-sitter tree into the arena with its cursor: iterative, so that depth costs memory and not stack.
class SyntaxBuilder {
 public:
  SyntaxBuilder(const TSTree* tree, std::uint32_t max_depth)
      : max_depth_(max_depth), cursor_(ts_tree_cursor_new(ts_tree_root_node(tree))) {
    // As many as there will be: while both trees are there, memory is at its most.
    tree_.nodes_.reserve(ts_node_descendant_count(ts_tree_root_node(tree)));
  }
  SyntaxBuilder(const SyntaxBuilder&) = delete;
  SyntaxBuilder& operator=(const SyntaxBuilder&) = delete;
  ~SyntaxBuilder() { ts_tree_cursor_delete(&cursor_); }

  // false: nested deeper than max_depth.
  bool build() {
    open_node();
    for (;;) {
      if (ts_tree_cursor_goto_first_child(&cursor_)) {
        if (path_.size() >= max_depth_) return false;
        open_node();
        continue;
      }
      close_node();
      while (!ts_tree_cursor_goto_next_sibling(&cursor_)) {
        if (!ts_tree_cursor_goto_parent(&cursor_)) return true;
        close_node();
      }
      open_node();
    }
  }

  Tree take() {
    tree_.broken_ = tree_.broken_ || tree_.nodes_[0].broken;
    return std::move(tree_);
  }

 private:
  void open_node() {
    const TSNode ts = ts_tree_cursor_current_node(&cursor_);
    Node node;
    node.begin = ts_node_start_byte(ts);
    node.end = ts_node_end_byte(ts);
    node.parent = path_.empty() ? kNone : path_.back();
    node.kind = ts_node_symbol(ts);
    node.field = static_cast<std::uint8_t>(ts_tree_cursor_current_field_id(&cursor_));
    node.named = ts_node_is_named(ts);
    node.extra = ts_node_is_extra(ts);
    node.error = ts_node_is_error(ts);
    node.missing = ts_node_is_missing(ts);
    node.broken = node.error || node.missing;
    if (path_.empty()) tree_.broken_ = ts_node_has_error(ts);
    if (node.broken) ++tree_.error_count_;
    path_.push_back(tree_.size());
    tree_.nodes_.push_back(node);
  }
  void close_node() {
    const NodeId id = path_.back();
    path_.pop_back();
    tree_.nodes_[id].subtree_end = tree_.size();
    if (tree_.nodes_[id].broken && !path_.empty()) tree_.nodes_[path_.back()].broken = true;
  }

  std::uint32_t max_depth_;
  TSTreeCursor cursor_;
  Tree tree_;
  std::vector<NodeId> path_;
};

const Kinds& kinds() {
  static const Kinds k = resolve_kinds();
  return k;
}

const Fields& fields() {
  static const Fields f = {field_named("name"),
                           field_named("body"),
                           field_named("parameters"),
                           field_named("return_type"),
                           field_named("type_parameters"),
                           field_named("superclasses"),
                           field_named("type"),
                           field_named("left"),
                           field_named("right"),
                           field_named("value"),
                           field_named("function"),
                           field_named("arguments"),
                           field_named("object"),
                           field_named("attribute"),
                           field_named("operator"),
                           field_named("condition"),
                           field_named("consequence"),
                           field_named("alternative"),
                           field_named("definition"),
                           field_named("module_name"),
                           field_named("alias")};
  return f;
}

Kind kind_named(std::string_view name, bool named) {
  return symbol(name, named);
}

std::string_view kind_name(Kind kind) {
  const char* name = ts_language_symbol_name(tree_sitter_python(), kind);
  return name != nullptr ? std::string_view(name) : std::string_view("?");
}

std::uint8_t field_named(std::string_view name) {
  return static_cast<std::uint8_t>(
      ts_language_field_id_for_name(tree_sitter_python(), name.data(), static_cast<std::uint32_t>(name.size())));
}

NodeId Tree::child(NodeId id, std::uint8_t field) const {
  for (NodeId c = first_child(id); c != kNone; c = next_sibling(c)) {
    if (nodes_[c].field == field) return c;
  }
  return kNone;
}

std::vector<NodeId> Tree::children(NodeId id) const {
  std::vector<NodeId> out;
  for (NodeId c = first_child(id); c != kNone; c = next_sibling(c)) out.push_back(c);
  return out;
}

std::vector<NodeId> Tree::named_children(NodeId id) const {
  std::vector<NodeId> out;
  for (NodeId c = first_child(id); c != kNone; c = next_sibling(c)) {
    if (nodes_[c].named && !nodes_[c].extra) out.push_back(c);
  }
  return out;
}

namespace {

// The tree as the parser gave it. The parser and its tree are gone when this returns.
Result<Tree> parse_as_written(const Source& source, const ParseLimits& limits, const std::vector<Range>& parts) {
  if (source.bytes().size() > limits.max_bytes) {
    return parse_error(source, "the file is larger than " + std::to_string(limits.max_bytes >> 20) + " MiB",
                       "suture does not parse files of this size; is it Python source?");
  }
  // A parser is made anew for each file: after a parse that was stopped, a reused one continues the old input.
  const std::unique_ptr<TSParser, ParserFree> parser(ts_parser_new());
  if (!ts_parser_set_language(parser.get(), tree_sitter_python())) {
    return parse_error(source, "the Python grammar does not fit the parser's ABI", "this build of suture is broken");
  }
  const std::vector<TSRange> ranges = ranges_of(source, parts);
  if (!ranges.empty())
    (void)ts_parser_set_included_ranges(parser.get(), ranges.data(), static_cast<std::uint32_t>(ranges.size()));
  Input text{&source, budget(limits.base_callbacks, limits.callbacks_per_byte, source),
             budget(limits.base_reads, limits.reads_per_byte, source)};
  TSInput input{};
  input.payload = &text;
  input.read = read_chunk;
  input.encoding = TSInputEncodingUTF8;
  TSParseOptions options{};
  options.payload = &text;
  options.progress_callback = out_of_budget;
  const std::unique_ptr<TSTree, TreeFree> parsed(ts_parser_parse_with_options(parser.get(), nullptr, input, options));
  if (!parsed || text.exhausted) {
    return parse_error(source, "the parser gave up: the file takes far more work than its size allows",
                       "it is damaged or hostile; nothing of it was matched");
  }
  SyntaxBuilder builder(parsed.get(), limits.max_depth);
  if (!builder.build()) {
    return parse_error(source, "the code is nested more than " + std::to_string(limits.max_depth) + " levels deep",
                       "it is damaged or hostile; nothing of it was matched");
  }
  return builder.take();
}

}  // namespace

Result<Tree> parse_python(const Source& source, const ParseLimits& limits, const std::vector<Range>& parts) {
  Result<Tree> tree = parse_as_written(source, limits, parts);
  if (!tree) return tree;
  return read_as_python(std::move(*tree));
}

}  // namespace suture
