// What the engine's tests share: code in, code out, by the same calls that a plan makes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/source.h"
#include "engine/match.h"
#include "engine/pattern.h"
#include "engine/plan.h"
#include "engine/state.h"
#include "read/patch.h"
#include "read/rule.h"
#include "read/syntax.h"

namespace suture {

// Source and tree together; fails the test where the parser gives up.
struct Code {
  explicit Code(std::string text);
  std::unique_ptr<const Source> source;
  Tree tree;
  [[nodiscard]] CodeView view() const { return {source.get(), &tree}; }
  [[nodiscard]] std::string text(NodeId node) const { return std::string(source->text(tree.range(node))); }
  // The first named node whose text is `text` (the outermost of several); kNone.
  [[nodiscard]] NodeId node(const std::string& text) const;
};

// Fails the test where the pattern does not compile.
Pattern pattern_of(const std::string& text);

// The texts of all matches, in order.
std::vector<std::string> matches(const std::string& pattern, const std::string& code);
// The first match's bindings as "X=a Y=b, c" (in the order of names); "no match".
std::string bindings(const std::string& pattern, const std::string& code);

// A rule with `match` and `replace`, expect 1, for all of the file; its source is the pattern.
Rule replacing(const std::string& pattern, const std::string& replacement, Comments comments = Comments::refuse);
// The first rule of `rules: [...]` text; the text is one rule's keys, without `- ` ("match: ...\nreplace: ..."); id,
// file and
// expect are added where they are missing.
Rule rule_from_yaml(const std::string& keys);
// Why that rule does not compile or check: the whole message; "" where it does.
std::string rule_problem(const std::string& keys);

// What the rule makes of the code, judged as a plan judges it. The new code; or
//   "no site"            nothing to do
//   "refused: ..."       the edit cannot be made here
//   "ambiguous", "unresolved", "broken", "unfit: ..."
//   "overlap: ..."       two sites edit the same bytes
//   "unstable: ..."      the result has a new syntax error, is not a result of the rule, or a second run would edit again
std::string edited(const Rule& rule, const std::string& code);
std::string rewritten(const std::string& pattern, const std::string& replacement, const std::string& code,
                      Comments comments = Comments::refuse);

// --- trees
// ------------------------------------------------------------------------------------------------------------

// A tree of the package `pkg`, version 1.0, with these files, all as shipped.
TreeState state_with(const std::map<std::string, std::string>& files, const std::string& version = "1.0");
// The file is no longer as shipped.
void edit_by_hand(TreeState& state, const std::string& path, const std::string& bytes);
std::string bytes_at(const TreeState& state, const std::string& path);

// A patch `name` of the package `pkg` whose rules are given as in rule_from_yaml; `keys` are further keys of
// patch.yaml.
Patch patch_from_yaml(const std::string& name, const std::vector<std::string>& rules, const std::string& keys = "");

// The file m.py after a patch of these rules, whose edits are given as in rule_from_yaml, each expected once; the verdict or
// the error where it is not written.
std::string after_patch(const std::vector<std::string>& edits, const std::string& code);

}  // namespace suture
