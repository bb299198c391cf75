// The words that people read: verdicts, evidence, diffs, tables. Pure functions of values; nothing is printed here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/plan.h"
#include "engine/revert.h"
#include "read/catalog.h"
#include "shell/report.h"

namespace suture {

struct Style {
  bool color = false;
  std::size_t width = 0;  // characters of a line of the terminal; 0: no terminal
};

std::string paint_verdict(Verdict verdict, Style style, std::size_t width = 0);
std::string paint_diff(std::string diff, Style style);

// What a patch's verdict means for who asked, for stderr:
//   error: PATCH: VERDICT: REASON          (or "PATCH: already applied, nothing to do")
//     srt/x.py:10: text
//     hint: ...
// `failed`: the verdict stops the command.
std::string verdict_message(const PatchOutcome& outcome, bool failed, Style style);
std::string notes_of(const PatchOutcome& outcome);

// status: one line a patch, with rules and sites where asked for; and the table of several trees.
std::string status_lines(const TreeReport& report, bool verbose, Style style);
struct StatusRow {
  std::string tree;
  std::string version;
  std::vector<std::pair<std::string, Verdict>> verdicts;  // by patch
  std::string problem;                                    // the tree could not be read: said instead
};
// Patches as rows and trees as columns, or the other way round where there are more trees than fit the width.
std::string status_table(std::vector<StatusRow> trees, const std::vector<std::string>& patches, Style style);

// "VERDICT: REASON" without the name, for one line.
std::string verdict_phrase(const PatchOutcome& outcome);

std::string revert_message(const RevertOutcome& outcome);
std::string_view revert_kind_name(RevertOutcome::Kind kind);

// suture test: a line for each that has examples or is wrong, its failing examples below it, and a summary.
std::string test_lines(const std::vector<Tested>& tests, bool verbose, Style style);

std::string list_lines(const std::vector<Patch>& patches);
// verdicts: lines on what it is in trees; may be empty.
std::string explain_text(const Patch& patch, const std::string& verdicts);

}  // namespace suture
