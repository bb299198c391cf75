// What a patch file says, and every diagnostic, whole.
#include "read/patch.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace suture {
namespace {

Result<Patch> read(const std::string& yaml) {
  return read_patch(std::make_shared<const Source>("patches/x/patch.yaml", yaml));
}

std::string error_of(const std::string& yaml) {
  const auto patch = read(yaml);
  return patch ? "no error\n" : to_text(patch.error());
}

std::vector<std::string> values(const std::vector<Text>& texts) {
  std::vector<std::string> out;
  for (const Text& text : texts) out.push_back(text.value);
  return out;
}
using Words = std::vector<std::string>;

TEST(Patch, AllOfItsKeysAreRead) {
  const auto patch = read(R"yaml(
patch: pool-cast
summary: Cast less
note: >-
  Why, in
  two lines.
package: {name: Some.Engine, folder: engine, versions: ">=0.4.6.post5"}
conflicts: [other-cast, native]
recommend: 2
adds:
  - {path: srt/helper.py, from: helper.py}
rules: [first, second]
requires:
  - {package: flash_kernels, versions: ">=0.2", otherwise: "the server stops "}
  - {package: {name: Flash_Kernels, folder: flash}}
  - file: [srt/a.py, srt/b.py]
    in: Wrapper.plan
    match: $X.copy_($Y)
    where: {X: {kind: attribute}}
    has: z
    literal: "import torch"
    not_match: q
    not_has: [r, s]
    not_literal: t
    note: the wrapper copies its indices
superseded:
  - {file: srt/c.py, in: Backend, match: cast_less($$$)}
assumes: [the GPU is new, the pool is small]
examples:
  - {before: a, after: b}
)yaml");
  ASSERT_TRUE(patch) << to_text(patch.error());
  EXPECT_EQ(patch->name, "pool-cast");
  EXPECT_EQ(patch->source->text(patch->at), "pool-cast");
  EXPECT_EQ(patch->summary, "Cast less");
  EXPECT_EQ(patch->note, "Why, in two lines.");
  EXPECT_EQ(patch->package.value, "some-engine");
  EXPECT_EQ(patch->import_folder(), "engine");
  EXPECT_EQ(patch->versions->value, ">=0.4.6.post5");
  EXPECT_EQ(values(patch->conflicts), (Words{"other-cast", "native"}));
  EXPECT_EQ(patch->recommend, 2);
  ASSERT_EQ(patch->adds.size(), 1u);
  EXPECT_EQ(patch->adds[0].path.value, "srt/helper.py");
  EXPECT_EQ(patch->adds[0].from.value, "helper.py");
  EXPECT_EQ(values(patch->rule_ids), (Words{"first", "second"}));
  ASSERT_EQ(patch->needs.size(), 3u);
  EXPECT_EQ(patch->needs[0].package->value, "flash-kernels");
  EXPECT_EQ(patch->needs[0].versions->value, ">=0.2");
  EXPECT_EQ(patch->needs[0].otherwise, "the server stops");
  EXPECT_FALSE(patch->needs[0].folder);
  EXPECT_EQ(patch->needs[1].package->value, "flash-kernels");
  EXPECT_EQ(patch->needs[1].folder->value, "flash");
  EXPECT_EQ(patch->assumes, (Words{"the GPU is new", "the pool is small"}));
  const Condition& condition = patch->needs[2];
  EXPECT_FALSE(condition.package);
  EXPECT_EQ(values(condition.file), (Words{"srt/a.py", "srt/b.py"}));
  EXPECT_EQ(values(condition.in), Words{"Wrapper.plan"});
  EXPECT_EQ(condition.narrow.match->value, "$X.copy_($Y)");
  EXPECT_EQ(condition.narrow.where.at(0).kind->value, "attribute");
  EXPECT_EQ(values(condition.narrow.has), Words{"z"});
  EXPECT_EQ(values(condition.narrow.not_has), (Words{"r", "s"}));
  EXPECT_EQ(condition.literal->value, "import torch");
  ASSERT_EQ(condition.not_match.size(), 1U);
  EXPECT_EQ(condition.not_match[0].value, "q");
  EXPECT_EQ(condition.not_literal->value, "t");
  EXPECT_EQ(condition.note, "the wrapper copies its indices");
  EXPECT_EQ(values(patch->superseded.at(0).in), Words{"Backend"});
  EXPECT_EQ(patch->examples.at(0).after->value, "b");
}

TEST(Patch, TheShortestOne) {
  const auto patch = read("patch: p\npackage: my-engine\nrules: r\n");
  ASSERT_TRUE(patch) << to_text(patch.error());
  EXPECT_EQ(patch->import_folder(), "my_engine");
  EXPECT_EQ(values(patch->rule_ids), Words{"r"});
  EXPECT_FALSE(patch->versions);
  EXPECT_FALSE(patch->recommend);
}

struct Refusal {
  const char* yaml;
  const char* text;
};

TEST(Patch, RefusalsWhole) {
  const Refusal kRefusals[] = {
      {"",
       "patches/x/patch.yaml: error: the file holds no YAML document\n"
       "  hint: a rule file has 'rules:', a patch file has 'patch:'\n"},
      {"rules: [r]\n",
       "patches/x/patch.yaml:1:1: error: a patch has no 'patch'\n"
       "    rules: [r]\n"
       "    ^~~~~~~~~\n"
       "  hint: name it, such as patch: sglang-cast-active-slots\n"},
      {"patch: p\n"
       "rules: r\n",
       "patches/x/patch.yaml:1:1: error: a patch has no 'package'\n"
       "    patch: p\n"
       "    ^~~~~~~~\n"
       "  hint: name what it is for: package: {name: sglang, versions: \">=0.5\"}\n"},
      {"patch: p\n"
       "package: engine\n",
       "patches/x/patch.yaml:1:1: error: a patch has no 'rules'\n"
       "    patch: p\n"
       "    ^~~~~~~~\n"
       "  hint: list the ids of its rules: rules: [first-rule, second-rule]\n"},
      {"patch: P\n"
       "package: engine\n"
       "rules: r\n",
       "patches/x/patch.yaml:1:8: error: a patch's name must be of a-z, 0-9 and '-' between them, not 'P'\n"
       "    patch: P\n"
       "           ^\n"
       "  hint: such as mla-decode-casts-active\n"},
      {"patch: p\n"
       "package: engine\n"
       "rules: []\n",
       "patches/x/patch.yaml:3:8: error: 'rules' is an empty list\n"
       "    rules: []\n"
       "           ^\n"
       "  hint: remove the key, or name something\n"},
      {"patch: p\n"
       "package: engine\n"
       "rules: [a, b, a]\n",
       "patches/x/patch.yaml:3:15: error: 'a' stands twice in 'rules'\n"
       "    rules: [a, b, a]\n"
       "                  ^\n"
       "  hint: keep one of the two\n"},
      {"patch: p\n"
       "package: engine\n"
       "rules: [r]\n"
       "conflicts: [q, p]\n",
       "patches/x/patch.yaml:4:16: error: the patch 'p' conflicts with itself\n"
       "    conflicts: [q, p]\n"
       "                   ^\n"
       "  hint: remove the name\n"},
      {"patch: p\n"
       "package: engine\n"
       "rules: [r]\n"
       "conflicts: [q, q]\n",
       "patches/x/patch.yaml:4:16: error: 'q' stands twice in 'conflicts'\n"
       "    conflicts: [q, q]\n"
       "                   ^\n"
       "  hint: keep one of the two\n"},
      {"patch: p\n"
       "package: engine\n"
       "rules: [a_b]\n",
       "patches/x/patch.yaml:3:9: error: a rule's id must be of a-z, 0-9 and '-' between them, not 'a_b'\n"
       "    rules: [a_b]\n"
       "            ^~~\n"
       "  hint: such as mla-decode-casts-active\n"},
      {"patch: p\n"
       "package: engine\n"
       "rules: [r]\n"
       "sumary: x\n",
       "patches/x/patch.yaml:4:1: error: unknown key 'sumary' in a patch\n"
       "    sumary: x\n"
       "    ^~~~~~\n"
       "  hint: did you mean 'summary'?\n"},
      {"patch: p\n"
       "package: engine\n"
       "rules: [r]\n"
       "depends: x\n",
       "patches/x/patch.yaml:4:1: error: unknown key 'depends' in a patch\n"
       "    depends: x\n"
       "    ^~~~~~~\n"
       "  hint: its keys are patch, summary, note, package, conflicts, recommend, adds, rules, requires, superseded, "
       "assumes and examples\n"},
      {"patch: p\n"
       "package: engine\n"
       "rules: [r]\n"
       "recommend: high\n",
       "patches/x/patch.yaml:4:12: error: 'recommend' must be a whole number, not 'high'\n"
       "    recommend: high\n"
       "               ^~~~\n"
       "  hint: write it in decimal digits, without quotes\n"},
      {"patch: p\n"
       "package: engine\n"
       "rules: [r]\n"
       "recommend: yes\n",
       "patches/x/patch.yaml:4:12: error: 'recommend' must be a whole number, not 'yes'\n"
       "    recommend: yes\n"
       "               ^~~\n"
       "  hint: write it in decimal digits, without quotes\n"},
      {"patch: p\n"
       "package: {versions: '>1'}\n"
       "rules: r\n",
       "patches/x/patch.yaml:2:10: error: 'package' has no 'name'\n"
       "    package: {versions: '>1'}\n"
       "             ^~~~~~~~~~~~~~~\n"
       "  hint: write the distribution's name, as pip knows it\n"},
      {"patch: p\n"
       "package: {name: engine, versions: 'about 1'}\n"
       "rules: r\n",
       "patches/x/patch.yaml:2:35: error: 'versions' is not a version range: 'about 1' does not begin with an operator "
       "(one of ==, !=, >=, <=, >, <, ~=, ===)\n"
       "    package: {name: engine, versions: 'about 1'}\n"
       "                                      ^~~~~~~~~\n"
       "  hint: write PEP 440 specifiers, such as \">=0.5.1,<0.6\"\n"},
      {"patch: p\n"
       "package: [engine]\n"
       "rules: r\n",
       "patches/x/patch.yaml:2:10: error: 'package' must be a map, not a list\n"
       "    package: [engine]\n"
       "             ^~~~~~~\n"
       "  hint: its keys are name, folder and versions\n"},
      {"patch: p\n"
       "package: {name: 'my engine'}\n"
       "rules: r\n",
       "patches/x/patch.yaml:2:17: error: 'my engine' is no distribution's name\n"
       "    package: {name: 'my engine'}\n"
       "                    ^~~~~~~~~~~\n"
       "  hint: write the name that pip knows, such as sglang\n"},
      {"patch: p\n"
       "package: {name: engine, folder: ../x}\n"
       "rules: r\n",
       "patches/x/patch.yaml:2:33: error: 'folder' has an empty, '.' or '..' part: '../x'\n"
       "    package: {name: engine, folder: ../x}\n"
       "                                    ^~~~\n"
       "  hint: write it relative to its folder, with '/', such as srt/layers/attention/backend.py\n"},
      {"patch: p\n"
       "package: engine\n"
       "rules: [r]\n"
       "adds: [{path: ../a.py, from: a.py}]\n",
       "patches/x/patch.yaml:4:15: error: 'path' has an empty, '.' or '..' part: '../a.py'\n"
       "    adds: [{path: ../a.py, from: a.py}]\n"
       "                  ^~~~~~~\n"
       "  hint: write it relative to its folder, with '/', such as srt/layers/attention/backend.py\n"},
      {"patch: p\n"
       "package: engine\n"
       "rules: [r]\n"
       "adds: [{path: a.py, from: /etc/a.py}]\n",
       "patches/x/patch.yaml:4:27: error: 'from' is an absolute path: '/etc/a.py'\n"
       "    adds: [{path: a.py, from: /etc/a.py}]\n"
       "                              ^~~~~~~~~\n"
       "  hint: write it relative to its folder, with '/', such as srt/layers/attention/backend.py\n"},
      {"patch: p\n"
       "package: engine\n"
       "rules: [r]\n"
       "adds: [{path: a.py}]\n",
       "patches/x/patch.yaml:4:8: error: an item of 'adds' has no 'from'\n"
       "    adds: [{path: a.py}]\n"
       "           ^~~~~~~~~~~\n"
       "  hint: which file of the patch's folder it is\n"},
      {"patch: p\n"
       "package: engine\n"
       "rules: [r]\n"
       "adds: [{path: a.py, from: b.py}, {path: a.py, from: c.py}]\n",
       "patches/x/patch.yaml:4:41: error: the patch adds 'a.py' twice\n"
       "    adds: [{path: a.py, from: b.py}, {path: a.py, from: c.py}]\n"
       "                                            ^~~~\n"
       "  hint: keep one of the two\n"},
      {"patch: p\n"
       "package: engine\n"
       "rules: [r]\n"
       "adds: a.py\n",
       "patches/x/patch.yaml:4:7: error: 'adds' must be a list, not a text\n"
       "    adds: a.py\n"
       "          ^~~~\n"
       "  hint: write each item in a line of its own that begins with '- '\n"},
      {"patch: p\n"
       "package: engine\n"
       "rules: [r]\n"
       "requires: [{packge: x}]\n",
       "patches/x/patch.yaml:4:13: error: unknown key 'packge' in a condition\n"
       "    requires: [{packge: x}]\n"
       "                ^~~~~~\n"
       "  hint: did you mean 'package'?\n"},
      {"patch: p\n"
       "package: engine\n"
       "rules: [r]\n"
       "requires: [{note: x}]\n",
       "patches/x/patch.yaml:4:12: error: a condition that asks for nothing\n"
       "    requires: [{note: x}]\n"
       "               ^~~~~~~~\n"
       "  hint: name a package, versions or a file\n"},
      {"patch: p\n"
       "package: engine\n"
       "rules: [r]\n"
       "requires: [{package: {folder: x}}]\n",
       "patches/x/patch.yaml:4:22: error: 'package' has no 'name'\n"
       "    requires: [{package: {folder: x}}]\n"
       "                         ^~~~~~~~~~\n"
       "  hint: write the distribution's name, as pip knows it\n"},
      {"patch: p\n"
       "package: engine\n"
       "rules: [r]\n"
       "superseded: [{file: a.py, otherwise: x}]\n",
       "patches/x/patch.yaml:4:14: error: 'otherwise' belongs to 'requires': it says what follows where that does not "
       "hold\n"
       "    superseded: [{file: a.py, otherwise: x}]\n"
       "                 ^~~~~~~~~~~~~~~~~~~~~~~~~\n"
       "  hint: say in 'note' what upstream does\n"},
      {"patch: p\n"
       "package: engine\n"
       "rules: [r]\n"
       "requires: [{match: x}]\n",
       "patches/x/patch.yaml:4:13: error: 'match' needs a 'file' to look into\n"
       "    requires: [{match: x}]\n"
       "                ^~~~~\n"
       "  hint: name the file, relative to the package's folder, or a 'class' that it defines\n"},
      {"patch: p\n"
       "package: engine\n"
       "rules: [r]\n"
       "requires: [{file: a.py, class: A}]\n",
       "patches/x/patch.yaml:4:25: error: 'class' finds the file, and 'file' names it\n"
       "    requires: [{file: a.py, class: A}]\n"
       "                            ^~~~~\n"
       "  hint: keep one of the two; a class of a file that is named goes into 'in'\n"},
      {"patch: p\n"
       "package: engine\n"
       "rules: [r]\n"
       "requires: [{class: a.A}]\n",
       "patches/x/patch.yaml:4:20: error: 'a.A' is no name of a class\n"
       "    requires: [{class: a.A}]\n"
       "                       ^~~\n"
       "  hint: write the name of a class that stands at the top level of its module\n"},
      {"patch: p\n"
       "package: engine\n"
       "rules: [r]\n"
       "requires: [{class: A, in: plan}]\n",
       "patches/x/patch.yaml:4:27: error: 'plan' is no part of the class 'A'\n"
       "    requires: [{class: A, in: plan}]\n"
       "                              ^~~~\n"
       "  hint: 'in' names from the module on: A.plan\n"},
      {"patch: p\n"
       "package: engine\n"
       "rules: [r]\n"
       "requires: [{file: \"k/[a.py\", literal: a}]\n",
       "patches/x/patch.yaml:4:19: error: a '[' is not closed in 'k/[a.py'\n"
       "    requires: [{file: \"k/[a.py\", literal: a}]\n"
       "                      ^~~~~~~~~\n"
       "  hint: close it with ']'; a bracket itself is [[]\n"},
      {"patch: p\n"
       "package: engine\n"
       "rules: [r]\n"
       "adds: [{path: .suture/x.py, from: x.py}]\n",
       "patches/x/patch.yaml:4:15: error: a patch adds nothing to '.suture'\n"
       "    adds: [{path: .suture/x.py, from: x.py}]\n"
       "                  ^~~~~~~~~~~~\n"
       "  hint: receipts are kept there; write a path among the package's own files\n"},
      {"patch: p\n"
       "package: engine\n"
       "rules: [r]\n"
       "requires: [{file: a.py, where: {X: {kind: call}}}]\n",
       "patches/x/patch.yaml:4:25: error: 'where' needs a 'match' whose metavariables it narrows\n"
       "    requires: [{file: a.py, where: {X: {kind: call}}}]\n"
       "                            ^~~~~\n"
       "  hint: write the pattern\n"},
      {"patch: p\n"
       "package: engine\n"
       "rules: [r]\n"
       "requires: [{package: x, versions: '=>1'}]\n",
       "patches/x/patch.yaml:4:35: error: 'versions' is not a version range: '=>1' does not begin with an operator "
       "(one of ==, !=, >=, <=, >, <, ~=, ===)\n"
       "    requires: [{package: x, versions: '=>1'}]\n"
       "                                      ^~~~~\n"
       "  hint: write PEP 440 specifiers, such as \">=0.5.1,<0.6\"\n"},
      {"patch: p\n"
       "package: engine\n"
       "rules: [r]\n"
       "superseded: {file: a.py}\n",
       "patches/x/patch.yaml:4:13: error: 'superseded' must be a list, not a map\n"
       "    superseded: {file: a.py}\n"
       "                ^~~~~~~~~~~\n"
       "  hint: write each item in a line of its own that begins with '- '\n"},
      {"patch: p\n"
       "package: engine\n"
       "rules: [r]\n"
       "superseded: [{file: a.py, in: 'f()'}]\n",
       "patches/x/patch.yaml:4:31: error: 'f()' is no scope\n"
       "    superseded: [{file: a.py, in: 'f()'}]\n"
       "                                  ^~~~~\n"
       "  hint: write the names of classes and functions with dots between them, such as Backend.forward_decode; * "
       "stands for one name\n"},
      {"patch: p\n"
       "package: engine\n"
       "rules: [r]\n"
       "---\n"
       "patch: q\n",
       "patches/x/patch.yaml:4:1: error: a second YAML document begins here\n"
       "    ---\n"
       "    ^~~\n"
       "  hint: a file holds one document: remove this line, or split the file\n"},
  };
  for (const Refusal& refusal : kRefusals) EXPECT_EQ(error_of(refusal.yaml), refusal.text) << refusal.yaml;
}

}  // namespace
}  // namespace suture
