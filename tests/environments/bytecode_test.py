"""Bytecode of every kind that Python takes for a module: after apply a fresh interpreter runs the new code, after revert the
old. The edit keeps the file's size, and all is done within a second: what Python checks by time and size looks unchanged.
The lines of docs/environments.md on bytecode.
"""

import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cycle
import table
import toyserve
from cycle import World, run
from interpreters import interpreter
from unprivileged import as_nobody

COLUMNS = ["bytecode of the module", "after `apply`", "after `revert`", "bytecode then", "said"]

FILES = {**toyserve.FILES, "kind.py": b'def kind():\n    return "old"\n'}
RULES = """\
rules:
  - {id: kind-is-new, file: kind.py, in: kind, match: '"old"', replace: '"new"', expect: 1, ok: kind is new}
"""
PATCH = "patch: kind\nsummary: Of the same size\npackage: {name: toyserve}\nrules: [kind-is-new]\n"
PROGRAM = "import toyserve.kind; print(toyserve.kind.kind())"
ROUNDS = 3  # of apply and revert, each with an interpreter that writes bytecode
MODES = {"timestamp": "TIMESTAMP", "checked": "CHECKED_HASH", "unchecked": "UNCHECKED_HASH"}


def world(folder, **options):
    """The package in a folder that PYTHONPATH names."""
    toyserve.unpacked(folder / "site", files=FILES)
    toyserve.write(folder, {"rules/kind.yaml": RULES, "patches/kind/patch.yaml": PATCH})
    environment = {"PYTHONPATH": str(folder / "site"), **options.pop("variables", {})}
    return World(folder, folder / "site/toyserve", ["-t", str(folder / "site")], [interpreter("import venv")],
                 interpreter_environment=environment, bytecode=True, patch="kind", program=PROGRAM, writes=("kind.py",),
                 options=["--rules-dir", str(folder / "rules"), "--patches-dir", str(folder / "patches")], **options)


def compile_kind(w, mode, *flags, to=None):
    """Bytecode of kind.py, as a build leaves it; `to`: somewhere else than where Python puts it."""
    words = (f"import py_compile; py_compile.compile({str(w.package / 'kind.py')!r}, {to and str(to)!r}, doraise=True, "
             f"invalidation_mode=py_compile.PycInvalidationMode.{MODES[mode]})")
    run([*w.python, *flags, "-c", words], w.folder, w.interpreter_environment)


def left(w):
    """Names of bytecode of the module, wherever it is."""
    names = sorted(w.shown(path.name) for path in w.folder.rglob("kind*.pyc"))
    return ", ".join(f"`{name}`" for name in names) or "removed"


def rounds(w, prepare=lambda: None):
    """[after apply, after revert, bytecode, said] of several rounds, which must all be one."""
    results = set()
    for _ in range(ROUNDS):
        prepare()
        assert w.code() == "old", w.code()
        first = w.suture("apply", w.patch)
        bytecode = left(w)
        new = w.code()
        w.suture("revert", w.patch)
        results.add((new, w.code(), bytecode, notes(first, w)))
    assert len(results) == 1, results
    new, old, bytecode, words = results.pop()
    assert (new, old) == ("new", "old"), (new, old)
    return [f"{new} code", f"{old} code", bytecode, words]


def notes(done, w):
    lines = [line.removeprefix("note: ") for line in done.stderr.splitlines() if line.startswith("note: ")]
    return "; ".join(w.shown(line) for line in lines if "bytecode" in line) or "-"


def test_none(folder):
    """none"""
    w = world(folder)
    w.bytecode = False
    return rounds(w)


def test_timestamp(folder):
    """in `__pycache__`, by time and size (what pip and interpreters write)"""
    w = world(folder)
    return rounds(w, lambda: compile_kind(w, "timestamp"))


def test_checked_hash(folder):
    """in `__pycache__`, by hash"""
    w = world(folder)
    return rounds(w, lambda: compile_kind(w, "checked"))


def test_unchecked_hash(folder):
    """in `__pycache__`, unchecked (images with fixed times)"""
    w = world(folder)
    return rounds(w, lambda: compile_kind(w, "unchecked"))


def test_optimised(folder):
    """in `__pycache__`, unchecked, of `-O` and `-OO` too"""
    w = world(folder)

    def prepare():
        for flags in ([], ["-O"], ["-OO"]):
            compile_kind(w, "unchecked", *flags)
    row = rounds(w, prepare)
    compile_kind(w, "unchecked", "-O")
    w.suture("apply", w.patch)
    w.python.append("-O")
    assert w.code() == "new", "-O runs the old code"
    return row


def test_beside(folder):
    """`kind.pyc` beside the source, unchecked"""
    w = world(folder)
    return rounds(w, lambda: compile_kind(w, "unchecked", to=w.package / "kind.pyc"))


def test_sourceless(folder):
    """`kind.pyc` and no source"""
    w = world(folder)
    compile_kind(w, "unchecked", to=w.package / "kind.pyc")
    (w.package / "kind.py").unlink()
    w.bytecode = False
    message = cycle.refused(w, 5)
    return [f"refused (5): {message}", "-", left(w), "-"]


def test_prefix_of_the_server(folder):
    """below `PYTHONPYCACHEPREFIX`, which the server has and suture has not, by time and size"""
    return rounds(world(folder, variables={"PYTHONPYCACHEPREFIX": str(folder / "cache")}))


def test_prefix_of_both(folder):
    """below `PYTHONPYCACHEPREFIX`, which suture has too, unchecked"""
    variables = {"PYTHONPYCACHEPREFIX": str(folder / "cache")}
    w = world(folder, variables=variables, environment=variables)
    return rounds(w, lambda: compile_kind(w, "unchecked"))


def locked(folder, mode):
    """A __pycache__ that is root's, in a package of somebody else, who runs suture."""
    w = world(folder)
    before, uid = as_nobody(w)
    compile_kind(w, mode)
    for path in [folder, folder / "site", w.package, w.package / "kind.py"]:
        os.chown(path, uid, uid)
    w.before = before
    return w


def test_locked_timestamp(folder):
    """in a `__pycache__` that suture may not write to, by time and size"""
    return rounds(locked(folder, "timestamp"))


def test_locked_unchecked(folder):
    """in a `__pycache__` that suture may not write to, unchecked"""
    w = locked(folder, "unchecked")
    w.bytecode = False
    message = cycle.refused(w, 6)
    assert not (w.package / ".suture").exists()
    return [f"refused (6): {message}", "-", left(w), "-"]


def test_prefix_time_of_an_image(folder):
    """below the server's `PYTHONPYCACHEPREFIX`; the source's time is in the future"""
    w = world(folder, variables={"PYTHONPYCACHEPREFIX": str(folder / "cache")})
    os.utime(w.package / "kind.py", (4_000_000_000, 4_000_000_000))
    return rounds(w)


if __name__ == "__main__":
    table.main(globals(), COLUMNS)
