// Unified diffs: whole texts, and hundreds of seeded pairs given to git apply and patch.
#include "engine/diff.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

namespace suture {
namespace {

TEST(UnifiedDiff, EqualIsEmpty) {
  EXPECT_EQ(unified_diff("a.py", "x\n", "x\n"), "");
  EXPECT_EQ(unified_diff("a.py", "", ""), "");
}

TEST(UnifiedDiff, OneLineChanged) {
  EXPECT_EQ(unified_diff("pkg/a.py", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\nfive\n6\n7\n8\n9\n"),
            "--- a/pkg/a.py\n+++ b/pkg/a.py\n@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+five\n 6\n 7\n 8\n");
}

TEST(UnifiedDiff, GapsOfSixMergeAndSevenDoNot) {
  const std::string six = "a\n1\n2\n3\n4\n5\n6\nb\n", seven = "a\n1\n2\n3\n4\n5\n6\n7\nb\n";
  EXPECT_EQ(unified_diff("x", six, "A\n1\n2\n3\n4\n5\n6\nB\n"),
            "--- a/x\n+++ b/x\n@@ -1,8 +1,8 @@\n-a\n+A\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+B\n");
  EXPECT_EQ(unified_diff("x", seven, "A\n1\n2\n3\n4\n5\n6\n7\nB\n"),
            "--- a/x\n+++ b/x\n@@ -1,4 +1,4 @@\n-a\n+A\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+B\n");
}

TEST(UnifiedDiff, NoNewlineAtTheEnd) {
  EXPECT_EQ(unified_diff("x", "a", "a\n"), "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n");
  EXPECT_EQ(unified_diff("x", "a\nb", "A\nb"),
            "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n\\ No newline at end of file\n");
}

TEST(UnifiedDiff, CreatedRemovedAndEmptied) {
  EXPECT_EQ(unified_diff("d/x", "", "a\nb\n", DiffSide::created),
            "--- /dev/null\n+++ b/d/x\n@@ -0,0 +1,2 @@\n+a\n+b\n");
  EXPECT_EQ(unified_diff("d/x", "a\n", "", DiffSide::removed), "--- a/d/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n");
  EXPECT_EQ(unified_diff("x", "a\n", ""), "--- a/x\n+++ b/x\n@@ -1 +0,0 @@\n-a\n");
  EXPECT_EQ(unified_diff("x", "", "", DiffSide::created),
            "diff --git a/x b/x\nnew file mode 100644\nindex 0000000..e69de29\n");
}

TEST(UnifiedDiff, NamesThatNeedCare) {
  EXPECT_TRUE(unified_diff("a b", "1\n", "2\n").starts_with("--- a/a b\t\n+++ b/a b\t\n"));
  EXPECT_TRUE(unified_diff("a\tb\"", "1\n", "2\n").starts_with("--- \"a/a\\011b\\\"\"\n"));
}

TEST(LineChanges, AreMinimalAndInOrder) {
  const std::vector<LineChange> changes = line_changes("a\nb\nc\nd\n", "a\nx\nc\nd\ne\n");
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].before_begin, 1U);
  EXPECT_EQ(changes[0].before_end, 2U);
  EXPECT_EQ(changes[0].after_begin, 1U);
  EXPECT_EQ(changes[0].after_end, 2U);
  EXPECT_EQ(changes[1].before_begin, 4U);
  EXPECT_EQ(changes[1].before_end, 4U);
  EXPECT_EQ(changes[1].after_end, 5U);
}

// Far past dtl's two million steps: still a script, and a right one.
TEST(LineChanges, LargeAndUnlikeTexts) {
  std::mt19937 random(7);
  std::string before, after;
  for (int i = 0; i < 6000; ++i) {
    before += std::to_string(random() % 40) + "\n";
    after += std::to_string(random() % 40) + "\n";
  }
  const std::vector<LineChange> changes = line_changes(before, after);
  ASSERT_FALSE(changes.empty());
  std::uint32_t at = 0, to = 0;
  for (const LineChange& change : changes) {
    ASSERT_EQ(change.before_begin - at, change.after_begin - to);
    at = change.before_end;
    to = change.after_end;
  }
  EXPECT_EQ(6000 - at, 6000 - to);
}

// --- With the tools -----------------------------------------------------------------------------------------------

namespace fs = std::filesystem;

bool has_tool(const std::string& name) {
  return std::system((name + " --version > /dev/null 2>&1").c_str()) == 0;
}

std::optional<std::string> read_path(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

void write_path(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

std::string random_line(std::mt19937& random, const std::string& newline) {
  static const char* const words[] = {"",     "x = 1",       "    return k", "\tif a:", "caf\xE9", "-- a",
                                      "++ b", "@@ -1 +1 @@", "\\ No",        "\r",      "a b "};
  return words[random() % std::size(words)] + (random() % 3 == 0 ? std::to_string(random() % 4) : "") + newline;
}

std::string random_text(std::mt19937& random) {
  const std::string newline = random() % 4 == 0 ? "\r\n" : "\n";
  std::string text;
  for (std::size_t i = random() % 40; i > 0; --i) text += random_line(random, newline);
  if (!text.empty() && random() % 3 == 0) text.pop_back();
  return text;
}

std::string mutated(std::mt19937& random, const std::string& before) {
  std::string after = before;
  for (std::size_t i = 1 + random() % 5; i > 0; --i) {
    std::size_t at = after.empty() ? 0 : random() % after.size();
    if (random() % 4 != 0) at = after.find('\n', at) == std::string::npos ? after.size() : after.find('\n', at) + 1;
    const std::size_t size = random() % 2 == 0 ? 0 : random() % (after.size() - at + 1) % 60;
    after.replace(at, size, random() % 3 == 0 ? "" : random_line(random, "\n"));
  }
  return random() % 12 == 0 ? "" : after;
}

class Tools : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "suture-diff-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = pattern;
  }
  void TearDown() override { fs::remove_all(root_); }

  // The bytes after the tool took the diff; nullopt: no file. ADD_FAILURE where the tool refuses.
  std::optional<std::string> applied(const std::string& tool, const std::string& before, bool created,
                                     const std::string& diff) {
    fs::remove_all(root_);
    if (created) {
      fs::create_directories(root_ / "pkg");
    } else {
      write_path(root_ / "pkg/m.py", before);
    }
    write_path(root_ / "the.diff", diff);
    const std::string command = "cd '" + root_.string() + "' && GIT_CEILING_DIRECTORIES=/ " + tool + " > log 2>&1";
    if (std::system(command.c_str()) != 0) {
      ADD_FAILURE() << tool << " refuses:\n" << diff << read_path(root_ / "log").value_or("");
    }
    return read_path(root_ / "pkg/m.py");
  }

  void check_with(const std::string& tool) {
    std::mt19937 random(20240607);
    for (int round = 0; round < 500 && !HasFailure(); ++round) {
      const bool created = round % 10 == 1, removed = round % 10 == 2;
      const std::string before = created ? "" : random_text(random);
      const std::string after = removed ? "" : created ? random_text(random) : mutated(random, before);
      const DiffSide side = created ? DiffSide::created : removed ? DiffSide::removed : DiffSide::changed;
      const std::string diff = unified_diff("pkg/m.py", before, after, side);
      if (diff.empty()) continue;
      ++rounds_;
      const std::optional<std::string> result = applied(tool, before, created, diff);
      EXPECT_EQ(result, removed ? std::nullopt : std::optional(after)) << "round " << round << "\n" << diff;
    }
  }

  fs::path root_;
  int rounds_ = 0;
};

TEST_F(Tools, GitApplyTakesThemByteForByte) {
  if (!has_tool("git")) GTEST_SKIP() << "git is not installed";
  check_with("git apply -p1 --whitespace=nowarn the.diff");
  EXPECT_GT(rounds_, 400);
}

TEST_F(Tools, PatchTakesThemByteForByte) {
  if (!has_tool("patch")) GTEST_SKIP() << "patch is not installed";
  check_with("patch -p1 --binary --no-backup-if-mismatch -i the.diff");
  EXPECT_GT(rounds_, 400);
}

}  // namespace
}  // namespace suture
