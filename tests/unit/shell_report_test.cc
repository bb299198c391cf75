// The shell's reports from values alone: what no end-to-end scenario reaches easily.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "shell/options.h"
#include "shell/prose.h"
#include "shell/report_json.h"
#include "shell/report_text.h"
#include "shell/words.h"

namespace suture {
namespace {

PatchOutcome outcome(std::string patch, Verdict verdict, std::string reason = "") {
  PatchOutcome made;
  made.patch = std::move(patch);
  made.verdict = verdict;
  made.reason = std::move(reason);
  return made;
}

TEST(PaintDiff, HeadersHunksAndLines) {
  const std::string plain = "--- a/p\n+++ b/p\n@@ -1 +1 @@\n--x\n+y\n z\n";
  EXPECT_EQ(paint_diff(plain, {false}), plain);
  EXPECT_EQ(paint_diff(plain, {true}),
            "\033[1m--- a/p\033[0m\n\033[1m+++ b/p\033[0m\n\033[36m@@ -1 +1 @@\033[0m\n\033[31m--x\033[0m\n"
            "\033[32m+y\033[0m\n z\n");
}

TEST(PaintDiff, NoByteButTheColorsIsAdded) {
  const std::string diff = "--- a/p\n+++ b/p\n@@ -1 +1 @@\n-\xE9\r\n+\xFF\r\n\n";
  std::string painted = paint_diff(diff, {true});
  for (const std::string escape : {"\033[31m", "\033[32m", "\033[36m", "\033[1m", "\033[0m"}) {
    for (std::size_t at; (at = painted.find(escape)) != std::string::npos;) painted.erase(at, escape.size());
  }
  EXPECT_EQ(painted, diff);
}

TEST(VerdictMessage, SaysPlacesAndHintsAndHidesControlCharacters) {
  PatchOutcome drifted = outcome("p", Verdict::drifted, "rule r finds 0 sites, 1 expected");
  drifted.evidence.push_back({"a.py", {"a.py", 3, 1, "  x = 1", 1}, "  x = 1 \033[2J"});
  drifted.hints = {"do this"};
  EXPECT_EQ(verdict_message(drifted, true, {}),
            "error: p: drifted: rule r finds 0 sites, 1 expected\n"
            "  a.py:3: x = 1 \xEF\xBF\xBD[2J\n"
            "  hint: do this\n");
}

TEST(VerdictMessage, NothingToDoIsNoError) {
  EXPECT_EQ(verdict_message(outcome("p", Verdict::applied), false, {}), "p: already applied, nothing to do\n");
  EXPECT_EQ(verdict_message(outcome("p", Verdict::superseded, "it is so"), false, {}),
            "p: superseded, nothing to do: it is so\n");
}

const std::vector<StatusRow> kTrees = {
    {"/a", "1.0", {{"p", Verdict::applied}, {"a-much-longer-name", Verdict::out_of_range}}, ""},
    {"/b\xC3\xA4", "10.0.1", {{"p", Verdict::absent}}, ""},
    {"/c", "-", {}, "cannot be read"},
};

TEST(StatusTable, PatchesAreRowsWhereTheTreesFit) {
  EXPECT_EQ(status_table(kTrees, {"p", "a-much-longer-name"}, {}),
            "PATCH               /a            /b\xC3\xA4     /c\n"
            "                    1.0           10.0.1\n"
            "p                   applied       absent  cannot be read\n"
            "a-much-longer-name  out-of-range  -       cannot be read\n");
}

TEST(StatusTable, TreesAreRowsWhereTheyDoNot) {
  EXPECT_EQ(status_table(kTrees, {"p", "a-much-longer-name"}, {.width = 55}),
            "TREE  VERSION  p               a-much-longer-name\n"
            "/a    1.0      applied         out-of-range\n"
            "/b\xC3\xA4   10.0.1   absent          -\n"
            "/c    -        cannot be read  cannot be read\n");
}

TEST(StatusTable, PatchesThatDoNotFitFollowInAnotherTable) {
  EXPECT_EQ(status_table(kTrees, {"p", "a-much-longer-name"}, {.width = 40}),
            "TREE  VERSION  p\n"
            "/a    1.0      applied\n"
            "/b\xC3\xA4   10.0.1   absent\n"
            "/c    -        cannot be read\n"
            "\n"
            "TREE  VERSION  a-much-longer-name\n"
            "/a    1.0      out-of-range\n"
            "/b\xC3\xA4   10.0.1   -\n"
            "/c    -        cannot be read\n");
}

TEST(StatusTable, TheCommonFolderIsSaidOnce) {
  const std::vector<StatusRow> trees = {{"w/x/one", "1", {{"p", Verdict::applied}}, ""},
                                        {"w/x/other", "2", {{"p", Verdict::drifted}}, ""}};
  EXPECT_EQ(status_table(trees, {"p"}, {}),
            "in w/x/\n"
            "PATCH  one      other\n"
            "       1        2\n"
            "p      applied  drifted\n");
}

TEST(Prose, CodeGoesToLinesOfItsOwnWhereTheSentenceIsLong) {
  EXPECT_EQ(to_text(Sentence{words("it puts "), code("a()\n"), words(" first")}, "  "), "  it puts `a()` first\n");
  EXPECT_EQ(to_text(Sentence{words("it "), words("puts "), code("if a:\n    b()"), words(" first")}, "  "),
            "  it puts\n      if a:\n          b()\n  first\n");
  EXPECT_EQ(paragraph(std::string(60, 'a') + " " + std::string(50, 'b') + "\n\nc", " "),
            " " + std::string(60, 'a') + "\n " + std::string(50, 'b') + "\n\n c\n");
}

TEST(Json, ABadByteNeverEndsTheDocument) {
  Report report;
  report.command = "diff";
  TreeReport tree;
  tree.tree = "/caf\xE9";
  tree.diff = "-\xE9\n+\xC3\xA9\n";
  report.trees.push_back(tree);
  const nlohmann::json document = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(document["trees"][0]["tree"], "/caf\xEF\xBF\xBD");
  EXPECT_EQ(document["trees"][0]["diff_encoding"], "latin-1");
  EXPECT_EQ(document["trees"][0]["diff"], "-\xC3\xA9\n+\xC3\x83\xC2\xA9\n");
  EXPECT_EQ(document["trees"][0]["version"], nullptr);
}

TEST(Report, TheWorstExitCodeIsTheHighest) {
  Report report;
  report.worsen(Exit::unfit);
  report.worsen(Exit::would_change);
  EXPECT_EQ(report.exit, Exit::unfit);
  report.fail({Exit::file_system, "no", std::nullopt, ""});
  EXPECT_EQ(report.exit, Exit::file_system);
  EXPECT_EQ(report.err, "error: no\n");
}

TEST(Options, AValueInBracketsIsOneValue) {
  const Result<Options> options = parse_options({"status", "[a,b]", "-t", "[x]", "-t", "y z"}, commands());
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->names, std::vector<std::string>{"[a,b]"});
  EXPECT_EQ(options->values("--tree"), (std::vector<std::string>{"[x]", "y z"}));
}

TEST(Options, EachTreeTakesOneValue) {
  const Result<Options> options = parse_options({"status", "-t", "A", "B"}, commands());
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->names, std::vector<std::string>{"B"});
}

TEST(Words, PrintableKeepsTextAndTabs) {
  EXPECT_EQ(printable("a\tb \xC3\xA4"), "a\tb \xC3\xA4");
  EXPECT_EQ(printable("\x1B\x7F\xC2\x9B\xFF"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
}

}  // namespace
}  // namespace suture
