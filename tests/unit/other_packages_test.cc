// Where other packages are found, and what is read of them.
#include "effects/other_packages.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "base/text.h"
#include "support/memory_file_system.h"

namespace suture {
namespace {

class OtherPackages : public ::testing::Test {
 protected:
  OtherPackages() {
    fs.put("/s/pkg/__init__.py", "");
    tree.package_folder = "/s/pkg";
    tree.metadata_folder = "/s";
    tree.present = true;
  }

  void install(const std::string& site, const std::string& record) {
    fs.put(site + "/kern/__init__.py", "");
    fs.put(site + "/kern/mla.py", "class W: pass\n");
    fs.put(site + "/kern_python-0.2.dist-info/METADATA", "Name: kern-python\nVersion: 0.2\n");
    fs.put(site + "/kern_python-0.2.dist-info/RECORD", record);
  }

  // "FOLDER VERSION: files", or where it was searched.
  std::string found(const std::string& with = "", const std::string& name = "kern-python",
                    const std::set<std::string>& folders = {}) {
    const OtherNeeds needs{{"mla.py", "gone.py"}, {}, folders};
    const Result<OtherPackage> other = load_other(fs, tree, name, needs, with, {});
    if (!other) return "error: " + other.error().message;
    if (!other->problem.empty()) return "problem: " + other->problem;
    if (!other->present) return "searched " + join(other->searched, ", ");
    std::vector<std::string> files;
    for (const auto& [path, file] : other->files) {
      if (file.bytes) files.push_back(path);
    }
    return other->folder + " " + other->dist.version.value_or("?") + ": " + join(files, " ");
  }

  MemoryFileSystem fs;
  LocatedTree tree;
};

TEST_F(OtherPackages, BesideTheTreeByTheirMetadata) {
  EXPECT_EQ(found(), "searched /s");
  install("/s", "kern/__init__.py,,\nkern/mla.py,,\nkern_python-0.2.dist-info/METADATA,,\n");
  EXPECT_EQ(found(), "kern 0.2: mla.py");
  fs.put("/s/kern_python-0.3.dist-info/METADATA", "Name: kern-python\nVersion: 0.3\n");
  EXPECT_EQ(found(), "kern ?: mla.py");  // two versions are none
}

TEST_F(OtherPackages, ByTopLevelWhereRecordSaysNothing) {
  install("/s", "");
  EXPECT_EQ(found(), "searched /s");
  fs.put("/s/kern_python-0.2.dist-info/top_level.txt", "kern\n");
  EXPECT_EQ(found(), "kern 0.2: mla.py");
}

TEST_F(OtherPackages, ByTheirNameWhereThereIsNoMetadata) {
  fs.put("/s/kern_python/mla.py", "");
  EXPECT_EQ(found(), "kern_python ?: mla.py");
}

TEST_F(OtherPackages, ByTheFolderThatConditionsGive) {
  fs.put("/s/kern/mla.py", "");  // a checkout: no metadata says that this is kern-python
  EXPECT_EQ(found(), "searched /s");
  EXPECT_EQ(found("", "kern-python", {"kern"}), "kern ?: mla.py");
  fs.put("/s/kern_python/mla.py", "");
  EXPECT_EQ(found("", "kern-python", {"kern"}), "kern ?: mla.py");
}

TEST_F(OtherPackages, AllOfTheEnvironmentAndWhatItPointsTo) {
  fs.put("/e/kern_python-0.2.dist-info/METADATA", "Name: kern-python\nVersion: 0.2\n");
  fs.put("/e/kern_python-0.2.dist-info/top_level.txt", "kern\n");
  fs.put("/e/kern.pth", "/work\n");
  fs.put("/work/kern/mla.py", "");
  EXPECT_EQ(found(), "searched /s");
  tree.sites = {"/s", "/e"};
  EXPECT_EQ(found(), "kern 0.2: mla.py");
}

TEST_F(OtherPackages, SingleModulesHaveAVersionAndNoFiles) {
  fs.put("/s/six.py", "");
  fs.put("/s/six-1.16.dist-info/METADATA", "Name: six\nVersion: 1.16\n");
  EXPECT_EQ(found("", "six"), "six 1.16: ");
  fs.put("/s/gone-1.0.dist-info/METADATA", "Name: gone\nVersion: 1.0\n");
  EXPECT_EQ(found("", "gone"), "searched /s");
}

TEST_F(OtherPackages, NoCallThatFailsMakesOneThatIsThereUp) {
  install("/s", "kern/__init__.py,,\n");
  const std::uint64_t before = fs.operations();
  const std::string whole = found();
  ASSERT_EQ(whole, "kern 0.2: mla.py");
  const std::uint64_t steps = fs.operations() - before;
  for (std::uint64_t n = 1; n <= steps; ++n) {
    fs.fail_at(n, EACCES);
    const std::string got = found();
    const bool safe = got == whole || got == "kern 0.2: " || got.starts_with("searched ") ||
                      got.starts_with("problem: ") || got.starts_with("kern ?: ");
    EXPECT_TRUE(safe) << "operation " << n << ": " << got;
  }
}

TEST_F(OtherPackages, WithSaysWhereAndNothingElseCounts) {
  install("/s", "kern/__init__.py,,\n");
  install("/o", "kern/__init__.py,,\n");
  fs.put("/o/kern_python-0.2.dist-info/METADATA", "Name: kern-python\nVersion: 0.9\n");
  EXPECT_EQ(found("/o"), "kern 0.9: mla.py");
  EXPECT_EQ(found("/o/kern"), "kern 0.9: mla.py");
  fs.put_folder("/empty");
  EXPECT_EQ(found("/empty"), "searched /empty");
  fs.put("/file.whl", "");
  EXPECT_EQ(found("/file.whl"), "error: --with kern-python: /file.whl is neither a folder nor a wheel");
  EXPECT_EQ(found("/nowhere"), "error: --with kern-python: cannot look at /nowhere: No such file or directory");
  fs.put("/v/pyvenv.cfg", "version = 3.11.2\n");
  fs.put_folder("/v/lib/python3.11/site-packages");
  install("/v/lib/python3.11/site-packages", "kern/__init__.py,,\n");
  EXPECT_EQ(found("/v"), "kern 0.2: mla.py");
}

}  // namespace
}  // namespace suture
