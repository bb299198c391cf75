// See layout.h. Tests: tests/unit/layout_test.cc.
#include "engine/layout.h"

#include <algorithm>

#include "engine/precedence.h"
#include "engine/token.h"

namespace suture {
namespace {

// The definition or compound statement whose suite this is (climbing over clauses); kNone for the module.
NodeId owner_of(const Tree& tree, NodeId suite) {
  return tree[suite].parent == kNone ? kNone : statement_of(tree, tree[suite].parent);
}

std::string own_indentation(const CodeView& target, NodeId statement) {
  return std::string(target.source->indentation_at((*target.tree)[statement].begin));
}

std::string file_unit(const CodeView& target) {
  const Tree& tree = *target.tree;
  for (NodeId id = 0; id < tree.size(); ++id) {
    if (!tree.is(id, kinds().block)) continue;
    const auto statements = statements_of(tree, id);
    if (statements.empty() || !first_on_line(*target.source, tree[statements[0]].begin)) continue;
    const std::string inner = own_indentation(target, statements[0]);
    const std::string outer = own_indentation(target, owner_of(tree, id));
    if (inner.size() > outer.size() && inner.compare(0, outer.size(), outer) == 0) return inner.substr(outer.size());
  }
  return "    ";
}

// Byte ranges of string literals: lines that begin inside one are never indented.
std::vector<Range> string_ranges(const Tree& tree) {
  std::vector<Range> out;
  for (NodeId id = 0; id < tree.size();) {
    if (tree.is(id, kinds().string)) {
      out.push_back(tree.range(id));
      id = tree[id].subtree_end;
    } else {
      ++id;
    }
  }
  return out;
}
bool inside(const std::vector<Range>& ranges, std::uint32_t at) {
  return std::any_of(ranges.begin(), ranges.end(), [at](Range r) { return r.begin < at && at < r.end; });
}

// How many blanks one level takes in a snippet.
std::uint32_t snippet_unit(const Pattern& snippet) {
  const Tree& tree = snippet.tree();
  for (NodeId id = 0; id < tree.size(); ++id) {
    if (!tree.is(id, kinds().block)) continue;
    const auto inner = snippet.source().indentation_at(tree[id].begin).size();
    const auto outer = snippet.source().indentation_at(tree[owner_of(tree, id)].begin).size();
    if (inner > outer) return static_cast<std::uint32_t>(inner - outer);
  }
  return 4;
}

// The lines of [range), of code that stands at `old`, moved to another indentation.
std::string moved_text(const CodeView& target, Range range, const std::string& old, const std::string& indentation) {
  const Source& source = *target.source;
  const auto strings = string_ranges(*target.tree);
  std::string out;
  std::uint32_t at = range.begin;
  while (at < range.end) {
    const std::uint32_t line = source.line_of(at);
    const std::uint32_t next = line + 1 < source.line_count() ? source.line_begin(line + 1) : source.size();
    out += source.text({at, std::min(next, range.end)});
    at = next;
    if (at >= range.end || inside(strings, at)) continue;
    const auto blanks = source.indentation_at(at);
    if (at + blanks.size() >= source.line_end(line + 1)) {
      at += static_cast<std::uint32_t>(blanks.size());
    } else if (blanks.substr(0, old.size()) == old) {
      out += indentation;
      at += static_cast<std::uint32_t>(old.size());
    }
  }
  return out;
}

// What a metavariable stands for, where the snippet has `place`.
std::string binding_text(const CodeView& target, const Binding& binding, const std::string& indentation,
                         const CodeView& snippet, NodeId place, const std::vector<Range>& moved) {
  if (binding.nodes.empty()) return "";
  const Tree& tree = *target.tree;
  const NodeId first = binding.nodes.front();
  if (tree[first].parent != kNone && is_suite(tree, tree[first].parent)) {
    const Range code{tree[first].begin, tree[binding.nodes.back()].end};
    const auto within = std::find_if(moved.begin(), moved.end(), [&](const Range& r) { return r.contains(code); });
    const Range all = within == moved.end() ? code : with_comments(target, binding.nodes, *within);
    return moved_text(target, all, std::string(target.source->indentation_at(code.begin)), indentation);
  }
  std::string out;
  for (NodeId node : binding.nodes) {
    if (!out.empty()) out += ", ";
    out += target.source->text(tree.range(node));
  }
  if (binding.run || binding.nodes.size() != 1) return out;
  const bool wrap =
      needs_parentheses(target, first, snippet, place) || (breaks_line(target, first) && !in_brackets(snippet, place));
  return wrap ? "(" + out + ")" : out;
}

// One line of simple statements: it can share its line with others.
bool is_inline(const std::string& text) {
  if (text.find_first_of("\r\n") != std::string::npos) return false;
  const Source source("block", text + "\n");
  const auto tree = parse_python(source);
  if (!tree) return false;
  for (NodeId id = 0; id < tree->size(); ++id) {
    if (tree->is(id, kinds().block) || tree->is(id, kinds().comment)) return false;
  }
  return true;
}

// What stands in the line [begin, end) of the snippet, metavariables replaced.
std::string substitute(const Pattern& snippet, const CodeView& target, const Bindings& bindings, Range line,
                       const std::string& indentation, const std::string& unit, const std::vector<Range>& moved) {
  std::string out;
  std::uint32_t at = line.begin;
  const Tree& tree = snippet.tree();
  for (NodeId id = 0; id < tree.size(); ++id) {
    const Metavariable* mv = snippet.metavariable(id);
    if (mv == nullptr || !line.contains(tree.range(id)) || tree[id].begin < at) continue;
    const auto it = bindings.find(mv->name);
    if (it == bindings.end()) continue;
    out += snippet.source().text({at, tree[id].begin});
    const std::string text = binding_text(target, it->second, indentation, {&snippet.source(), &tree}, id, moved);
    // `if x: $$$B`: what needs lines gets some.
    const bool shares = tree.is(tree[id].parent, kinds().block) && line.begin < tree[id].begin;
    if (shares && !text.empty() && !is_inline(text)) {
      out.erase(out.find_last_not_of(" \t") + 1);
      out += std::string(target.source->newline()) + indentation + unit;
      out += binding_text(target, it->second, indentation + unit, {&snippet.source(), &tree}, id, moved);
    } else {
      out += text;
    }
    at = tree[id].end;
  }
  out += snippet.source().text({at, line.end});
  return without_placeholders(out);
}

// End of the statement's last line, a comment behind it included; comment lines below that are indented deeper than `outer`
// belong to it.
std::uint32_t end_with_comments(const CodeView& target, NodeId statement, NodeId outer) {
  const Source& source = *target.source;
  std::uint32_t line = source.line_of((*target.tree)[statement].end);
  const auto own = source.indentation_at((*target.tree)[outer].begin).size();
  std::uint32_t last = line;
  for (std::uint32_t next = line + 1; next < source.line_count(); ++next) {
    const auto indentation = source.indentation_at(source.line_begin(next));
    const std::uint32_t text = source.line_begin(next) + static_cast<std::uint32_t>(indentation.size());
    if (text >= source.line_end(next)) continue;  // a blank line decides nothing
    if (source.bytes()[text] != '#' || indentation.size() <= own) break;
    last = next;
  }
  return source.line_end(last);
}

NodeId sibling_before(const Tree& tree, NodeId statement) {
  const auto all = statements_of(tree, tree[statement].parent);
  const auto at = std::find(all.begin(), all.end(), statement);
  return at == all.begin() ? kNone : *(at - 1);
}
NodeId sibling_after(const Tree& tree, NodeId statement) {
  const auto all = statements_of(tree, tree[statement].parent);
  const auto at = std::find(all.begin(), all.end(), statement);
  return at + 1 == all.end() ? kNone : *(at + 1);
}

bool is_comment(const Tree& tree, std::uint32_t at) {
  for (NodeId id = 0; id < tree.size(); ++id) {
    if (tree[id].begin == at && tree.is(id, kinds().comment)) return true;
  }
  return false;
}

// Where the bytes between a statement and what stands before it on its line begin: after the `;` sibling or the
// suite's colon.
std::uint32_t gap_before(const CodeView& target, NodeId statement) {
  const Tree& tree = *target.tree;
  const NodeId before = sibling_before(tree, statement);
  if (before != kNone) return tree[before].end;
  const std::string& bytes = target.source->bytes();
  std::uint32_t at = tree[statement].begin;
  while (at > 0 && (bytes[at - 1] == ' ' || bytes[at - 1] == '\t' || bytes[at - 1] == '\f')) --at;
  return at;
}

// A suite on the line of its header (`if x: a; b`) gets lines of its own: nothing but statements with `;` can follow
// there.
std::vector<Splice> open_suite(const CodeView& target, NodeId statement) {
  const Tree& tree = *target.tree;
  const NodeId suite = tree[statement].parent;
  const NodeId first = statements_of(tree, suite).front();
  if (tree.is(suite, kinds().module) || first_on_line(*target.source, tree[first].begin)) return {};
  const std::string newline(target.source->newline());
  return {Splice{gap_before(target, first), tree[first].begin, newline + suite_indentation(target, suite), "", false}};
}

std::string without_last_newline(const std::string& block) {
  std::size_t end = block.size();
  if (end > 0 && block[end - 1] == '\n') --end;
  if (end > 0 && block[end - 1] == '\r') --end;
  return block.substr(0, end);
}

}  // namespace

bool first_on_line(const Source& source, std::uint32_t offset) {
  const std::uint32_t begin = source.line_begin(source.line_of(offset));
  const auto indentation = source.indentation_at(offset);
  return begin + indentation.size() == offset || (begin == 0 && source.bom() + indentation.size() == offset);
}

std::string suite_indentation(const CodeView& target, NodeId suite) {
  const Tree& tree = *target.tree;
  const auto statements = statements_of(tree, suite);
  for (NodeId statement : statements) {
    if (first_on_line(*target.source, tree[statement].begin)) return own_indentation(target, statement);
  }
  const NodeId owner = owner_of(tree, suite);
  if (owner == kNone) return "";
  return own_indentation(target, owner) + file_unit(target);
}

std::string indentation_unit(const CodeView& target, NodeId suite) {
  const NodeId owner = owner_of(*target.tree, suite);
  if (owner == kNone) return file_unit(target);
  const std::string outer = own_indentation(target, owner);
  const std::string inner = suite_indentation(target, suite);
  if (inner.size() > outer.size() && inner.compare(0, outer.size(), outer) == 0) return inner.substr(outer.size());
  return file_unit(target);
}

std::string render_block(const Pattern& snippet, const CodeView& target, const Bindings& bindings,
                         const std::string& base, const std::string& unit, std::string_view newline,
                         const std::vector<Range>& moved) {
  // A clause stands in a program that only holds it.
  const bool clause = snippet.form() == Pattern::Form::clause;
  const Range range = clause ? snippet.tree().range(snippet.roots()[0]) : whole_snippet(snippet);
  return render_lines(snippet, range, target, bindings, base, unit, newline, moved);
}

Range whole_snippet(const Pattern& snippet) {
  const std::string& bytes = snippet.source().bytes();
  return {0, static_cast<std::uint32_t>(bytes.ends_with('\n') ? bytes.size() - 1 : bytes.size())};
}

std::string render_lines(const Pattern& snippet, Range range, const CodeView& target, const Bindings& bindings,
                         const std::string& base, const std::string& unit, std::string_view newline,
                         const std::vector<Range>& moved) {
  const Source& text = snippet.source();
  const auto strings = string_ranges(snippet.tree());
  const std::uint32_t per_level = snippet_unit(snippet);
  const std::uint32_t first = text.line_of(range.begin);
  // A clause lies deeper in its snippet than it is written.
  const auto shift = static_cast<std::uint32_t>(text.indentation_at(range.begin).size());
  std::string out;
  for (std::uint32_t line = first; line <= text.line_of(range.end); ++line) {
    const std::uint32_t begin = line == first ? range.begin : text.line_begin(line);
    const std::uint32_t end = std::min(text.line_end(line), range.end);
    const bool in_string = line != first && inside(strings, begin);
    const auto blanks = line == first ? 0 : static_cast<std::uint32_t>(text.indentation_at(begin).size());
    if (!in_string && begin + blanks >= end) {
      out += newline;
      continue;
    }
    const std::uint32_t deeper = blanks - std::min(blanks, shift);
    std::string indentation;
    if (!in_string) {
      indentation = base;
      for (std::uint32_t level = 0; level < deeper / per_level; ++level) indentation += unit;
      indentation.append(deeper % per_level, ' ');
    }
    const std::uint32_t from = in_string ? begin : begin + blanks;
    const std::string body = substitute(snippet, target, bindings, {from, end}, indentation, unit, moved);
    if (body.empty() && !in_string) continue;  // an empty run leaves no line
    out += indentation + body;
    out += newline;
  }
  return out;
}

std::string statements_text(const CodeView& target, const std::vector<NodeId>& statements,
                            const std::string& indentation) {
  const Range code{(*target.tree)[statements.front()].begin, (*target.tree)[statements.back()].end};
  return moved_text(target, code, std::string(target.source->indentation_at(code.begin)), indentation);
}

Range with_comments(const CodeView& target, const std::vector<NodeId>& statements, Range within) {
  const Source& source = *target.source;
  const Tree& tree = *target.tree;
  Range out{tree[statements.front()].begin, tree[statements.back()].end};
  const std::size_t own = source.indentation_at(out.begin).size();
  const std::uint32_t first = source.line_of(out.begin);
  for (std::uint32_t line = first; first_on_line(source, out.begin) && line-- > 0;) {
    const std::uint32_t at =
        source.line_begin(line) + static_cast<std::uint32_t>(source.indentation_at(source.line_begin(line)).size());
    if (at >= source.line_end(line)) continue;  // a blank line decides nothing
    if (at < within.begin || at - source.line_begin(line) > own || !is_comment(tree, at)) break;
    out.begin = at;
  }
  const std::uint32_t last = source.line_of(out.end);
  const auto rest = source.text({out.end, source.line_end(last)});
  const std::size_t behind = rest.find_first_not_of(" \t");
  if (behind != std::string_view::npos && rest[behind] == '#' && source.line_end(last) <= within.end)
    out.end = source.line_end(last);
  const bool ends_suite =
      first_on_line(source, tree[statements.front()].begin) && sibling_after(tree, statements.back()) == kNone;
  for (std::uint32_t line = last + 1; line < source.line_count(); ++line) {
    const std::size_t depth = source.indentation_at(source.line_begin(line)).size();
    const std::uint32_t at = source.line_begin(line) + static_cast<std::uint32_t>(depth);
    if (at >= source.line_end(line)) continue;
    if (source.line_end(line) > within.end || depth + (ends_suite ? 1 : 0) <= own || !is_comment(tree, at)) break;
    out.end = source.line_end(line);
  }
  return out;
}

std::vector<Splice> insert_above(const CodeView& target, NodeId statement, const std::string& block) {
  const Source& source = *target.source;
  const std::uint32_t begin = (*target.tree)[statement].begin;
  if (first_on_line(source, begin)) {
    const std::uint32_t line = source.line_begin(source.line_of(begin));
    const std::uint32_t at = line == 0 ? source.bom() : line;
    return {Splice{at, at, block, "", false}};
  }
  const std::string newline(source.newline());
  const std::string indentation = suite_indentation(target, (*target.tree)[statement].parent);
  std::vector<Splice> out;
  if (sibling_before(*target.tree, statement) != kNone) out = open_suite(target, statement);
  out.push_back(Splice{gap_before(target, statement), begin, newline + block + indentation, "", false});
  return out;
}

std::vector<Splice> insert_below(const CodeView& target, NodeId statement, const std::string& block, NodeId outer) {
  const Source& source = *target.source;
  const Tree& tree = *target.tree;
  const std::string newline(source.newline());
  std::vector<Splice> out;
  if (outer == kNone) out = open_suite(target, statement);  // a block further out needs no line inside of the suite
  const NodeId after = sibling_after(tree, statement);
  if (after != kNone && source.line_of(tree[after].begin) == source.line_of(tree[statement].end)) {
    const std::string indentation = suite_indentation(target, tree[statement].parent);
    out.push_back(Splice{tree[statement].end, tree[after].begin, newline + block + indentation, "", false});
    return out;
  }
  out.push_back(insert_line(target, end_with_comments(target, statement, outer == kNone ? statement : outer), block));
  return out;
}

Splice insert_line(const CodeView& target, std::uint32_t end, const std::string& block) {
  const Source& source = *target.source;
  const std::uint32_t line = source.line_of(end);
  const std::uint32_t next = line + 1 < source.line_count() ? source.line_begin(line + 1) : source.size();
  if (next > source.line_end(line)) return Splice{next, next, block, "", false};
  // No newline at the end of the file, and there is none afterwards.
  return Splice{source.size(), source.size(), std::string(source.newline()) + without_last_newline(block), "", false};
}

Splice remove_lines(const CodeView& target, Range range, const std::string& block) {
  const Source& source = *target.source;
  const std::uint32_t first = source.line_of(range.begin);
  const std::uint32_t last = source.line_of(range.end);
  std::uint32_t begin = first == 0 ? source.bom() : source.line_begin(first);
  const std::uint32_t end = last + 1 < source.line_count() ? source.line_begin(last + 1) : source.size();
  if (end > source.line_end(last)) return Splice{begin, end, block, "", false};
  // The file ends without a newline, and still does.
  if (block.empty() && first > 0) begin = source.line_end(first - 1);
  return Splice{begin, end, without_last_newline(block), "", false};
}

std::vector<Splice> put_in_place(const CodeView& target, NodeId first, NodeId last, const std::string& block) {
  const Source& source = *target.source;
  const Tree& tree = *target.tree;
  const std::string newline(source.newline());
  const std::string indentation = suite_indentation(target, tree[first].parent);
  const NodeId before = sibling_before(tree, first);
  const NodeId after = sibling_after(tree, last);
  const bool leads = first_on_line(source, tree[first].begin);
  const bool trails = after != kNone && source.line_of(tree[after].begin) == source.line_of(tree[last].end);
  std::string text = without_last_newline(block);
  text.erase(0, std::min(indentation.size(), text.size()));
  Splice place{tree[first].begin, tree[last].end, text, "", false};
  const bool fits = leads && !trails;  // lines of its own
  if (fits || is_inline(text)) return {place};
  std::vector<Splice> out;
  if (!leads) {
    if (before != kNone) out = open_suite(target, first);
    place.begin = gap_before(target, first);
    place.text = newline + indentation + place.text;
  }
  if (trails) {
    place.end = tree[after].begin;
    place.text += newline + indentation;
  }
  out.push_back(place);
  return out;
}

std::vector<Splice> take_out(const CodeView& target, NodeId first, NodeId last) {
  const Source& source = *target.source;
  const Tree& tree = *target.tree;
  const NodeId before = sibling_before(tree, first);
  const NodeId after = sibling_after(tree, last);
  if (after != kNone && source.line_of(tree[after].begin) == source.line_of(tree[last].end)) {
    return {Splice{tree[first].begin, tree[after].begin, "", "", false}};
  }
  if (!first_on_line(source, tree[first].begin))
    return {Splice{before == kNone ? tree[first].begin : tree[before].end, tree[last].end, "", "", false}};
  const std::uint32_t line = source.line_of(tree[first].begin);
  const std::uint32_t last_line = source.line_of(tree[last].end);
  const std::uint32_t begin = line == 0 ? source.bom() : source.line_begin(line);
  const std::uint32_t end = last_line + 1 < source.line_count() ? source.line_begin(last_line + 1) : source.size();
  return {Splice{begin, end, "", "", false}};
}

NodeId docstring_of(const Tree& tree, NodeId suite) {
  const auto statements = statements_of(tree, suite);
  if (statements.empty() || !tree.is(statements[0], kinds().expression_statement)) return kNone;
  const NodeId owner = tree[suite].parent;
  const bool has_docstring =
      owner == kNone || tree.is(owner, kinds().function_definition) || tree.is(owner, kinds().class_definition);
  const auto inner = tree.named_children(statements[0]);
  const bool is_string =
      inner.size() == 1 && (tree.is(inner[0], kinds().string) || tree.is(inner[0], kinds().concatenated_string));
  return has_docstring && is_string ? statements[0] : kNone;
}

}  // namespace suture
