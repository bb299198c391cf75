// Whether a module has an import, and where a new one goes.
#include "engine/imports.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/engine_fixture.h"

namespace suture {
namespace {

using Texts = std::vector<std::string>;

// What `add_import: statement` makes of a file sub/m.py of the package pkg.
std::string with_import(const std::string& statement, const std::string& code) {
  return edited(rule_from_yaml("add_import: " + statement), code);
}

TEST(Imports, OnlyTheSameModuleAndNameSatisfy) {
  const std::string want = "from pkg.a import b";
  for (const char* code :
       {"from pkg.a import b\n", "from pkg.a import c, b\n", "from pkg.a import (\n    c,\n    b,\n)\n",
        "from ..a import b\n", "import os\nif x:\n    from pkg.a import b\n",
        "try:\n    from pkg.a import b\nexcept ImportError:\n    pass\n",
        "if TYPE_CHECKING:\n    pass\nelse:\n    from pkg.a import b\n", "x = 1\nfrom pkg.a import b\n"}) {
    EXPECT_EQ(with_import(want, code), "no site") << code;
  }
  for (const char* code :
       {"from pkg.a import c\n", "from pkg import a\n", "from pkg.a import b as c\n", "from .a import c\n",
        "if TYPE_CHECKING:\n    from pkg.a import b\n", "if typing.TYPE_CHECKING:\n    from pkg.a import b\n",
        "def f():\n    from pkg.a import b\n", "class C:\n    b = 1\n", "x.b = 1\n", "f(b=1)\n",
        "# from pkg.a import b\n", "'from pkg.a import b'\n"}) {
    const std::string out = with_import(want, code);
    EXPECT_NE(out.find("from pkg.a import b\n"), std::string::npos) << code;
    EXPECT_NE(out, "no site") << code;
    EXPECT_NE(out.substr(0, 9), "unstable:") << code << out;
  }
}

TEST(Imports, ANameThatSomethingElseBindsIsTaken) {
  for (const char* code :
       {"from other import b\n", "from pkg.a import c as b\n", "import b\n", "import b.c\n", "import x as b\n",
        "b = 1\n", "b: int = 1\n", "a, b = c\n", "(a, [b]) = c\n", "def b(): pass\n", "@d\nclass b: pass\n",
        "for b in c: pass\n", "with a as b: pass\n", "if x:\n    b = 1\n", "try: pass\nexcept E as b: pass\n",
        "if (b := 1): pass\n", "from .a import b\n", "for a in c:\n    b = a\n"}) {
    EXPECT_EQ(with_import("from pkg.a import b", code), "taken") << code;
  }
  EXPECT_EQ(with_import("import pkg.a", "import pkg.c\n"),
            "import pkg.c\nimport pkg.a\n");  // both bind pkg, to one thing
  EXPECT_EQ(with_import("import pkg.a as z", "import pkg.a\n"), "import pkg.a\nimport pkg.a as z\n");
}

TEST(Imports, ALineOfItsOwnBehindTheHeadersLastImport) {
  const auto add = [](const std::string& code) { return with_import("from pkg.a import b", code); };
  const std::string line = "from pkg.a import b\n";
  EXPECT_EQ(add("import os\nx = 1\nimport sys\n"), "import os\n" + line + "x = 1\nimport sys\n");
  EXPECT_EQ(add("\"\"\"Doc.\"\"\"\nfrom __future__ import annotations\nimport os  # why\n\nx = 1\n"),
            "\"\"\"Doc.\"\"\"\nfrom __future__ import annotations\nimport os  # why\n" + line + "\nx = 1\n");
  EXPECT_EQ(add("from __future__ import annotations\nx = 1\n"),
            "from __future__ import annotations\n" + line + "x = 1\n");
  EXPECT_EQ(add("import os\n\"\"\"Not quite a docstring.\"\"\"\nimport sys\nx = 1\n"),
            "import os\n\"\"\"Not quite a docstring.\"\"\"\nimport sys\n" + line + "x = 1\n");
  EXPECT_EQ(add("\"\"\"Doc.\"\"\"\n\nx = 1\n"), "\"\"\"Doc.\"\"\"\n" + line + "\nx = 1\n");
  EXPECT_EQ(add("# License\n\nx = 1\n"), "# License\n\n" + line + "x = 1\n");
  EXPECT_EQ(add("from x import (\n    y,  # z\n    w,\n)\nq = 1\n"),
            "from x import (\n    y,  # z\n    w,\n)\n" + line + "q = 1\n");
  EXPECT_EQ(add("import os; import sys\nx = 1\n"), "import os; import sys\n" + line + "x = 1\n");
  EXPECT_EQ(add("import os\r\nx = 1\r\n"), "import os\r\nfrom pkg.a import b\r\nx = 1\r\n");
  EXPECT_EQ(add("import os"), "import os\nfrom pkg.a import b");
  EXPECT_EQ(add(""), line);
  EXPECT_EQ(add("# only\n"), "# only\n" + line);
  EXPECT_EQ(add("try:\n    import a\nexcept ImportError:\n    a = None\n"),
            line + "try:\n    import a\nexcept ImportError:\n    a = None\n");
  EXPECT_EQ(add("\xEF\xBB\xBFx = 1\n"), "\xEF\xBB\xBF" + line + "x = 1\n");
}

TEST(Imports, ModuleFilesAreThoseThatPythonWouldTry) {
  const auto files = [](const std::string& statement) {
    const auto import = read_import(statement);
    return import ? module_files(*import, "sub/m.py", "pkg") : Texts{"?"};
  };
  EXPECT_EQ(files("from pkg.a.b import c"), (Texts{"a/b.py", "a/b/__init__.py", "a/b/c.py", "a/b/c/__init__.py"}));
  EXPECT_EQ(files("import pkg.a"), (Texts{"a.py", "a/__init__.py"}));
  EXPECT_EQ(files("import numpy.linalg"), Texts{});
  EXPECT_EQ(files("from pkgs.a import b"), Texts{});
}

TEST(Imports, WhatAModuleDefines) {
  const auto has = [](const std::string& code) { return defines(Code(code).view(), "b"); };
  for (const char* code :
       {"b = 1\n", "def b(): pass\n", "class b: pass\n", "from a import b\n", "from a import *\n", "import a as b\n",
        "if x:\n    def b(): pass\n", "try:\n    from a import b\nexcept E:\n    b = None\n"})
    EXPECT_TRUE(has(code)) << code;
  for (const char* code : {"", "def f():\n    b = 1\n", "class C:\n    b = 1\n", "x.b = 1\n", "print(b)\n",
                           "if TYPE_CHECKING:\n    from a import b\n", "from a import b as c\n"})
    EXPECT_FALSE(has(code)) << code;
}

}  // namespace
}  // namespace suture
