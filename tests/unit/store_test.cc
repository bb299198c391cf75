// Loading, locking, committing and recovering, on the double in memory. Where operations fail: store_faults_test.cc.
#include "effects/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "base/sha256.h"
#include "effects/receipt_json.h"
#include "engine/revert.h"
#include "engine/written_edits.h"
#include "support/memory_file_system.h"
#include "support/store_fixture.h"

namespace suture {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace store_fixture;  // NOLINT(google-build-using-namespace): its names are this test's words

// --- the plain way

TEST(Store, ApplyWritesFilesReceiptAndBlobs) {
  MemoryFileSystem fs;
  fill(fs);
  CommitReport report;
  {
    TreeLock lock = lock_of(fs);
    const TreeState before = load(fs);
    EXPECT_TRUE(before.present);
    EXPECT_EQ(before.dist.version, "1.0");
    Result<CommitReport> done = write(fs, lock, before, patched(before));
    ASSERT_TRUE(done.ok()) << to_text(done.error());
    report = *done;
  }
  EXPECT_EQ(fs.open_handles(), 0U);
  EXPECT_THAT(report.notes, ElementsAre("removed 2 stale bytecode files"));
  const Tree tree = fs.tree(kRoot);
  EXPECT_EQ(tree.at("srt/second.py"), "w = 0\r\n" + kSecond);
  EXPECT_EQ(tree.at("srt/new/kv.py"), "def cast(x): ...\n");
  EXPECT_EQ(tree.at(".suture/blobs/" + sha256_hex(kFirst)), kFirst);
  EXPECT_TRUE(tree.contains(".suture/receipt.json"));
  EXPECT_TRUE(tree.contains("srt/__pycache__/first_two.cpython-311.pyc"));
  EXPECT_FALSE(tree.contains(".suture/journal"));
  EXPECT_EQ(fs.mode_of("/site/pkg/srt/first.py"), 0640U);
  const TreeState again = load(fs);
  EXPECT_EQ(again.receipt.patches.size(), 1U);
  EXPECT_THAT(again.receipt.folders, ElementsAre("srt/new"));
  EXPECT_EQ(again.blobs.size(), 3U);
}

TEST(Store, RevertLeavesNothingBehind) {
  MemoryFileSystem fs;
  fill(fs);
  const Tree before = without_bytecode(fs.tree(kSite));
  ASSERT_TRUE(run_apply(fs));
  fs.put("/site/pkg/srt/new/__pycache__/kv.cpython-311.pyc", "bytecode");
  ASSERT_TRUE(run_revert(fs));
  EXPECT_EQ(without_bytecode(fs.tree(kSite)), before);
  EXPECT_EQ(fs.mode_of("/site/pkg/srt/first.py"), 0640U);
}

TEST(Store, ALockThatWroteNothingLeavesNothing) {
  MemoryFileSystem fs;
  fill(fs);
  const Tree before = fs.tree(kSite);
  {
    const TreeLock lock = lock_of(fs);
    EXPECT_NE(fs.tree(kSite), before);
  }
  EXPECT_EQ(fs.tree(kSite), before);
}

TEST(Store, HardLinksAreBrokenAndSaid) {
  MemoryFileSystem fs;
  fill(fs);
  fs.put_hard_link("/cache/first.py", "/site/pkg/srt/first.py");
  fs.put_hard_link("/cache/too.py", "/site/pkg/srt/first.py");
  fs.put_xattr("/site/pkg/srt/first.py", "user.origin", "wheel");
  TreeLock lock = lock_of(fs);
  const TreeState before = load(fs);
  const Result<CommitReport> done = write(fs, lock, before, patched(before));
  ASSERT_TRUE(done.ok());
  EXPECT_THAT(done->notes,
              ElementsAre("broke the hard link of /site/pkg/srt/first.py (3 names); the other names keep the old bytes",
                          "removed 2 stale bytecode files"));
  EXPECT_EQ(fs.tree("/cache").at("first.py"), kFirst);
  EXPECT_NE(fs.inode_of("/cache/first.py"), fs.inode_of("/site/pkg/srt/first.py"));
  const Io<Handle> file = fs.open_file(kAbsolute, "/site/pkg/srt/first.py");
  EXPECT_EQ(fs.xattr(file.value, "user.origin").value, "wheel");
}

// --- what is refused

TEST(Store, AFileThatChangedSinceLoadIsNoticed) {
  MemoryFileSystem fs;
  fill(fs);
  TreeLock lock = lock_of(fs);
  const TreeState before = load(fs);
  fs.put("/site/pkg/srt/second.py", "changed\n");
  const Tree tree = fs.tree(kSite);
  const Result<CommitReport> done = write(fs, lock, before, patched(before));
  ASSERT_FALSE(done.ok());
  EXPECT_EQ(
      to_text(done.error()),
      "error: /site/pkg/srt/second.py changed while suture was planning\n  hint: nothing was written; run again\n");
  EXPECT_EQ(fs.tree(kSite), tree);
}

TEST(Store, AFileThatChangesWhileStagingIsNoticed) {
  MemoryFileSystem fs;
  fill(fs);
  TreeLock lock = lock_of(fs);
  const TreeState before = load(fs);
  fs.before_operation(60, [&fs] { fs.put("/site/pkg/srt/second.py", "changed\n"); });
  const Result<CommitReport> done = write(fs, lock, before, patched(before));
  ASSERT_FALSE(done.ok());
  Tree expected = fs.tree(kSite);
  EXPECT_EQ(expected.at("pkg/srt/second.py"), "changed\n");
  EXPECT_EQ(expected.at("pkg/srt/first.py"), kFirst);
  EXPECT_FALSE(expected.contains("pkg/.suture/journal"));
  EXPECT_FALSE(expected.contains("pkg/srt/new/"));
}

TEST(Store, AReadOnlyTreeCanBeReadAndNotLocked) {
  MemoryFileSystem fs;
  fill(fs);
  ASSERT_TRUE(run_apply(fs));
  fs.set_read_only(true);
  EXPECT_FALSE(TreeLock::share(fs, located(), {}).exclusive());
  EXPECT_EQ(load(fs).receipt.patches.size(), 1U);
  const Result<TreeLock> lock = TreeLock::acquire(fs, located(), {});
  ASSERT_FALSE(lock.ok());
  EXPECT_EQ(to_text(lock.error()),
            "error: cannot write to /site/pkg: Read-only file system\n"
            "  hint: nothing was written; the file system is mounted read-only; patch the tree where it is built\n");
}

TEST(Store, PathsOutsideTheTreeAreRefused) {
  MemoryFileSystem fs;
  fill(fs);
  TreeLock lock = lock_of(fs);
  const TreeState before = load(fs);
  for (const char* path : {"../x.py", "/etc/x.py", ".suture/x", "a//b", ""}) {
    const FileChange change{nullptr, std::make_shared<const std::string>("x")};
    EXPECT_FALSE(commit(fs, located(), lock, before, before, {{path, change}}).ok()) << path;
  }
}

TEST(Store, LinksAreFollowedInsideTheTreeOnly) {
  MemoryFileSystem fs;
  fill(fs);
  fs.put("/site/pkg/real/first.py", kFirst);
  fs.put_link("/site/pkg/srt/first.py", "../real/first.py");
  fs.put_link("/site/pkg/srt/second.py", "/elsewhere/second.py");
  fs.put("/elsewhere/second.py", kSecond);
  const TreeState state = load(fs);
  EXPECT_EQ(state.files.at("srt/first.py").kind, FileState::Kind::regular);
  EXPECT_EQ(state.files.at("srt/second.py").kind, FileState::Kind::unreadable);
  EXPECT_EQ(state.files.at("srt/second.py").problem,
            "/site/pkg/srt/second.py is a symbolic link that leads outside the tree (to /elsewhere/second.py)");
  TreeLock lock = lock_of(fs);
  TreeState after = state;
  ReceiptEntry entry;
  entry.patch = "one";
  write_edits(after, entry, "srt/first.py", {{0, 0, "# ", "r", false}});
  after.receipt.patches.push_back(entry);
  ASSERT_TRUE(write(fs, lock, state, after).ok());
  EXPECT_EQ(fs.tree(kRoot).at("srt/first.py"), "-> ../real/first.py");
  EXPECT_EQ(fs.tree(kRoot).at("real/first.py"), "# " + kFirst);
  // Two names of one file in one commit.
  TreeState twice = after;
  set_bytes(twice, "real/first.py", "x");
  const FileChange change{after.files.at("srt/first.py").bytes, std::make_shared<const std::string>("x")};
  const Result<CommitReport> done =
      commit(fs, located(), lock, after, after, {{"real/first.py", change}, {"srt/first.py", change}});
  ASSERT_FALSE(done.ok());
  EXPECT_THAT(done.error().message, HasSubstr("are one file"));
}

TEST(Store, SutureFolderThatIsALinkIsRefused) {
  MemoryFileSystem fs;
  fill(fs);
  fs.put_folder("/elsewhere");
  fs.put_link("/site/pkg/.suture", "/elsewhere");
  EXPECT_FALSE(TreeLock::acquire(fs, located(), {}).ok());
  EXPECT_FALSE(load_tree(fs, located(), "pkg", "pkg", {}, "").ok());
  EXPECT_THAT(fs.tree("/elsewhere"), IsEmpty());
}

TEST(Store, APackageFolderThatBecomesALinkIsNotFollowed) {
  MemoryFileSystem fs;
  fill(fs);
  const TreeState before = load(fs);
  Result<TreeLock> lock = TreeLock::acquire(fs, located(), {});
  ASSERT_TRUE(lock.ok());
  fs.move(kRoot, "/victim");
  fs.put_link(kRoot, "/victim");
  const Tree victim = fs.tree("/victim");
  // As a second look would find it: the folder is the one that is locked, and its path is not.
  LocatedTree found = located();
  found.package_folder = "/victim";
  EXPECT_FALSE(recover(fs, found, *lock).ok());
  EXPECT_FALSE(commit(fs, found, *lock, before, patched(before), {}).ok());
  const Result<TreeLock> second = TreeLock::acquire(fs, located(), {});
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().exit, Exit::file_system);
  EXPECT_EQ(second.error().message, "/site/pkg became a symbolic link while suture was planning (to /victim)");
  EXPECT_EQ(fs.tree("/victim"), victim);
}

TEST(Store, TamperedReceiptAndNewerFormat) {
  MemoryFileSystem fs;
  fill(fs);
  ASSERT_TRUE(run_apply(fs));
  std::string text = fs.tree(kRoot).at(".suture/receipt.json");
  const std::string whole = text;
  text.replace(text.find("\"one\""), 5, "\"two\"");
  fs.put("/site/pkg/.suture/receipt.json", text);
  Result<TreeState> state = load_tree(fs, located(), "pkg", "pkg", {}, "");
  ASSERT_FALSE(state.ok());
  EXPECT_EQ(state.error().message,
            "the receipt /site/pkg/.suture/receipt.json is damaged: its checksum does not hold, it was changed by "
            "something else");
  text = whole;
  text.replace(text.find("\"format\": 1"), 11, "\"format\": 2");
  fs.put("/site/pkg/.suture/receipt.json", text);
  state = load_tree(fs, located(), "pkg", "pkg", {}, "");
  ASSERT_FALSE(state.ok());
  EXPECT_EQ(state.error().message, "the receipt /site/pkg/.suture/receipt.json was written by a newer suture");
  // A blob that does not have the bytes of its name is not used.
  fs.put("/site/pkg/.suture/receipt.json", whole);
  fs.put("/site/pkg/.suture/blobs/" + sha256_hex(kFirst), "other");
  EXPECT_FALSE(load(fs).blobs.contains(sha256_hex(kFirst)));
}

TEST(Store, AReceiptSaysWhatWasThereBefore) {
  Receipt receipt;
  receipt.files["a.py"] = {"", sha256_hex("a"), "", true};
  receipt.files["b.py"] = {"", sha256_hex("b"), "", false};
  const std::string text = receipt_to_json(receipt, "my-engine");
  EXPECT_EQ(*receipt_from_json(text, "receipt.json"), receipt);
  EXPECT_EQ(receipt_package(text), "my-engine");
  EXPECT_EQ(receipt_package("damaged"), "");
  MemoryFileSystem fs;
  fs.put("/site/engine/.suture/receipt.json", text);
  fs.put("/site/My_Other/.suture/lock", "");
  EXPECT_EQ(patched_package(fs, "/site/engine"), "my-engine");
  EXPECT_EQ(patched_package(fs, "/site/My_Other"), "my-other");
}

TEST(Store, ReadStates) {
  MemoryFileSystem fs;
  fill(fs);
  fs.put("/site/pkg/big.py", std::string((16U << 20U) + 1, 'x'));
  fs.put("/site/pkg/bytes.py", std::string("a\0b\xFF", 4));
  fs.put("/site/pkg/empty.py", "");
  const Result<TreeState> state = load_tree(
      fs, located(), "pkg", "pkg", {"big.py", "bytes.py", "empty.py", "srt", "no/where.py", "srt/first.py/x"}, "");
  ASSERT_TRUE(state.ok());
  EXPECT_EQ(state->files.at("big.py").kind, FileState::Kind::too_large);
  EXPECT_EQ(*state->files.at("bytes.py").bytes, std::string("a\0b\xFF", 4));
  EXPECT_EQ(state->files.at("empty.py").sha256, sha256_hex(""));
  EXPECT_EQ(state->files.at("srt").kind, FileState::Kind::folder);
  EXPECT_EQ(state->files.at("no/where.py").kind, FileState::Kind::absent);
  EXPECT_EQ(state->files.at("srt/first.py/x").kind, FileState::Kind::absent);
}

// pip uninstall leaves .suture and the added files.
TEST(Store, AnUninstalledPackageIsAbsentAndCleanedUp) {
  MemoryFileSystem fs;
  fill(fs);
  ASSERT_TRUE(run_apply(fs));
  Tree left = fs.tree(kRoot);
  MemoryFileSystem after;
  for (const auto& [path, bytes] : left) {
    if (path.starts_with(".suture/") && !path.ends_with("/")) after.put("/site/pkg/" + path, bytes);
  }
  after.put("/site/pkg/srt/new/kv.py", left.at("srt/new/kv.py"));
  after.put("/site/pkg/srt/new/__pycache__/kv.cpython-311.pyc", "bytecode");
  EXPECT_FALSE(load(after).present);
  ASSERT_TRUE(run_revert(after));
  EXPECT_EQ(after.tree(kSite), Tree{});
}

// --- locks

TEST(TreeLock, WaitsSaysItOnceAndGivesUp) {
  MemoryFileSystem fs;
  fill(fs);
  const TreeLock held = lock_of(fs);
  std::vector<std::string> said;
  TreeLock::Options options;
  options.timeout = std::chrono::seconds(2);
  options.waiting = [&said](const std::string& words) { said.push_back(words); };
  const Result<TreeLock> second = TreeLock::acquire(fs, located(), options);
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().message,
            "another suture (process 7 on double) has been working on /site/pkg for more than 2 s");
  EXPECT_THAT(said, ElementsAre("waiting for another suture (process 7 on double) that is working on /site/pkg"));
}

// apply asks three times: to read, to read again, to write.
TEST(TreeLock, ARunWaitsOnceForAllOfItsLocks) {
  MemoryFileSystem fs;
  fill(fs);
  const TreeLock held = lock_of(fs);
  std::vector<std::string> said;
  TreeLock::Options options;
  options.timeout = std::chrono::seconds(2);
  options.waiting = [&said](const std::string& words) { said.push_back(words); };
  options.run = std::make_shared<TreeLock::Wait>();
  fs.sleep(std::chrono::seconds(5));  // what a run computes before it has to wait is not waiting
  const std::chrono::milliseconds begin = fs.now();
  EXPECT_FALSE(TreeLock::share(fs, located(), options).shared());
  EXPECT_FALSE(TreeLock::share(fs, located(), options).shared());
  EXPECT_FALSE(TreeLock::acquire(fs, located(), options).ok());
  EXPECT_GE(fs.now() - begin, options.timeout);
  EXPECT_LT(fs.now() - begin, options.timeout + std::chrono::milliseconds(100));
  EXPECT_EQ(said.size(), 1U);
}

TEST(TreeLock, AFileOfADeadProcessIsNoObstacle) {
  MemoryFileSystem fs;
  fill(fs);
  fs.put("/site/pkg/.suture/lock", "");
  const Tree before = fs.tree(kSite);
  {
    const TreeLock lock = lock_of(fs);
    EXPECT_TRUE(lock.exclusive());
  }
  EXPECT_FALSE(fs.tree(kRoot).contains(".suture/"));
}

// The first holder removes lock file and folder as it goes, at every moment of the second one's attempt.
TEST(TreeLock, TheFolderGoesWhileAnotherIsOpeningIt) {
  for (std::uint64_t n = 1; n < 20; ++n) {
    MemoryFileSystem fs;
    fill(fs);
    Result<TreeLock> first = TreeLock::acquire(fs, located(), {});
    ASSERT_TRUE(first.ok());
    fs.before_operation(n, [&first] { first->release(); });
    Result<TreeLock> second = TreeLock::acquire(fs, located(), {});
    if (first->exclusive()) continue;
    ASSERT_TRUE(second.ok()) << n << to_text(second.error());
    EXPECT_TRUE(fs.tree(kRoot).contains(".suture/lock")) << n;
    TreeLock::Options impatient;
    impatient.timeout = std::chrono::milliseconds(0);
    EXPECT_FALSE(TreeLock::acquire(fs, located(), impatient).ok()) << n;
  }
}

// --- recovery beside other people's changes

TEST(Recover, AFileThatTheUserChangedMeanwhileIsLeftAlone) {
  for (std::uint64_t n = 100; n < 220; n += 4) {
    MemoryFileSystem fs;
    fill(fs);
    fs.die_at(n);
    run_apply(fs);
    fs.revive();
    if (!fs.tree(kRoot).contains(".suture/journal")) continue;
    fs.put("/site/pkg/srt/first.py", "mine\n");
    {
      TreeLock lock = lock_of(fs);
      ASSERT_TRUE(recover(fs, located(), lock).ok());
    }
    EXPECT_EQ(fs.tree(kRoot).at("srt/first.py"), "mine\n") << n;
    EXPECT_FALSE(fs.tree(kRoot).contains(".suture/journal")) << n;
  }
}

TEST(Recover, StagedFilesWithoutAJournalGo) {
  MemoryFileSystem fs;
  fill(fs);
  ASSERT_TRUE(run_apply(fs));
  const Tree before = fs.tree(kSite);
  fs.put("/site/pkg/srt/.suture-0123456789abcdef-0.new", "x");
  fs.put("/site/pkg/.suture/journal.new", "{");
  TreeLock lock = lock_of(fs);
  const auto words = recover(fs, located(), lock);
  ASSERT_TRUE(words.ok());
  EXPECT_THAT(*words, ElementsAre("removed the unfinished journal of a run that was interrupted in /site/pkg",
                                  "removed 1 staged files that an interrupted run left in /site/pkg"));
  Tree after = fs.tree(kSite);
  after.erase("pkg/.suture/lock");
  Tree expected = before;
  expected.erase("pkg/.suture/lock");
  EXPECT_EQ(after, expected);
}

TEST(Recover, ADamagedJournalIsNamedAndStays) {
  MemoryFileSystem fs;
  fill(fs);
  fs.put("/site/pkg/.suture/journal", "{\"format\": 1}");
  EXPECT_TRUE(interrupted(fs, located()));
  TreeLock lock = lock_of(fs);
  const auto words = recover(fs, located(), lock);
  ASSERT_FALSE(words.ok());
  EXPECT_EQ(words.error().message, "the journal /site/pkg/.suture/journal is damaged: it has no checksum");
  EXPECT_TRUE(fs.tree(kRoot).contains(".suture/journal"));
}

}  // namespace
}  // namespace suture
