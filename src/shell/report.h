// What a command found, as a value: the structure that --json prints (docs/json-schema), and the text for the two
// streams. Commands fill both; main prints one of them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/check.h"
#include "engine/plan.h"
#include "engine/revert.h"
#include "read/patch.h"

namespace suture {

struct AuditReport;

struct TreeReport {
  std::string tree;     // as messages call it
  std::string package;  // the distribution's name
  std::optional<std::string> version;
  std::string assumed;  // --assume-version: what decided instead; may be empty
  std::vector<PatchOutcome> patches;
  std::vector<RevertOutcome> reverts;
  std::optional<std::string> diff;   // diff, and the dry runs
  std::vector<std::string> written;  // relative to the folder that holds the package
  std::vector<std::string> removed;
  std::vector<std::string> notes;            // what the writing met on its way: hard links, stale bytecode
  std::shared_ptr<const AuditReport> audit;  // audit
};

// suture test: a rule or a patch with the examples that it carries.
struct TestedExample {
  ExampleReport report;
  Location where;
  std::string diff;  // `wrong`: from `after` to what came out
};
struct Tested {
  bool is_patch = false;
  std::string name;
  Location where;
  std::vector<TestedExample> examples;
  std::optional<Error> error;  // it is wrong itself; its examples may not have run

  [[nodiscard]] std::size_t failures() const;
  [[nodiscard]] bool good() const { return !error && failures() == 0; }
};

struct Report {
  std::string command;
  std::vector<TreeReport> trees;
  std::vector<Patch> catalog;            // list and explain
  std::vector<Tested> tests;             // test
  std::string verification;              // verify: the JSON document of what it ran; empty: it did not answer
  std::string traces, comparison, cost;  // trace and cost: parts of their JSON; empty: none
  std::vector<Error> errors;
  Exit exit = Exit::ok;

  std::string out;  // data: what goes to stdout as text
  std::string err;  // the words for stderr

  // The exit code of a run is the worst that it met: the highest number.
  void worsen(Exit code) {
    if (static_cast<int>(code) > static_cast<int>(exit)) exit = code;
  }
  // An error ends the run or one tree of it; its text goes to stderr.
  void fail(Error error) {
    worsen(error.exit);
    err += to_text(error);
    errors.push_back(std::move(error));
  }
};

}  // namespace suture
