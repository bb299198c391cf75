"""Which files a rule looks at, and what a patch requires of this and of other packages: globs, files that moved, several
files all or nothing, conditions on packages beside the tree and on classes wherever they stand.
"""

import json
import os
import shutil
import zipfile

import scenario
from scenario import driver

PATCH = """\
patch: toy
summary: Bound the reads of the kernels
package: {name: toycache}
"""

RULES = """\
rules:
  - id: kernels-read-bounded
    file: %s
    match: $ROWS.read_all()
    replace: read_bounded($ROWS, self.bound)
    expect: %s
    ok: kernels read what is bounded
  - id: kernels-import-read-bounded
    file: "kernels/**/*.py"
    add_import: from toycache.rows import read_bounded
    expect: 1
    ok: kernels import read_bounded
"""

ROWS = "def read_bounded(rows, bound):\n    return rows.read(bound)\n"


def kernel(name, *reads):
    body = "\n".join(f"        {read}" for read in reads)
    return f'import math\n\n\nclass {name}:\n    def run(self, rows):\n{body}\n        return rows\n'


def files(a=1, b=1, c=1):
    """Three kernels that read so many times, one that reads none, and a file that no glob of kernels names."""
    def reads(n):
        return ["rows.read_all()"] * n
    return {
        "__init__.py": "", "rows.py": ROWS, "notes.py": "rows.read_all()\n",
        "kernels/__init__.py": "", "kernels/a.py": kernel("A", *reads(a)), "kernels/b.py": kernel("B", *reads(b)),
        "kernels/deep/__init__.py": "", "kernels/deep/c.py": kernel("C", *reads(c)),
        "kernels/deep/idle.py": kernel("Idle"),
        "kernels/.hidden.py": "rows.read_all()\n", "kernels/__pycache__/x.py": "rows.read_all()\n",
    }


def toy(s, tree, glob='"kernels/**/*.py"', expect="3", patch=PATCH, rules=RULES):
    s.write("rules/toy.yaml", rules % (glob, expect) if rules is RULES else rules)
    ids = "[kernels-read-bounded, kernels-import-read-bounded]" if rules is RULES else "[the-rule]"
    s.write("patches/toy/patch.yaml", patch + f"rules: {ids}\n")
    s.install(tree)


def refused(s, *options):
    with s.unchanged():
        s.run("apply", "toy", "-t", "site", *options)


# --- globs -----------------------------------------------------------------------------------------------------------


def test_glob(s):
    """A glob over three files in two folders: all of them count together, and each gets the import"""
    toy(s, files())
    s.run("status", "-v", "-t", "site")
    s.run("diff", "toy", "-t", "site")
    before = s.entries()
    s.run("apply", "toy", "-t", "site")
    s.run("apply", "toy", "-t", "site")
    s.run("status", "-v", "-t", "site")
    s.run("revert", "toy", "-t", "site")
    assert driver.differences(before, s.entries()) == []


def test_glob_json(s):
    """The document lists the files of a glob; a rule with a path has none"""
    toy(s, files())
    document = json.loads(s.run_raw("status", "toy", "-t", "site", "--json").stdout)
    for rule in document["trees"][0]["patches"][0]["rules"]:
        s.say(json.dumps({key: rule.get(key) for key in ("rule", "state", "file", "files", "old", "expected")}))
    toy(s, files(), glob="kernels/a.py", expect="1")
    rule = json.loads(s.run_raw("status", "toy", "-t", "site", "--json").stdout)["trees"][0]["patches"][0]["rules"][0]
    assert "files" not in rule and "per_file" not in rule["expected"], rule


def test_glob_counts_over_all_files(s):
    """expect is over the whole rule: two of three sites, and one file more"""
    toy(s, files(c=0))
    refused(s)
    toy(s, files(a=2))
    refused(s)
    toy(s, files(a=2, c=0))
    s.run("status", "-v", "-t", "site")


def test_glob_per_file(s):
    """per_file: the count must hold in each file with a site; a file without one does not count"""
    toy(s, files(c=0), expect="{min: 1, max: 1, per_file: true}")
    s.run("status", "-v", "-t", "site")
    toy(s, files(a=2), expect="{min: 1, max: 1, per_file: true}")
    refused(s)


def test_glob_per_file_in_a_scope(s):
    """per_file: a file that holds the scope counts, whether it holds a site or not"""
    toy(s, files(b=0), rules="""\
rules:
  - {id: the-rule, file: "kernels/*.py", in: "*.run", match: $R.read_all(), replace: "$R.read(8)", expect: 1, per_file: true}
""")
    refused(s)
    toy(s, files(), rules="""\
rules:
  - {id: the-rule, file: "kernels/*.py", in: "*.run", match: $R.read_all(), replace: "$R.read(8)", expect: 1, per_file: true}
""")
    s.run("apply", "toy", "-t", "site")


def test_glob_drift_names_the_nearest(s):
    """No file of a glob holds the code: the nearest that does something like it is shown"""
    tree = files(0, 0, 0)
    tree["kernels/b.py"] = kernel("B", "rows.read_all(wait=True)")
    toy(s, tree)
    refused(s)
    toy(s, {**tree, **{path: files()[path] for path in ("kernels/a.py", "kernels/deep/c.py")}})
    refused(s)


def test_glob_names_nothing(s):
    """absent: a glob that names no file"""
    toy(s, {"__init__.py": "", "rows.py": ROWS})
    refused(s)


def test_glob_partial(s):
    """partial: one file of the glob has the edit already, and the others have not"""
    tree = files()
    tree["kernels/b.py"] = kernel("B", "read_bounded(rows, self.bound)")
    toy(s, tree)
    refused(s)


def test_glob_foreign_edit(s):
    """foreign-edit: the count is wrong, and a file of the glob was edited by hand"""
    toy(s, files())
    s.write("site/toycache/kernels/b.py", kernel("B", "pass"))
    s.write("site/toycache/kernels/a.py", kernel("A", "rows.read_all()", "pass"))
    refused(s)


def test_glob_file_that_cannot_be_read(s):
    """A file of the glob that is no text: whether it holds the code cannot be said"""
    tree = files()
    tree["kernels/odd.py"] = b"x = '\xff'\n"
    toy(s, tree)
    refused(s)


def test_glob_does_not_follow_links(s):
    """A link to a folder in the tree is not entered, one that leads outside is a doubt; a file is named once"""
    tree = files()
    toy(s, tree)
    os.symlink("deep", s.folder / "site/toycache/kernels/again")
    os.symlink("a.py", s.folder / "site/toycache/kernels/same.py")
    s.run("status", "-v", "-t", "site")
    s.write("outside/d.py", kernel("D", "rows.read_all()"))
    os.symlink(s.folder / "outside", s.folder / "site/toycache/kernels/elsewhere")
    refused(s)


def test_glob_and_added_file(s):
    """A file that the patch adds is no code of the package: the glob does not name it, before or after"""
    rule = """\
rules:
  - {id: the-rule, file: "kernels/*.py", match: $R.read_all(), replace: "$R.read(8)", expect: 2}
"""
    toy(s, files(), rules=rule, patch=PATCH + "adds: [{path: kernels/own.py, from: own.py}]\n")
    s.write("patches/toy/own.py", "def every(rows):\n    return rows.read_all()\n")
    s.run("apply", "toy", "-t", "site")
    s.run("apply", "toy", "-t", "site")


def test_import_that_serves_nobody(s):
    """An import whose glob names none of the files that need it: refused, not left out"""
    toy(s, {**files(c=0), "other/x.py": ""}, expect="2")
    s.write("rules/toy.yaml", RULES.replace('"kernels/**/*.py"', '"other/*.py"') % ('"kernels/*.py"', 2))
    refused(s)


# --- several files ---------------------------------------------------------------------------------------------------

SEVERAL = """\
rules:
  - {id: a-reads, file: kernels/a.py, in: A.run, match: $R.read_all(), replace: "$R.read(8)", expect: 1}
  - {id: b-reads, file: kernels/b.py, in: B.run, match: $R.read_all(), replace: "$R.read(8)", expect: 2}
  - {id: c-reads, file: [kernels/c.py, kernels/deep/c.py], in: C.run, match: $R.read_all(), replace: "$R.read(8)", expect: 1}
"""


def several(s, tree):
    s.write("rules/toy.yaml", SEVERAL)
    s.write("patches/toy/patch.yaml", PATCH + "rules: [a-reads, b-reads, c-reads]\n")
    s.install(tree)


def test_several_files(s):
    """Four sites in three files, all or nothing: one of them missing, and nothing is written"""
    several(s, files(b=1))
    refused(s)
    several(s, files(b=2))
    s.run("apply", "toy", "-t", "site")
    assert all("read_all" not in s.read(f"site/toycache/kernels/{name}.py") for name in ("a", "b", "deep/c"))


MOVED = """\
rules:
  - id: the-rule
    file: [v3/decode.py, v2/decode.py, decode.py]
    in: Decoder.step
    match: $R.read_all()
    replace: $R.read(8)
    expect: 1
"""
DECODER = "class Decoder:\n    def step(self, rows):\n        return rows.read_all()\n"


def test_moved_twice(s):
    """A file that moved twice and left shims that re-export: the one that holds the code is edited, the shims are not"""
    old = {"__init__.py": "", "decode.py": DECODER}
    once = {"__init__.py": "", "decode.py": "from toycache.v2.decode import Decoder\n", "v2/decode.py": DECODER}
    twice = {**once, "v2/decode.py": "from toycache.v3.decode import *\n", "v3/decode.py": DECODER}
    for site, tree in (("old", old), ("once", once), ("twice", twice)):
        toy(s, old, rules=MOVED)
        s.install(tree, site=site)
        s.run("apply", "toy", "-t", site)
        for path, text in tree.items():
            changed = s.read(f"{site}/toycache/{path}") != text
            assert changed == (text == DECODER), (site, path)
    s.install({**twice, "v3/decode.py": DECODER.replace("Decoder", "Reader")}, site="gone")
    s.run("apply", "toy", "-t", "gone")


# --- conditions on other packages ------------------------------------------------------------------------------------

RULE = """\
rules:
  - {id: the-rule, file: kernels/a.py, match: $R.read_all(), replace: "$R.read(8)", expect: 1}
"""
WRAPPER = "class Wrapper:\n    def plan(self, rows, bound=None):\n        return rows\n\n    def drop(self):\n        pass\n"


def needing(s, conditions, key="requires"):
    toy(s, files(), rules=RULE, patch=PATCH + f"{key}:\n" + "".join(f"  - {each}\n" for each in conditions))


def beside(s, version="0.3.1", site="site", text=WRAPPER, path="wrap.py"):
    """The distribution toy-kernels, whose import name is toykern, and no other version of it."""
    for old in (s.folder / site).glob("toy_kernels-*"):
        shutil.rmtree(old)
    s.install({"__init__.py": "", path: text}, site=site, name="toykern", version=version)
    info = s.folder / site / f"toy_kernels-{version}.dist-info"
    (s.folder / site / f"toykern-{version}.dist-info").rename(info)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: toy-kernels\nVersion: {version}\n")


NEED = "{package: toy-kernels, versions: '>=0.3', file: wrap.py, in: Wrapper.plan, literal: bound}"


def test_requires_of_another_package(s):
    """requires on a package beside the tree: not installed, too old, without the code, and met"""
    needing(s, [NEED])
    refused(s)
    beside(s, version="0.2.9")
    refused(s)
    beside(s, text=WRAPPER.replace("bound", "limit"))
    refused(s)
    beside(s)
    s.run("apply", "toy", "-t", "site")


def test_requires_in_an_environment(s):
    """The package is looked for in all that the environment imports from, editable installs too"""
    needing(s, [NEED])
    s.install(files(), site="venv/lib/python3.11/site-packages")
    s.write("venv/pyvenv.cfg", "home = /nowhere\nversion = 3.11.4\n")
    s.run("status", "toy", "-t", "venv")
    beside(s, site="checkout")
    info = "venv/lib/python3.11/site-packages/toy_kernels-0.3.1.dist-info"
    (s.folder / "checkout/toy_kernels-0.3.1.dist-info").rename(s.folder / info)
    s.write(f"{info}/RECORD", "toykern.pth,,\n")
    s.write(f"{info}/top_level.txt", "toykern\n")
    s.write("venv/lib/python3.11/site-packages/toykern.pth", f"{s.folder}/checkout\n")
    s.run("status", "toy", "-t", "venv")


def test_with(s):
    """--with: a package folder, the folder that holds it; and what it refuses"""
    needing(s, [NEED])
    beside(s, site="other")
    s.run("status", "toy", "-t", "site", "--with", "toy-kernels=other/toykern")
    s.run("status", "toy", "-t", "site", "--with", "Toy_Kernels=other")
    s.run("diff", "toy", "-t", "site", "--with", "toy-kernels=other", "--exit-code",
          keep=lambda line: line.startswith(("---", "+++")))
    refused(s, "--with", "toy-kernels=site")
    refused(s, "--with", "toy-kernels=nowhere")
    refused(s, "--with", "toy-kernel=other")
    refused(s, "--with", "toy-kernels")
    refused(s, "--with", "toy-kernels=other", "--with", "toy.kernels=site")
    s.run("apply", "toy", "-t", "site", "--with", "toy-kernels=other")
    s.run("status", "toy", "-t", "site")
    s.run("revert", "toy", "-t", "site")


def test_with_a_wheel(s):
    """--with: a wheel, which is read where it lies; one that is none; nothing is written to it"""
    needing(s, [NEED])
    beside(s, site="other")
    with zipfile.ZipFile(s.folder / "toy_kernels-0.3.1-py3-none-any.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        for path in sorted((s.folder / "other").rglob("*")):
            if path.is_file():
                wheel.write(path, path.relative_to(s.folder / "other").as_posix())
    s.run("status", "toy", "-t", "site", "--with", "toy-kernels=toy_kernels-0.3.1-py3-none-any.whl")
    refused(s, "--with", "toy-kernels=toy_kernels-0.3.1-py3-none-any.whl/toykern")
    s.write("broken.whl", "PK, and no more")
    refused(s, "--with", "toy-kernels=broken.whl")
    s.write("text.txt", "")
    refused(s, "--with", "toy-kernels=text.txt")
    s.run("apply", "toy", "-t", "site", "--with", "toy-kernels=toy_kernels-0.3.1-py3-none-any.whl")


def test_folder_of_another_package(s):
    """package: {name, folder}: found where no metadata tells its import name, and --with may call it by that"""
    needing(s, [NEED.replace("toy-kernels", "{name: toy-kernels, folder: toykern}").replace(", versions: '>=0.3'", "")])
    s.write("checkout/toykern/__init__.py", "")
    s.write("checkout/toykern/wrap.py", WRAPPER)
    s.run("status", "toy", "-t", "site", "--with", "toy-kernels=checkout")
    s.run("status", "toy", "-t", "site", "--with", "toykern=checkout")
    s.run("status", "toy", "-t", "site", "--with", "toykern=checkout/toykern")
    refused(s, "--with", "toykern=checkout", "--with", "toy-kernels=checkout")
    s.write("checkout/toykern/wrap.py", WRAPPER.replace("bound", "limit"))
    refused(s, "--with", "toykern=checkout")


def test_what_follows_where_a_requirement_does_not_hold(s):
    """blocked: the pattern, the signature and file that were searched, the version, and what would happen otherwise"""
    needing(s, ["""{package: toy-kernels, class: Wrapper, in: Wrapper.plan, has: "def plan($$$, scale, $$$): $$$",
     note: plan takes a scale, otherwise: "toycache stops at its first read, with a TypeError: unexpected keyword argument 'scale'"}"""])
    beside(s, text="import typing\n\n\n" + WRAPPER.replace("(self, rows, bound=None)", "(\n        self,\n        rows,  # read\n        bound=None,\n    )"))
    refused(s)
    s.run("status", "-v", "toy", "-t", "site")
    s.run("explain", "toy", keep=lambda line: "needs" in line or "otherwise" in line or "keyword" in line)


def test_superseded_by_another_package(s):
    """superseded by the version of another package; one that is not installed, or of no known version, supersedes nothing"""
    needing(s, ["{package: toy-kernels, versions: '>=0.3', note: it bounds its reads itself}"], key="superseded")
    s.run("status", "toy", "-t", "site")
    beside(s, version="0.2")
    s.run("status", "toy", "-t", "site")
    s.write("site/toy_kernels-0.4.dist-info/METADATA", "Name: toy-kernels\nVersion: 0.4\n")
    s.run("status", "toy", "-t", "site")
    (s.folder / "site/toy_kernels-0.2.dist-info/METADATA").unlink()
    with s.unchanged():
        s.run("apply", "toy", "-t", "site")


def test_not_forms_of_what_is_missing(s):
    """A condition of not_ forms alone, on a package or file that is not there, proves nothing: blocked"""
    for condition in ("{package: toy-kernels, file: wrap.py, not_literal: slow}", "{file: gone.py, not_match: slow($$$)}",
                      "{class: Gone, not_has: slow($$$)}"):
        needing(s, [condition])
        refused(s)


# --- class: ----------------------------------------------------------------------------------------------------------


def test_class_that_moved(s):
    """class: the file is found by the class that it defines, wherever that is"""
    for site, path in (("one", "wrap.py"), ("two", "deep/er/moved.py")):
        needing(s, ["{package: toy-kernels, class: Wrapper, in: Wrapper.plan, literal: bound}",
                    "{class: C, has: $R.read_all(), not_has: $R.read_some()}"])
        s.install(files(), site=site)
        beside(s, site=site, path=path)
        s.write(f"{site}/toykern/shim.py", "from toykern import Wrapper  # class Wrapper is elsewhere\n")
        s.run("status", "toy", "-t", site)
    s.write("two/toykern/deep/er/moved.py", WRAPPER.replace("Wrapper", "Planner"))
    s.run("status", "toy", "-t", "two")


def test_class_superseded(s):
    """class in superseded: the line that proves it, in the file where the class is now"""
    needing(s, ["{class: B, in: B.run, match: $R.read_all()}"], key="superseded")
    s.run("apply", "toy", "-t", "site")


def test_class_defined_twice(s):
    """Two files define the class: what must be there is in each of them, what must not be there in none"""
    tree = {**files(), "old/b.py": kernel("B", "slow(rows)")}
    for condition in ("{class: B, has: slow($X)}", "{class: B, not_has: slow($X)}", "{class: B, not_match: slow(1)}"):
        needing(s, [condition])
        s.install(tree)
        s.run("status", "toy", "-t", "site")


scenario.main(globals())
