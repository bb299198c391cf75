// What a written file and what is added get of mode, owner and time, on the double in memory.
#include "effects/stage.h"

#include <gtest/gtest.h>

#include "support/memory_file_system.h"

namespace suture {
namespace {

class Staged : public ::testing::Test {
 protected:
  Staged() { fs.put("/site/pkg/first.py", "old\n", 0640); }

  FileInfo info(const std::string& path) { return fs.info_at(kAbsolute, path).value; }
  void set_modified(const std::string& path, std::int64_t seconds) {
    const Io<Handle> file = fs.open_file(kAbsolute, path);
    ASSERT_TRUE(fs.set_modified(file.value, seconds));
    fs.close(file.value);
  }
  void set_folder(std::uint32_t mode, std::uint32_t owner) {
    const Io<Handle> folder = fs.open_folder(kAbsolute, "/site/pkg");
    ASSERT_TRUE(fs.set_mode(folder.value, mode));
    ASSERT_TRUE(fs.set_owner(folder.value, owner, owner));
    fs.close(folder.value);
  }
  FileInfo stage(const std::string& target, std::uint32_t most = StageRequest{}.most) {
    const Io<Handle> folder = fs.open_folder(kAbsolute, "/site/pkg");
    StageRequest request{folder.value, target, ".staged", "/site/pkg/" + target, target == "first.py"};
    request.most = most;
    std::vector<std::string> notes;
    const Status done = stage_bytes(fs, request, "new\n", &notes);
    EXPECT_TRUE(done) << to_text(done.error());
    const FileInfo staged = info("/site/pkg/.staged");
    EXPECT_TRUE(fs.remove(folder.value, ".staged"));
    fs.close(folder.value);
    return staged;
  }

  MemoryFileSystem fs;
};

TEST_F(Staged, IsYoungerByASecond) {
  fs.sleep(std::chrono::seconds(100));
  set_modified("/site/pkg/first.py", 99);
  EXPECT_EQ(stage("first.py").modified, 100) << "the clock's own time does";
  set_modified("/site/pkg/first.py", 100);
  EXPECT_EQ(stage("first.py").modified, 101) << "within the same second";
  set_modified("/site/pkg/first.py", 5000);
  EXPECT_EQ(stage("first.py").modified, 5001) << "a clock that went back";
}

TEST_F(Staged, HasTheModeOfWhatItReplaces) {
  set_folder(0777, 7);
  EXPECT_EQ(stage("first.py").mode, 0640U);
  EXPECT_EQ(stage("first.py").uid, 1000U);
}

TEST_F(Staged, IsAddedAsItsFolderIs) {
  const std::pair<std::uint32_t, std::uint32_t> modes[] = {{0755, 0644},  {0700, 0600}, {0775, 0664}, {02775, 0664},
                                                           {01777, 0664}, {0555, 0644}, {0750, 0640}};
  for (const auto& [folder, file] : modes) {
    set_folder(folder, 7);
    EXPECT_EQ(stage("added.py").mode, file) << std::oct << folder;
    EXPECT_EQ(stage("added.py").uid, 7U);
  }
  set_folder(0755, 7);
  EXPECT_EQ(stage("added.py", 0600).mode, 0600U) << "a copy of a private file";
}

}  // namespace
}  // namespace suture
