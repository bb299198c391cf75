// See compiling.h. Tests: tests/cli/python_test.py.
#include "shell/compiling.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "base/source.h"
#include "base/text.h"
#include "effects/compile_check.h"
#include "effects/environment.h"

namespace suture {
namespace {

// A file of a plan, as it is and as it would be.
struct Changed {
  Planned* planned;
  std::string path;
  const FileChange* change;
  std::optional<CompileProblem> before, after;
};

std::vector<Changed> python_changes(std::vector<Planned>& all) {
  std::vector<Changed> out;
  for (Planned& planned : all) {
    for (const auto& [path, change] : planned.plan.changes) {
      if (change.after && path.ends_with(".py")) out.push_back({&planned, path, &change, std::nullopt, std::nullopt});
    }
  }
  return out;
}

std::vector<std::string> environment_of(const Session& session) {
  std::vector<std::string> out;
  for (const char* name : {"PATH", "HOME"}) {
    const std::string value = value_of(session.environment(), name);
    if (!value.empty()) out.push_back(name + ("=" + value));
  }
  return out;
}

// An interpreter starts in a moment and compiles a megabyte in a second; a busy machine is given a multiple.
std::chrono::milliseconds limit_for(std::size_t bytes) {
  return std::chrono::seconds(30) + std::chrono::milliseconds(bytes / 50);
}

// Compiles all of them in one process and notes what came of each; the interpreter's version.
Result<std::string> compile_all(const Session& session, std::vector<Changed>& files) {
  const Result<std::string> interpreter = interpreter_of(session);
  if (!interpreter) return interpreter.error();
  std::vector<PythonSource> sources;
  std::size_t bytes = 0;
  for (const Changed& file : files) {
    sources.push_back({file.path, *file.change->after});
    if (file.change->before) sources.push_back({file.path, *file.change->before});
  }
  for (const PythonSource& source : sources) bytes += source.bytes.size();
  auto compiled = compile_sources(*interpreter, sources, environment_of(session), limit_for(bytes));
  if (!compiled) return compiled.error();
  std::size_t next = 0;
  for (Changed& file : files) {
    file.after = std::move(compiled->problems[next++]);
    if (file.change->before) file.before = std::move(compiled->problems[next++]);
  }
  return compiled->version;
}

// The bytes that a problem is at: from its column to the end of its line.
Range range_of(const Source& source, const CompileProblem& problem) {
  if (problem.line == 0 || problem.line > source.line_count()) return {0, 0};
  const std::uint32_t line = problem.line - 1;
  std::uint32_t at = source.line_begin(line);
  for (std::uint32_t column = 1; column < problem.column && at < source.line_end(line); ++column)
    at += static_cast<std::uint32_t>(std::max<std::size_t>(1, utf8_length(source.bytes(), at)));
  return {at, std::min(at + 1, source.line_end(line))};
}

Location location_of(const std::string& name, const std::string& bytes, const CompileProblem& problem) {
  const Source source(name, bytes);
  if (problem.line != 0) return source.locate(range_of(source, problem));
  Location where;
  where.file = name;
  return where;
}

// The error that was there before: the same words at the same line of code, wherever that is now.
bool was_there(const Changed& file) {
  if (!file.before || file.before->message != file.after->message) return false;
  return location_of(file.path, *file.change->before, *file.before).text ==
         location_of(file.path, *file.change->after, *file.after).text;
}

// The outcomes of the patches that change this file.
std::vector<PatchOutcome*> outcomes_for(const Changed& file) {
  std::vector<PatchOutcome*> changing, touching;
  auto& outcomes = file.planned->plan.outcomes;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (!would_change(outcomes[i])) continue;
    changing.push_back(&outcomes[i]);
    const auto& adds = file.planned->target.group.patches[i]->adds;
    const bool touches =
        std::any_of(outcomes[i].rules.begin(), outcomes[i].rules.end(),
                    [&](const RuleOutcome& rule) { return rule.file == file.path; }) ||
        std::any_of(adds.begin(), adds.end(), [&](const AddedFile& added) { return added.path.value == file.path; });
    if (touches) touching.push_back(&outcomes[i]);
  }
  return touching.empty() ? changing : touching;
}

void judge_file(const Changed& file, const std::string& python) {
  const std::string shown = shown_path(file.planned->target, file.path);
  if (file.after && !was_there(file)) {
    const Error error{Exit::bad_rule, python + " does not compile the result: " + file.after->message,
                      location_of(shown, *file.change->after, *file.after),
                      "the rules are wrong for this file, or for this interpreter; nothing was written"};
    for (PatchOutcome* outcome : outcomes_for(file)) outcome->fatal = error;
  } else if (file.before) {
    const std::string words = shown + ":" + std::to_string(file.before->line) + ": " + python +
                              " does not compile this file as it is: " + file.before->message;
    for (PatchOutcome* outcome : outcomes_for(file)) outcome->notes.push_back(words);
  }
}

}  // namespace

Status check_compiles(const Session& session, std::vector<Planned>& all) {
  if (!session.options().flag("--python")) return Nothing{};
  std::vector<Changed> files = python_changes(all);
  if (files.empty()) return Nothing{};
  const Result<std::string> version = compile_all(session, files);
  if (!version) return version.error();
  for (const Changed& file : files) judge_file(file, "Python " + *version);
  return Nothing{};
}

}  // namespace suture
