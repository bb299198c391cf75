// dist-info, egg-info, RECORD, literal versions.
#include "effects/distribution.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/memory_file_system.h"

namespace suture {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// SHA-256 of "".
constexpr const char* kEmptyHash = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
constexpr const char* kEmptyRecord = "sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU";

class Reading : public ::testing::Test {
 protected:
  Reading() { fs.put("/s/my_pkg/__init__.py", ""); }
  Distribution read() {
    LocatedTree tree;
    tree.package_folder = "/s/my_pkg";
    tree.metadata_folder = "/s";
    tree.present = true;
    const Result<Distribution> dist =
        read_distribution(fs, tree, "my-pkg", "my_pkg", {"a.py", "b.py", "__init__.py", "core.py"});
    EXPECT_TRUE(dist.ok());
    return *dist;
  }
  void info(const std::string& folder, const std::string& name, const std::string& version) {
    fs.put("/s/" + folder + "/METADATA",
           "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n\nVersion: 9\n");
  }
  MemoryFileSystem fs;
};

TEST_F(Reading, MetadataDecidesOverTheFolderName) {
  info("My.Pkg-1.0.dist-info", "my_pkg", "1.0.post1");
  info("my_pkg_extra-3.0.dist-info", "my-pkg-extra", "3.0");
  info("my-pkg-router-2.0.dist-info", "my-pkg-router", "2.0");
  fs.put("/s/My.Pkg-1.0.dist-info/RECORD",
         std::string("my_pkg/__init__.py,") + kEmptyRecord + ",0\nmy_pkg/__pycache__/x.pyc,,\n");
  const Distribution dist = read();
  EXPECT_EQ(dist.version, "1.0.post1");
  EXPECT_THAT(dist.found, ElementsAre("My.Pkg-1.0.dist-info"));
  EXPECT_EQ(dist.version_source, "My.Pkg-1.0.dist-info/METADATA");
  ASSERT_EQ(dist.record.size(), 1U);
  EXPECT_EQ(dist.record.at("__init__.py"), kEmptyHash);
}

TEST_F(Reading, TwoVersionsAreUnknown) {
  info("my_pkg-1.0.dist-info", "my-pkg", "1.0");
  info("my_pkg-2.0.dist-info", "my-pkg", "2.0");
  const Distribution dist = read();
  EXPECT_EQ(dist.version, std::nullopt);
  EXPECT_THAT(dist.found, ElementsAre("my_pkg-1.0.dist-info", "my_pkg-2.0.dist-info"));
  EXPECT_THAT(dist.record, IsEmpty());
}

TEST_F(Reading, LeftoversWithoutMetadataDoNotCountBesideOneThatHasIt) {
  info("my_pkg-2.0.dist-info", "my-pkg", "2.0");
  fs.put("/s/my_pkg-1.0.dist-info/licenses/LICENSE", "");
  EXPECT_EQ(read().version, "2.0");
}

TEST_F(Reading, EggInfos) {
  fs.put("/s/my_pkg-1.5-py3.11.egg-info", "Metadata-Version: 1.0\nName: my-pkg\nVersion: 1.5\n");
  EXPECT_EQ(read().version, "1.5");
  fs.put("/s/my_pkg.egg-info/PKG-INFO", "Name: my_pkg\nVersion: 1.5\n");
  EXPECT_EQ(read().version, "1.5");
  fs.put("/s/my_pkg.egg-info/PKG-INFO", "Name: my_pkg\nVersion: 1.6\n");
  EXPECT_EQ(read().version, std::nullopt);
}

TEST_F(Reading, ALiteralVersionOfACheckout) {
  EXPECT_EQ(read().version, std::nullopt);
  fs.put("/s/my_pkg/_version.py", "# generated\n__version__ = version = '0.5.3.dev1+gabc'\n");
  EXPECT_EQ(read().version, "0.5.3.dev1+gabc");
  EXPECT_EQ(read().version_source, "my_pkg/_version.py");
  fs.put("/s/my_pkg/version.py", "__version__ = get()\n");
  EXPECT_EQ(read().version, "0.5.3.dev1+gabc");
  fs.put("/s/my_pkg/version.py", "__version__: str = \"0.5.2\"  # by hand\n");
  EXPECT_EQ(read().version, "0.5.2");
}

TEST(Record, QuotesNewlinesAndOtherHashes) {
  const std::string hash = kEmptyRecord;
  const std::string record = "\"pkg/a,b \"\"c\"\".json\"," + hash + ",0\r\npkg/x.py,md5=abc,1\r\nother/y.py," + hash +
                             ",0\r\n../../bin/tool," + hash + ",0\r\npkg/short.py,sha256=abc,1\r\npkg/z.py," + hash +
                             "=,0";
  const std::map<std::string, std::string> files =
      parse_record(record, "pkg", {"a,b \"c\".json", "x.py", "y.py", "short.py", "z.py", "../bin/tool"});
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files.at("a,b \"c\".json"), kEmptyHash);
  EXPECT_EQ(files.at("z.py"), kEmptyHash);
  EXPECT_THAT(parse_record(record, "pkg", {"x.py", "never.py"}), IsEmpty()) << "only what is wanted";
  EXPECT_THAT(parse_record("\"pkg/never closed", "pkg", {"never closed"}), IsEmpty());
  // RECORD of a wheel that keeps files below NAME-V.data.
  const std::string data = "pkg-1.0.data/purelib/pkg/a.py," + hash + ",0\n\"p-1.data/platlib/pkg/b.py\"," + hash +
                           ",0\npkg-1.0.data/scripts/pkg/c.py," + hash + ",0\n";
  EXPECT_EQ(parse_record(data, "pkg", {"a.py", "b.py", "c.py"}).size(), 2U);
}

TEST(InfoFolder, Names) {
  EXPECT_EQ(info_folder_version("sglang-0.5.6.dist-info", "sglang"), "0.5.6");
  EXPECT_EQ(info_folder_version("SGLang.egg-info", "sglang"), "");
  EXPECT_EQ(info_folder_version("a-b-1.0-py3.9.egg-info", "a-b"), "1.0");
  EXPECT_EQ(info_folder_version("sglang_router-1.0.dist-info", "sglang"), std::nullopt);
  EXPECT_EQ(info_folder_version("~glang-1.0.dist-info", "sglang"), std::nullopt);
  EXPECT_EQ(info_folder_version("sglang-1.0", "sglang"), std::nullopt);
}

}  // namespace
}  // namespace suture
