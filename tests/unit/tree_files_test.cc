// What globs and classes read of a folder.
#include "effects/tree_files.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "base/text.h"
#include "support/memory_file_system.h"

namespace suture {
namespace {

class TreeFiles : public ::testing::Test {
 protected:
  // "path path!": the files that were read, one that cannot be read with a "!".
  std::string read(const std::set<std::string>& wanted, const std::set<std::string>& classes = {}) {
    const Result<TreeFolder> tree = TreeFolder::open(fs, "/s/pkg");
    files.clear();
    searched = read_files(*tree, wanted, classes, files);
    std::vector<std::string> out;
    for (const auto& [path, file] : files)
      out.push_back(path + (file.kind == FileState::Kind::unreadable ? "!"
                            : file.kind == FileState::Kind::absent   ? "?"
                                                                     : ""));
    EXPECT_EQ(fs.open_handles(), 1U);  // the folder itself
    return join(out, " ");
  }
  MemoryFileSystem fs;
  Files files;
  std::size_t searched = 0;
};

TEST_F(TreeFiles, GlobsNameThePythonFilesThatAreThere) {
  for (const char* path :
       {"a.py", "k/b.py", "k/c.so", "k/l/d.py", "k/.e.py", "k/__pycache__/f.py", ".suture/g.py", "m/h.py"})
    fs.put(std::string("/s/pkg/") + path, "x = 1\n");
  fs.put_folder("/s/pkg/k/folder.py");
  EXPECT_EQ(read({"k/*.py"}), "k/b.py k/folder.py");
  EXPECT_EQ(files_named(files, "k/*.py"), std::vector<std::string>{"k/b.py"});
  EXPECT_EQ(read({"**/*.py"}), "a.py k/b.py k/folder.py k/l/d.py m/h.py");
  EXPECT_EQ(read({"k/**/*.py", "gone.py", "m/*.py"}), "gone.py? k/b.py k/folder.py k/l/d.py m/h.py");
  EXPECT_EQ(*files["m/h.py"].bytes, "x = 1\n");
  EXPECT_EQ(read({"gone/*.py"}), "");
}

TEST_F(TreeFiles, LinksAreNotFollowedOutOfTheTree) {
  fs.put("/s/pkg/k/a.py", "a\n");
  fs.put("/outside/b.py", "b\n");
  fs.put_link("/s/pkg/k/inside", "../k");
  fs.put_link("/s/pkg/k/again.py", "a.py");
  fs.put_link("/s/pkg/k/lib.so", "/outside/b.py");
  EXPECT_EQ(read({"k/**/*.py"}), "k/a.py k/again.py");
  EXPECT_EQ(files["k/again.py"].link_to, "k/a.py");
  EXPECT_EQ(files_named(files, "k/**/*.py"), std::vector<std::string>{"k/a.py"});
  fs.put_link("/s/pkg/k/far.py", "/outside/b.py");
  fs.put_link("/s/pkg/k/out", "/outside");
  EXPECT_EQ(read({"k/**/*.py"}), "k/a.py k/again.py k/far.py! k/out!");
  EXPECT_NE(files["k/out"].problem.find("leads outside"), std::string::npos) << files["k/out"].problem;
  EXPECT_EQ(read({"k/*.py"}), "k/a.py k/again.py k/far.py!");  // it need not go there
}

TEST_F(TreeFiles, AFolderThatCannotBeListedIsNotTakenForEmpty) {
  fs.put("/s/pkg/k/a.py", "a\n");
  const Result<TreeFolder> tree = TreeFolder::open(fs, "/s/pkg");
  Files found;
  const std::uint64_t before = fs.operations();
  read_files(*tree, {"k/*.py"}, {}, found);
  const std::uint64_t steps = fs.operations() - before;
  std::size_t doubts = 0;
  for (std::uint64_t n = 1; n <= steps; ++n) {
    fs.fail_at(n, EACCES);
    found.clear();
    read_files(*tree, {"k/*.py"}, {}, found);
    const auto unread = [](const auto& file) { return file.second.kind == FileState::Kind::unreadable; };
    const bool whole = found.contains("k/a.py") && found["k/a.py"].bytes != nullptr;
    EXPECT_TRUE(whole || std::any_of(found.begin(), found.end(), unread)) << "operation " << n;
    doubts += whole ? 0 : 1;
  }
  EXPECT_GT(doubts, 0U);
}

TEST_F(TreeFiles, ClassesAreFoundWhereverTheyStand) {
  fs.put("/s/pkg/a.py", "class Rows:\n    pass\n");
  fs.put("/s/pkg/k/b.py", "class  Rows(Base): pass\n");
  fs.put("/s/pkg/k/c.py", "# Rows is no class here\nclass Other: pass\n");
  fs.put("/s/pkg/k/__pycache__/d.py", "class Rows: pass\n");
  EXPECT_EQ(read({}, {"Rows"}), "a.py k/b.py");
  EXPECT_EQ(searched, 3U);
  EXPECT_EQ(read({"a.py"}, {"Rows", "Other"}), "a.py k/b.py k/c.py");
  EXPECT_EQ(searched, 3U);
}

TEST(MayDefineClass, FindsNoLessThanTheParser) {
  EXPECT_TRUE(may_define_class("class A: pass", "A"));
  EXPECT_TRUE(may_define_class("x = A\nclass\tA(B): pass", "A"));
  EXPECT_TRUE(may_define_class("class \\\n  A: pass", "A"));
  EXPECT_FALSE(may_define_class("classA = 1", "A"));
  EXPECT_FALSE(may_define_class("klass = A", "A"));
}

}  // namespace
}  // namespace suture
