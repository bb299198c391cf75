// add_import: what satisfies it, what takes its name, where it leads.
#include "engine/imports.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/stdlib_modules.h"
#include "support/engine_fixture.h"

namespace suture {
namespace {

// In pkg/sub/m.py.
std::string status(const std::string& statement, const std::string& code) {
  const auto import = read_import(statement);
  if (!import) return "no import";
  switch (find_import(Code(code).view(), *import, "sub/m.py", "pkg").kind) {
    case ImportStatus::Kind::satisfied:
      return "satisfied";
    case ImportStatus::Kind::taken:
      return "taken";
    case ImportStatus::Kind::missing:
      break;
  }
  return "missing";
}

constexpr const char* kNew = "from pkg.z import new";

TEST(Imports, TakenByAnyOtherBindingOfTheModule) {
  for (const char* code : {"new = 1\n",
                           "x, *new = y\n",
                           "[a, (new, b)] = y\n",
                           "new: int = 1\n",
                           "new += 1\n",
                           "a = new = 1\n",
                           "def new(): pass\n",
                           "@d\ndef new(): pass\n",
                           "class new: pass\n",
                           "import new\n",
                           "import new.sub\n",
                           "from q import new\n",
                           "from q import z as new\n",
                           "from pkg import z as new\n",
                           "for new in y: pass\n",
                           "for a, (b, new) in y: pass\n",
                           "with a as new: pass\n",
                           "with a as (b, new): pass\n",
                           "with (a as b, c as new): pass\n",
                           "try: pass\nexcept E as new: pass\n",
                           "if (new := 1): pass\n",
                           "while (new := f()): pass\n",
                           "[0 for q in y if (new := q)]\n",
                           "a[(new := 1)] = 2\n",
                           "def g(a=(new := 1)): pass\n",
                           "type new = int\n",
                           "type new[T] = int\n",
                           "match x:\n    case new: pass\n",
                           "match x:\n    case [1, new]: pass\n",
                           "match x:\n    case [*new]: pass\n",
                           "match x:\n    case {'k': new}: pass\n",
                           "match x:\n    case {**new}: pass\n",
                           "match x:\n    case P(new): pass\n",
                           "match x:\n    case P(a=new): pass\n",
                           "match x:\n    case (1 | new): pass\n",
                           "match x:\n    case P(1) as new: pass\n",
                           "del new\n",
                           "del a, (b, new)\n",
                           "if c:\n    new = 1\n",
                           "def g():\n    global new\n    new = 1\n",
                           "def g():\n    global a, new\n    if c:\n        for new in y: pass\n",
                           "class G:\n    global new\n    def new(self): pass\n",
                           "def g():\n    global new\n    import new\n",
                           "class G:\n    def g(self):\n        global new\n        with a as new: pass\n"}) {
    EXPECT_EQ(status(kNew, code), "taken") << code;
  }
}

TEST(Imports, NotTakenByANameElsewhere) {
  for (const char* code : {"import x.new\n",
                           "import x.new as y\n",
                           "x.new = 1\n",
                           "new[0] = 1\n",
                           "new.x = 1\n",
                           "y = new\n",
                           "f(new=1)\n",
                           "[new for new in y]\n",
                           "lambda new: new\n",
                           "def g(new): new = 1\n",
                           "def g():\n    new = 1\n",
                           "class A:\n    new = 1\n",
                           "def g():\n    global new\n    print(new)\n",
                           "def g():\n    global other\n    new = 1\n",
                           "def g():\n    global new\n    from ..z import new\n",
                           "match x:\n    case new.y: pass\n",
                           "match x:\n    case new(): pass\n",
                           "match x:\n    case P(new=1): pass\n",
                           "q: new = 1\n",
                           "type q = new\n",
                           "with new as q: pass\n",
                           "if TYPE_CHECKING:\n    new = 1\n"}) {
    EXPECT_EQ(status(kNew, code), "missing") << code;
  }
}

TEST(Imports, RelativeAndAbsoluteAreTheSame) {
  for (const char* code : {"from pkg.z import new\n", "from ..z import new\n", "if c:\n    from ..z import new\n",
                           "try:\n    from ..z import new\nexcept ImportError:\n    new = None\n"}) {
    EXPECT_EQ(status(kNew, code), "satisfied") << code;
    EXPECT_EQ(status("from ..z import new", code), "satisfied") << code;
  }
  EXPECT_EQ(status("from .z import new", "from pkg.sub.z import new\n"), "satisfied");
  EXPECT_EQ(status("from .z import new", "from pkg.z import new\n"), "taken");
  EXPECT_EQ(status("from . import z", "from pkg.sub import z\n"), "satisfied");
  EXPECT_EQ(status("from .z import new as n", "from .z import new\n"), "missing");
  EXPECT_EQ(edited(rule_from_yaml("add_import: from ..z import new"), "x = 1\n"), "from ..z import new\nx = 1\n");
}

using Paths = std::vector<std::string>;

Paths files(const std::string& statement, const std::string& path) {
  return module_files(*read_import(statement), path, "pkg");
}

TEST(Imports, WhereItLeads) {
  EXPECT_EQ(files("from pkg.a import b", "m.py"), (Paths{"a.py", "a/__init__.py", "a/b.py", "a/b/__init__.py"}));
  EXPECT_EQ(files("from .a import b", "sub/m.py"),
            (Paths{"sub/a.py", "sub/a/__init__.py", "sub/a/b.py", "sub/a/b/__init__.py"}));
  EXPECT_EQ(files("from .. import a", "sub/__init__.py"), (Paths{"__init__.py", "a.py", "a/__init__.py"}));
  EXPECT_EQ(files("import pkg.a", "m.py"), (Paths{"a.py", "a/__init__.py"}));
  EXPECT_EQ(files("from torch import nn", "m.py"), Paths{});
  EXPECT_EQ(imported_module(*read_import("from ..a import b"), "m.py", "pkg"), "") << "out of the package";
}

TEST(Imports, ModulesOfOthersThatAPatchNeeds) {
  const Patch patch = patch_from_yaml(
      "p", {"add_import: import os.path", "add_import: from torch.nn import functional", "add_import: from .z import a",
            "add_import: from pkg.z import b", "add_import: import numpy as np"});
  EXPECT_EQ(modules_needed(patch, "pkg"), (std::set<std::string>{"numpy", "torch"}));
  for (const char* name :
       {"__future__", "os", "tomllib", "distutils", "imp", "typing", "zoneinfo", "ctypes", "compression"})
    EXPECT_TRUE(is_stdlib_module(name)) << name;
  for (const char* name : {"torch", "numpy", "", "pip", "yaml"}) EXPECT_FALSE(is_stdlib_module(name)) << name;
}

}  // namespace
}  // namespace suture
