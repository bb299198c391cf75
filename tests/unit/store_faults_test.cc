// Writing on the double in memory, where every operation fails once, the process dies at every operation, with and without
// what was not synced, the disk goes read-only, and others change files meanwhile.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <optional>
#include <string>

#include "effects/store.h"
#include "support/memory_file_system.h"
#include "support/store_fixture.h"

namespace suture {
namespace {

using ::testing::IsEmpty;
using namespace store_fixture;  // NOLINT(google-build-using-namespace): its names are this test's words

// --- faults

struct Snapshots {
  Tree before, after;
};

using Run = bool (*)(FileSystem&);
struct Job {
  const char* name;
  Run run;
  std::vector<Run> before{};
  bool plain_renames = false;
};

void prepare(MemoryFileSystem& fs, const Job& job) {
  fill(fs);
  fs.set_plain_renames(job.plain_renames);
  for (const Run run : job.before) ASSERT_TRUE(run(fs));
  fs.settle();
}

Snapshots snapshots(const Job& job) {
  MemoryFileSystem fs;
  prepare(fs, job);
  Snapshots out;
  out.before = without_bytecode(fs.tree(kSite));
  EXPECT_TRUE(job.run(fs));
  out.after = without_bytecode(fs.tree(kSite));
  return out;
}

// Every file is old or new; a file that only one side has is there whole or not at all.
void expect_whole(const Tree& now, const Snapshots& sides) {
  for (const auto& [path, bytes] : without_suture(now)) {
    if (path.ends_with("/") || path.ends_with(".pyc")) continue;
    const auto old = sides.before.find(path), fresh = sides.after.find(path);
    const bool is_old = old != sides.before.end() && old->second == bytes;
    const bool is_new = fresh != sides.after.end() && fresh->second == bytes;
    EXPECT_TRUE(is_old || is_new) << path << " is torn: " << bytes.substr(0, 60);
  }
  for (const auto& [path, bytes] : sides.before) {
    if (path.starts_with("pkg/.suture")) continue;
    if (sides.after.contains(path)) {
      EXPECT_TRUE(now.contains(path)) << path << " is gone";
    }
  }
}

class Faults : public ::testing::TestWithParam<Job> {
 protected:
  void prepare(MemoryFileSystem& fs) { suture::prepare(fs, GetParam()); }
};

TEST_P(Faults, AnyOperationFailsOnce) {
  const Snapshots sides = snapshots(GetParam());
  for (const bool by_turns : {false, true}) {
    for (std::uint64_t n = 1;; ++n) {
      const int error = !by_turns ? EIO : n % 2 == 0 ? ENOSPC : EACCES;
      MemoryFileSystem fs;
      prepare(fs);
      fs.fail_at(n, error);
      const bool done = GetParam().run(fs);
      const bool reached = fs.operations() >= n;
      const Tree now = without_bytecode(fs.tree(kSite));
      expect_whole(now, sides);
      const bool pending = now.contains("pkg/.suture/journal");  // and said so: the next run tidies up
      if (done && !pending) {
        EXPECT_EQ(without_suture(now), without_suture(sides.after)) << n;
      } else if (!pending) {
        EXPECT_EQ(without_suture(now), without_suture(sides.before)) << n;
      }
      fs.fail_at(0, 0);
      EXPECT_TRUE(GetParam().run(fs)) << n;
      EXPECT_EQ(without_bytecode(fs.tree(kSite)), sides.after) << n;
      EXPECT_EQ(fs.open_handles(), 0U) << n;
      if (HasFailure()) FAIL() << "at operation " << n;
      if (!reached) {
        EXPECT_GT(n, 80U);
        break;
      }
    }
  }
}

enum class Loss { none, bytes, everything };

void kill_at_every_operation(const Job& job, Loss loss) {
  const Snapshots sides = snapshots(job);
  for (std::uint64_t n = 1;; ++n) {
    MemoryFileSystem fs;
    prepare(fs, job);
    fs.die_at(n);
    job.run(fs);
    const bool died = fs.dead();
    fs.revive();
    if (died && loss != Loss::none) fs.lose_power(loss == Loss::bytes);
    expect_whole(fs.tree(kSite), sides);
    {
      Result<TreeLock> lock = TreeLock::acquire(fs, located(), {});
      ASSERT_TRUE(lock.ok());
      const auto first = recover(fs, located(), *lock);
      ASSERT_TRUE(first.ok()) << n << to_text(first.error());
      const Tree once = fs.tree(kSite);
      const auto second = recover(fs, located(), *lock);
      ASSERT_TRUE(second.ok());
      EXPECT_THAT(*second, IsEmpty());
      EXPECT_EQ(fs.tree(kSite), once) << n;
    }
    const Tree now = without_bytecode(fs.tree(kSite));
    EXPECT_TRUE(now == sides.before || now == sides.after) << "neither old nor new after dying at " << n;
    EXPECT_TRUE(job.run(fs)) << n;
    EXPECT_EQ(without_bytecode(fs.tree(kSite)), sides.after) << n;
    if (testing::Test::HasFailure()) FAIL() << "at operation " << n;
    if (!died) break;
  }
}

TEST_P(Faults, KilledAtAnyOperation) {
  kill_at_every_operation(GetParam(), Loss::none);
}
TEST_P(Faults, PowerLostAtAnyOperationNamesSurvive) {
  kill_at_every_operation(GetParam(), Loss::bytes);
}
TEST_P(Faults, PowerLostAtAnyOperation) {
  kill_at_every_operation(GetParam(), Loss::everything);
}

// The process dies, and the one that recovers dies too, at every pair of operations (some of them, to be quick).
TEST_P(Faults, KilledAgainWhileRecovering) {
  const Snapshots sides = snapshots(GetParam());
  for (std::uint64_t n = 40; n < 300; n += 13) {
    for (std::uint64_t m = 8; m < 150; m += 11) {
      MemoryFileSystem fs;
      prepare(fs);
      fs.die_at(n);
      GetParam().run(fs);
      fs.revive();
      fs.die_at(m);
      GetParam().run(fs);
      fs.revive();
      expect_whole(fs.tree(kSite), sides);
      ASSERT_TRUE(GetParam().run(fs)) << n << " " << m;
      ASSERT_EQ(without_bytecode(fs.tree(kSite)), sides.after) << n << " " << m;
    }
  }
}

// The disk goes read-only, in the middle, and is written to again later.
TEST_P(Faults, ReadOnlyFromAnyOperationOn) {
  const Snapshots sides = snapshots(GetParam());
  for (std::uint64_t n = 1;; ++n) {
    MemoryFileSystem fs;
    prepare(fs);
    fs.before_operation(n, [&fs] { fs.set_read_only(true); });
    GetParam().run(fs);
    if (fs.operations() < n) break;
    expect_whole(without_bytecode(fs.tree(kSite)), sides);
    fs.set_read_only(false);
    ASSERT_TRUE(GetParam().run(fs)) << n;
    ASSERT_EQ(without_bytecode(fs.tree(kSite)), sides.after) << n;
  }
}

// The process dies, and an operation of the one that recovers fails (some of them, to be quick).
TEST_P(Faults, AnOperationOfTheRecoveryFails) {
  const Snapshots sides = snapshots(GetParam());
  for (std::uint64_t n = 43; n < 300; n += 19) {
    for (std::uint64_t m = 5; m < 150; m += 9) {
      MemoryFileSystem fs;
      prepare(fs);
      fs.die_at(n);
      GetParam().run(fs);
      fs.revive();
      fs.fail_at(m, EIO);
      GetParam().run(fs);
      fs.fail_at(0, 0);
      expect_whole(without_bytecode(fs.tree(kSite)), sides);
      ASSERT_TRUE(GetParam().run(fs)) << n << " " << m;
      ASSERT_EQ(without_bytecode(fs.tree(kSite)), sides.after) << n << " " << m;
    }
  }
}

// An operation fails, and while that is put back the power goes (some of them, to be quick).
TEST_P(Faults, PowerLostWhileUndoing) {
  const Snapshots sides = snapshots(GetParam());
  for (std::uint64_t n = 61; n < 350; n += 13) {
    for (std::uint64_t m = n + 1; m < n + 120; m += 6) {
      MemoryFileSystem fs;
      prepare(fs);
      fs.fail_at(n, EIO);
      fs.die_at(m);
      GetParam().run(fs);
      fs.revive();
      fs.lose_power(false);
      expect_whole(fs.tree(kSite), sides);
      ASSERT_TRUE(GetParam().run(fs)) << n << " " << m;
      ASSERT_EQ(without_bytecode(fs.tree(kSite)), sides.after) << n << " " << m;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Jobs, Faults,
                         ::testing::Values(Job{"apply", run_apply}, Job{"revert", run_revert, {run_apply}},
                                           Job{"apply_both", run_apply_both},
                                           Job{"apply_second", run_apply_second, {run_apply}},
                                           Job{"revert_first", run_revert_first, {run_apply_both}},
                                           Job{"plain_renames", run_apply_both, {}, true}),
                         [](const auto& job) { return std::string(job.param.name); });

// --- undoing that fails too

// One apply, as the command makes it; the error, where it fails.
std::optional<Error> apply_once(MemoryFileSystem& fs) {
  Result<TreeLock> lock = TreeLock::acquire(fs, located(), {});
  if (!lock) return lock.error();
  if (const auto recovered = recover(fs, located(), *lock); !recovered) return recovered.error();
  const TreeState before = load(fs);
  const Result<CommitReport> done = write(fs, *lock, before, patched(before));
  return done ? std::nullopt : std::optional(done.error());
}

TEST(Undoing, WhatCannotBeRemovedIsNamedAndTheNextRunRemovesIt) {
  MemoryFileSystem fs;
  fill(fs);
  fs.set_append_only("/site/pkg/srt", true);
  const std::optional<Error> error = apply_once(fs);
  ASSERT_TRUE(error);
  EXPECT_EQ(error->exit, Exit::file_system);
  EXPECT_THAT(error->hint, ::testing::StartsWith("every file is as it was, but cannot remove /site/pkg/srt/.suture-"));
  EXPECT_THAT(error->hint, ::testing::HasSubstr("Operation not permitted (and "));
  EXPECT_THAT(error->hint,
              ::testing::HasSubstr("; the journal of this write stays: once that can be removed, the next run"));
  EXPECT_TRUE(fs.tree(kRoot).contains(".suture/journal"));
  fs.set_append_only("/site/pkg/srt", false);
  EXPECT_FALSE(apply_once(fs));
  MemoryFileSystem clean;
  fill(clean);
  ASSERT_FALSE(apply_once(clean));
  EXPECT_EQ(without_bytecode(fs.tree(kSite)), without_bytecode(clean.tree(kSite)));
}

// While the package folder takes names and gives none back, any operation fails: a journal that stands is spoken of.
TEST(Undoing, AMessageNeverSaysThatAllIsWellBesideAJournal) {
  std::size_t standing = 0;
  for (std::uint64_t n = 1; n < 200; ++n) {
    MemoryFileSystem fs;
    fill(fs);
    fs.set_append_only("/site/pkg/srt", true);
    Result<TreeLock> lock = TreeLock::acquire(fs, located(), {});
    ASSERT_TRUE(lock.ok());
    const TreeState before = load(fs);
    fs.fail_at(fs.operations() + n, EIO);
    const Result<CommitReport> done = write(fs, *lock, before, patched(before));
    ASSERT_FALSE(done.ok()) << n;
    if (!fs.tree(kRoot).contains(".suture/journal")) continue;
    ++standing;
    EXPECT_THAT(done.error().hint, ::testing::AnyOf(::testing::HasSubstr("the next run of suture puts it right"),
                                                    ::testing::HasSubstr("run suture again on this tree")))
        << n << to_text(done.error());
  }
  EXPECT_GT(standing, 50U);
}

// --- other people

// A file is replaced before any operation of the run. Whatever the run makes of that, what was put there stands.
void expect_never_lost(const Job& job, const std::string& path) {
  const std::string mine = "# written by somebody else\n";
  for (std::uint64_t n = 1;; ++n) {
    MemoryFileSystem fs;
    prepare(fs, job);
    bool put = false;
    fs.before_operation(n, [&] {
      fs.put(path, mine);
      put = true;
    });
    job.run(fs);
    if (!put) break;
    const Tree tree = fs.tree(kSite);
    const auto now = tree.find(path.substr(std::string("/site/").size()));
    ASSERT_NE(now, tree.end()) << path << " is gone, replaced before operation " << n;
    // The run may have read it, and edited it: its text stands.
    ASSERT_NE(now->second.find(mine), std::string::npos) << path << ", replaced before operation " << n;
    for (const auto& [name, bytes] : tree) {
      ASSERT_EQ(name.find(".suture-"), std::string::npos) << name << " is left, replaced before operation " << n;
    }
  }
}

TEST(Meanwhile, AFileThatIsReplacedIsNeverLost) {
  expect_never_lost({"apply", run_apply}, "/site/pkg/srt/second.py");
  expect_never_lost({"revert", run_revert, {run_apply}}, "/site/pkg/srt/second.py");
}

TEST(Meanwhile, AFileThatAppearsIsNeverLost) {
  expect_never_lost({"apply", run_apply}, "/site/pkg/srt/new/kv.py");
}

TEST(Meanwhile, AFileThatIsToBeRemovedAndIsReplacedIsNeverLost) {
  expect_never_lost({"revert", run_revert, {run_apply}}, "/site/pkg/srt/new/kv.py");
}

// The folder that a file is in goes away, and a link to another one takes its name.
TEST(Meanwhile, AFolderThatBecomesALinkLeadsNowhere) {
  for (std::uint64_t n = 1;; ++n) {
    MemoryFileSystem fs;
    prepare(fs, {"apply", run_apply});
    fs.put("/elsewhere/first.py", kFirst);
    fs.put("/elsewhere/second.py", kSecond);
    bool swapped = false;
    fs.before_operation(n, [&] {
      fs.move("/site/pkg/srt", "/moved");
      fs.put_link("/site/pkg/srt", "/elsewhere");
      swapped = true;
    });
    const bool done = run_apply(fs);
    if (!swapped) break;
    ASSERT_EQ(fs.tree("/elsewhere"), (Tree{{"first.py", kFirst}, {"second.py", kSecond}})) << n;
    Tree moved = fs.tree("/moved");
    ASSERT_TRUE(done || moved.at("first.py") == kFirst) << "written, and refused, swapped before operation " << n;
    for (const auto& [name, bytes] : moved) ASSERT_EQ(name.find(".suture-"), std::string::npos) << name << " " << n;
  }
}

}  // namespace
}  // namespace suture
