// Bytecode of a written module, on the double in memory: what goes, what may stay, and what would run instead of the source.
#include "effects/bytecode.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/memory_file_system.h"

namespace suture {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const std::string kUnchecked("\xA7\x0D\x0D\x0A\1\0\0\0hash", 12);
const std::string kChecked("\xA7\x0D\x0D\x0A\3\0\0\0hash", 12);
const std::string kByTime("\xA7\x0D\x0D\x0A\0\0\0\0time", 12);

class OfAModule : public ::testing::Test {
 protected:
  OfAModule() { fs.put("/site/pkg/srt/first.py", ""); }

  BytecodeReport remove(const std::string& prefix = "") {
    const Result<TreeFolder> tree = TreeFolder::open(fs, "/site/pkg");
    BytecodeReport report;
    Bytecode(*tree, prefix).remove("srt/first.py", report);
    return report;
  }
  std::string can_remove(const std::string& prefix = "") {
    const Result<TreeFolder> tree = TreeFolder::open(fs, "/site/pkg");
    const Status can = Bytecode(*tree, prefix).can_remove("srt/first.py");
    return can ? "can" : to_text(can.error());
  }
  void close_folder(const std::string& path) {  // no more names in it
    const Io<Handle> folder = fs.open_folder(kAbsolute, path);
    ASSERT_TRUE(fs.set_mode(folder.value, 0555));
    fs.close(folder.value);
  }

  MemoryFileSystem fs;
};

TEST_F(OfAModule, GoesFromEveryPlace) {
  fs.put("/site/pkg/srt/__pycache__/first.cpython-311.pyc", kByTime);
  fs.put("/site/pkg/srt/__pycache__/first.cpython-311.opt-2.pyc", kUnchecked);
  fs.put("/site/pkg/srt/__pycache__/first_two.cpython-311.pyc", kByTime);
  fs.put("/site/pkg/srt/first.pyc", kUnchecked);
  fs.put("/cache/site/pkg/srt/first.cpython-311.pyc", kUnchecked);
  fs.put("/cache/site/pkg/srt/second.cpython-311.pyc", kUnchecked);
  EXPECT_EQ(remove("/cache").removed, 4U);
  EXPECT_EQ(fs.tree("/site/pkg/srt"),
            (std::map<std::string, std::string>{
                {"first.py", ""}, {"__pycache__/", ""}, {"__pycache__/first_two.cpython-311.pyc", kByTime}}));
  EXPECT_FALSE(fs.tree("/cache").contains("site/pkg/srt/first.cpython-311.pyc"));
  EXPECT_TRUE(fs.tree("/cache").contains("site/pkg/srt/second.cpython-311.pyc"));
}

TEST_F(OfAModule, ThePrefixIsAbsolute) {
  fs.put("/cache/site/pkg/srt/first.cpython-311.pyc", kUnchecked);
  EXPECT_EQ(remove("").removed, 0U);
  EXPECT_EQ(remove("cache").removed, 0U);
  EXPECT_EQ(remove("/nowhere").removed, 0U);
}

TEST_F(OfAModule, CannotGoAndIsUnchecked) {
  fs.put("/site/pkg/srt/__pycache__/first.cpython-311.pyc", kUnchecked);
  EXPECT_EQ(can_remove(), "can");
  close_folder("/site/pkg/srt/__pycache__");
  EXPECT_EQ(can_remove(),
            "error: cannot remove /site/pkg/srt/__pycache__/first.cpython-311.pyc: Permission denied; Python does not "
            "check that bytecode, and would run it instead of what is written\n"
            "  hint: nothing was written; run as the user who owns the tree\n");
}

TEST_F(OfAModule, CannotGoAndIsChecked) {
  fs.put("/site/pkg/srt/__pycache__/first.cpython-311.pyc", kByTime);
  fs.put("/site/pkg/srt/__pycache__/first.cpython-312.pyc", kChecked);
  fs.put("/site/pkg/srt/__pycache__/first.cpython-313.pyc", "");  // Python takes it for none
  fs.put("/site/pkg/srt/__pycache__/second.cpython-311.pyc", kUnchecked);
  close_folder("/site/pkg/srt/__pycache__");
  EXPECT_EQ(can_remove(), "can");
}

TEST_F(OfAModule, CannotGoFromBelowThePrefix) {
  fs.put("/cache/site/pkg/srt/first.cpython-311.pyc", kUnchecked);
  close_folder("/cache/site/pkg/srt");
  EXPECT_EQ(can_remove(), "can");
  EXPECT_THAT(can_remove("/cache"), ::testing::HasSubstr("/cache/site/pkg/srt/first.cpython-311.pyc"));
}

TEST_F(OfAModule, WhatStaysIsSaid) {
  fs.put("/site/pkg/srt/__pycache__/first.cpython-311.pyc", kUnchecked);
  fs.put("/site/pkg/srt/__pycache__/first.cpython-312.pyc", kByTime);
  fs.set_read_only(true);
  const std::string folder = "/site/pkg/srt/__pycache__/";
  EXPECT_THAT(remove().problems, ElementsAre("stale bytecode stays, and Python runs it: cannot remove " + folder +
                                                 "first.cpython-311.pyc: Read-only file system",
                                             "old bytecode stays, which Python sees to be old: cannot remove " +
                                                 folder + "first.cpython-312.pyc: Read-only file system"));
}

TEST_F(OfAModule, IsNotThere) {
  EXPECT_EQ(can_remove("/cache"), "can");
  const BytecodeReport report = remove("/cache");
  EXPECT_EQ(report.removed, 0U);
  EXPECT_THAT(report.problems, IsEmpty());
}

}  // namespace
}  // namespace suture
