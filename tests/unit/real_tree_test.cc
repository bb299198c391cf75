// The real file system: a whole apply and revert in a temporary folder, links, attributes, many processes, kills.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/sha256.h"
#include "effects/store.h"
#include "engine/revert.h"

namespace suture {
namespace {

namespace stdfs = std::filesystem;

class RealTree : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (stdfs::temp_directory_path() / "suture-tree-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    root_ = stdfs::canonical(pattern);
    put("site/pkg/__init__.py", "");
    put("site/pkg/srt/first.py", "def f(x):\n    return x\n");
    put("site/pkg/srt/second.py", "y = 1\r\n");
    put("site/pkg/srt/__pycache__/first.cpython-311.pyc", "stale");
    put("site/pkg-1.0.dist-info/METADATA", "Name: pkg\nVersion: 1.0\n");
  }
  void TearDown() override { stdfs::remove_all(root_); }

  void put(const std::string& path, const std::string& bytes) {
    stdfs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path, std::ios::binary) << bytes;
  }
  std::string get(const std::string& path) {
    std::ostringstream out;
    out << std::ifstream(root_ / path, std::ios::binary).rdbuf();
    return out.str();
  }
  std::map<std::string, std::string> all() {
    std::map<std::string, std::string> out;
    for (const auto& entry : stdfs::recursive_directory_iterator(root_)) {
      const std::string name = stdfs::relative(entry.path(), root_).string();
      if (name.ends_with(".pyc")) continue;
      out[name] = entry.is_regular_file() ? get(name) : "";
    }
    return out;
  }

  static TreeState load(const LocatedTree& tree) {
    Result<TreeState> state =
        load_tree(real_file_system(), tree, "pkg", "pkg", {"srt/first.py", "srt/second.py", "new/kv.py"}, "");
    EXPECT_TRUE(state.ok());
    return *state;
  }
  LocatedTree tree() {
    Result<LocatedTree> tree = locate(real_file_system(), {(root_ / "site").string(), "", {}}, "pkg", "pkg");
    EXPECT_TRUE(tree.ok() && tree->present);
    return *tree;
  }

  // 0: wrote; 1: found it applied; 2: an error.
  static int apply(const LocatedTree& tree, std::vector<std::string>* notes = nullptr) {
    FileSystem& fs = real_file_system();
    Result<TreeLock> lock = TreeLock::acquire(fs, tree, {});
    if (!lock || !recover(fs, tree, *lock)) return 2;
    const TreeState before = load(tree);
    if (!before.receipt.empty()) return 1;
    TreeState after = before;
    ReceiptEntry entry;
    entry.patch = "one";
    entry.version = "1.0";
    write_edits(after, entry, "srt/first.py", {{21, 22, "cast(x)", "casts", false}});
    write_edits(after, entry, "srt/second.py", {{0, 0, "w = 0\r\n", "inserts", false}});
    write_added_file(after, entry, "new/kv.py", "def cast(x): ...\n");
    after.receipt.patches.push_back(entry);
    const Result<CommitReport> report = commit(fs, tree, *lock, before, after, changes_between(before, after));
    if (report && notes != nullptr) *notes = report->notes;
    return report ? 0 : 2;
  }
  static bool revert(const LocatedTree& tree) {
    FileSystem& fs = real_file_system();
    Result<TreeLock> lock = TreeLock::acquire(fs, tree, {});
    if (!lock || !recover(fs, tree, *lock)) return false;
    const TreeState before = load(tree);
    const RevertPlan plan = plan_revert(before, {}, true);
    return !plan.refused() && commit(fs, tree, *lock, before, plan.after, plan.changes).ok();
  }

  stdfs::path root_;
};

TEST_F(RealTree, ApplyAndRevertToTheByte) {
  const auto before = all();
  ASSERT_EQ(apply(tree()), 0);
  EXPECT_EQ(get("site/pkg/srt/first.py"), "def f(x):\n    return cast(x)\n");
  EXPECT_EQ(get("site/pkg/new/kv.py"), "def cast(x): ...\n");
  EXPECT_FALSE(stdfs::exists(root_ / "site/pkg/srt/__pycache__/first.cpython-311.pyc"));
  EXPECT_EQ(apply(tree()), 1);
  ASSERT_TRUE(revert(tree()));
  EXPECT_EQ(all(), before);
}

TEST_F(RealTree, ModeTimesLinksAndAttributes) {
  const stdfs::path first = root_ / "site/pkg/srt/first.py";
  ASSERT_EQ(chmod(first.c_str(), 0604), 0);
  const bool attributes = setxattr(first.c_str(), "user.origin", "wheel", 5, 0) == 0;
  stdfs::create_hard_link(first, root_ / "cache.py");
  put("site/pkg/real.py", "y = 1\r\n");
  stdfs::remove(root_ / "site/pkg/srt/second.py");
  stdfs::create_symlink("../real.py", root_ / "site/pkg/srt/second.py");
  std::vector<std::string> notes;
  ASSERT_EQ(apply(tree(), &notes), 0);
  EXPECT_THAT(notes, testing::Contains(testing::HasSubstr("broke the hard link of")));
  EXPECT_EQ(get("cache.py"), "def f(x):\n    return x\n");
  struct stat stat = {};
  ASSERT_EQ(::stat(first.c_str(), &stat), 0);
  EXPECT_EQ(stat.st_mode & 07777U, 0604U);
  EXPECT_EQ(stat.st_nlink, 1U);
  if (attributes) {
    char value[16] = {};
    EXPECT_EQ(getxattr(first.c_str(), "user.origin", value, sizeof value), 5);
  }
  EXPECT_TRUE(stdfs::is_symlink(root_ / "site/pkg/srt/second.py"));
  EXPECT_EQ(get("site/pkg/real.py"), "w = 0\r\ny = 1\r\n");
}

TEST_F(RealTree, AFolderInAFilesPlaceIsRefusedAndNothingIsLeft) {
  const LocatedTree located = tree();
  const auto before = all();
  FileSystem& fs = real_file_system();
  {
    Result<TreeLock> lock = TreeLock::acquire(fs, located, {});
    ASSERT_TRUE(lock.ok());
    const TreeState state = load(located);
    stdfs::remove(root_ / "site/pkg/srt/second.py");
    stdfs::create_directory(root_ / "site/pkg/srt/second.py");
    TreeState after = state;
    ReceiptEntry entry;
    entry.patch = "one";
    write_edits(after, entry, "srt/first.py", {{0, 0, "#\n", "r", false}});
    write_edits(after, entry, "srt/second.py", {{0, 0, "#\n", "r", false}});
    after.receipt.patches.push_back(entry);
    EXPECT_FALSE(commit(fs, located, *lock, state, after, changes_between(state, after)).ok());
  }
  stdfs::remove(root_ / "site/pkg/srt/second.py");
  put("site/pkg/srt/second.py", "y = 1\r\n");
  EXPECT_EQ(all(), before);
}

TEST_F(RealTree, PipesAndFoldersAreNotRead) {
  ASSERT_EQ(mkfifo((root_ / "site/pkg/pipe.py").c_str(), 0600), 0);
  const Result<TreeState> state = load_tree(real_file_system(), tree(), "pkg", "pkg", {"pipe.py", "srt"}, "");
  ASSERT_TRUE(state.ok());
  EXPECT_EQ(state->files.at("pipe.py").kind, FileState::Kind::unreadable);
  EXPECT_EQ(state->files.at("srt").kind, FileState::Kind::folder);
}

TEST_F(RealTree, SixteenProcessesOneWrites) {
  const LocatedTree located = tree();
  std::vector<pid_t> children;
  for (int i = 0; i < 16; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(apply(located));
    children.push_back(child);
  }
  int wrote = 0, found = 0;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    wrote += WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 1 : 0;
    found += WIFEXITED(status) && WEXITSTATUS(status) == 1 ? 1 : 0;
  }
  EXPECT_EQ(wrote, 1);
  EXPECT_EQ(found, 15);
  EXPECT_EQ(get("site/pkg/srt/second.py"), "w = 0\r\ny = 1\r\n");
}

// Children apply and revert over and over and are killed at any time; whatever is left is whole, and the next run is right.
TEST_F(RealTree, KilledAtRandomMoments) {
  const LocatedTree located = tree();
  const auto before = all();
  for (int round = 0; round < 60; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      for (;;) {
        if (apply(located) == 2 || !revert(located)) _exit(3);
      }
    }
    usleep(static_cast<useconds_t>(1000 + 700 * round));
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    ASSERT_TRUE(WIFSIGNALED(status)) << "round " << round << " ended by itself: " << status;
    const std::string first = get("site/pkg/srt/first.py");
    ASSERT_TRUE(first == "def f(x):\n    return x\n" || first == "def f(x):\n    return cast(x)\n") << first;
    ASSERT_TRUE(revert(located)) << round;
    ASSERT_EQ(all(), before) << round;
  }
}

}  // namespace
}  // namespace suture
