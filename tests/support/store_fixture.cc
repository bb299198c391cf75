#include "support/store_fixture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "effects/locate.h"
#include "engine/revert.h"
#include "engine/written_edits.h"

namespace suture::store_fixture {

const std::string kFirst = "import a\n\n\ndef f(x):\n    return x\n" + std::string(1500, '#') + "\n";
const std::string kSecond = "y = 1\r\nz = 2\r\n";
const std::vector<std::string> kPaths = {"srt/first.py", "srt/second.py", "srt/new/kv.py"};

LocatedTree located() {
  LocatedTree tree;
  tree.package_folder = kRoot;
  tree.metadata_folder = kSite;
  tree.display = kSite;
  tree.present = true;
  return tree;
}

void fill(MemoryFileSystem& fs) {
  fs.put("/site/pkg/__init__.py", "");
  fs.put("/site/pkg/srt/first.py", kFirst, 0640);
  fs.put("/site/pkg/srt/__pycache__/first.cpython-311.pyc", "old");
  fs.put("/site/pkg/srt/__pycache__/first.cpython-312.opt-1.pyc", "old");
  fs.put("/site/pkg/srt/__pycache__/first_two.cpython-311.pyc", "keep");
  fs.put("/site/pkg/srt/second.py", kSecond);
  fs.put("/site/pkg-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: pkg\nVersion: 1.0\n");
  fs.settle();
}

TreeLock lock_of(FileSystem& fs) {
  Result<TreeLock> lock = TreeLock::acquire(fs, located(), {});
  EXPECT_TRUE(lock.ok()) << to_text(lock.error());
  return std::move(*lock);
}

TreeState load(FileSystem& fs) {
  Result<TreeState> state = load_tree(fs, located(), "pkg", "pkg", kPaths, "");
  EXPECT_TRUE(state.ok()) << to_text(state.error());
  return *state;
}

TreeState patched(const TreeState& state, const std::string& patch) {
  TreeState after = state;
  ReceiptEntry entry;
  entry.patch = patch;
  entry.version = "1.0";
  const auto at = static_cast<std::uint32_t>(kFirst.find("return x"));
  write_edits(after, entry, "srt/first.py", {{at, at + 8, "return cast(x)", "casts", false}});
  write_edits(after, entry, "srt/second.py", {{0, 0, "w = 0\r\n", "inserts", false}});
  write_added_file(after, entry, "srt/new/kv.py", "def cast(x): ...\n");
  after.receipt.patches.push_back(entry);
  return after;
}

Result<CommitReport> write(FileSystem& fs, TreeLock& lock, const TreeState& before, const TreeState& after) {
  return commit(fs, located(), lock, before, after, changes_between(before, after));
}

TreeState patched_again(const TreeState& state) {
  TreeState after = state;
  ReceiptEntry entry;
  entry.patch = "two";
  entry.version = "1.0";
  write_edits(after, entry, "srt/first.py", {{0, 0, "# two\n", "heads", false}});
  write_added_file(after, entry, "srt/new/kv.py", "def cast(x): ...\n");
  after.receipt.patches.push_back(entry);
  return after;
}

namespace {

// A run as the command line makes it: lock, recover, load, plan, commit. nullopt from `plan`: refused.
bool run(FileSystem& fs, const std::function<std::optional<TreeState>(const TreeState&)>& plan) {
  Result<TreeLock> lock = TreeLock::acquire(fs, located(), {});
  if (!lock || !recover(fs, located(), *lock)) return false;
  const Result<TreeState> before = load_tree(fs, located(), "pkg", "pkg", kPaths, "");
  if (!before) return false;
  const std::optional<TreeState> after = plan(*before);
  return after && write(fs, *lock, *before, *after).ok();
}

// Each patch that is not applied, once.
std::optional<TreeState> with(const TreeState& before, bool one, bool two) {
  for (const char* path : {"srt/first.py", "srt/second.py"}) {  // the planner refuses these
    if (before.files.at(path).kind != FileState::Kind::regular) return std::nullopt;
  }
  const bool there = before.files.at("srt/new/kv.py").kind != FileState::Kind::absent;
  if (there && !before.receipt.files.contains("srt/new/kv.py")) return std::nullopt;  // and this
  TreeState after = before;
  if (one && after.receipt.find("one") == nullptr) {
    if (after.files.at("srt/first.py").bytes->find("cast(x)") != std::string::npos) return std::nullopt;
    after = patched(after);
  }
  if (two && after.receipt.find("two") == nullptr) after = patched_again(after);
  return after;
}

std::optional<TreeState> without(const TreeState& before, const std::vector<std::string>& names) {
  const RevertPlan plan = plan_revert(before, names, names.empty());
  return plan.refused() ? std::nullopt : std::optional<TreeState>(plan.after);
}

}  // namespace

bool run_apply(FileSystem& fs) {
  return run(fs, [](const TreeState& before) { return with(before, true, false); });
}
bool run_apply_second(FileSystem& fs) {
  return run(fs, [](const TreeState& before) { return with(before, false, true); });
}
bool run_apply_both(FileSystem& fs) {
  return run(fs, [](const TreeState& before) { return with(before, true, true); });
}
bool run_revert(FileSystem& fs) {
  return run(fs, [](const TreeState& before) { return without(before, {}); });
}
bool run_revert_first(FileSystem& fs) {
  return run(fs, [](const TreeState& before) {
    return before.receipt.find("one") == nullptr ? std::optional(before) : without(before, {"one"});
  });
}

Tree without_bytecode(Tree tree) {
  std::erase_if(tree, [](const auto& file) { return file.first.ends_with(".pyc"); });
  return tree;
}
Tree without_suture(Tree tree) {
  std::erase_if(tree, [](const auto& file) {
    return file.first.starts_with("pkg/.suture/") || file.first.find("/.suture-") != std::string::npos;
  });
  return tree;
}

}  // namespace suture::store_fixture
