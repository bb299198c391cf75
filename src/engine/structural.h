// The edits of enum Structure (read/rule.h): each looks at what stands at a site and says whether it is to do there, in place
// already, or cannot be told. So what they leave needs no pattern, and doing one twice is doing it once. delete and wrap are
// the exceptions: for them every site is to do, and `applied` says what a result is.
#pragma once

#include <string>
#include <vector>

#include "engine/compiled_rule.h"
#include "engine/rewrite.h"

namespace suture {

struct StructuralSite {
  CodeView target;
  const Match* match = nullptr;  // the scope itself, for a rule without `match`
  Comments comments = Comments::refuse;
};

struct Examined {
  enum class State { to_do, in_place, unfit } state = State::unfit;
  std::string why;  // unfit: what stands there instead, to follow "FILE:LINE: "
  Rewrite rewrite;  // to_do

  static Examined in_place() { return {State::in_place, "", {}}; }
  static Examined unfit(std::string why) { return {State::unfit, std::move(why), {}}; }
  static Examined to_do(std::vector<Splice> splices) { return {State::to_do, "", {std::move(splices), std::nullopt}}; }
  static Examined refused(RewriteProblem problem) { return {State::to_do, "", {{}, std::move(problem)}}; }
};

Examined examine(const CompiledStructural& edit, const StructuralSite& site);

// Whether the edit's results are told by looking (all but delete and wrap).
bool is_examined(const CompiledStructural& edit);

// Whether the edit changes what that metavariable of its match stands for: the `of`, the match itself, a run of the list or body
// that it adds to.
bool changes(const CompiledStructural& edit, const Pattern& match, const std::string& name);

}  // namespace suture
