// Wheels as folders. The archives are built here, byte by byte, so that the sanitizers see the wrong ones too;
// tests/cli/wheel_test.py has those that Python's zipfile writes.
#include "effects/wheel_file_system.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cerrno>
#include <random>

#include "effects/locate.h"
#include "effects/zip_archive.h"
#include "support/memory_file_system.h"

namespace suture {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Members = std::vector<std::pair<std::string, std::string>>;

std::string little(std::uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 255U);
  return out;
}

// Stored, not compressed.
std::string zip_of(const Members& members) {
  std::string out, directory;
  for (const auto& [name, bytes] : members) {
    const std::uint64_t crc = crc32(0, reinterpret_cast<const Bytef*>(bytes.data()), static_cast<uInt>(bytes.size()));
    const std::string common = little(20, 2) + little(0, 2) + little(0, 2) + little(0, 4) + little(crc, 4) +
                               little(bytes.size(), 4) + little(bytes.size(), 4) + little(name.size(), 2) +
                               little(0, 2);
    directory += "PK\1\2" + little(20, 2) + common + little(0, 8) + little(0, 2) + little(out.size(), 4) + name;
    out += "PK\3\4" + common + name + bytes;
  }
  const std::string count = little(members.size(), 2);
  return out + directory + "PK\5\6" + little(0, 4) + count + count + little(directory.size(), 4) +
         little(out.size(), 4) + little(0, 2);
}

const Members kWheel = {{"pkg/__init__.py", ""},
                        {"pkg/a.py", "a = 1\n"},
                        {"pkg/sub/b.py", "b = 1\n"},
                        {"pkg-1.0.data/purelib/pkg/c.py", "c = 1\n"},
                        {"pkg-1.0.data/scripts/run", "#!python\n"},
                        {"pkg-1.0.dist-info/METADATA", "Name: pkg\nVersion: 1.0\n"}};

class WheelFolder : public ::testing::Test {
 protected:
  void put(const Members& members) { below.put("/w/pkg.whl", zip_of(members)); }
  std::string mount_error() {
    const Status mounted = fs.mount("/w/pkg.whl");
    return mounted ? "" : mounted.error().message;
  }
  std::string text(const std::string& path) {
    const Io<std::string> bytes = read_file(fs, kAbsolute, path, 1000);
    return bytes ? bytes.value : errno_words(bytes.error);
  }

  MemoryFileSystem below;
  WheelFileSystem fs{below};
};

TEST_F(WheelFolder, IsReadAsItWouldBeInstalled) {
  put(kWheel);
  ASSERT_EQ(mount_error(), "");
  EXPECT_THAT(list_folder(fs, kAbsolute, "/w/pkg.whl").value, ElementsAre("pkg", "pkg-1.0.data", "pkg-1.0.dist-info"));
  EXPECT_THAT(list_folder(fs, kAbsolute, "/w/pkg.whl/pkg").value, ElementsAre("__init__.py", "a.py", "c.py", "sub"));
  EXPECT_THAT(list_folder(fs, kAbsolute, "/w/pkg.whl/pkg-1.0.data").value, ElementsAre("scripts"));
  EXPECT_EQ(text("/w/pkg.whl/pkg/a.py"), "a = 1\n");
  EXPECT_EQ(text("/w/pkg.whl/pkg/c.py"), "c = 1\n");
  EXPECT_EQ(text("/w/pkg.whl/pkg/none.py"), "No such file or directory");
  EXPECT_EQ(text("/w/pkg.whl/pkg/a.py/x"), "No such file or directory");
  EXPECT_EQ(text("/w/pkg.whl/pkg"), "Is a directory");
  EXPECT_EQ(fs.real_path("/w/pkg.whl/pkg/sub").value, "/w/pkg.whl/pkg/sub");
  EXPECT_EQ(fs.real_path("/w/pkg.whl/pkg/none").error, ENOENT);

  const Opened package(fs, fs.open_folder(kAbsolute, "/w/pkg.whl/pkg").value);
  EXPECT_EQ(fs.info_at(package.handle(), "a.py").value.size, 6U);
  EXPECT_EQ(fs.info_at(package.handle(), "sub").value.kind, FileInfo::Kind::folder);
  EXPECT_EQ(fs.open_folder(package.handle(), "a.py").error, ENOTDIR);
  EXPECT_EQ(fs.open_file(package.handle(), "..").error, ENOENT);
  // What is beside the wheel, and what only begins like it, is the file system's.
  below.put("/w/pkg.whl.txt", "text");
  EXPECT_EQ(text("/w/pkg.whl.txt"), "text");
  EXPECT_FALSE(fs.info_at(kAbsolute, "/w").value.in_wheel);
}

TEST_F(WheelFolder, IsFoundByLocate) {
  put(kWheel);
  below.put_link("/latest", "/w/pkg.whl");
  const TreeRequest request = {"/latest", "", {}};
  EXPECT_EQ(locate(fs, request, "pkg", "pkg").error().message, "/latest is a file, not a tree");
  ASSERT_TRUE(fs.mount("/latest"));
  const Result<LocatedTree> found = locate(fs, request, "pkg", "pkg");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->package_folder, "/w/pkg.whl/pkg");
  EXPECT_EQ(found->metadata_folder, "/w/pkg.whl");
  EXPECT_TRUE(found->present && found->read_only);
  EXPECT_FALSE(locate(fs, request, "other", "other")->present);
}

TEST_F(WheelFolder, TakesNoWrites) {
  put(kWheel);
  ASSERT_EQ(mount_error(), "");
  const auto before = below.tree("/");
  const Opened folder(fs, fs.open_folder(kAbsolute, "/w/pkg.whl/pkg").value);
  const Opened outside(fs, fs.open_folder(kAbsolute, "/w").value);
  const Opened file(fs, fs.open_file(folder.handle(), "a.py").value);
  const Handle at = folder.handle();
  EXPECT_EQ(fs.create_file(at, "new.py", 0644).error, EROFS);
  EXPECT_EQ(fs.create_file(kAbsolute, "/w/pkg.whl/new.py", 0644).error, EROFS);
  EXPECT_EQ(fs.open_lock(at, "lock", true).error, EROFS);
  EXPECT_EQ(fs.make_folder(at, ".suture", 0755).error, EROFS);
  EXPECT_EQ(fs.rename(at, "a.py", at, "b.py").error, EROFS);
  EXPECT_EQ(fs.rename(outside.handle(), "pkg.whl", at, "b.py").error, EROFS);
  EXPECT_EQ(fs.link(at, "a.py", outside.handle(), "b.py").error, EROFS);
  EXPECT_EQ(fs.remove(at, "a.py").error, EROFS);
  EXPECT_EQ(fs.remove_folder(at, "sub").error, EROFS);
  EXPECT_EQ(fs.write(file.handle(), "x").error, EROFS);
  EXPECT_EQ(fs.sync(at).error, EROFS);
  EXPECT_EQ(fs.set_mode(file.handle(), 0600).error, EROFS);
  EXPECT_EQ(fs.set_owner(file.handle(), 0, 0).error, EROFS);
  EXPECT_EQ(fs.set_xattr(file.handle(), "user.a", "b").error, EROFS);
  EXPECT_EQ(fs.remove_xattr(file.handle(), "user.a").error, EROFS);
  EXPECT_EQ(fs.try_lock(file.handle(), true).error, EROFS);
  EXPECT_EQ(below.tree("/"), before);
}

TEST_F(WheelFolder, NamesThatAreNoPathInsideIt) {
  for (const char* name : {"/etc/passwd", "..", "a/../../b", "a//b", "./a", "a/.", "/", "//"}) {
    put({{"pkg/a.py", ""}, {name, ""}});
    EXPECT_THAT(mount_error(), HasSubstr("which is no path inside it")) << name;
  }
  put({{std::string("a\0b", 3), ""}});
  EXPECT_THAT(mount_error(), HasSubstr("which is no path inside it"));
  put({{std::string(5000, 'a'), ""}});
  EXPECT_THAT(mount_error(), HasSubstr("a member with a name of 5000 bytes"));
  put({{"a\\..\\b", ""}, {"..a/b", ""}, {"a/b..", ""}});
  EXPECT_EQ(mount_error(), "");
}

TEST_F(WheelFolder, NamesThatStandTwice) {
  put({{"a", "1"}, {"a", "1"}});
  EXPECT_EQ(mount_error(), "/w/pkg.whl holds two members of one name: a");
  put({{"a", ""}, {"a-b", ""}, {"a/b", ""}});
  EXPECT_EQ(mount_error(), "/w/pkg.whl holds a member that is both a file and a folder: a");
  put({{"a/b", ""}, {"x.data/purelib/a", ""}});
  EXPECT_EQ(mount_error(), "/w/pkg.whl holds a member that is both a file and a folder: a");
  put({{"a/", ""}, {"a/", ""}, {"a/b", ""}});
  EXPECT_EQ(mount_error(), "");
}

TEST_F(WheelFolder, ReadsThatFail) {
  const std::string large(100'000, '#');  // more than is read at one time
  put({{"a.py", large}, {"b.py", large}});
  ASSERT_EQ(mount_error(), "");
  const Opened file(fs, fs.open_file(kAbsolute, "/w/pkg.whl/a.py").value);
  for (std::uint64_t n = 1; n < 4; ++n) {
    below.fail_at(n, EIO);
    EXPECT_EQ(fs.read(file.handle(), 0, 10).error, EIO) << n;
  }
  EXPECT_EQ(fs.read(file.handle(), 0, 10).value, "##########");
  EXPECT_EQ(fs.read(file.handle(), 99'998, 10).value, "##");
  EXPECT_EQ(fs.read(file.handle(), 100'000, 10).value, "");
  // real_path, open_file, info, read: each of them.
  for (std::uint64_t n = 1; n < 5; ++n) {
    WheelFileSystem other(below);
    below.fail_at(n, EIO);
    const Status mounted = other.mount("/w/pkg.whl");
    ASSERT_FALSE(mounted) << n;
    EXPECT_THAT(mounted.error().message, HasSubstr("Input/output error"));
  }
}

// Whatever the bytes: an error, or a reading that is right.
TEST_F(WheelFolder, DamageAtRandom) {
  const std::string good = zip_of(kWheel);
  std::mt19937 chance(7);
  int mounted = 0, right = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string bytes = good;
    for (unsigned hits = 1 + chance() % 4; hits > 0; --hits)
      bytes[chance() % bytes.size()] = static_cast<char>(chance());
    if (i % 8 == 0) bytes.resize(chance() % bytes.size());
    below.put("/w/pkg.whl", bytes);
    WheelFileSystem one(below);
    if (!one.mount("/w/pkg.whl")) continue;
    ++mounted;
    for (const std::string& name : list_folder(one, kAbsolute, "/w/pkg.whl/pkg").value) {
      const Io<std::string> read = read_file(one, kAbsolute, "/w/pkg.whl/pkg/" + name, 1000);
      if (!read || name != "a.py") continue;
      EXPECT_EQ(read.value, "a = 1\n");
      ++right;
    }
  }
  EXPECT_GT(mounted, 500);
  EXPECT_GT(right, 500);
  EXPECT_LT(right, 4000);
  EXPECT_EQ(below.open_handles(), 0U);
}

TEST(InstalledPath, DataFolders) {
  EXPECT_EQ(installed_path("p-1.data/purelib/p/a.py"), "p/a.py");
  EXPECT_EQ(installed_path("p-1.data/platlib/a.py"), "a.py");
  EXPECT_EQ(installed_path("p-1.data/scripts/a"), "p-1.data/scripts/a");
  EXPECT_EQ(installed_path("p-1.data/purelib"), "p-1.data/purelib");
  EXPECT_EQ(installed_path("p/x.data/purelib/a"), "p/x.data/purelib/a");
}

}  // namespace
}  // namespace suture
