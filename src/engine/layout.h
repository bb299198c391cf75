// Where new lines go and how they are indented: the file's own newline, the enclosing block's own unit.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/match.h"
#include "engine/pattern.h"
#include "engine/revert.h"  // Splice

namespace suture {

// The blanks in front of the statements of a suite. For a one-line suite: those that its statements would get.
std::string suite_indentation(const CodeView& target, NodeId suite);
// One level, as the enclosing block writes it: a tab, two blanks ...; the file's first block, else four blanks.
std::string indentation_unit(const CodeView& target, NodeId suite);

// A snippet's text as lines for a place with indentation `base` and unit `unit`, metavariables replaced by what they
// stand for. Each line but a blank one is indented; the inside of a string literal never is. Lines end in `newline`;
// the last one too. Captured statements that lie in one of the ranges `moved` bring the comments around them along.
std::string render_block(const Pattern& snippet, const CodeView& target, const Bindings& bindings,
                         const std::string& base, const std::string& unit, std::string_view newline,
                         const std::vector<Range>& moved = {});
// The same for a part of a snippet that begins at its line's first code, or within a line: an element, a clause.
std::string render_lines(const Pattern& snippet, Range range, const CodeView& target, const Bindings& bindings,
                         const std::string& base, const std::string& unit, std::string_view newline,
                         const std::vector<Range>& moved = {});
// All of the snippet's code, with the program that a clause was parsed in.
Range whole_snippet(const Pattern& snippet);

// The statements of a suite with their comments, as far as those lie in `within`: the lines above the first, what stands behind the
// last on its line, and deeper lines below it (in a suite that ends there, all that are as deep).
Range with_comments(const CodeView& target, const std::vector<NodeId>& statements, Range within);

// Whether nothing but blanks stands before the offset on its line.
bool first_on_line(const Source& source, std::uint32_t offset);

// The statements' text moved to another indentation (their first line's blanks not included, no newline at the end).
std::string statements_text(const CodeView& target, const std::vector<NodeId>& statements,
                            const std::string& indentation);

// Splices that put `block` (render_block's result for that suite) directly above / below the statement. A statement
// that shares its line (`a; b`, `if x: a`) gets a line of its own first.
std::vector<Splice> insert_above(const CodeView& target, NodeId statement, const std::string& block);
// outer: the statement that the block goes on with, a clause of it say: comments deeper than it stay above the block.
std::vector<Splice> insert_below(const CodeView& target, NodeId statement, const std::string& block,
                                 NodeId outer = kNone);

// Splices that put `block` where the statements from `first` to `last` of one suite stand. They keep their line where
// it is shared and the block can share it too; else the block gets lines of its own.
std::vector<Splice> put_in_place(const CodeView& target, NodeId first, NodeId last, const std::string& block);
// Splices that take them out: their lines, or their part of a shared line with its `;`. Precondition: the suite keeps
// a statement.
std::vector<Splice> take_out(const CodeView& target, NodeId first, NodeId last);

// The splice that puts `block` on the lines below the one that `end` stands on.
Splice insert_line(const CodeView& target, std::uint32_t end, const std::string& block);
// The splice that puts `block` ("": nothing) in the place of the lines that the range touches.
Splice remove_lines(const CodeView& target, Range range, const std::string& block);

// The docstring of a suite's definition (or of the module), kNone without one.
NodeId docstring_of(const Tree& tree, NodeId suite);

}  // namespace suture
