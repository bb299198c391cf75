// Which files of a package are handed on as leads: bounded, in order, links and hidden folders left out.
#include "effects/find_modules.h"

#include <gtest/gtest.h>

#include "support/memory_file_system.h"

namespace suture {
namespace {

using Found = std::map<std::string, std::string>;

LocatedTree tree_at(const std::string& folder) {
  LocatedTree tree;
  tree.package_folder = folder;
  tree.present = true;
  return tree;
}

int rank_of_words(const std::string&, const std::string& bytes) {
  return bytes.find("best") != std::string::npos ? 2 : bytes.find("good") != std::string::npos ? 1 : 0;
}

TEST(FindModules, ReadsPythonFilesOfAllFoldersButHiddenOnes) {
  MemoryFileSystem fs;
  fs.put("/pkg/a.py", "good");
  fs.put("/pkg/a.txt", "good");
  fs.put("/pkg/sub/deep/b.py", "best");
  fs.put("/pkg/sub/c.py", "no");
  fs.put("/pkg/.suture/blobs/d.py", "best");
  fs.put("/pkg/__pycache__/e.py", "best");
  EXPECT_EQ(find_modules(fs, tree_at("/pkg"), rank_of_words), (Found{{"a.py", "good"}, {"sub/deep/b.py", "best"}}));
}

TEST(FindModules, KeepsTheBestTwoDozen) {
  MemoryFileSystem fs;
  for (int i = 100; i < 200; ++i) fs.put("/pkg/m" + std::to_string(i) + ".py", i == 199 ? "best" : "good");
  const Found found = find_modules(fs, tree_at("/pkg"), rank_of_words);
  EXPECT_EQ(found.size(), 24U);
  EXPECT_TRUE(found.contains("m199.py"));
  EXPECT_TRUE(found.contains("m100.py"));
  EXPECT_FALSE(found.contains("m123.py"));
}

TEST(FindModules, AnAbsentTreeHasNone) {
  MemoryFileSystem fs;
  EXPECT_EQ(find_modules(fs, LocatedTree{}, rank_of_words), Found{});
  EXPECT_EQ(find_modules(fs, tree_at("/nowhere"), rank_of_words), Found{});
}

}  // namespace
}  // namespace suture
