// Replacement, resolution, editions; and every diagnostic, whole.
#include "read/catalog.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace suture {
namespace {

std::string rule(const std::string& id, const std::string& keys = "match: a\n    replace: b\n    expect: 1\n") {
  return "  - id: " + id + "\n    " + keys;
}
std::string rule_file(const std::string& rules) {
  return "file: srt/a.py\nrules:\n" + rules;
}
std::string patch_file(const std::string& name, const std::string& rules, const std::string& more = "") {
  return "patch: " + name + "\npackage: engine\nrules: [" + rules + "]\n" + more;
}

std::string error_of(const CatalogInput& input) {
  const auto catalog = build_catalog(input);
  return catalog ? "no error\n" : to_text(catalog.error());
}

Catalog built(const CatalogInput& input) {
  auto catalog = build_catalog(input);
  EXPECT_TRUE(catalog) << (catalog ? "" : to_text(catalog.error()));
  return catalog ? *catalog : Catalog{};
}

const std::string kAdds = "adds:\n  - {path: srt/h.py, from: h.py}\n";

TEST(Catalog, ResolvesRulesAddedFilesAndThePage) {
  const Catalog catalog = built({.shipped = {{"rules/e/x.yaml", rule_file(rule("one") + rule("two"))},
                                             {"patches/q/patch.yaml", patch_file("q", "two")},
                                             {"patches/p/README.md", "# p\n"},
                                             {"patches/p/h.py", "def h(): pass\n"},
                                             {"patches/p/patch.yaml", patch_file("p", "two, one", kAdds)}},
                                 .rule_files = {},
                                 .patch_files = {}});
  ASSERT_EQ(catalog.patches.size(), 2u);
  const Patch* patch = catalog.find("p");
  ASSERT_NE(patch, nullptr);
  EXPECT_EQ(catalog.patches[0].name, "p") << "sorted by name";
  ASSERT_EQ(patch->rules.size(), 2u);
  EXPECT_EQ(patch->rules[0].id, "two") << "in the patch's order";
  EXPECT_EQ(patch->adds[0].bytes, "def h(): pass\n");
  EXPECT_EQ(patch->page, "# p\n");
  EXPECT_EQ(patch->edition.size(), 64u);
  EXPECT_EQ(catalog.find("none"), nullptr);
}

TEST(Catalog, AnAddedFileMayStandInTheSharedFolder) {
  const Catalog catalog = built({.shipped = {{"rules/x.yaml", rule_file(rule("one"))},
                                             {"patches/shared/h.py", "shared\n"},
                                             {"patches/q/h.py", "own\n"},
                                             {"patches/q/patch.yaml", patch_file("q", "one", kAdds)},
                                             {"patches/p/patch.yaml", patch_file("p", "one", kAdds)}},
                                 .rule_files = {},
                                 .patch_files = {}});
  ASSERT_EQ(catalog.patches.size(), 2u);
  EXPECT_EQ(catalog.find("p")->adds[0].bytes, "shared\n");
  EXPECT_EQ(catalog.find("q")->adds[0].bytes, "own\n") << "the patch's own folder comes first";
}

TEST(Catalog, ACopyOfAShippedPatchTakesItsFilesFromThere) {
  const Catalog catalog = built({.shipped = {{"rules/x.yaml", rule_file(rule("one"))},
                                             {"patches/shared/h.py", "shared\n"},
                                             {"patches/p/patch.yaml", patch_file("p", "one", kAdds)}},
                                 .rule_files = {},
                                 .patch_files = {{"mine/patch.yaml", patch_file("p", "one", kAdds)}}});
  EXPECT_EQ(catalog.find("p")->adds[0].bytes, "shared\n");
  EXPECT_EQ(catalog.find("p")->source->name(), "mine/patch.yaml");
}

TEST(Catalog, FoldersReplaceShippedOnesByIdAndName) {
  const std::string mine = "match: mine\n    replace: b\n    expect: 1\n";
  const Catalog catalog =
      built({.shipped = {{"rules/x.yaml", rule_file(rule("one") + rule("two"))},
                         {"patches/p/patch.yaml", patch_file("p", "one")},
                         {"patches/q/patch.yaml", patch_file("q", "one")}},
             .rule_files = {{"my/rules/y.yaml", rule_file(rule("one", mine) + rule("three"))}},
             .patch_files = {{"my/patches/q/patch.yaml", patch_file("q", "three", "summary: mine\n")}}});
  EXPECT_EQ(catalog.rules.size(), 3u);
  EXPECT_EQ(catalog.rules.at("one").base.narrow.match->value, "mine");
  EXPECT_EQ(catalog.find("p")->rules[0].base.narrow.match->value, "mine") << "shipped patches use the replacement";
  EXPECT_EQ(catalog.find("q")->summary, "mine");
}

// --- Diagnostics ------------------------------------------------------------

TEST(Catalog, TheSameIdTwiceNamesBothPlaces) {
  EXPECT_EQ(
      error_of(
          {.shipped = {{"rules/x.yaml", rule_file(rule("one") + rule("one"))}}, .rule_files = {}, .patch_files = {}}),
      "rules/x.yaml:7:9: error: the rule 'one' is defined twice\n"
      "      - id: one\n"
      "            ^~~\n"
      "  hint: the first one is at rules/x.yaml:3:9; rename one of them\n");
  EXPECT_EQ(error_of({.shipped = {},
                      .rule_files = {{"a/x.yaml", rule_file(rule("one"))},
                                     {"a/y.yaml", rule_file(rule("two") + rule("one"))}},
                      .patch_files = {}}),
            "a/y.yaml:7:9: error: the rule 'one' is defined twice\n"
            "      - id: one\n"
            "            ^~~\n"
            "  hint: the first one is at a/x.yaml:3:9; rename one of them\n");
}

TEST(Catalog, TheSamePatchTwiceNamesBothPlaces) {
  EXPECT_EQ(error_of({.shipped = {{"rules/x.yaml", rule_file(rule("one"))}},
                      .rule_files = {},
                      .patch_files = {{"a/p/patch.yaml", patch_file("p", "one")},
                                      {"a/q/patch.yaml", patch_file("p", "one")}}}),
            "a/q/patch.yaml:1:8: error: the patch 'p' is defined twice\n"
            "    patch: p\n"
            "           ^\n"
            "  hint: the first one is at a/p/patch.yaml:1:8; rename one of them\n");
}

TEST(Catalog, AnUnknownRule) {
  const std::vector<NamedBytes> rules = {{"rules/x.yaml", rule_file(rule("decode-casts-active"))}};
  const auto with = [&](const std::string& ids) {
    CatalogInput input{rules, {}, {}};
    input.shipped.push_back({"patches/p/patch.yaml", patch_file("p", ids)});
    return error_of(input);
  };
  EXPECT_EQ(with("decode-cast-active"),
            "patches/p/patch.yaml:3:9: error: the patch 'p' names an unknown rule 'decode-cast-active'\n"
            "    rules: [decode-cast-active]\n"
            "            ^~~~~~~~~~~~~~~~~~\n"
            "  hint: did you mean 'decode-casts-active'?\n");
  EXPECT_EQ(with("decode-casts-active, entirely-different"),
            "patches/p/patch.yaml:3:30: error: the patch 'p' names an unknown rule 'entirely-different'\n"
            "    rules: [decode-casts-active, entirely-different]\n"
            "                                 ^~~~~~~~~~~~~~~~~~\n"
            "  hint: define it in a rule file; --rules-dir names a folder of them\n");
}

TEST(Catalog, AnAddedFileThatIsNotThere) {
  CatalogInput input{
      {{"rules/x.yaml", rule_file(rule("one"))}, {"patches/p/patch.yaml", patch_file("p", "one", kAdds)}}, {}, {}};
  EXPECT_EQ(error_of(input),
            "patches/p/patch.yaml:5:28: error: the patch's folder has no file 'h.py'\n"
            "      - {path: srt/h.py, from: h.py}\n"
            "                               ^~~~\n"
            "  hint: put the file beside patch.yaml\n");
  input.shipped.push_back({"patches/p/g.py", ""});
  input.shipped.push_back({"patches/p/README.md", ""});
  EXPECT_EQ(error_of(input),
            "patches/p/patch.yaml:5:28: error: the patch's folder has no file 'h.py'\n"
            "      - {path: srt/h.py, from: h.py}\n"
            "                               ^~~~\n"
            "  hint: it has g.py and README.md\n");
}

TEST(Catalog, RuleAndPatchFoldersMayBeOne) {
  const Catalog catalog =
      built({.shipped = {},
             .rule_files = {{"mine/patch.yaml", patch_file("p", "one")}, {"mine/rules.yaml", rule_file(rule("one"))}},
             .patch_files = {{"mine/patch.yaml", patch_file("p", "one")}}});
  EXPECT_EQ(catalog.patches.size(), 1u);
}

TEST(Catalog, APatchThatNeedsNoSite) {
  const std::string optional = "match: a\n    replace: b\n    expect: {min: 0, max: 1}\n";
  const auto with = [&](const std::string& ids) {
    return error_of({{{"rules/x.yaml", rule_file(rule("may", optional) + rule("must"))},
                      {"patches/p/patch.yaml", patch_file("p", ids)}},
                     {},
                     {}});
  };
  EXPECT_EQ(with("may, must"), "no error\n");
  EXPECT_EQ(with("may"),
            "patches/p/patch.yaml:3:9: error: no rule of the patch 'p' needs a site: all have 'min: 0'\n"
            "    rules: [may]\n"
            "            ^~~\n"
            "  hint: a patch that finds nothing would pass for applied; give one of its rules a 'min' of 1\n");
}

TEST(Catalog, ReadCatalogGoesOnAndWhatIsTestedReplacesTheRest) {
  CatalogInput input{.shipped = {}, .rule_files = {{"own/a.yaml", rule_file(rule("one"))}}, .patch_files = {}};
  input.rule_files.push_back({"own/b.yaml", "rules: 1\n"});
  input.tested_rules = {{"tested/a.txt", rule_file(rule("one") + rule("two"))}, {"tested/b.yaml", "no rules"}};
  input.tested_patches = {{"tested/patch.yaml", patch_file("p", "one")}, {"tested/q/patch.yaml", patch_file("q", "x")}};
  std::vector<Error> errors;
  const Catalog catalog = read_catalog(input, errors);
  ASSERT_EQ(errors.size(), 3u);
  EXPECT_EQ(errors[0].where->file, "own/b.yaml");
  EXPECT_EQ(errors[1].where->file, "tested/b.yaml");
  EXPECT_EQ(errors[2].where->file, "tested/q/patch.yaml");
  ASSERT_EQ(catalog.rules.size(), 2u);
  EXPECT_EQ(catalog.rules.at("one").source->name(), "tested/a.txt");
  ASSERT_EQ(catalog.patches.size(), 1u);
  EXPECT_EQ(to_text(build_catalog(input).error()), to_text(errors[0]));
}

TEST(Catalog, AFileThatDoesNotRead) {
  EXPECT_EQ(error_of({{}, {{"mine/x.yaml", "rules:\n  - id: *x\n"}}, {}}),
            "mine/x.yaml:2:9: error: a text that begins with '*' must be quoted (YAML takes it for an alias, and "
            "aliases are refused)\n"
            "      - id: *x\n"
            "            ^\n"
            "  hint: if it is meant as text, write '*x'\n");
}

// --- Editions ---------------------------------------------------------------

std::string edition(const std::string& rules, const std::string& more = kAdds, const std::string& helper = "h\n") {
  const Catalog catalog = built({.shipped = {{"rules/x.yaml", rules},
                                             {"patches/p/h.py", helper},
                                             {"patches/p/patch.yaml", patch_file("p", "one", more)}},
                                 .rule_files = {},
                                 .patch_files = {}});
  return catalog.patches.empty() ? "none" : catalog.patches[0].edition;
}

const char kPlain[] = R"yaml(file: srt/a.py
rules:
  - id: one
    in: A.f
    match: f($X, $Y)
    where: {X: {kind: call}, Y: {regex: r}}
    inside: "for $I in $J: $$$"
    replace: g($X)
    expect: 1
)yaml";

TEST(Edition, OfWhatIsWrittenOtherwiseIsTheSame) {
  EXPECT_EQ(edition(kPlain), edition(R"yaml(
# a comment
rules:
  - note: Another note.
    expect: {max: 1, min: 1}
    ok: other words
    replace: |
      g($X)
    inside:
      - "for $I in $J: $$$"
    where:
      Y: {regex: "r"}
      X: {kind: 'call'}
    match: 'f($X, $Y)'
    in: [A.f]
    file: [srt/a.py]
    id: one
    examples:
      - same: x
  - {id: another, match: a, replace: b, expect: 1, file: b.py}
)yaml"));
  EXPECT_EQ(edition(kPlain), edition(kPlain, kAdds + "summary: other\nnote: other\nrecommend: 7\nconflicts: q\n"));
}

TEST(Edition, OfAnythingElseDiffers) {
  const std::string plain = edition(kPlain);
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = kPlain;
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return edition(text.replace(at, from.size(), to));
  };
  const std::pair<const char*, const char*> kChanges[] = {
      {"srt/a.py", "srt/b.py"},
      {"A.f", "A.g"},
      {"f($X, $Y)", "f($Y, $X)"},
      {"kind: call", "kind: list"},
      {"regex: r", "not_regex: r"},
      {"inside:", "has:"},
      {"inside:", "not_inside:"},
      {"g($X)", "h($X)"},
      {"replace:", "insert_after:"},
      {"replace: g($X)", "replace: {X: g($X)}"},
      {"expect: 1", "expect: 2"},
      {"expect: 1", "expect: 1\n    per_file: true"},
      {"expect: 1", "expect: 1\n    comments: drop"},
      {"expect: 1", "expect: 1\n    done_if: z"},
      {"expect: 1", "expect: 1\n    applied: z"},
      {"expect: 1", "expect: 1\n    versions: '>1'"},
      {"expect: 1", "expect: 1\n    any_of: [{has: z}]"},
      {"expect: 1", "expect: 1\n    applied: z\n    select: first"},
  };
  for (const auto& [from, to] : kChanges) EXPECT_NE(changed(from, to), plain) << from << " -> " << to;
  EXPECT_NE(edition(kPlain, kAdds, "h2\n"), plain) << "the added file's bytes";
  EXPECT_NE(edition(kPlain, "adds: [{path: srt/i.py, from: h.py}]\n"), plain) << "the added file's path";
  EXPECT_NE(edition(kPlain, ""), plain) << "no added file";
}

}  // namespace
}  // namespace suture
