// The whole text of a diagnostic, for each kind of location.
#include "base/result.h"

#include <gtest/gtest.h>

#include <string>

#include "base/source.h"

namespace suture {
namespace {

Error error_at(const std::string& line, std::uint32_t column, std::uint32_t width) {
  return {Exit::bad_rule, "it is wrong", Location{"rules/x.yaml", 3, column, line, width}, "make it right"};
}

TEST(ToText, WithoutALocation) {
  EXPECT_EQ(to_text({Exit::usage, "no such option --frob", std::nullopt, ""}), "error: no such option --frob\n");
  EXPECT_EQ(to_text({Exit::usage, "no such option --frob", std::nullopt, "did you mean --from?"}),
            "error: no such option --frob\n  hint: did you mean --from?\n");
}

TEST(ToText, OfAWholeFile) {
  const Error error{Exit::file_system, "the file is a folder", Location{"srt/x.py", 0, 0, "", 1}, "name a file"};
  EXPECT_EQ(to_text(error), "srt/x.py: error: the file is a folder\n  hint: name a file\n");
}

TEST(ToText, QuotesTheLineAndUnderlinesTheRange) {
  EXPECT_EQ(to_text(error_at("match: $X.get(", 8, 7)),
            "rules/x.yaml:3:8: error: it is wrong\n"
            "    match: $X.get(\n"
            "           ^~~~~~~\n"
            "  hint: make it right\n");
}

TEST(ToText, AnEmptyLineAndAWidthOfZeroStillHaveACaret) {
  EXPECT_EQ(to_text(error_at("", 1, 0)), "rules/x.yaml:3:1: error: it is wrong\n    \n    ^\n  hint: make it right\n");
}

TEST(ToText, TabsStandInTheCaretLineToo) {
  EXPECT_EQ(to_text(error_at("\tif\tx:", 5, 1)),
            "rules/x.yaml:3:5: error: it is wrong\n"
            "    \tif\tx:\n"
            "    \t  \t^\n"
            "  hint: make it right\n");
}

TEST(ToText, ACharacterOfSeveralBytesIsOneColumn) {
  EXPECT_EQ(to_text(error_at("é = \"日本\" + x", 12, 1)),
            "rules/x.yaml:3:12: error: it is wrong\n"
            "    é = \"日本\" + x\n"
            "               ^\n"
            "  hint: make it right\n");
}

TEST(ToText, BytesThatATerminalShouldNotSeeAreReplaced) {
  EXPECT_EQ(to_text(error_at("a\xE9 \x1B[31m\x7F\xC2\x9B z", 12, 1)),
            "rules/x.yaml:3:12: error: it is wrong\n"
            "    a\xEF\xBF\xBD \xEF\xBF\xBD[31m\xEF\xBF\xBD\xEF\xBF\xBD z\n"
            "               ^\n"
            "  hint: make it right\n");
}

TEST(ToText, ALongLineIsShownAroundItsCaret) {
  const std::string line = std::string(1000, 'a') + "BAD" + std::string(1000, 'z');
  EXPECT_EQ(to_text(error_at(line, 1001, 3)), "rules/x.yaml:3:1001: error: it is wrong\n    ..." +
                                                  std::string(80, 'a') + "BAD" + std::string(77, 'z') + "...\n    " +
                                                  std::string(83, ' ') + "^~~\n  hint: make it right\n");
}

TEST(ToText, AnUnderlineNeverLeavesTheShownPartOfALongLine) {
  const std::string text = to_text(error_at(std::string(1000, 'a'), 1, 1000));
  EXPECT_EQ(text, "rules/x.yaml:3:1: error: it is wrong\n    " + std::string(160, 'a') + "...\n    ^" +
                      std::string(159, '~') + "\n  hint: make it right\n");
}

// A receipt, a path, a link's target may be anything: what it says to a terminal is not passed on.
TEST(ToText, ControlCharactersOfMessagePathAndHintAreReplaced) {
  const std::string title = "\033]0;x\a";
  const std::string gone = "\xEF\xBF\xBD]0;x\xEF\xBF\xBD";
  EXPECT_EQ(to_text({Exit::file_system, "cannot read " + title + "\nbelow", std::nullopt, "move " + title}),
            "error: cannot read " + gone + "\nbelow\n  hint: move " + gone + "\n");
  EXPECT_EQ(to_text({Exit::bad_rule, "wrong", Location{title, 0, 0, "", 1}, ""}), gone + ": error: wrong\n");
}

TEST(Result, HoldsAValueOrAnError) {
  const Result<int> value = 3;
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(*value, 3);
  const Result<int> error = Error{Exit::unfit, "no", std::nullopt, ""};
  ASSERT_FALSE(error);
  EXPECT_EQ(error.error().exit, Exit::unfit);
}

}  // namespace
}  // namespace suture
