// What can be imported beside a package.
#include "effects/modules.h"

#include <gtest/gtest.h>

#include "support/memory_file_system.h"

namespace suture {
namespace {

using Names = std::set<std::string>;

class Modules : public ::testing::Test {
 protected:
  Modules() {
    fs.put("/s/pkg/__init__.py", "");
    fs.put("/s/pkg-1.0.dist-info/METADATA", "Name: pkg\nVersion: 1.0\n");
    tree.package_folder = "/s/pkg";
    tree.metadata_folder = "/s";
    tree.present = true;
  }
  MemoryFileSystem fs;
  LocatedTree tree;
};

TEST_F(Modules, FoldersModulesAndExtensionModulesProvideThem) {
  fs.put("/s/folder/lib.so", "");
  fs.put("/s/one.py", "");
  fs.put("/s/ext.cpython-311-x86_64-linux-gnu.so", "");
  fs.put("/s/text.txt", "");
  EXPECT_EQ(absent_modules(fs, tree, {"folder", "one", "ext", "pkg", "text", "torch"}), (Names{"text", "torch"}));
}

TEST_F(Modules, WhatThePthFilesPointToCounts) {
  fs.put("/work/torch/__init__.py", "");
  fs.put("/s/work.pth", "/work\n");
  EXPECT_EQ(absent_modules(fs, tree, {"torch"}), Names{});
}

TEST_F(Modules, AllOfTheEnvironmentCounts) {
  fs.put("/usr/lib/torch/__init__.py", "");
  EXPECT_EQ(absent_modules(fs, tree, {"torch"}), Names{"torch"});
  tree.sites = {"/s", "/usr/lib"};
  EXPECT_EQ(absent_modules(fs, tree, {"torch"}), Names{});
}

TEST_F(Modules, ACheckoutSaysNothing) {
  fs.put("/c/python/pkg/__init__.py", "");
  tree.package_folder = "/c/python/pkg";
  tree.metadata_folder = "/c/python";
  EXPECT_EQ(absent_modules(fs, tree, {"torch"}), Names{});
}

TEST_F(Modules, AWheelSaysNothing) {
  tree.read_only = true;
  EXPECT_EQ(absent_modules(fs, tree, {"torch"}), Names{});
}

}  // namespace
}  // namespace suture
