// Receipt and journal as JSON: what goes in comes out, and what was changed is noticed.
#include "effects/journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/sha256.h"
#include "effects/receipt_json.h"
#include "effects/sealed_json.h"

#include <nlohmann/json.hpp>

namespace suture {
namespace {

Receipt sample() {
  Receipt receipt;
  receipt.files["a.py"] = {sha256_hex("a"), sha256_hex("b"), sha256_hex("a")};
  receipt.files["n/k.py"] = {"", sha256_hex("k"), ""};
  ReceiptEntry entry;
  entry.patch = "one";
  entry.edition = "e";
  entry.version = "1.0";
  entry.edits["a.py"] = {{3, "caf\xE9", "caf\xC3\xA9\n", "r", false, false},
                         {9, std::string("\0\xFF", 2), "", "", true, true}};
  entry.adds["n/k.py"] = sha256_hex("k");
  receipt.patches.push_back(entry);
  receipt.folders = {"n"};
  return receipt;
}

TEST(ReceiptJson, RoundTripWithBytesThatAreNotUtf8) {
  const std::string text = receipt_to_json(sample(), "pkg");
  const Result<Receipt> again = receipt_from_json(text, "receipt.json");
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(*again, sample());
  EXPECT_EQ(receipt_to_json(*again, "pkg"), text);
}

TEST(ReceiptJson, Base64OfAllLengths) {
  for (std::size_t size = 0; size < 10; ++size) {
    const std::string bytes(size, '\xFE');
    EXPECT_EQ(bytes_from_json(bytes_to_json(bytes)), bytes);
  }
}

TEST(ReceiptJson, EveryByteThatIsChangedIsNoticedOrHarmless) {
  const std::string text = receipt_to_json(sample(), "pkg");
  std::mt19937 random(3);
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = static_cast<char>(random() % 256);
    const Result<Receipt> result = receipt_from_json(changed, "receipt.json");
    if (result) {
      EXPECT_EQ(*result, sample()) << at;
    }
  }
  for (std::size_t size = 0; size + 1 < text.size(); size += 7) {
    EXPECT_FALSE(receipt_from_json(text.substr(0, size), "receipt.json").ok());
  }
}

TEST(ReceiptJson, WhatASoundChecksumCannotMakeRight) {
  const auto problem = [](const std::function<void(nlohmann::json&)>& change) {
    nlohmann::json document = nlohmann::json::parse(receipt_to_json(sample(), "pkg"));
    change(document);
    const Result<Receipt> result = receipt_from_json(seal(document), "R");
    return result ? std::string("sound") : result.error().message;
  };
  EXPECT_EQ(problem([](auto&) {}), "sound");
  EXPECT_EQ(problem([](auto& d) { d["files"]["../x"] = d["files"]["a.py"]; }),
            "the receipt R is damaged: '../x' is not a path in the tree");
  EXPECT_EQ(problem([](auto& d) { d["files"].erase("a.py"); }),
            "the receipt R is damaged: a.py is edited, but not among the files");
  EXPECT_EQ(problem([](auto& d) { d["patches"].push_back(d["patches"][0]); }),
            "the receipt R is damaged: the patch one is listed twice");
  EXPECT_EQ(problem([](auto& d) { d["files"]["a.py"]["left"] = "../../etc"; }),
            "the receipt R is damaged: a hash of a.py is none");
  EXPECT_THAT(problem([](auto& d) { d["patches"][0]["edits"]["a.py"][0]["offset"] = "x"; }),
              testing::HasSubstr("R is damaged"));
  EXPECT_THAT(problem([](auto& d) {
                d["patches"][0]["edits"]["a.py"][0]["removed"] = nlohmann::json{{"base64", "?"}};
              }),
              testing::HasSubstr("base64"));
  EXPECT_EQ(problem([](auto& d) { d["format"] = 2; }), "the receipt R was written by a newer suture");
}

TEST(JournalJson, RoundTripAndPathsOutside) {
  Journal journal;
  journal.phase = Journal::Phase::commit;
  journal.targets = {{"a/b.py", sha256_hex("1"), sha256_hex("2"), staged_name("0123456789abcdef", 0, true),
                      staged_name("0123456789abcdef", 0, false)}};
  journal.modules = {"a/b.py"};
  journal.made_folders = {"a"};
  journal.new_blobs = {sha256_hex("1")};
  journal.dead_blobs = {sha256_hex("3")};
  journal.dead_folders = {"c"};
  const Result<Journal> again = journal_from_json(journal_to_json(journal), "journal");
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, journal);
  for (const auto& spoil : std::vector<std::function<void(Journal&)>>{
           [](Journal& j) { j.targets[0].path = "../x"; }, [](Journal& j) { j.targets[0].old = "passwd"; },
           [](Journal& j) { j.made_folders = {"/etc"}; }, [](Journal& j) { j.dead_blobs = {"../../x"}; }}) {
    Journal bad = journal;
    spoil(bad);
    EXPECT_FALSE(journal_from_json(journal_to_json(bad), "journal").ok());
  }
}

TEST(StagedNames, AreOursAlone) {
  EXPECT_TRUE(is_staged_name(staged_name("0123456789abcdef", 12, true)));
  EXPECT_TRUE(is_staged_name(staged_name("0123456789abcdef", 0, false)));
  for (const char* name :
       {".suture", ".suture-x-0.new", ".suture-0123456789abcdef-.new", "a.new", ".suture-0123456789abcdef-0.py"}) {
    EXPECT_FALSE(is_staged_name(name)) << name;
  }
}

}  // namespace
}  // namespace suture
