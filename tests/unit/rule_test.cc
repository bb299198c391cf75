// What a rule file says, and every diagnostic, whole.
#include "read/rule.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace suture {
namespace {

Result<std::vector<Rule>> read(const std::string& yaml) {
  return read_rules(std::make_shared<const Source>("rules/x.yaml", yaml));
}

std::string error_of(const std::string& yaml) {
  const auto rules = read(yaml);
  return rules ? "no error\n" : to_text(rules.error());
}

// One rule of a file, with keys added below a legal head.
std::string rule_with(const std::string& keys) {
  return "file: srt/a.py\nrules:\n  - id: a-rule\n    expect: 1\n" + keys;
}

Rule only(const std::string& yaml) {
  auto rules = read(yaml);
  EXPECT_TRUE(rules) << (rules ? "" : to_text(rules.error()));
  if (!rules || rules->size() != 1) return {};
  return rules->front();
}

std::vector<std::string> values(const std::vector<Text>& texts) {
  std::vector<std::string> out;
  for (const Text& text : texts) out.push_back(text.value);
  return out;
}
using Words = std::vector<std::string>;

TEST(Rule, AllOfItsKeysAreRead) {
  const Rule rule = only(R"yaml(
rules:
  - id: all-keys
    note: Why.
    ok: it is done
    file: [srt/a.py, srt/b.py]
    in:
      - A.f
      - A.*
    match: $X.f($Y)
    where:
      X: {kind: identifier, regex: "^a", not_regex: b$, match: $Z, has: c, one_of: [d, e]}
    inside: "for $I in $J: $$$"
    has: [g, h]
    after: i
    before: j
    not_inside: k
    not_has: l
    not_after: m
    not_before: [n, o]
    replace: {Y: "g($Y)"}
    versions: ">=1.0"
    applied: $X.f(g($Y))
    done_if: {match: $X.z(), has: q}
    expect: {min: 1, max: 3}
    per_file: true
    select: last
    comments: keep
    examples:
      - {before: a.f(1), after: a.f(g(1)), exact: true}
      - same: a.h(1)
)yaml");
  EXPECT_EQ(rule.id, "all-keys");
  EXPECT_EQ(rule.note, "Why.");
  EXPECT_EQ(rule.ok, "it is done");
  EXPECT_EQ(values(rule.files), (Words{"srt/a.py", "srt/b.py"}));
  EXPECT_EQ(values(rule.in), (Words{"A.f", "A.*"}));
  const Narrowing& narrow = rule.base.narrow;
  EXPECT_EQ(narrow.match->value, "$X.f($Y)");
  ASSERT_EQ(narrow.where.size(), 1u);
  EXPECT_EQ(narrow.where[0].metavariable.value, "X");
  EXPECT_EQ(narrow.where[0].kind->value, "identifier");
  EXPECT_EQ(narrow.where[0].regex->value, "^a");
  EXPECT_EQ(narrow.where[0].not_regex->value, "b$");
  EXPECT_EQ(narrow.where[0].match->value, "$Z");
  EXPECT_EQ(narrow.where[0].has->value, "c");
  EXPECT_EQ(values(narrow.where[0].one_of), (Words{"d", "e"}));
  EXPECT_EQ(values(narrow.inside), (Words{"for $I in $J: $$$"}));
  EXPECT_EQ(values(narrow.has), (Words{"g", "h"}));
  EXPECT_EQ(values(narrow.after), (Words{"i"}));
  EXPECT_EQ(values(narrow.before), (Words{"j"}));
  EXPECT_EQ(values(narrow.not_inside), (Words{"k"}));
  EXPECT_EQ(values(narrow.not_has), (Words{"l"}));
  EXPECT_EQ(values(narrow.not_after), (Words{"m"}));
  EXPECT_EQ(values(narrow.not_before), (Words{"n", "o"}));
  const auto& replace = std::get<Replace>(*rule.base.edit);
  ASSERT_EQ(replace.parts.size(), 1u);
  EXPECT_EQ(replace.parts[0].first.value + "=" + replace.parts[0].second.value, "Y=g($Y)");
  EXPECT_EQ(rule.base.versions->value, ">=1.0");
  EXPECT_EQ(rule.base.applied->match->value, "$X.f(g($Y))");
  EXPECT_EQ(rule.done_if->match->value, "$X.z()");
  EXPECT_EQ(values(rule.done_if->has), (Words{"q"}));
  EXPECT_EQ(rule.expect.min, 1u);
  EXPECT_EQ(rule.expect.max, 3u);
  EXPECT_TRUE(rule.expect.per_file);
  EXPECT_EQ(rule.select.kind, SelectKind::last);
  EXPECT_EQ(rule.comments, Comments::keep);
  ASSERT_EQ(rule.examples.size(), 2u);
  EXPECT_EQ(rule.examples[0].after->value, "a.f(g(1))");
  EXPECT_TRUE(rule.examples[0].exact);
  EXPECT_EQ(rule.examples[1].same->value, "a.h(1)");
}

TEST(Rule, EveryEditIsRead) {
  EXPECT_EQ(std::get<Replace>(*only(rule_with("    match: a\n    replace: b\n")).base.edit).whole->value, "b");
  const auto argument = std::get<Argument>(
      *only(rule_with("    match: f($$$)\n    argument: {name: k, position: 2, becomes: g($ARG)}\n")).base.edit);
  EXPECT_EQ(argument.name.value, "k");
  EXPECT_EQ(argument.position, 2u);
  EXPECT_EQ(argument.becomes.value, "g($ARG)");
  const std::pair<const char*, Place> kPlaces[] = {{"prepend_body", Place::prepend_body},
                                                   {"append_body", Place::append_body},
                                                   {"insert_before", Place::insert_before},
                                                   {"insert_after", Place::insert_after}};
  for (const auto& [key, place] : kPlaces) {
    const auto insert =
        std::get<Insert>(*only(rule_with("    in: A.f\n    " + std::string(key) + ": x = 1\n")).base.edit);
    EXPECT_EQ(insert.place, place);
    EXPECT_EQ(insert.block.value, "x = 1");
  }
  for (const char* statement :
       {"from a.b import c", "from .a import b as c", "from . import b", "import a", "import a.b as c"}) {
    const Rule rule = only(rule_with("    add_import: " + std::string(statement) + "\n"));
    EXPECT_EQ(std::get<AddImport>(*rule.base.edit).statement.value, statement);
  }
}

TEST(Rule, OkIsTheIdWhereItIsNotGivenAndFileTheDefault) {
  const Rule rule = only(rule_with("    match: a\n    replace: b\n"));
  EXPECT_EQ(rule.ok, "a-rule");
  EXPECT_EQ(values(rule.files), Words{"srt/a.py"});
  EXPECT_EQ(rule.source->text(rule.at), "a-rule");
  EXPECT_EQ(rule.expect.min, 1u);
  EXPECT_EQ(rule.expect.max, 1u);
  EXPECT_EQ(rule.select.kind, SelectKind::all);
}

TEST(Rule, ShapesHaveTheRulesKeysAsDefaults) {
  const Rule rule = only(rule_with(R"yaml(    match: f($X)
    has: a
    where: {X: {kind: call}}
    replace: g($X)
    applied: g($_)
    any_of:
      - {has: b, where: {X: {regex: r}}}
      - {match: h($X), insert_after: "x = 1", applied: k, versions: "<2"}
)yaml"));
  ASSERT_EQ(rule.any_of.size(), 2u);
  const Shape& first = rule.any_of[0];
  EXPECT_FALSE(first.own_match);
  EXPECT_EQ(first.narrow.match->value, "f($X)");
  EXPECT_EQ(values(first.narrow.has), (Words{"a", "b"}));
  ASSERT_EQ(first.narrow.where.size(), 2u);
  EXPECT_EQ(first.narrow.where[0].kind->value, "call");
  EXPECT_EQ(first.narrow.where[1].regex->value, "r");
  EXPECT_EQ(std::get<Replace>(*first.edit).whole->value, "g($X)");
  EXPECT_EQ(first.applied->match->value, "g($_)");
  const Shape& second = rule.any_of[1];
  EXPECT_TRUE(second.own_match);
  EXPECT_EQ(second.narrow.match->value, "h($X)");
  EXPECT_EQ(values(second.narrow.has), Words{"a"});
  EXPECT_EQ(std::get<Insert>(*second.edit).place, Place::insert_after);
  EXPECT_EQ(second.applied->match->value, "k");
  EXPECT_EQ(second.versions->value, "<2");
  EXPECT_EQ(values(rule.base.narrow.has), Words{"a"}) << "the rule's own keys stay as they are";
}

TEST(Rule, ExpectAndSelectInAllTheirForms) {
  const auto expect = [](const std::string& text) {
    const Rule rule = only("file: a.py\nrules:\n  - {id: r, match: a, replace: b, expect: " + text + "}\n");
    return std::to_string(rule.expect.min) + ".." + std::to_string(rule.expect.max) +
           (rule.expect.per_file ? " per file" : "");
  };
  EXPECT_EQ(expect("3"), "3..3");
  EXPECT_EQ(expect("{min: 0, max: 2}"), "0..2");
  EXPECT_EQ(expect("{min: 2}"), "2..4294967295");
  EXPECT_EQ(expect("{max: 2}"), "1..2");
  EXPECT_EQ(expect("{min: 1, max: 2, per_file: true}"), "1..2 per file");
  const Select nth = only(rule_with("    match: a\n    insert_after: b\n    select: 2\n")).select;
  EXPECT_EQ(nth.kind, SelectKind::nth);
  EXPECT_EQ(nth.n, 2u);
  EXPECT_EQ(only(rule_with("    match: a\n    insert_after: b\n    select: first\n")).select.kind, SelectKind::first);
}

// --- range_within -----------------------------------------------------------

// The bytes of the file that give text.value[begin, end) of the only rule's `match`.
std::string within(const std::string& yaml_value, const std::string& part) {
  const Rule rule = only(rule_with("    replace: b\n    match: " + yaml_value));
  const Text& text = *rule.base.narrow.match;
  const std::size_t begin = text.value.find(part);
  EXPECT_NE(begin, std::string::npos) << text.value;
  return std::string(rule.source->text(range_within(*rule.source, text, begin, begin + part.size())));
}

TEST(RangeWithin, GoesThroughEveryStyle) {
  EXPECT_EQ(within("f($X, bad)\n", "bad"), "bad");
  EXPECT_EQ(within("'f(''a'', bad)'\n", "bad"), "bad");
  EXPECT_EQ(within("'f(''a'', bad)'\n", "'a'"), "''a''");
  EXPECT_EQ(within("\"f(\\\"a\\\",\\n \\u00e9, bad)\"\n", "bad"), "bad");
  EXPECT_EQ(within("\"f(\\\"a\\\", \\u00e9, bad)\"\n", "é"), "\\u00e9");
  EXPECT_EQ(within("\"f(a, \\\n      bad)\"\n", "bad"), "bad");
  EXPECT_EQ(within("|\n      if x:\n          bad()\n      else: pass\n", "bad()"), "bad()");
  EXPECT_EQ(within("|\n      if x:\n\n          y\n      bad\n", "bad"), "bad");
  EXPECT_EQ(within("|\n      if x:\n          y\n", "x:\n    y"), "x:\n          y");
  EXPECT_EQ(within("f(a,\n      bad)\n", "bad"), "bad");
  EXPECT_EQ(within(">-\n      f(a,\n      bad,\n      c)\n", "bad"), "bad");
  EXPECT_EQ(within("|\r\n      a\r\n      bad\r\n", "bad"), "bad");
}

TEST(RangeWithin, AnEmptyPartAndTheEndOfTheText) {
  const Rule rule = only(rule_with("    replace: b\n    match: |\n      f(\n"));
  const Text& text = *rule.base.narrow.match;
  const Range end = range_within(*rule.source, text, text.value.size(), text.value.size());
  EXPECT_EQ(end.begin, text.at.end);
  EXPECT_EQ(range_within(*rule.source, text, 1, 1).begin, text.at.begin + 1);
  EXPECT_EQ(range_within(*rule.source, text, 99, 120), end);
}

// --- Diagnostics ------------------------------------------------------------

struct Refusal {
  const char* yaml;
  const char* text;
};

TEST(Rule, RefusalsWhole) {
  const Refusal kRefusals[] = {
      {"rules: []\n",
       "rules/x.yaml:1:8: error: 'rules' is an empty list\n"
       "    rules: []\n"
       "           ^\n"
       "  hint: remove the key, or name something\n"},
      {"file: a.py\n",
       "rules/x.yaml:1:1: error: a rule file has no 'rules'\n"
       "    file: a.py\n"
       "    ^~~~~~~~~~\n"
       "  hint: list its rules below 'rules:', each with '- id: ...'\n"},
      {"- id: r\n",
       "rules/x.yaml:1:1: error: a rule file must be a map, not a list\n"
       "    - id: r\n"
       "    ^~~~~~~\n"
       "  hint: its keys are file and rules\n"},
      {"rules:\n"
       "  id: r\n",
       "rules/x.yaml:2:3: error: 'rules' must be a list, not a map\n"
       "      id: r\n"
       "      ^~~~~\n"
       "  hint: write each item in a line of its own that begins with '- '\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - r\n",
       "rules/x.yaml:3:5: error: a rule must be a map, not a text\n"
       "      - r\n"
       "        ^\n"
       "  hint: its keys are id, note, ok, file, in, expect, per_file, done_if, any_of, select, comments, examples, "
       "kind, message, level, possible, match, where, inside, has, after, before, not_inside, not_has, not_after, "
       "not_before, replace, argument, "
       "prepend_body, append_body, insert_before, insert_after, add_import, "
       "delete, wrap, add_argument, add_element, set_key, add_branch, add_member, add_decorator, remove_decorator, "
       "remove_import, "
       "applied and versions\n"},
      {"rule:\n"
       "  - id: r\n",
       "rules/x.yaml:1:1: error: unknown key 'rule' in a rule file\n"
       "    rule:\n"
       "    ^~~~\n"
       "  hint: did you mean 'rules'?\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {match: a, replace: b, expect: 1}\n",
       "rules/x.yaml:3:5: error: a rule has no 'id'\n"
       "      - {match: a, replace: b, expect: 1}\n"
       "        ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n"
       "  hint: give it a name of its own, such as id: mla-decode-casts-active\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, match: a, replace: b}\n",
       "rules/x.yaml:3:10: error: the rule 'r' has no 'expect'\n"
       "      - {id: r, match: a, replace: b}\n"
       "             ^\n"
       "  hint: say how many sites it must find: expect: 1, or expect: {min: 1, max: 3}\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, match: a, replace: b, expct: 1}\n",
       "rules/x.yaml:3:35: error: unknown key 'expct' in a rule\n"
       "      - {id: r, match: a, replace: b, expct: 1}\n"
       "                                      ^~~~~\n"
       "  hint: did you mean 'expect'?\n"},
      {"rules:\n"
       "  - {id: r, match: a, replace: b, expect: 1}\n",
       "rules/x.yaml:2:10: error: the rule 'r' names no 'file'\n"
       "      - {id: r, match: a, replace: b, expect: 1}\n"
       "             ^\n"
       "  hint: write 'file:' in it, or at the top of the file for all of its rules\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: My_Rule, match: a, replace: b, expect: 1}\n",
       "rules/x.yaml:3:10: error: a rule's id must be of a-z, 0-9 and '-' between them, not 'My_Rule'\n"
       "      - {id: My_Rule, match: a, replace: b, expect: 1}\n"
       "             ^~~~~~~\n"
       "  hint: such as mla-decode-casts-active\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: -r, match: a, replace: b, expect: 1}\n",
       "rules/x.yaml:3:10: error: a rule's id must be of a-z, 0-9 and '-' between them, not '-r'\n"
       "      - {id: -r, match: a, replace: b, expect: 1}\n"
       "             ^~\n"
       "  hint: such as mla-decode-casts-active\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - id: r\n"
       "    mach: a\n"
       "    replace: b\n"
       "    expect: 1\n",
       "rules/x.yaml:4:5: error: unknown key 'mach' in a rule\n"
       "        mach: a\n"
       "        ^~~~\n"
       "  hint: did you mean 'match'?\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: b, whatsoever: 1}\n",
       "rules/x.yaml:3:46: error: unknown key 'whatsoever' in a rule\n"
       "      - {id: r, expect: 1, match: a, replace: b, whatsoever: 1}\n"
       "                                                 ^~~~~~~~~~\n"
       "  hint: its keys are id, note, ok, file, in, expect, per_file, done_if, any_of, select, comments, examples, "
       "kind, message, level, possible, match, where, inside, has, after, before, not_inside, not_has, not_after, "
       "not_before, replace, argument, "
       "prepend_body, append_body, insert_before, insert_after, add_import, "
       "delete, wrap, add_argument, add_element, set_key, add_branch, add_member, add_decorator, remove_decorator, "
       "remove_import, "
       "applied and versions\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, delete: true}\n",
       "rules/x.yaml:3:10: error: the rule 'r' has 'delete' but no 'applied'\n"
       "      - {id: r, expect: 1, match: a, delete: true}\n"
       "             ^\n"
       "  hint: write a pattern of the code as it is without what is deleted: what is gone cannot be found\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, wrpa: b}\n",
       "rules/x.yaml:3:34: error: unknown key 'wrpa' in a rule\n"
       "      - {id: r, expect: 1, match: a, wrpa: b}\n"
       "                                     ^~~~\n"
       "  hint: did you mean 'wrap'?\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a}\n",
       "rules/x.yaml:3:10: error: the rule 'r' has no edit\n"
       "      - {id: r, expect: 1, match: a}\n"
       "             ^\n"
       "  hint: its edit is one of replace, argument, prepend_body, append_body, insert_before, insert_after, "
       "add_import, delete, wrap, add_argument, add_element, set_key, add_branch, add_member, add_decorator, "
       "remove_decorator and "
       "remove_import\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: b, insert_after: c}\n",
       "rules/x.yaml:3:46: error: a second edit: 'replace' is this rule's edit already\n"
       "      - {id: r, expect: 1, match: a, replace: b, insert_after: c}\n"
       "                                                 ^~~~~~~~~~~~\n"
       "  hint: a rule makes one edit; write a second rule for 'insert_after'\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, replace: b}\n",
       "rules/x.yaml:3:10: error: the rule 'r' has 'replace' but no 'match'\n"
       "      - {id: r, expect: 1, replace: b}\n"
       "             ^\n"
       "  hint: write the pattern of the code that it changes\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, insert_after: b}\n",
       "rules/x.yaml:3:10: error: the rule 'r' inserts beside nothing\n"
       "      - {id: r, expect: 1, insert_after: b}\n"
       "             ^\n"
       "  hint: write 'match', or name a definition with 'in'\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, argument: {name: k, becomes: b}}\n",
       "rules/x.yaml:3:10: error: the rule 'r' has 'argument' but no 'match'\n"
       "      - {id: r, expect: 1, argument: {name: k, becomes: b}}\n"
       "             ^\n"
       "  hint: write the pattern of the code that it changes\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, argument: {nam: k, becomes: b}}\n",
       "rules/x.yaml:3:45: error: unknown key 'nam' in 'argument'\n"
       "      - {id: r, expect: 1, match: a, argument: {nam: k, becomes: b}}\n"
       "                                                ^~~\n"
       "  hint: did you mean 'name'?\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, argument: {name: k}}\n",
       "rules/x.yaml:3:44: error: 'argument' has no 'becomes'\n"
       "      - {id: r, expect: 1, match: a, argument: {name: k}}\n"
       "                                               ^~~~~~~~\n"
       "  hint: write the new code; $ARG in it is what the argument was\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, argument: {name: k, position: -1, becomes: b}}\n",
       "rules/x.yaml:3:64: error: 'position' must be a whole number, not '-1'\n"
       "      - {id: r, expect: 1, match: a, argument: {name: k, position: -1, becomes: b}}\n"
       "                                                                   ^~\n"
       "  hint: write it in decimal digits, without quotes\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, argument: {name: 2k, becomes: b}}\n",
       "rules/x.yaml:3:51: error: '2k' is no parameter's name\n"
       "      - {id: r, expect: 1, match: a, argument: {name: 2k, becomes: b}}\n"
       "                                                      ^~\n"
       "  hint: write the name that a call would pass it by\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: [a, b]}\n",
       "rules/x.yaml:3:43: error: 'replace' must be a text, not a list\n"
       "      - {id: r, expect: 1, match: a, replace: [a, b]}\n"
       "                                              ^~~~~\n"
       "  hint: a text that begins with [ or { must be quoted\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: {}}\n",
       "rules/x.yaml:3:34: error: 'replace' is an empty map\n"
       "      - {id: r, expect: 1, match: a, replace: {}}\n"
       "                                     ^~~~~~~\n"
       "  hint: write {X: code} for a metavariable $X, or code\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: {$X: b}}\n",
       "rules/x.yaml:3:44: error: '$X' in 'replace' is no metavariable's name\n"
       "      - {id: r, expect: 1, match: a, replace: {$X: b}}\n"
       "                                               ^~\n"
       "  hint: write X, without the $\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: {x: b}}\n",
       "rules/x.yaml:3:44: error: 'x' in 'replace' is no metavariable's name\n"
       "      - {id: r, expect: 1, match: a, replace: {x: b}}\n"
       "                                               ^\n"
       "  hint: names are of A-Z, 0-9 and _, as X is in $X\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: ''}\n",
       "rules/x.yaml:3:43: error: 'replace' is empty\n"
       "      - {id: r, expect: 1, match: a, replace: ''}\n"
       "                                              ^~\n"
       "  hint: write a text, or remove it\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, add_import: x}\n",
       "rules/x.yaml:3:46: error: 'add_import' is not one import of one name: 'x'\n"
       "      - {id: r, expect: 1, match: a, add_import: x}\n"
       "                                                 ^\n"
       "  hint: write from a.b import c, import a.b, or either with 'as d'; one rule an import\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, add_import: \"from a import b, c\"}\n",
       "rules/x.yaml:3:46: error: 'add_import' is not one import of one name: 'from a import b, c'\n"
       "      - {id: r, expect: 1, match: a, add_import: \"from a import b, c\"}\n"
       "                                                 ^~~~~~~~~~~~~~~~~~~~\n"
       "  hint: write from a.b import c, import a.b, or either with 'as d'; one rule an import\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, add_import: from a import *}\n",
       "rules/x.yaml:3:46: error: 'add_import' is not one import of one name: 'from a import *'\n"
       "      - {id: r, expect: 1, match: a, add_import: from a import *}\n"
       "                                                 ^~~~~~~~~~~~~~~\n"
       "  hint: write from a.b import c, import a.b, or either with 'as d'; one rule an import\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: b, in: A..f}\n",
       "rules/x.yaml:3:50: error: 'A..f' is no scope\n"
       "      - {id: r, expect: 1, match: a, replace: b, in: A..f}\n"
       "                                                     ^~~~\n"
       "  hint: write the names of classes and functions with dots between them, such as Backend.forward_decode; * "
       "stands for one name\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: b, in: [A.f, A.for*]}\n",
       "rules/x.yaml:3:56: error: 'A.for*' is no scope\n"
       "      - {id: r, expect: 1, match: a, replace: b, in: [A.f, A.for*]}\n"
       "                                                           ^~~~~~\n"
       "  hint: write the names of classes and functions with dots between them, such as Backend.forward_decode; * "
       "stands for one name\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: b, in: 'A f'}\n",
       "rules/x.yaml:3:50: error: 'A f' is no scope\n"
       "      - {id: r, expect: 1, match: a, replace: b, in: 'A f'}\n"
       "                                                     ^~~~~\n"
       "  hint: write the names of classes and functions with dots between them, such as Backend.forward_decode; * "
       "stands for one name\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: b, file: /a.py}\n",
       "rules/x.yaml:3:52: error: 'file' is an absolute path: '/a.py'\n"
       "      - {id: r, expect: 1, match: a, replace: b, file: /a.py}\n"
       "                                                       ^~~~~\n"
       "  hint: write it relative to its folder, with '/', such as srt/layers/attention/backend.py\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: b, file: ../a.py}\n",
       "rules/x.yaml:3:52: error: 'file' has an empty, '.' or '..' part: '../a.py'\n"
       "      - {id: r, expect: 1, match: a, replace: b, file: ../a.py}\n"
       "                                                       ^~~~~~~\n"
       "  hint: write it relative to its folder, with '/', such as srt/layers/attention/backend.py\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: b, file: 'a\\b.py'}\n",
       "rules/x.yaml:3:52: error: 'file' has a character that no path here has: 'a\\b.py'\n"
       "      - {id: r, expect: 1, match: a, replace: b, file: 'a\\b.py'}\n"
       "                                                       ^~~~~~~~\n"
       "  hint: write it relative to its folder, with '/', such as srt/layers/attention/backend.py\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: b, file: a//b.py}\n",
       "rules/x.yaml:3:52: error: 'file' has an empty, '.' or '..' part: 'a//b.py'\n"
       "      - {id: r, expect: 1, match: a, replace: b, file: a//b.py}\n"
       "                                                       ^~~~~~~\n"
       "  hint: write it relative to its folder, with '/', such as srt/layers/attention/backend.py\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: b, file: []}\n",
       "rules/x.yaml:3:52: error: 'file' is an empty list\n"
       "      - {id: r, expect: 1, match: a, replace: b, file: []}\n"
       "                                                       ^\n"
       "  hint: remove the key, or name something\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: b, versions: \">=banana\"}\n",
       "rules/x.yaml:3:56: error: 'versions' is not a version range: '>=banana' does not hold a version that PEP 440 "
       "knows\n"
       "      - {id: r, expect: 1, match: a, replace: b, versions: \">=banana\"}\n"
       "                                                           ^~~~~~~~~~\n"
       "  hint: write PEP 440 specifiers, such as \">=0.5.1,<0.6\"\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: b, versions: 1.0}\n",
       "rules/x.yaml:3:56: error: 'versions' is not a version range: '1.0' does not begin with an operator (one of ==, "
       "!=, >=, <=, >, <, ~=, ===)\n"
       "      - {id: r, expect: 1, match: a, replace: b, versions: 1.0}\n"
       "                                                           ^~~\n"
       "  hint: write PEP 440 specifiers, such as \">=0.5.1,<0.6\"\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, match: a, replace: b, expect: 0}\n",
       "rules/x.yaml:3:43: error: 'expect' is 0: a rule that must find nothing does nothing\n"
       "      - {id: r, match: a, replace: b, expect: 0}\n"
       "                                              ^\n"
       "  hint: say how many sites it must find: expect: 1, or expect: {min: 1, max: 3}\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, match: a, replace: b, expect: 010}\n",
       "rules/x.yaml:3:43: error: 'expect' must be a whole number, not '010'\n"
       "      - {id: r, match: a, replace: b, expect: 010}\n"
       "                                              ^~~\n"
       "  hint: write 10: some readers take a number with a leading 0 for octal\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, match: a, replace: b, expect: \"1\"}\n",
       "rules/x.yaml:3:43: error: 'expect' must be a whole number, not '1'\n"
       "      - {id: r, match: a, replace: b, expect: \"1\"}\n"
       "                                              ^~~\n"
       "  hint: write it in decimal digits, without quotes\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, match: a, replace: b, expect: one}\n",
       "rules/x.yaml:3:43: error: 'expect' must be a whole number, not 'one'\n"
       "      - {id: r, match: a, replace: b, expect: one}\n"
       "                                              ^~~\n"
       "  hint: write it in decimal digits, without quotes\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, match: a, replace: b, expect: [1]}\n",
       "rules/x.yaml:3:43: error: 'expect' must be a whole number, not a list\n"
       "      - {id: r, match: a, replace: b, expect: [1]}\n"
       "                                              ^~\n"
       "  hint: write it in decimal digits, without quotes\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, match: a, replace: b, expect: {min: 3, max: 1}}\n",
       "rules/x.yaml:3:43: error: 'min' 3 is more than 'max' 1\n"
       "      - {id: r, match: a, replace: b, expect: {min: 3, max: 1}}\n"
       "                                              ^~~~~~~~~~~~~~~\n"
       "  hint: swap the two, or write one count\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, match: a, replace: b, expect: {max: 0}}\n",
       "rules/x.yaml:3:49: error: 'max' is 0: a rule that must find nothing does nothing\n"
       "      - {id: r, match: a, replace: b, expect: {max: 0}}\n"
       "                                                    ^\n"
       "  hint: write how many sites it may find at most\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, match: a, replace: b, expect: {count: 1}}\n",
       "rules/x.yaml:3:44: error: unknown key 'count' in 'expect'\n"
       "      - {id: r, match: a, replace: b, expect: {count: 1}}\n"
       "                                               ^~~~~\n"
       "  hint: its keys are min, max and per_file\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, match: a, replace: b, expect: {per_file: true}}\n",
       "rules/x.yaml:3:43: error: 'expect' has neither 'min' nor 'max'\n"
       "      - {id: r, match: a, replace: b, expect: {per_file: true}}\n"
       "                                              ^~~~~~~~~~~~~~~\n"
       "  hint: write a count, or {min: 1, max: 3}\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, match: a, replace: b, expect: {min: 1, per_file: yes}}\n",
       "rules/x.yaml:3:62: error: 'per_file' must be true or false, not 'yes'\n"
       "      - {id: r, match: a, replace: b, expect: {min: 1, per_file: yes}}\n"
       "                                                                 ^~~\n"
       "  hint: write true or false, without quotes\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: b, select: first}\n",
       "rules/x.yaml:3:10: error: the rule 'r' has 'select' and 'replace' but no 'applied'\n"
       "      - {id: r, expect: 1, match: a, replace: b, select: first}\n"
       "             ^\n"
       "  hint: write the pattern of the result: which site was taken cannot be told from the replacement\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, insert_after: b, select: middle}\n",
       "rules/x.yaml:3:59: error: 'select' must be first, last or a number, not 'middle'\n"
       "      - {id: r, expect: 1, match: a, insert_after: b, select: middle}\n"
       "                                                              ^~~~~~\n"
       "  hint: numbers count from 0\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, insert_after: b, select: 01}\n",
       "rules/x.yaml:3:59: error: 'select' must be a whole number, not '01'\n"
       "      - {id: r, expect: 1, match: a, insert_after: b, select: 01}\n"
       "                                                              ^~\n"
       "  hint: write 1: some readers take a number with a leading 0 for octal\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: b, comments: maybe}\n",
       "rules/x.yaml:3:56: error: 'comments' must be keep, drop or refuse, not 'maybe'\n"
       "      - {id: r, expect: 1, match: a, replace: b, comments: maybe}\n"
       "                                                           ^~~~~\n"
       "  hint: it says what becomes of a comment within code that the rule replaces\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: b, where: X}\n",
       "rules/x.yaml:3:53: error: 'where' must be a map from metavariables to what they must be\n"
       "      - {id: r, expect: 1, match: a, replace: b, where: X}\n"
       "                                                        ^\n"
       "  hint: such as where: {X: {kind: identifier}}\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: b, where: {$X: {kind: call}}}\n",
       "rules/x.yaml:3:54: error: '$X' in 'where' is no metavariable's name\n"
       "      - {id: r, expect: 1, match: a, replace: b, where: {$X: {kind: call}}}\n"
       "                                                         ^~\n"
       "  hint: write X, without the $\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: b, where: {X: call}}\n",
       "rules/x.yaml:3:57: error: a 'where' clause must be a map, not a text\n"
       "      - {id: r, expect: 1, match: a, replace: b, where: {X: call}}\n"
       "                                                            ^~~~\n"
       "  hint: its keys are kind, regex, not_regex, match, has, one_of, comes_from, element_of, through and "
       "parameter\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: b, where: {X: {kinds: call}}}\n",
       "rules/x.yaml:3:58: error: unknown key 'kinds' in a 'where' clause\n"
       "      - {id: r, expect: 1, match: a, replace: b, where: {X: {kinds: call}}}\n"
       "                                                             ^~~~~\n"
       "  hint: did you mean 'kind'?\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: b, where: {X: {}}}\n",
       "rules/x.yaml:3:54: error: this 'where' clause asks for nothing\n"
       "      - {id: r, expect: 1, match: a, replace: b, where: {X: {}}}\n"
       "                                                         ^\n"
       "  hint: write one of its keys, such as kind or regex, or remove it\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: b, has: [f(x, y)]}\n",
       "rules/x.yaml:3:52: error: this text ends within a bracket: in [...] a comma begins the next item\n"
       "      - {id: r, expect: 1, match: a, replace: b, has: [f(x, y)]}\n"
       "                                                       ^~~\n"
       "  hint: put the text in quotes, or write the list with one '-' a line\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: b, has: {x: y}}\n",
       "rules/x.yaml:3:51: error: 'has' must be a text, not a map\n"
       "      - {id: r, expect: 1, match: a, replace: b, has: {x: y}}\n"
       "                                                      ^~~~~\n"
       "  hint: a text that begins with [ or { must be quoted\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: b, applied: {mtch: x}}\n",
       "rules/x.yaml:3:56: error: unknown key 'mtch' in a pattern's map\n"
       "      - {id: r, expect: 1, match: a, replace: b, applied: {mtch: x}}\n"
       "                                                           ^~~~\n"
       "  hint: did you mean 'match'?\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: b, done_if: [x]}\n",
       "rules/x.yaml:3:55: error: 'done_if' must be a text, not a list\n"
       "      - {id: r, expect: 1, match: a, replace: b, done_if: [x]}\n"
       "                                                          ^~\n"
       "  hint: a text that begins with [ or { must be quoted\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: b, any_of: {has: x}}\n",
       "rules/x.yaml:3:54: error: 'any_of' must be a list, not a map\n"
       "      - {id: r, expect: 1, match: a, replace: b, any_of: {has: x}}\n"
       "                                                         ^~~~~~~\n"
       "  hint: write each item in a line of its own that begins with '- '\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: b, any_of: [{has: x, expect: 1}]}\n",
       "rules/x.yaml:3:64: error: 'expect' belongs to the rule, not to an 'any_of' entry\n"
       "      - {id: r, expect: 1, match: a, replace: b, any_of: [{has: x, expect: 1}]}\n"
       "                                                                   ^~~~~~\n"
       "  hint: move it out\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: b, any_of: [{hsa: x}]}\n",
       "rules/x.yaml:3:56: error: unknown key 'hsa' in an 'any_of' entry\n"
       "      - {id: r, expect: 1, match: a, replace: b, any_of: [{hsa: x}]}\n"
       "                                                           ^~~\n"
       "  hint: did you mean 'has'?\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, any_of: [{has: x, replace: b}, {has: y}]}\n",
       "rules/x.yaml:3:65: error: the rule 'r' has no edit for this shape\n"
       "      - {id: r, expect: 1, match: a, any_of: [{has: x, replace: b}, {has: y}]}\n"
       "                                                                    ^~~~~~~\n"
       "  hint: its edit is one of replace, argument, prepend_body, append_body, insert_before, insert_after, "
       "add_import, delete, wrap, add_argument, add_element, set_key, add_branch, add_member, add_decorator, "
       "remove_decorator and "
       "remove_import\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: b, examples: [{before: a}]}\n",
       "rules/x.yaml:3:57: error: an example is either 'before' with 'after', or 'same' alone, or 'found' alone\n"
       "      - {id: r, expect: 1, match: a, replace: b, examples: [{before: a}]}\n"
       "                                                            ^~~~~~~~~~\n"
       "  hint: 'same' is code that the rule must leave as it is; 'found' is of rules with a 'kind'\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: b, examples: [{same: a, after: b}]}\n",
       "rules/x.yaml:3:57: error: an example is either 'before' with 'after', or 'same' alone, or 'found' alone\n"
       "      - {id: r, expect: 1, match: a, replace: b, examples: [{same: a, after: b}]}\n"
       "                                                            ^~~~~~~~~~~~~~~~~~\n"
       "  hint: 'same' is code that the rule must leave as it is; 'found' is of rules with a 'kind'\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - {id: r, expect: 1, match: a, replace: b, examples: [{before: a, after: b, exact: on}]}\n",
       "rules/x.yaml:3:86: error: 'exact' must be true or false, not 'on'\n"
       "      - {id: r, expect: 1, match: a, replace: b, examples: [{before: a, after: b, exact: on}]}\n"
       "                                                                                         ^~\n"
       "  hint: write true or false, without quotes\n"},
      {"rules:\n"
       "  - id: r\n"
       "    match: *args\n",
       "rules/x.yaml:3:12: error: a text that begins with '*' must be quoted (YAML takes it for an alias, and aliases "
       "are refused)\n"
       "        match: *args\n"
       "               ^\n"
       "  hint: if it is meant as text, write '*args'\n"},
      {"file: a.py\n"
       "rules:\n"
       "  - id: r\n"
       "    match:\n"
       "      - a\n"
       "    replace: b\n"
       "    expect: 1\n",
       "rules/x.yaml:5:7: error: 'match' must be a text, not a list\n"
       "          - a\n"
       "          ^~~\n"
       "  hint: write one text\n"},
  };
  for (const Refusal& refusal : kRefusals) EXPECT_EQ(error_of(refusal.yaml), refusal.text) << refusal.yaml;
}

TEST(Rule, EveryErrorEndsTheRunWithExit3) {
  const auto rules = read("rules:\n  - id: A\n");
  ASSERT_FALSE(rules);
  EXPECT_EQ(rules.error().exit, Exit::bad_rule);
}

TEST(Rule, AnErrorPointsIntoTheRulesFile) {
  const Rule rule = only(rule_with("    match: f(\n    replace: b\n"));
  EXPECT_EQ(to_text(rule_error(rule, rule.base.narrow.match->at, "the pattern does not parse", "close the bracket")),
            "rules/x.yaml:5:12: error: the pattern does not parse\n"
            "        match: f(\n"
            "               ^~\n"
            "  hint: close the bracket\n");
}

}  // namespace
}  // namespace suture
