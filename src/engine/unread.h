// Why a site is not edited though the code there may be good Python: the parser sees a syntax error in it, or reads it otherwise than Python
// does (read/python_reading.h). Both are gaps of the grammar, or faults of the file; suture refuses either way, and says which.
#pragma once

#include <optional>
#include <string>

#include "engine/match.h"
#include "engine/pattern.h"

namespace suture {

struct UnreadCode {
  Range at;
  std::string what;  // "a slice in an annotation, which the parser reads as other code than Python does"
  std::string hint;
};

// What in the matched code is not read. Precondition: match.broken.
UnreadCode unread_in(const CodeView& target, const Match& match);
// The first syntax error below `node`; nullopt where the parser shows none.
std::optional<UnreadCode> syntax_error_in(const CodeView& target, NodeId node);

// A node that decides over the match and is misread: one that a node of the pattern matched, or one that the match lies in. kNone: there is
// none; what a metavariable stands for keeps its bytes, whatever it is.
NodeId misread_part(const Pattern& pattern, const Tree& tree, const Match& match);

// The ERROR node that the node lies in, or is, within its statement: what it is a part of is not known. An ERROR around whole statements
// leaves them what they are. kNone: there is none.
NodeId error_around(const Tree& tree, NodeId node);

// Whether an error of the node's statement begins on the node's line of code, as Python counts lines (a break within brackets ends none):
// where the parts of such a line begin and end is the parser's guess. The parser may take the next line into the statement that it could
// not read, the error reaching into it: that line is what it is.
bool in_broken_line(const CodeView& target, NodeId node);

}  // namespace suture
