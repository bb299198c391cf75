// What diff and apply share: the plan of patches over the packages that they are for, and what it says. Both commands
// show and write the same Plan.
#pragma once

#include <string>
#include <vector>

#include "engine/plan.h"
#include "shell/session.h"

namespace suture {

struct Planned {
  Target target;
  Plan plan;
};

// Plans `patches`, package by package, and has --python compile the result. Error: a tree that cannot be found or read, an interpreter that
// cannot be run.
Result<std::vector<Planned>> plan_patches(const Session& session, const Catalog& catalog,
                                          const std::vector<const Patch*>& patches, Lock lock = Lock::share);

// Where the code of a patch's rules may have gone, looked for in the whole package: for a verdict that says that a rule's file
// or scope is not there, and nothing else, so that the good case reads no file more.
void look_elsewhere(const Session& session, const Target& target, const Patch& patch, PatchOutcome& outcome);

// The exit code that an outcome alone would give.
Exit exit_of(const PatchOutcome& outcome, bool strict);
bool would_change(const PatchOutcome& outcome);
bool refused(const std::vector<Planned>& all, bool strict);
bool writes(const std::vector<Planned>& all);

// The unified diff of changes, paths relative to the folder that holds the package.
std::string diff_of(const Target& target, const std::map<std::string, FileChange>& changes);

// Fills the report from the plans: trees, exit code, errors and notes on stderr. `show_diff`: the diff too, unless a
// patch is refused: then nothing would be written, and nothing is shown.
void report_plans(const Session& session, const std::vector<Planned>& all, bool show_diff, Report& report);

// Files of `changes` into the report's `written` and `removed`.
void report_files(const Target& target, const std::map<std::string, FileChange>& changes, TreeReport& report);

// Says that a crash left a journal here; `problem`: and why it cannot be read.
void note_interrupted(const Session& session, const std::string& tree, const std::optional<Error>& problem,
                      Report& report);

// --with NAME=PATH, of the commands that judge patches.
OptionSpec with_option();

// How the tree was found, under --verbose; where it was looked for, where the package is not there.
void note_where(const Session& session, const LocatedTree& tree, Report& report);

// Words for stderr that --quiet leaves out.
void note(const Session& session, Report& report, const std::string& text);

}  // namespace suture
