// A match and what narrows it: where, inside, has, after, before and their not_ forms.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/compiled_rule.h"
#include "engine/match.h"

namespace suture {

// Matches of a narrowing in a scope; `inside`, `after` and `before` look no further than the scope. A narrowing without `match` has none.
std::vector<Match> find_narrowed(const CompiledNarrowing& narrowing, const CodeView& target, NodeId scope,
                                 const Bindings& given = {});

// The same at one node: the match that is this node, a pattern of one expression.
std::optional<Match> find_narrowed_at(const CompiledNarrowing& narrowing, const CodeView& target, NodeId scope,
                                      NodeId node);

// Which narrowing rejects a match of the pattern alone, in words: "is not inside `with $L: $$$`", "$X is `a.b`, which is not of
// kind identifier". Each is tried by itself, in the order of the language; empty where each alone holds.
std::string rejection(const CompiledNarrowing& narrowing, const CodeView& target, NodeId scope, const Match& match);

}  // namespace suture
