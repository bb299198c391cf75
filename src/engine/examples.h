// What the examples of a rule and those of a patch share. Internal to check.cc and patch_examples.cc.
#pragma once

#include <optional>
#include <string>

#include "engine/check.h"
#include "engine/sites.h"

namespace suture {

// The rule as it is run on an example: no scope (but for rules that edit their scope), all sites.
Rule for_examples(const Rule& rule);
// What an example is run on; it ends in a newline.
std::string example_text(const Example& example);

// A text with the edits made to it, and what that means.
struct Trial {
  std::size_t old_sites = 0, results = 0;
  std::string text;  // what comes out
  std::optional<std::string> problem;
  bool stable = true;            // all result, nothing old, no new syntax error
  std::string unstable_because;  // empty: as the rule's own words have it
};
// `who` makes the edits: "the rule", "the patch".
ExampleReport judge_example(const Example& example, std::size_t index, const Trial& trial, const std::string& who);

// Why such sites cannot be edited; empty: they can.
std::string problem_text(const RuleSites& sites);

}  // namespace suture
