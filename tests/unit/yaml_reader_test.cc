// What is read and where it stands; and every refusal, whole.
#include "read/yaml_reader.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace suture {
namespace {

// "key=value @text-of-its-range" of every scalar, so that a wrong range shows.
void describe(const YamlNode& node, const Source& source, std::string& out) {
  if (node.kind == YamlNode::Kind::scalar) out += "<" + node.value + "|" + std::string(source.text(node.at)) + ">";
  for (const YamlNode& item : node.items) describe(item, source, out += "-");
  for (const YamlEntry& entry : node.entries) {
    out += "(" + entry.key + "|" + std::string(source.text(entry.key_at)) + ")";
    describe(entry.value, source, out);
  }
}

std::string read(const std::string& yaml) {
  const Source source("rules/x.yaml", yaml);
  const Result<YamlNode> root = read_yaml(source);
  if (!root) return to_text(root.error());
  std::string out;
  describe(*root, source, out);
  return out;
}

TEST(YamlReader, PlainScalarsKnowTheirBytes) {
  EXPECT_EQ(read("a: x.get($Y).to(z)\nb: 2 # note\n"), "(a|a)<x.get($Y).to(z)|x.get($Y).to(z)>(b|b)<2|2>");
  EXPECT_EQ(read("ä: é\nb: {x: ü, y: z}\n"), "(ä|ä)<é|é>(b|b)(x|x)<ü|ü>(y|y)<z|z>");
  EXPECT_EQ(read("a: x\n  y\n\n  z # c\n"), "(a|a)<x y\nz|x\n  y\n\n  z>");
  EXPECT_EQ(read("a:\n- b\n-  - c\n   - d\n"), "(a|a)-<b|b>--<c|c>-<d|d>");
  EXPECT_EQ(read("a: 1\r\nb: 2\r\n"), "(a|a)<1|1>(b|b)<2|2>");
  EXPECT_EQ(read("\xEF\xBB\xBF"
                 "a: 1\n"),
            "(a|a)<1|1>");
  EXPECT_EQ(read("--- # doc\na: 1\n...\n"), "(a|a)<1|1>");
}

TEST(YamlReader, QuotedScalarsKnowTheirQuotes) {
  EXPECT_EQ(read("'a': 'it''s'\n\"b\": \"x\\n\\\"y\\\"\"\n"),
            "(a|'a')<it's|'it''s'>(b|\"b\")<x\n\"y\"|\"x\\n\\\"y\\\"\">");
  EXPECT_EQ(read("a: '*args'\n"), "(a|a)<*args|'*args'>");
  EXPECT_EQ(read("a: ''\n"), "(a|a)<|''>");
}

TEST(YamlReader, BlockScalarsAreExactAndBeginAtTheirFirstLine) {
  EXPECT_EQ(read("a: |\n  x\n    y\n\n  z\n# c\nb: 1\n"), "(a|a)<x\n  y\n\nz\n|x\n    y\n\n  z>(b|b)<1|1>");
  EXPECT_EQ(read("a: |- # note\n    x\n    \ty\n"), "(a|a)<x\n\ty|x\n    \ty>");
  EXPECT_EQ(read("a: |\n\n  x\n"), "(a|a)<\nx\n|\n  x>");
  EXPECT_EQ(read("a: |\n  x"), "(a|a)<x|x>") << "no newline at the end of the file";
  EXPECT_EQ(read("a: |+\n  x\n\nb: 1\n"), "(a|a)<x\n\n|x>(b|b)<1|1>");
  EXPECT_EQ(read("a: >-\n  x\n  y\n\n  z\n"), "(a|a)<x y\nz|x\n  y\n\n  z>");
  EXPECT_EQ(read("a: |2\n      x\n    y\n"), "(a|a)<    x\n  y\n|    x\n    y>") << "an indentation indicator";
  EXPECT_EQ(read("a: |\r\n  x\r\n  y\r\n"), "(a|a)<x\ny\n|x\r\n  y>");
  EXPECT_EQ(read("a:\n  - |\n    x\n     y\n  - z\n"), "(a|a)-<x\n y\n|x\n     y>-<z|z>");
}

TEST(YamlReader, FilesThatAreTooLargeAreRefusedAtOnce) {
  const Source source("rules/huge.yaml", std::string(100u << 20, 'a'));
  const auto start = std::chrono::steady_clock::now();
  const Result<YamlNode> root = read_yaml(source);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  ASSERT_FALSE(root);
  EXPECT_EQ(to_text(root.error()),
            "rules/huge.yaml: error: the file has 104857600 bytes; a rule or patch file has at most 1048576\n"
            "  hint: check that this is the file that you meant; rules may be split over several files\n");
  EXPECT_EQ(root.error().exit, Exit::bad_rule);
}

// Each was seconds or minutes, or a crash, in some reader of YAML.
TEST(YamlReader, HostileFilesEndSoon) {
  const std::size_t size = kMaxYamlBytes / 4;
  const auto repeated = [&](const std::string& text) {
    std::string out;
    while (out.size() + text.size() <= size) out += text;
    return out;
  };
  for (const char* text :
       {"[", "{", "- ", "-\n", "? ", "a: ", "\t", "\n", "'", "\"", "[a: ", "{\"a\":", ",", "#", "%", "!", "&a "}) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_FALSE(read(repeated(text)).empty()) << text;
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20)) << text;
  }
}

struct Refusal {
  const char* yaml;
  const char* text;
};

TEST(YamlReader, RefusalsWhole) {
  const Refusal kRefusals[] = {
      {"a: 1\nb: 2\na: 3\n",
       "rules/x.yaml:3:1: error: the key 'a' stands twice in one map\n"
       "    a: 3\n"
       "    ^\n"
       "  hint: the first one is in line 1; keep one of the two\n"},
      {"a: 1\n---\nb: 2\n",
       "rules/x.yaml:2:1: error: a second YAML document begins here\n"
       "    ---\n"
       "    ^~~\n"
       "  hint: a file holds one document: remove this line, or split the file\n"},
      {"a: 1\n...\nb: 2\n",
       "rules/x.yaml:3:1: error: a second YAML document begins here\n"
       "    b: 2\n"
       "    ^~~\n"
       "  hint: a file holds one document: remove this line, or split the file\n"},
      {"",
       "rules/x.yaml: error: the file holds no YAML document\n"
       "  hint: a rule file has 'rules:', a patch file has 'patch:'\n"},
      {"# only a comment\n",
       "rules/x.yaml: error: the file holds no YAML document\n"
       "  hint: a rule file has 'rules:', a patch file has 'patch:'\n"},
      {"---\n",
       "rules/x.yaml:1:4: error: the document is empty\n"
       "    ---\n"
       "       ^\n"
       "  hint: a rule file has 'rules:', a patch file has 'patch:'\n"},
      {"a: &x 1\n",
       "rules/x.yaml:1:4: error: a text that begins with '&' must be quoted (YAML takes it for an anchor, and anchors "
       "are refused)\n"
       "    a: &x 1\n"
       "       ^\n"
       "  hint: if it is meant as text, write '&x 1'\n"},
      {"a: *x\n",
       "rules/x.yaml:1:4: error: a text that begins with '*' must be quoted (YAML takes it for an alias, and aliases "
       "are refused)\n"
       "    a: *x\n"
       "       ^\n"
       "  hint: if it is meant as text, write '*x'\n"},
      {"match: *$ARGS\n",
       "rules/x.yaml:1:8: error: a text that begins with '*' must be quoted (YAML takes it for an alias, and aliases "
       "are refused)\n"
       "    match: *$ARGS\n"
       "           ^\n"
       "  hint: if it is meant as text, write '*$ARGS'\n"},
      {"match: @decorator\n",
       "rules/x.yaml:1:8: error: a text that begins with '@' must be quoted (YAML reserves that character)\n"
       "    match: @decorator\n"
       "           ^\n"
       "  hint: if it is meant as text, write '@decorator'\n"},
      {"match: %s\n",
       "rules/x.yaml:1:8: error: a text that begins with '%' must be quoted (YAML reserves that character)\n"
       "    match: %s\n"
       "           ^\n"
       "  hint: if it is meant as text, write '%s'\n"},
      {"match: `x`\n",
       "rules/x.yaml:1:8: error: a text that begins with '`' must be quoted (YAML reserves that character)\n"
       "    match: `x`\n"
       "           ^\n"
       "  hint: if it is meant as text, write '`x`'\n"},
      {"a: !!str 1\n",
       "rules/x.yaml:1:4: error: a text that begins with '!' must be quoted (YAML takes it for a tag, and tags are "
       "refused)\n"
       "    a: !!str 1\n"
       "       ^\n"
       "  hint: if it is meant as text, write '!!str 1'\n"},
      {"[a]: 1\n",
       "rules/x.yaml:1:1: error: a key must be a text, not a list\n"
       "    [a]: 1\n"
       "    ^\n"
       "  hint: put quotes around it, or name the key\n"},
      {"{a: {b: 1}: 2}\n",
       "rules/x.yaml:1:11: error: a ',' or the closing bracket is missing before this\n"
       "    {a: {b: 1}: 2}\n"
       "              ^\n"
       "  hint: a text with punctuation must be quoted\n"},
      {"? a\n: b\n",
       "rules/x.yaml:1:1: error: explicit keys ('?') are refused\n"
       "    ? a\n"
       "    ^\n"
       "  hint: write the key and a colon\n"},
      {"a: \"x\nb: 1\n",
       "rules/x.yaml:1:4: error: this quote is not closed\n"
       "    a: \"x\n"
       "       ^\n"
       "  hint: end the text with \"\n"},
      {"a: 'x\nb: 1\n",
       "rules/x.yaml:1:4: error: this quote is not closed\n"
       "    a: 'x\n"
       "       ^\n"
       "  hint: end the text with '\n"},
      {"{a: 1,, b: 2}\n",
       "rules/x.yaml:1:7: error: a key is missing here\n"
       "    {a: 1,, b: 2}\n"
       "          ^\n"
       "  hint: remove the extra punctuation\n"},
      {"[a,, b]\n",
       "rules/x.yaml:1:4: error: an item of the list is empty\n"
       "    [a,, b]\n"
       "       ^\n"
       "  hint: remove it; a text that YAML takes for nothing (null, ~) must be quoted\n"},
      {"a:\nb: 1\n",
       "rules/x.yaml:1:1: error: the key 'a' has no value\n"
       "    a:\n"
       "    ^\n"
       "  hint: write a value after it (null and ~ are none), or remove the key\n"},
      {"a: null\n",
       "rules/x.yaml:1:1: error: the key 'a' has no value\n"
       "    a: null\n"
       "    ^\n"
       "  hint: write a value after it (null and ~ are none), or remove the key\n"},
      {"a:\n- x\n-\n- y\n",
       "rules/x.yaml:3:1: error: an item of the list is empty\n"
       "    -\n"
       "    ^\n"
       "  hint: remove it; a text that YAML takes for nothing (null, ~) must be quoted\n"},
      {"a: {x: f(b, c), y: 1}\n",
       "rules/x.yaml:1:13: error: the key 'c)' has no value\n"
       "    a: {x: f(b, c), y: 1}\n"
       "                ^~\n"
       "  hint: write a value after it; a text that holds a comma must be quoted\n"},
      {"a: [x\n",
       "rules/x.yaml:1:4: error: this bracket is not closed\n"
       "    a: [x\n"
       "       ^\n"
       "  hint: close it\n"},
      {"a: {x: 1\n",
       "rules/x.yaml:1:4: error: this bracket is not closed\n"
       "    a: {x: 1\n"
       "       ^\n"
       "  hint: close it\n"},
      {"a: [x]]\n",
       "rules/x.yaml:1:7: error: not valid YAML: illegal flow end\n"
       "    a: [x]]\n"
       "          ^\n"
       "  hint: quote the text, or write it as a block (|)\n"},
      {"\ta: 1\n",
       "rules/x.yaml:1:1: error: a tab indents this line\n"
       "    \ta: 1\n"
       "    ^\n"
       "  hint: YAML indents with spaces only\n"},
      {"a:\n\tb: 1\n",
       "rules/x.yaml:2:1: error: a tab indents this line\n"
       "    \tb: 1\n"
       "    ^\n"
       "  hint: YAML indents with spaces only\n"},
      {"a:\n  b: 1\n\tc: 2\n",
       "rules/x.yaml:3:1: error: a tab indents this line\n"
       "    \tc: 2\n"
       "    ^\n"
       "  hint: YAML indents with spaces only\n"},
      {"a: |\n  x\n\ty\n",
       "rules/x.yaml:3:1: error: a tab indents this line\n"
       "    \ty\n"
       "    ^\n"
       "  hint: YAML indents with spaces only\n"},
      {"a: x: y\n",
       "rules/x.yaml:1:5: error: a second ':' that YAML takes for a key's\n"
       "    a: x: y\n"
       "        ^\n"
       "  hint: quote the text, or write it as a block (|)\n"},
      {"a: \"x\" + y\n",
       "rules/x.yaml:1:8: error: this does not belong to the value before it\n"
       "    a: \"x\" + y\n"
       "           ^\n"
       "  hint: check the indentation; quote the whole text, or write it as a block (|)\n"},
      {"a: \"\\d+\"\n",
       "rules/x.yaml:1:5: error: an escape that YAML does not know\n"
       "    a: \"\\d+\"\n"
       "        ^~\n"
       "  hint: in single quotes a backslash is a backslash\n"},
      {"a: >+\n  x\n",
       "rules/x.yaml:1:4: error: this block cannot be read exactly\n"
       "    a: >+\n"
       "       ^\n"
       "  hint: begin it with |, |-, |+, > or >- alone on the line, and each of its lines with the same spaces\n"},
      {"a: |x\n  y\n",
       "rules/x.yaml:1:5: error: not valid YAML: unexpected character in block scalar\n"
       "    a: |x\n"
       "        ^\n"
       "  hint: quote the text, or write it as a block (|)\n"},
      {"  a: 1\nb: 2\n",
       "rules/x.yaml:2:1: error: this line belongs to nothing above it\n"
       "    b: 2\n"
       "    ^~~~\n"
       "  hint: check its indentation\n"},
      {"a:\nb\n",
       "rules/x.yaml:1:1: error: the key 'a' has no value\n"
       "    a:\n"
       "    ^\n"
       "  hint: write a value after it (null and ~ are none), or remove the key\n"},
      {"a:\n'b'\n",
       "rules/x.yaml:2:1: error: this value stands no deeper than what it belongs to\n"
       "    'b'\n"
       "    ^\n"
       "  hint: indent it\n"},
      {"%YAML 1.2\n---\na: 1\n",
       "rules/x.yaml:1:1: error: directives are refused\n"
       "    %YAML 1.2\n"
       "    ^\n"
       "  hint: remove the line\n"},
      {"a: caf\xE9\n",
       "rules/x.yaml:1:7: error: this byte is not UTF-8\n"
       "    a: caf�\n"
       "          ^\n"
       "  hint: save the file as UTF-8\n"},
      {"a: 1\rb: 2\n",
       "rules/x.yaml:1:5: error: a carriage return without a newline\n"
       "    a: 1\n"
       "        ^\n"
       "  hint: end lines with a newline\n"},
      {"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n",
       "rules/x.yaml:1:33: error: nested deeper than 32 levels\n"
       "    [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]\n"
       "                                    ^\n"
       "  hint: no rule or patch file needs that; look for a bracket that is not closed\n"},
      {"a: x\nb\n",
       "rules/x.yaml:2:1: error: the key 'b' has no value\n"
       "    b\n"
       "    ^\n"
       "  hint: write a value after it (null and ~ are none), or remove the key\n"},
      {"a: {b c}\n",
       "rules/x.yaml:1:5: error: the key 'b c' has no value\n"
       "    a: {b c}\n"
       "        ^~~\n"
       "  hint: write a value after it; a text that holds a comma must be quoted\n"},
      {"é: [x,, y]\n",
       "rules/x.yaml:1:7: error: an item of the list is empty\n"
       "    é: [x,, y]\n"
       "          ^\n"
       "  hint: remove it; a text that YAML takes for nothing (null, ~) must be quoted\n"},
      {"a: &x [*x]\n",
       "rules/x.yaml:1:4: error: a text that begins with '&' must be quoted (YAML takes it for an anchor, and anchors "
       "are refused)\n"
       "    a: &x [*x]\n"
       "       ^\n"
       "  hint: if it is meant as text, write '&x [*x]'\n"},
  };
  for (const Refusal& refusal : kRefusals) EXPECT_EQ(read(refusal.yaml), refusal.text) << refusal.yaml;
}

TEST(YamlReader, RefusesWhatIsNoText) {
  EXPECT_EQ(read(std::string("a: x\0y\n", 7)),
            "rules/x.yaml:1:5: error: a control character\n"
            "    a: x\xEF\xBF\xBDy\n"
            "        ^\n"
            "  hint: remove it, or write it as an escape in double quotes\n");
}

}  // namespace
}  // namespace suture
