// The words of `suture test`. Covered by tests/cli/examples_test.py (whole texts).
#include <algorithm>
#include <map>

#include "base/text.h"
#include "shell/report_text.h"

namespace suture {
namespace {

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : what.ends_with("ch") ? "es" : "s");
}

std::string paint(const std::string& word, std::string_view color, Style style) {
  return style.color ? std::string(color) + word + "\033[0m" : word;
}

// FILE:LINE:COL first, as editors take it.
std::string failure(const TestedExample& example, Style style) {
  const Location& where = example.where;
  std::string text = where.file + ":" + std::to_string(where.line) + ":" + std::to_string(where.column) + ": " +
                     paint(std::string(example_verdict_name(example.report.verdict)), "\033[31m", style) +
                     ": example " + std::to_string(example.report.index + 1) + ": " + example.report.message + "\n";
  return text + paint_diff(example.diff, style);
}

std::string tested_lines(const Tested& tested, Style style) {
  const std::string all = counted(tested.examples.size(), "example");
  if (tested.good()) return paint("ok", "\033[32m", style) + "  " + tested.name + " (" + all + ")\n";
  std::string text = paint("FAILED", "\033[31m", style) + "  " + tested.name;
  if (tested.failures() > 0) text += " (" + std::to_string(tested.failures()) + " of " + all + ")";
  if (tested.error) text += tested.is_patch ? ": the patch is wrong" : ": the rule is wrong";
  text += "\n";
  for (const TestedExample& example : tested.examples) {
    if (example.report.verdict != ExampleVerdict::passed) text += failure(example, style);
  }
  return text;
}

// "5 rules and 1 patch: 9 examples pass, 2 fail (1 missing, 1 wrong)"
std::string summary(const std::vector<Tested>& tests) {
  std::size_t patches = 0, passed = 0, failed = 0, bare = 0;
  std::map<ExampleVerdict, std::size_t> verdicts;
  for (const Tested& tested : tests) {
    patches += tested.is_patch ? 1U : 0U;
    bare += !tested.is_patch && tested.good() && tested.examples.empty() ? 1U : 0U;
    failed += tested.failures();
    passed += tested.examples.size() - tested.failures();
    for (const TestedExample& example : tested.examples) ++verdicts[example.report.verdict];
  }
  std::vector<std::string> kinds;
  for (const auto& [verdict, count] : verdicts) {
    if (verdict != ExampleVerdict::passed)
      kinds.push_back(std::to_string(count) + " " + std::string(example_verdict_name(verdict)));
  }
  std::string text = counted(tests.size() - patches, "rule") + " and " + counted(patches, "patch") + ": " +
                     counted(passed, "example") + (passed == 1 ? " passes" : " pass") + ", " + std::to_string(failed) +
                     (failed == 1 ? " fails" : " fail");
  if (!kinds.empty()) text += " (" + join(kinds, ", ", ", ") + ")";
  const auto wrong =
      std::count_if(tests.begin(), tests.end(), [](const Tested& each) { return each.error.has_value(); });
  if (wrong > 0) text += "; " + std::to_string(wrong) + (wrong == 1 ? " is wrong itself" : " are wrong themselves");
  if (bare > 0) text += "; " + counted(bare, "rule") + (bare == 1 ? " has" : " have") + " no example (-v names them)";
  return text + "\n";
}

}  // namespace

std::size_t Tested::failures() const {
  return static_cast<std::size_t>(std::count_if(examples.begin(), examples.end(), [](const TestedExample& example) {
    return example.report.verdict != ExampleVerdict::passed;
  }));
}

std::string test_lines(const std::vector<Tested>& tests, bool verbose, Style style) {
  std::string text;
  for (const Tested& tested : tests) {
    const bool bare = tested.good() && tested.examples.empty();
    if (!bare) text += tested_lines(tested, style);
    if (bare && verbose && !tested.is_patch) text += "--  " + tested.name + " (no example)\n";
  }
  return text + summary(tests);
}

}  // namespace suture
