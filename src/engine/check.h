// What is checked when a rule or patch file loads, beyond its shape: patterns parse, metavariables are bound, examples
// hold, and what an edit leaves is what the rule calls a result.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "read/patch.h"
#include "read/rule.h"

namespace suture {

// How an example fails: `missing`: the rule finds nothing to edit in `before`; `noisy`: it edits what should stay the same;
// `wrong`: the result is not `after`; `unstable`: what it leaves is not a result, or a second run would edit again;
// `broken`: the example is not Python, or the edit cannot be made.
enum class ExampleVerdict { passed, missing, noisy, wrong, unstable, broken };
std::string_view example_verdict_name(ExampleVerdict verdict);

struct ExampleReport {
  std::size_t index = 0;  // of the example, 0-based
  ExampleVerdict verdict = ExampleVerdict::passed;
  std::string message;  // one sentence; empty when passed
  Range at;             // of the example's text in the YAML file
  std::string got;      // `wrong`: what came out
};

// Examples ignore file, in, expect and select, and compare tokens (bytes under `exact: true`). A rule without `match` edits the
// definition that its scope names, wherever the example has it. Precondition: the rule compiles.
std::vector<ExampleReport> run_examples(const Rule& rule);
// All rules of the patch on one text, as apply makes them: from one parse, each edited site a result afterwards. Where no
// scope that a rule names is in the text it is a fragment, and `in` is ignored as above; else `in` counts.
std::vector<ExampleReport> run_examples(const Patch& patch);

// `left_out`: the examples are not run; `suture test` reports each of them by itself.
enum class Examples { checked, left_out };
// Exit::bad_rule, located. All of the above, and the rule's own pattern taken as code.
Status check_rule(const Rule& rule, Examples examples = Examples::checked);
// Conditions compile; a rule that may find nothing stands beside one that must find something; the patch's examples.
Status check_patch(const Patch& patch, Examples examples = Examples::checked);

}  // namespace suture
