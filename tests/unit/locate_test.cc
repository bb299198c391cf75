// Finding trees: layouts of environments, checkouts and pointers, on the double in memory.
#include "effects/locate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "effects/editable.h"
#include "support/memory_file_system.h"

namespace suture {
namespace {

using ::testing::ElementsAre;

class Locate : public ::testing::Test {
 protected:
  Result<LocatedTree> find(const TreeRequest& request) { return locate(fs, request, "pkg", "pkg"); }
  Result<LocatedTree> at(const std::string& tree) { return find({tree, "", {}}); }

  std::string folder_at(const std::string& tree) {
    const Result<LocatedTree> found = at(tree);
    if (!found) return to_text(found.error());
    return (found->present ? "" : "absent ") + found->package_folder;
  }
  std::string error_at(const std::string& tree) {
    const Result<LocatedTree> found = at(tree);
    if (found) return "found " + found->package_folder;
    EXPECT_EQ(found.error().exit, Exit::file_system);
    return to_text(found.error());
  }
  void package(const std::string& path) { fs.put(path + "/__init__.py", ""); }
  void program(const std::string& path) { fs.put(path, "\177ELF", 0755); }

  MemoryFileSystem fs;
};

TEST_F(Locate, PackageFolderSitePackagesAndCheckouts) {
  package("/s/pkg");
  EXPECT_EQ(folder_at("/s/pkg"), "/s/pkg");
  EXPECT_EQ(folder_at("/s"), "/s/pkg");
  EXPECT_EQ(at("/s")->metadata_folder, "/s");
  package("/c1/python/pkg");
  EXPECT_EQ(folder_at("/c1"), "/c1/python/pkg");
  EXPECT_EQ(at("/c1")->metadata_folder, "/c1/python");
  package("/c2/src/pkg");
  EXPECT_EQ(folder_at("/c2"), "/c2/src/pkg");
  // A clone is called like the package.
  package("/git/pkg/python/pkg");
  EXPECT_EQ(folder_at("/git/pkg"), "/git/pkg/python/pkg");
  fs.put_link("/link", "/s/pkg");
  EXPECT_EQ(folder_at("/link"), "/s/pkg");
}

TEST_F(Locate, FoldersThatSutureWroteTo) {
  package("/s/pkg");
  package("/s/other");
  fs.put("/s/pkg/.suture/receipt.json", "{}");
  EXPECT_THAT(patched_folders(fs, {"/s", "", {}}), ElementsAre("/s/pkg"));
  EXPECT_THAT(patched_folders(fs, {"/s/pkg", "", {}}), ElementsAre("/s/pkg"));
  EXPECT_THAT(patched_folders(fs, {"/s/other", "", {}}), ElementsAre());
  EXPECT_THAT(patched_folders(fs, {"/nowhere", "", {}}), ElementsAre());
  fs.put("/c/python/pkg/.suture/receipt.json", "{}");
  EXPECT_THAT(patched_folders(fs, {"/c", "", {}}), ElementsAre("/c/python/pkg"));
  fs.put("/v/pyvenv.cfg", "version = 3.11.2\n");
  fs.put("/v/lib/python3.11/site-packages/b/.suture/receipt.json", "{}");
  EXPECT_THAT(patched_folders(fs, {"/v", "", {}}), ElementsAre("/v/lib/python3.11/site-packages/b"));
  EXPECT_THAT(patched_folders(fs, {"", "", {{"VIRTUAL_ENV", "/v"}}}), ElementsAre("/v/lib/python3.11/site-packages/b"));
}

TEST_F(Locate, AbsentIsNoError) {
  package("/s/other");
  EXPECT_EQ(folder_at("/s"), "absent /s/pkg");
  // Naming another package's folder names neither its neighbours.
  package("/s/pkg");
  EXPECT_EQ(folder_at("/s/other"), "absent /s/other/pkg");
  fs.put("/u/pkg/.suture/receipt.json", "{}");
  EXPECT_EQ(folder_at("/u/pkg"), "/u/pkg");
  EXPECT_EQ(folder_at("/u"), "/u/pkg");
}

TEST_F(Locate, Errors) {
  package("/venv/site-packages/pkg");
  fs.put("/w/pkg-1.0-py3.11.egg", "PK");
  fs.put("/w/notes.txt", "");
  EXPECT_EQ(error_at("/venv/site-package/pkg"),
            "error: no such file or folder: /venv/site-package/pkg\n"
            "  hint: the nearest thing that exists is /venv; did you mean /venv/site-packages?\n");
  EXPECT_EQ(error_at("/w/pkg-1.0-py3.11.egg"),
            "error: /w/pkg-1.0-py3.11.egg is a zipped egg: suture writes to files, not into archives\n"
            "  hint: install the package anew with pip, which unpacks it\n");
  EXPECT_EQ(error_at("/w"),
            "error: /w/pkg-1.0-py3.11.egg is a zipped egg: suture writes to files, not into archives\n"
            "  hint: install the package anew with pip, which unpacks it\n");
  EXPECT_EQ(error_at("/w/notes.txt"),
            "error: /w/notes.txt is a file, not a tree\n"
            "  hint: a tree is a package folder, a site-packages folder, a virtual environment, a source checkout or a "
            "wheel\n");
}

TEST_F(Locate, VirtualEnvironments) {
  fs.put("/venv/pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = false\nversion = 3.11.2\n");
  fs.put_folder("/venv/lib/python3.11/site-packages");
  fs.put_link("/venv/lib64", "lib");
  package("/usr/lib/python3/dist-packages/pkg");
  program("/usr/bin/python3.11");
  fs.put_link("/usr/bin/python3", "python3.11");
  fs.put_link("/venv/bin/python", "/usr/bin/python3");
  EXPECT_EQ(folder_at("/venv"), "absent /venv/lib/python3.11/site-packages/pkg");
  EXPECT_FALSE(find({"", "/venv/bin/python", {}})->present);
  EXPECT_EQ(find({"", "/usr/bin/python3", {}})->package_folder, "/usr/lib/python3/dist-packages/pkg");
  EXPECT_EQ(find({"", "python3", {{"PATH", "/nowhere:/usr/bin"}}})->package_folder,
            "/usr/lib/python3/dist-packages/pkg");
  EXPECT_EQ(find({"", "", {{"PATH", "/usr/bin"}}})->package_folder, "/usr/lib/python3/dist-packages/pkg");
  // The base comes in, and the venv's own stands before it. The value is read in any case, as site.py does.
  fs.put("/venv/pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = TRUE\nversion_info = 3.11.2.final.0\n");
  EXPECT_TRUE(at("/venv")->present);
  fs.put("/venv/pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = true\nversion_info = 3.11.2.final.0\n");
  EXPECT_EQ(folder_at("/venv"), "/usr/lib/python3/dist-packages/pkg");
  package("/usr/local/lib/python3.11/dist-packages/pkg");
  EXPECT_EQ(folder_at("/venv"), "/usr/local/lib/python3.11/dist-packages/pkg");
  package("/venv/lib/python3.11/site-packages/pkg");
  EXPECT_EQ(folder_at("/venv"), "/venv/lib/python3.11/site-packages/pkg");
  EXPECT_EQ(find({"", "/venv/bin/python", {}})->package_folder, "/venv/lib/python3.11/site-packages/pkg");
  const Result<LocatedTree> active = find({"", "", {{"VIRTUAL_ENV", "/venv"}, {"PATH", "/usr/bin"}}});
  EXPECT_EQ(active->package_folder, "/venv/lib/python3.11/site-packages/pkg");
  // A link to the venv's interpreter elsewhere is the base, as for the interpreter itself.
  fs.put_link("/opt/py", "/venv/bin/python");
  EXPECT_EQ(find({"", "/opt/py", {}})->package_folder, "/usr/local/lib/python3.11/dist-packages/pkg");
}

TEST_F(Locate, CondaUserSiteAndSeveralInterpreters) {
  program("/conda/bin/python3.12");
  fs.put_link("/conda/bin/python", "python3.12");
  package("/conda/lib/python3.12/site-packages/pkg");
  EXPECT_EQ(folder_at("/conda"), "/conda/lib/python3.12/site-packages/pkg");
  EXPECT_EQ(find({"", "/conda/bin/python", {}})->package_folder, "/conda/lib/python3.12/site-packages/pkg");
  package("/home/u/.local/lib/python3.12/site-packages/pkg");
  EXPECT_EQ(find({"", "/conda/bin/python", {{"HOME", "/home/u"}}})->package_folder,
            "/home/u/.local/lib/python3.12/site-packages/pkg");
  package("/base/lib/python3.12/site-packages/pkg");
  const std::map<std::string, std::string> user = {{"HOME", "/home/u"}, {"PYTHONUSERBASE", "/base"}};
  EXPECT_EQ(find({"", "/conda/bin/python", user})->package_folder, "/base/lib/python3.12/site-packages/pkg");
  EXPECT_EQ(find({"", "/conda/bin/python", {{"HOME", "/home/u"}, {"PYTHONNOUSERSITE", "1"}}})->package_folder,
            "/conda/lib/python3.12/site-packages/pkg");
  package("/conda/lib/python3.11/site-packages/pkg");
  EXPECT_EQ(
      error_at("/conda"),
      "error: more than one interpreter of this environment has pkg: /conda/lib/python3.11/site-packages/pkg and "
      "/conda/lib/python3.12/site-packages/pkg\n  hint: name one of them: -t /conda/lib/python3.11/site-packages\n");
}

TEST_F(Locate, NoInterpreter) {
  fs.put("/shims/python3", "#!/bin/sh\n", 0755);
  EXPECT_EQ(to_text(find({"", "", {{"PATH", "/shims"}}}).error()),
            "error: cannot find the environment of /shims/python3: it is a script (a version manager's shim?), not an "
            "interpreter\n  hint: name the tree itself: -t SITE-PACKAGES or -t VENV\n");
  EXPECT_EQ(
      to_text(find({"", "", {{"PATH", "/empty"}}}).error()),
      "error: no tree: neither -t nor --python is given, VIRTUAL_ENV is not set, and there is no python3 on PATH\n"
      "  hint: name the tree: -t SITE-PACKAGES, -t VENV or -t CHECKOUT\n");
  EXPECT_EQ(find({"", "/no/python", {}}).error().message,
            "cannot find the environment of /no/python: No such file or directory");
  EXPECT_EQ(find({"", "", {{"VIRTUAL_ENV", "/gone"}}}).error().message,
            "VIRTUAL_ENV names /gone: No such file or directory");
}

TEST_F(Locate, PointersOutOfSitePackages) {
  package("/co/python/pkg");
  fs.put("/s1/__editable__.pkg-1.0.pth", "# comment\n/co/python\n");
  EXPECT_EQ(folder_at("/s1"), "/co/python/pkg");
  EXPECT_EQ(at("/s1")->metadata_folder, "/s1");
  fs.put("/s2/__editable__.pkg-1.0.pth", "import __editable___pkg_1_0_finder; __editable___pkg_1_0_finder.install()\n");
  fs.put("/s2/__editable___pkg_1_0_finder.py",
         "import sys\nMAPPING: dict[str, str] = {'other': '/x', 'pkg': '/co/python/pkg'}\nNAMESPACES = {}\n");
  EXPECT_EQ(folder_at("/s2"), "/co/python/pkg");
  fs.put("/s3/pkg-1.0.dist-info/direct_url.json", R"({"dir_info": {"editable": true}, "url": "file:///co/python"})");
  EXPECT_EQ(folder_at("/s3"), "/co/python/pkg");
  fs.put("/s4/pkg.egg-link", "/co/python\n.");
  EXPECT_EQ(folder_at("/s4"), "/co/python/pkg");
  fs.put("/s5/relative.pth", "../co/python\n");
  EXPECT_EQ(folder_at("/s5"), "/co/python/pkg");
  // What is in the folder itself comes first.
  package("/s1/pkg");
  EXPECT_EQ(folder_at("/s1"), "/s1/pkg");
}

TEST_F(Locate, TheOneThatIsImported) {
  fs.put("/usr/bin/python3.11", "\177ELF", 0755);
  fs.put("/venv/pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = true\nversion = 3.11.2\n");
  const std::string site = "/venv/lib/python3.11/site-packages";
  package("/co/record/pkg");
  package("/co/finder/pkg");
  package("/co/path/pkg");
  fs.put(site + "/pkg-1.0.dist-info/direct_url.json",
         R"({"dir_info": {"editable": true}, "url": "file:///co/record"})");
  EXPECT_EQ(folder_at("/venv"), "/co/record/pkg");
  fs.put(site + "/a.pth", "import finder\n");
  fs.put(site + "/finder.py", "MAPPING = {'pkg': '/co/finder/pkg'}\n");
  EXPECT_EQ(folder_at("/venv"), "/co/finder/pkg");
  // Python asks a finder after every folder, those of the base included.
  package("/usr/lib/python3/dist-packages/pkg");
  EXPECT_EQ(folder_at("/venv"), "/usr/lib/python3/dist-packages/pkg");
  EXPECT_THAT(at("/venv")->how, ::testing::EndsWith("; imported before /co/finder/pkg"));
  // A path line of a later file comes before the finder of an earlier one.
  fs.put(site + "/b.pth", "/co/path\n");
  EXPECT_EQ(folder_at("/venv"), "/co/path/pkg");
  EXPECT_THAT(at("/venv")->how, ::testing::EndsWith("b.pth; imported before /usr/lib/python3/dist-packages/pkg"));
  package(site + "/pkg");
  EXPECT_EQ(folder_at("/venv"), site + "/pkg");
  EXPECT_THAT(at("/venv")->sites, ElementsAre(site, "/usr/lib/python3/dist-packages"));
  // A zipped egg in the base is no obstacle to what comes before it.
  fs.put("/usr/local/lib/python3.11/dist-packages/pkg-1.0-py3.11.egg", "PK");
  EXPECT_EQ(folder_at("/venv"), site + "/pkg");
  EXPECT_THAT(error_at("/usr"), ::testing::HasSubstr("is a zipped egg"));
}

TEST_F(Locate, PathVariable) {
  program("/usr/bin/python3.12");
  package("/usr/lib/python3.12/site-packages/pkg");
  fs.put("/co/other.pth", "/else\n");
  package("/else/pkg");
  const std::string python = "/usr/bin/python3.12";
  const auto with = [&](const std::string& value) { return find({"", python, {{"PYTHONPATH", value}}}); };
  EXPECT_EQ(with("")->package_folder, "/usr/lib/python3.12/site-packages/pkg");
  EXPECT_EQ(with("rel::/gone:/co")->package_folder, "/usr/lib/python3.12/site-packages/pkg");  // no .pth is read there
  package("/co/pkg");
  EXPECT_EQ(with("/gone:/co")->package_folder, "/co/pkg");
  EXPECT_EQ(with("/co")->how,
            "the environment of /usr/bin/python3.12, PYTHONPATH: /co; imported before "
            "/usr/lib/python3.12/site-packages/pkg");
  EXPECT_EQ(find({"/usr", "", {{"PYTHONPATH", "/co"}}})->package_folder, "/usr/lib/python3.12/site-packages/pkg");
  // The checkout of an editable install: its metadata is still that of site-packages.
  program("/opt/bin/python3.12");
  fs.put("/opt/lib/python3.12/site-packages/pkg.pth", "/co\n");
  EXPECT_EQ(find({"", "/opt/bin/python3.12", {{"PYTHONPATH", "/co"}}})->metadata_folder,
            "/opt/lib/python3.12/site-packages");
}

TEST_F(Locate, SaysWhereItLooked) {
  fs.put("/venv/pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = true\nversion = 3.11.2\n");
  program("/usr/bin/python3.11");
  fs.put_folder("/venv/lib/python3.11/site-packages");
  fs.put_folder("/usr/lib/python3/dist-packages");
  EXPECT_FALSE(at("/venv")->present);
  EXPECT_EQ(at("/venv")->how, "-t: looked in /venv/lib/python3.11/site-packages and /usr/lib/python3/dist-packages");
}

TEST_F(Locate, TwoInterpretersOfOneEditableInstall) {
  for (const char* version : {"3.11", "3.12"}) {
    const std::string site = std::string("/prefix/lib/python") + version + "/site-packages";
    fs.put(site + "/pkg.pth", "/co\n");
  }
  package("/co/pkg");
  EXPECT_EQ(folder_at("/prefix"), "/co/pkg");
}

TEST(Pointers, Texts) {
  const PthLines lines =
      parse_pth("\xEF\xBB\xBF# c\n\nimport sys; sys.x()\nimport __editable__x\n/a b/c \r\nimport os.path\n");
  EXPECT_THAT(lines.paths, ElementsAre("/a b/c"));
  EXPECT_THAT(lines.imports, ElementsAre("sys", "__editable__x"));
  EXPECT_EQ(mapping_value("MAPPING = {\"a\": \"/x\\\\y\",\n 'b': '/z',}\n", "a"), "/x\\y");
  EXPECT_EQ(mapping_value("MAPPING = {\"a\": \"/x\",\n 'b': '/z',}\n", "b"), "/z");
  EXPECT_EQ(mapping_value("MAPPING = {'a': f()}\n", "a"), std::nullopt);
  EXPECT_EQ(mapping_value("X = 'MAPPING = {'", "a"), std::nullopt);
  EXPECT_EQ(editable_url(R"({"dir_info": {"editable": true}, "url": "file:///a%20b"})"), "/a b");
  EXPECT_EQ(editable_url(R"({"dir_info": {}, "url": "file:///a"})"), std::nullopt);
  EXPECT_EQ(editable_url("[]"), std::nullopt);
}

}  // namespace
}  // namespace suture
