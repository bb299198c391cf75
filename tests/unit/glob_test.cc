// Which paths a glob names.
#include "read/glob.h"

#include <gtest/gtest.h>

namespace suture {
namespace {

bool matches(const char* glob, const char* path) {
  EXPECT_FALSE(glob_problem(glob)) << glob;
  return Glob(glob).matches(path);
}

TEST(Glob, WildcardsStayWithinOnePart) {
  EXPECT_TRUE(matches("k/*.py", "k/a.py"));
  EXPECT_TRUE(matches("k/*.py", "k/a.b.py"));
  EXPECT_FALSE(matches("k/*.py", "k/l/a.py"));
  EXPECT_FALSE(matches("k/*.py", "a.py"));
  EXPECT_FALSE(matches("*.py", "k/a.py"));
  EXPECT_TRUE(matches("*/a.py", "k/a.py"));
  EXPECT_TRUE(matches("k/a?.py", "k/ab.py"));
  EXPECT_TRUE(matches("k/a?.py", "k/a\xC3\xA4.py"));  // one character, two bytes
  EXPECT_FALSE(matches("k/a?.py", "k/a.py"));
  EXPECT_FALSE(matches("k/a?.py", "k/abc.py"));
  EXPECT_TRUE(matches("*a*b*.py", "xaxaxbx.py"));
  EXPECT_FALSE(matches("*a*b*.py", "xbxa.py"));
  EXPECT_TRUE(matches("k/*", "k/a.py"));
}

TEST(Glob, Sets) {
  EXPECT_TRUE(matches("[ab].py", "a.py"));
  EXPECT_FALSE(matches("[ab].py", "c.py"));
  EXPECT_TRUE(matches("v[0-9].py", "v7.py"));
  EXPECT_FALSE(matches("v[0-9].py", "vx.py"));
  EXPECT_TRUE(matches("v[!0-9].py", "vx.py"));
  EXPECT_FALSE(matches("v[^0-9].py", "v7.py"));
  EXPECT_TRUE(matches("[]x].py", "].py"));
  EXPECT_TRUE(matches("[a-].py", "-.py"));
  EXPECT_TRUE(matches("[*].py", "*.py"));
  EXPECT_FALSE(matches("[*].py", "a.py"));
}

TEST(Glob, TwoStarsAreAnyNumberOfFolders) {
  EXPECT_TRUE(matches("**/*.py", "a.py"));
  EXPECT_TRUE(matches("**/*.py", "k/l/m/a.py"));
  EXPECT_TRUE(matches("k/**/a.py", "k/a.py"));
  EXPECT_TRUE(matches("k/**/a.py", "k/l/m/a.py"));
  EXPECT_FALSE(matches("k/**/a.py", "l/a.py"));
  EXPECT_TRUE(matches("**/k/**/*.py", "x/k/y/a.py"));
  EXPECT_FALSE(matches("**/k/**/*.py", "x/y/a.py"));
}

TEST(Glob, PythonFilesThatAreNotHidden) {
  EXPECT_FALSE(matches("k/*", "k/a.so"));
  EXPECT_FALSE(matches("**/*.py", ".hidden/a.py"));
  EXPECT_FALSE(matches("*/a.py", ".hidden/a.py"));
  EXPECT_TRUE(matches(".hidden/*.py", ".hidden/a.py"));
  EXPECT_FALSE(matches("*.py", ".a.py"));
  EXPECT_FALSE(matches(".suture/*.py", ".suture/a.py"));
  EXPECT_FALSE(matches("**/*.py", "k/__pycache__/a.py"));
  EXPECT_FALSE(matches("*/*.py", "__pycache__/a.py"));
}

TEST(Glob, EntersTheFoldersThatMayHoldAMatch) {
  const Glob glob("k/*/x/*.py");
  for (const char* folder : {"", "k", "k/a", "k/a/x"}) EXPECT_TRUE(glob.enters(folder)) << folder;
  for (const char* folder : {"l", "k/a/y", "k/a/x/z", "k/.a"}) EXPECT_FALSE(glob.enters(folder)) << folder;
  const Glob deep("k/**/*.py");
  for (const char* folder : {"", "k", "k/a", "k/a/b"}) EXPECT_TRUE(deep.enters(folder)) << folder;
  for (const char* folder : {"l", "k/__pycache__", "k/.git"}) EXPECT_FALSE(deep.enters(folder)) << folder;
}

TEST(Glob, SaysWhatIsWrong) {
  const auto problem = [](const char* glob) {
    const auto found = glob_problem(glob);
    return found ? found->message : "";
  };
  EXPECT_EQ(problem("k/[ab.py"), "a '[' is not closed in 'k/[ab.py'");
  EXPECT_EQ(problem("k/[].py"), "a '[' is not closed in 'k/[].py'");
  EXPECT_EQ(problem("k/[a]b[!.py"), "a '[' is not closed in 'k/[a]b[!.py'");
  EXPECT_EQ(problem("k/a**.py"), "'**' is not a part of its own in 'k/a**.py'");
  EXPECT_EQ(problem("k/**"), "the glob 'k/**' names folders, not files");
  EXPECT_EQ(problem("k/*.txt"), "the glob 'k/*.txt' names no Python file");
  EXPECT_TRUE(is_glob("a?.py") && is_glob("a*.py") && is_glob("[a].py"));
  EXPECT_FALSE(is_glob("k/a.py"));
}

}  // namespace
}  // namespace suture
