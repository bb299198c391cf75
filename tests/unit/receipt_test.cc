// The arithmetic of written edits: write_edits and plan_revert, by example and against a naive model.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "base/sha256.h"
#include "engine/revert.h"
#include "engine/written_edits.h"

namespace suture {
namespace {

constexpr const char* kPath = "m.py";

TreeState state_with(const std::string& bytes) {
  TreeState state;
  state.package = "pkg";
  state.folder = "pkg";
  state.present = true;
  state.dist.version = "1.0";
  set_bytes(state, kPath, bytes);
  return state;
}

std::string bytes_of(const TreeState& state, const std::string& path = kPath) {
  return *state.files.at(path).bytes;
}

void apply(TreeState& state, const std::string& patch, const std::vector<Splice>& splices,
           const std::string& path = kPath) {
  ReceiptEntry entry;
  entry.patch = patch;
  entry.version = "1.0";
  write_edits(state, entry, path, splices);
  state.receipt.patches.push_back(entry);
}

Splice replace(const TreeState& state, const std::string& old, const std::string& text, const std::string& rule = "r") {
  const std::size_t at = bytes_of(state).find(old);
  EXPECT_NE(at, std::string::npos) << old;
  return {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at + old.size()), text, rule, false};
}

Splice insert_import(const TreeState& state, const std::string& before, const std::string& line) {
  Splice splice = replace(state, before, line);
  splice.end = splice.begin;
  splice.import = true;
  return splice;
}

// The invariant that everything rests on: the blob with all edits made is the file as left.
void expect_sound(const TreeState& state) {
  for (const auto& [path, file] : state.receipt.files) {
    const std::optional<std::string> left = bytes_as_left(state, path);
    ASSERT_TRUE(left.has_value()) << path;
    EXPECT_EQ(sha256_hex(*left), file.left_sha256) << path;
  }
}

TreeState reverted(const TreeState& state, const std::vector<std::string>& patches) {
  const RevertPlan plan = plan_revert(state, patches, false);
  EXPECT_FALSE(plan.refused()) << plan.outcomes.front().reason << plan.outcomes.front().diff;
  expect_sound(plan.after);
  return plan.after;
}

const std::string kText = "import a\n\n\ndef f(x):\n    return x\n\n\ndef g(y):\n    return y\n";

TEST(WriteEdits, KeepsBlobHashesAndRecord) {
  TreeState state = state_with(kText);
  state.dist.record[kPath] = sha256_hex(kText);
  apply(state, "one", {replace(state, "return x", "return cast(x)", "rule-1")});
  EXPECT_EQ(bytes_of(state), "import a\n\n\ndef f(x):\n    return cast(x)\n\n\ndef g(y):\n    return y\n");
  const ReceiptFile& file = state.receipt.files.at(kPath);
  EXPECT_EQ(file.original_sha256, sha256_hex(kText));
  EXPECT_EQ(file.record_sha256, sha256_hex(kText));
  EXPECT_EQ(file.left_sha256, sha256_hex(bytes_of(state)));
  EXPECT_EQ(state.blobs.at(file.original_sha256), kText);
  const WrittenEdit& edit = state.receipt.patches[0].edits.at(kPath)[0];
  EXPECT_EQ(edit.removed, "return x");
  EXPECT_EQ(edit.written, "return cast(x)");
  EXPECT_EQ(edit.rule, "rule-1");
  expect_sound(state);
}

TEST(WriteEdits, ShiftsTheOtherPatches) {
  TreeState state = state_with(kText);
  apply(state, "late", {replace(state, "return y", "return why(y)")});
  const std::uint32_t before = state.receipt.patches[0].edits.at(kPath)[0].offset;
  apply(state, "early", {replace(state, "return x", "return cast(x)")});
  EXPECT_EQ(state.receipt.patches[0].edits.at(kPath)[0].offset, before + 6);
  expect_sound(state);
  EXPECT_EQ(bytes_of(reverted(state, {"late"})),
            "import a\n\n\ndef f(x):\n    return cast(x)\n\n\ndef g(y):\n    return y\n");
  EXPECT_EQ(bytes_of(reverted(state, {"early"})),
            "import a\n\n\ndef f(x):\n    return x\n\n\ndef g(y):\n    return why(y)\n");
  const TreeState none = reverted(state, {"early", "late"});
  EXPECT_EQ(bytes_of(none), kText);
  EXPECT_TRUE(none.receipt.empty());
  EXPECT_TRUE(none.blobs.empty());
}

TEST(WriteEdits, SharedImportIsListedTwiceWrittenOnceAndGoesWithTheLast) {
  TreeState state = state_with(kText);
  const std::string line = "from .kv import cast\n";
  apply(state, "one", {insert_import(state, "\n\ndef f", line), replace(state, "return x", "return cast(x)")});
  apply(state, "two", {insert_import(state, "\ndef g", line), replace(state, "return y", "return cast(y)")});
  EXPECT_EQ(bytes_of(state),
            "import a\nfrom .kv import cast\n\n\ndef f(x):\n    return cast(x)\n\n\ndef g(y):\n    return cast(y)\n");
  EXPECT_EQ(state.receipt.patches[1].edits.at(kPath)[0].written, line);
  EXPECT_EQ(standing_import(state, kPath, line), (Range{9, 9 + 21}));
  EXPECT_EQ(standing_import(state, kPath, "from .kv import other\n"), std::nullopt);
  expect_sound(state);
  const TreeState one = reverted(state, {"two"});
  EXPECT_EQ(bytes_of(one),
            "import a\nfrom .kv import cast\n\n\ndef f(x):\n    return cast(x)\n\n\ndef g(y):\n    return y\n");
  const TreeState two = reverted(state, {"one"});
  EXPECT_EQ(bytes_of(two),
            "import a\nfrom .kv import cast\n\n\ndef f(x):\n    return x\n\n\ndef g(y):\n    return cast(y)\n");
  EXPECT_EQ(bytes_of(reverted(one, {"one"})), kText);
  EXPECT_EQ(bytes_of(reverted(two, {"two"})), kText);
}

TEST(WriteEdits, TwoImportLinesAtOnePoint) {
  TreeState state = state_with(kText);
  apply(state, "one", {insert_import(state, "\n\ndef f", "from .p import q\n")});
  apply(state, "two", {insert_import(state, "\n\ndef f", "from .r import s\n")});
  EXPECT_EQ(bytes_of(state).substr(0, 43), "import a\nfrom .p import q\nfrom .r import s\n");
  EXPECT_EQ(bytes_of(reverted(state, {"one"})).substr(0, 28), "import a\nfrom .r import s\n\n\n");
  EXPECT_EQ(bytes_of(reverted(state, {"two"})).substr(0, 28), "import a\nfrom .p import q\n\n\n");
}

TEST(WriteEdits, AddedFilesAreSharedAndGoWithTheLast) {
  TreeState state = state_with(kText);
  for (const char* name : {"one", "two"}) {
    ReceiptEntry entry;
    entry.patch = name;
    entry.version = "1.0";
    write_added_file(state, entry, "kv.py", "def cast(): ...\n");
    state.receipt.patches.push_back(entry);
  }
  EXPECT_EQ(bytes_of(state, "kv.py"), "def cast(): ...\n");
  const TreeState one = reverted(state, {"two"});
  EXPECT_EQ(one.files.at("kv.py").kind, FileState::Kind::regular);
  const RevertPlan last = plan_revert(one, {}, true);
  EXPECT_EQ(last.changes.size(), 1U);
  EXPECT_EQ(last.changes.at("kv.py").after, nullptr);
  EXPECT_TRUE(last.after.receipt.empty());
}

// --- edited by hand

TEST(Revert, KeepsTheUsersLinesAround) {
  TreeState state = state_with(kText);
  apply(state, "one", {replace(state, "return x", "return cast(x)")});
  set_bytes(state, kPath,
            "# mine\nimport a\n\n\ndef f(x):\n    print(x)\n    return cast(x)\n\n\ndef g(y):\n    return y + 1\n");
  const TreeState after = reverted(state, {"one"});
  EXPECT_EQ(bytes_of(after),
            "# mine\nimport a\n\n\ndef f(x):\n    print(x)\n    return x\n\n\ndef g(y):\n    return y + 1\n");
  EXPECT_TRUE(after.receipt.empty());
}

TEST(Revert, ATouchedEditIsRefusedWithTheDiff) {
  TreeState state = state_with(kText);
  apply(state, "one", {replace(state, "return x", "return cast(x)", "casts")});
  set_bytes(state, kPath, "import a\n\n\ndef f(x):\n    return cast(x) + 1\n\n\ndef g(y):\n    return y\n");
  const RevertPlan plan = plan_revert(state, {"one"}, false);
  ASSERT_TRUE(plan.refused());
  EXPECT_EQ(plan.outcomes[0].kind, RevertOutcome::Kind::touched);
  EXPECT_EQ(plan.outcomes[0].reason, "lines that suture wrote to pkg/m.py were changed by hand (casts)");
  EXPECT_EQ(plan.outcomes[0].diff,
            "--- a/pkg/m.py\n+++ b/pkg/m.py\n@@ -2,7 +2,7 @@\n \n \n def f(x):\n-    return cast(x)\n+    return "
            "cast(x) + 1\n \n \n def g(y):\n");
  EXPECT_TRUE(plan.changes.empty());
  EXPECT_EQ(plan.after.receipt, state.receipt);
}

TEST(Revert, NothingChangesWhenOneOfTwoIsRefused) {
  TreeState state = state_with(kText);
  apply(state, "one", {replace(state, "return x", "return cast(x)")});
  apply(state, "two", {replace(state, "return y", "return cast(y)")});
  std::string edited = bytes_of(state);
  edited.replace(edited.find("cast(y)"), 7, "cast(z)");
  set_bytes(state, kPath, edited);
  const RevertPlan both = plan_revert(state, {"one", "two"}, false);
  EXPECT_TRUE(both.refused());
  EXPECT_TRUE(both.changes.empty());
  // The untouched one alone goes; the other is marked, and stays refused.
  const RevertPlan one = plan_revert(state, {"one"}, false);
  ASSERT_FALSE(one.refused());
  EXPECT_EQ(bytes_of(one.after), "import a\n\n\ndef f(x):\n    return x\n\n\ndef g(y):\n    return cast(z)\n");
  EXPECT_TRUE(one.after.receipt.patches[0].edits.at(kPath)[0].touched);
  EXPECT_THAT(standing_edits(one.after, one.after.receipt.patches[0], kPath), testing::ElementsAre(std::nullopt));
  EXPECT_TRUE(plan_revert(one.after, {"two"}, false).refused());
  expect_sound(one.after);
}

TEST(Revert, ASecondPatchOnAnEditedFile) {
  TreeState state = state_with(kText);
  apply(state, "one", {replace(state, "return x", "return cast(x)")});
  std::string edited = bytes_of(state);
  edited.insert(0, "# mine\n");
  set_bytes(state, kPath, edited);
  apply(state, "two", {replace(state, "return y", "return cast(y)")});
  expect_sound(state);
  EXPECT_EQ(bytes_of(reverted(state, {"one"})),
            "# mine\nimport a\n\n\ndef f(x):\n    return x\n\n\ndef g(y):\n    return cast(y)\n");
  EXPECT_EQ(bytes_of(reverted(state, {"one", "two"})), "# mine\n" + kText);
}

TEST(Revert, DeletedLinesComeBackAtTheirPlace) {
  TreeState state = state_with(kText);
  apply(state, "one", {replace(state, "    return x\n", "")});
  std::string edited = bytes_of(state);
  edited.replace(edited.find("return y"), 8, "return 2");
  set_bytes(state, kPath, edited);
  EXPECT_EQ(bytes_of(reverted(state, {"one"})), "import a\n\n\ndef f(x):\n    return x\n\n\ndef g(y):\n    return 2\n");
  // Something new stands exactly there: nobody can say on which side the lines belong.
  edited.replace(edited.find("def f(x):\n") + 10, 0, "    pass\n");
  set_bytes(state, kPath, edited);
  EXPECT_TRUE(plan_revert(state, {"one"}, false).refused());
}

TEST(Revert, AnEditedFileWithoutItsBlobIsRefusedAndAsLeftIsNot) {
  TreeState state = state_with(kText);
  apply(state, "one", {replace(state, "return x", "return cast(x)")});
  state.blobs.clear();
  EXPECT_EQ(bytes_of(plan_revert(state, {"one"}, false).after), kText);
  set_bytes(state, kPath, "# mine\n" + bytes_of(state));
  const RevertPlan plan = plan_revert(state, {"one"}, false);
  EXPECT_TRUE(plan.refused());
  EXPECT_THAT(plan.outcomes[0].reason, testing::HasSubstr(".suture/blobs"));
}

TEST(Revert, ReceiptThatLiesCutsNothingOut) {
  TreeState state = state_with(kText);
  apply(state, "one", {replace(state, "return x", "return cast(x)")});
  for (const std::uint32_t offset : {0U, 7U, 1000U, 4294967295U}) {
    TreeState lie = state;
    lie.receipt.patches[0].edits.at(kPath)[0].offset = offset;
    const RevertPlan plan = plan_revert(lie, {"one"}, false);
    EXPECT_TRUE(plan.refused()) << offset;
  }
}

TEST(Revert, AddedFileEditedByHandIsRefusedWithTheDiff) {
  TreeState state = state_with(kText);
  ReceiptEntry entry;
  entry.patch = "one";
  entry.version = "1.0";
  write_added_file(state, entry, "kv.py", "a = 1\n");
  state.receipt.patches.push_back(entry);
  set_bytes(state, "kv.py", "a = 2\n");
  const RevertPlan plan = plan_revert(state, {"one"}, false);
  ASSERT_TRUE(plan.refused());
  EXPECT_EQ(plan.outcomes[0].diff, "--- a/pkg/kv.py\n+++ b/pkg/kv.py\n@@ -1 +1 @@\n-a = 1\n+a = 2\n");
  set_absent(state, "kv.py");
  EXPECT_FALSE(plan_revert(state, {"one"}, false).refused());
}

// --- verdicts of the others, and of what was never written

Judge judge_by(const std::string& needle) {
  return [needle](const TreeState& state, const std::string&) {
    PatchOutcome outcome;
    outcome.verdict = bytes_of(state).find(needle) == std::string::npos ? Verdict::partial : Verdict::applied;
    outcome.rules.emplace_back();
    outcome.rules.back().state = RuleState::in_place;
    return outcome;
  };
}

TEST(Revert, RefusesWhatAnotherPatchNeedsAndNamesBoth) {
  TreeState state = state_with(kText);
  apply(state, "one", {replace(state, "return x", "return cast(x)")});
  apply(state, "two", {replace(state, "return y", "return cast(y)")});
  const RevertPlan plan = plan_revert(state, {"one"}, false, judge_by("cast(x)"));
  ASSERT_TRUE(plan.refused());
  EXPECT_EQ(plan.outcomes[0].kind, RevertOutcome::Kind::refused);
  EXPECT_EQ(plan.outcomes[0].reason, "without one, two would be partial (it is applied)");
  EXPECT_THAT(plan.outcomes[0].hints, testing::ElementsAre("revert both: suture revert one two"));
  EXPECT_TRUE(plan.changes.empty());
  EXPECT_FALSE(plan_revert(state, {"one", "two"}, false, judge_by("cast(x)")).refused());
  EXPECT_FALSE(plan_revert(state, {"two"}, false, judge_by("cast(x)")).refused());
}

TEST(Revert, WithoutAReceipt) {
  TreeState state = state_with(kText);
  const RevertPlan by_hand = plan_revert(state, {"one"}, false, judge_by("return x"));
  ASSERT_EQ(by_hand.outcomes.size(), 1U);
  EXPECT_EQ(by_hand.outcomes[0].kind, RevertOutcome::Kind::no_receipt);
  EXPECT_THAT(
      by_hand.outcomes[0].hints,
      testing::ElementsAre("put the package's own files back: pip install --force-reinstall --no-deps pkg==1.0"));
  const RevertPlan nothing = plan_revert(state, {"one"}, false);
  EXPECT_EQ(nothing.outcomes[0].kind, RevertOutcome::Kind::not_applied);
  EXPECT_FALSE(nothing.refused());
}

// --- void entries

TEST(VoidEntries, AReinstalledFileForgetsTheEntryAndItsAddedFiles) {
  TreeState state = state_with(kText);
  state.dist.record[kPath] = sha256_hex(kText);
  ReceiptEntry entry;
  entry.patch = "one";
  entry.version = "1.0";
  write_edits(state, entry, kPath, {replace(state, "return x", "return cast(x)")});
  write_added_file(state, entry, "kv.py", "a = 1\n");
  state.receipt.patches.push_back(entry);
  EXPECT_EQ(live_receipt(state), state.receipt);
  set_bytes(state, kPath, kText);
  std::vector<std::string> dropped;
  EXPECT_TRUE(live_receipt(state, &dropped).empty());
  EXPECT_THAT(dropped, testing::ElementsAre("one"));
  const RevertPlan plan = plan_revert(state, {"one"}, false);
  EXPECT_EQ(plan.outcomes[0].kind, RevertOutcome::Kind::dropped);
  EXPECT_FALSE(plan.refused());
  ASSERT_EQ(plan.changes.size(), 1U);
  EXPECT_EQ(plan.changes.at("kv.py").after, nullptr);
  EXPECT_TRUE(plan.after.blobs.empty());
}

TEST(VoidEntries, AnAddedFileThatWasChangedStays) {
  TreeState state = state_with(kText);
  ReceiptEntry entry;
  entry.patch = "one";
  entry.version = "1.0";
  write_edits(state, entry, kPath, {replace(state, "return x", "return cast(x)")});
  write_added_file(state, entry, "kv.py", "a = 1\n");
  state.receipt.patches.push_back(entry);
  set_bytes(state, kPath, "import b\n");
  set_bytes(state, "kv.py", "a = 2\n");
  state.dist.version = "2.0";
  EXPECT_EQ(drop_void_entries(state), std::vector<std::string>{"one"});
  EXPECT_EQ(bytes_of(state, "kv.py"), "a = 2\n");
  EXPECT_TRUE(state.receipt.empty());
}

TEST(VoidEntries, AnotherVersionWithStandingBytesIsLive) {
  TreeState state = state_with(kText);
  apply(state, "one", {replace(state, "return x", "return cast(x)")});
  state.dist.version = "2.0";
  EXPECT_EQ(live_receipt(state), state.receipt);
  state.dist.version.reset();
  set_bytes(state, kPath, "something else\n");
  EXPECT_TRUE(live_receipt(state).empty());
}

TEST(VoidEntries, TheSameVersionEditedByHandIsLive) {
  TreeState state = state_with(kText);
  apply(state, "one", {replace(state, "return x", "return cast(x)")});
  set_bytes(state, kPath, "something else\n");
  EXPECT_EQ(live_receipt(state), state.receipt);
}

TEST(VoidEntries, RecordWrittenAnewAfterApplyIsLive) {
  TreeState state = state_with(kText);
  apply(state, "one", {replace(state, "return x", "return cast(x)")});
  state.dist.record[kPath] = sha256_hex(bytes_of(state));
  EXPECT_EQ(live_receipt(state), state.receipt);
}

TEST(VoidEntries, AfterAnUninstallEverythingGoes) {
  TreeState state = state_with(kText);
  ReceiptEntry entry;
  entry.patch = "one";
  entry.version = "1.0";
  write_edits(state, entry, kPath, {replace(state, "return x", "return cast(x)")});
  write_added_file(state, entry, "kv.py", "a = 1\n");
  state.receipt.patches.push_back(entry);
  state.present = false;
  state.dist = {};
  set_absent(state, kPath);
  const RevertPlan plan = plan_revert(state, {}, true);
  EXPECT_FALSE(plan.refused());
  EXPECT_TRUE(plan.after.receipt.empty());
  EXPECT_EQ(plan.changes.size(), 1U);
  EXPECT_TRUE(plan.changes.contains("kv.py"));
}

// --- against a naive model --------------------------------------------------------------------------------------
//
// The model is a list of unique tokens, each owned by nobody (the original), by a patch, or by the user; a patch hides
// tokens of the original and inserts its own. Rendering it gives the bytes.

struct Token {
  std::string text;
  std::string owner;      // "": original
  std::string hidden_by;  // a patch that removed it
};

class Model {
 public:
  explicit Model(std::mt19937& random) : random_(random) {
    for (int i = 0; i < 30; ++i) tokens_.push_back({fresh("o"), "", ""});
  }

  [[nodiscard]] std::string render() const {
    std::string out;
    for (const Token& token : tokens_) {
      if (token.hidden_by.empty()) out += token.text;
    }
    return out;
  }

  // Splices of one to three edits that touch nothing another patch wrote; the model is changed too.
  std::vector<Splice> edit(const std::string& patch) {
    std::vector<Splice> splices;
    std::uint32_t offset = 0;
    std::vector<Token> next;
    std::size_t i = 0;
    while (i < tokens_.size()) {
      const bool free = quiet(i, 4);
      if (free && splices.size() < 3 && random_() % 6 == 0) {
        // Kept, removed (0 to 2), inserted (0 to 2; at least one of both), kept.
        next.push_back(tokens_[i]);
        offset += size(tokens_[i]);
        ++i;
        const std::size_t removed = random_() % 3, inserted = removed == 0 ? 1 + random_() % 2 : random_() % 3;
        Splice splice{offset, offset, "", "r", false};
        for (std::size_t k = 0; k < inserted; ++k) {
          next.push_back({fresh("p"), patch, ""});
          splice.text += next.back().text;
        }
        for (std::size_t k = 0; k < removed; ++k, ++i) {
          splice.end += size(tokens_[i]);
          offset += size(tokens_[i]);
          next.push_back(tokens_[i]);
          next.back().hidden_by = patch;
        }
        splices.push_back(splice);
        for (int k = 0; k < 1 && i < tokens_.size(); ++k, ++i) {
          next.push_back(tokens_[i]);
          offset += size(tokens_[i]);
        }
        continue;
      }
      next.push_back(tokens_[i]);
      if (tokens_[i].hidden_by.empty()) offset += size(tokens_[i]);
      ++i;
    }
    tokens_ = std::move(next);
    return splices;
  }

  void revert(const std::string& patch) {
    std::erase_if(tokens_, [&patch](const Token& token) { return token.owner == patch; });
    for (Token& token : tokens_) {
      if (token.hidden_by == patch) token.hidden_by.clear();
    }
  }

  // A line of the user's, away from what patches wrote.
  void type() {
    for (std::size_t i = random_() % tokens_.size(); i < tokens_.size(); ++i) {
      if (!quiet(i, 3)) continue;
      tokens_.insert(tokens_.begin() + static_cast<std::ptrdiff_t>(i) + 1, {fresh("u"), "", ""});
      return;
    }
  }

 private:
  // `count` tokens from i on that no patch touches, standing after one that none touches.
  [[nodiscard]] bool quiet(std::size_t i, std::size_t count) const {
    if (i + count > tokens_.size() || (i > 0 && !calm(tokens_[i - 1]))) return false;
    return std::all_of(tokens_.begin() + static_cast<std::ptrdiff_t>(i),
                       tokens_.begin() + static_cast<std::ptrdiff_t>(i + count), calm);
  }
  static bool calm(const Token& token) { return token.owner.empty() && token.hidden_by.empty(); }
  static std::uint32_t size(const Token& token) { return static_cast<std::uint32_t>(token.text.size()); }
  std::string fresh(const std::string& kind) {
    return kind + std::to_string(count_++) + std::string(random_() % 5, 'x') + (lines_ ? "\n" : " ");
  }

 public:
  bool lines_ = true;

 private:
  std::mt19937& random_;
  std::vector<Token> tokens_;
  int count_ = 0;
};

class Random : public ::testing::TestWithParam<int> {};

TEST_P(Random, SequencesOfApplyEditAndRevert) {
  std::mt19937 random(static_cast<std::uint32_t>(GetParam()));
  Model model(random);
  TreeState state = state_with(model.render());
  std::vector<std::string> applied;
  int names = 0;
  for (int step = 0; step < 40; ++step) {
    const std::size_t choice = random() % 10;
    if (choice < 4) {
      const std::string patch = "p" + std::to_string(names++);
      const std::vector<Splice> splices = model.edit(patch);
      if (splices.empty()) continue;
      apply(state, patch, splices);
      applied.push_back(patch);
    } else if (choice < 8 && !applied.empty()) {
      const std::size_t which = random() % applied.size();
      const RevertPlan plan = plan_revert(state, {applied[which]}, false);
      ASSERT_FALSE(plan.refused()) << plan.outcomes[0].reason << "\n" << plan.outcomes[0].diff;
      state = plan.after;
      model.revert(applied[which]);
      applied.erase(applied.begin() + static_cast<std::ptrdiff_t>(which));
    } else if (choice == 9) {
      model.type();
      set_bytes(state, kPath, model.render());
    }
    ASSERT_EQ(bytes_of(state), model.render()) << "step " << step;
    expect_sound(state);
    for (const ReceiptEntry& entry : state.receipt.patches) {
      const std::vector<WrittenEdit>& edits = entry.edits.at(kPath);
      const auto ranges = standing_edits(state, entry, kPath);
      for (std::size_t i = 0; i < edits.size(); ++i) {
        ASSERT_TRUE(ranges[i].has_value());
        ASSERT_EQ(bytes_of(state).substr(ranges[i]->begin, ranges[i]->size()), edits[i].written);
      }
    }
  }
  const RevertPlan all = plan_revert(state, {}, true);
  ASSERT_FALSE(all.refused());
  for (const std::string& patch : applied) model.revert(patch);
  EXPECT_EQ(bytes_of(all.after), model.render());
  EXPECT_TRUE(all.after.receipt.empty());
  EXPECT_TRUE(all.after.blobs.empty());
}

INSTANTIATE_TEST_SUITE_P(Seeds, Random, ::testing::Range(0, 200));

}  // namespace
}  // namespace suture
