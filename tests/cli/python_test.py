"""--python EXE: the interpreter compiles what diff and apply would write, and nothing is written that it does not take.

The words of an interpreter differ by version, so this compares what suture adds to them, and no transcript.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import driver

MODULE = """\
import os


def top(a, b):
    anchor()
    return a


anchor_at_top()
"""

# What each rule makes of a place, and whether the check that needs no interpreter (engine/soundness) sees it too.
PLANTED = {
    "a positional argument behind a keyword": ("anchor()", "top(a=1, b)", True),
    "return outside of a function": ("anchor_at_top()", "return 1", False),
    "nonlocal at the top": ("anchor_at_top()", "nonlocal x", False),
    "a parameter twice": ("anchor()", "g = lambda x, x: x", True),
    "a parameter twice, behind a star": ("anchor()", "g = lambda *x, x: x", False),
    "await outside of async": ("anchor()", "await a", False),
    "yield from the top": ("anchor_at_top()", "x = yield", False),
    "a star import in a function": ("anchor()", "from os import *", False),
    "print as a statement": ("anchor()", 'print "a"', True),
    "an annotation of two names": ("anchor()", "(a, b): int = 1", False),
    "break outside of a loop": ("anchor()", "break", False),
    "a global that is a parameter": ("anchor()", "global a", False),
    "del of a call": ("anchor()", "del top(a)", False),
}


class Tree:
    """site/toypkg with one module, and a patch with one rule."""

    def __init__(self, folder, match="anchor()", replace="anchor(1)", module=MODULE, adds=None):
        self.folder = pathlib.Path(folder)
        self.site = self.folder / "site"
        self.module = self.site / "toypkg" / "mod.py"
        self.write("site/toypkg/__init__.py", "")
        self.write("site/toypkg/mod.py", module)
        self.write("site/toypkg-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: toypkg\nVersion: 1.0\n")
        rule = {"id": "toy-rule", "match": match, "replace": replace, "expect": 1, "ok": "the rule is in place"}
        self.write("rules/toy.yaml", json.dumps({"file": "mod.py", "rules": [rule]}))
        patch = {"patch": "toy", "summary": "A rule", "package": {"name": "toypkg", "versions": ">=0"}, "rules": ["toy-rule"]}
        if adds:
            self.write("patches/toy/added.py", adds)
            patch["adds"] = [{"path": "added.py", "from": "added.py"}]
        self.write("patches/toy/patch.yaml", json.dumps(patch))

    def write(self, path, text):
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())

    def script(self, text):
        path = self.folder / "fake-python"
        path.write_text("#!/bin/sh\n" + text + "\n")
        path.chmod(0o755)
        return path

    def run(self, command, *options, exit_code=0, environment=None):
        names = ["--rules-dir", self.folder / "rules", "--patches-dir", self.folder / "patches", "-t", self.site]
        return driver.suture(command, "toy", *names, *options, exit_code=exit_code, environment=environment)

    def run_unchanged(self, command, *options, exit_code):
        before = driver.entries(self.site)
        out, err = self.run(command, *options, exit_code=exit_code)
        assert driver.differences(before, driver.entries(self.site)) == [], command
        return out, err


def tree(**keys):
    return Tree(tempfile.mkdtemp(dir=SCRATCH.name), **keys)


SCRATCH = tempfile.TemporaryDirectory()
PYTHON = sys.executable


def test_planted_rules():
    for name, (match, replace, seen) in PLANTED.items():
        t = tree(match=match, replace=replace)
        for command in (["diff"], ["apply", "--dry-run"], ["apply"]):
            out, err = t.run_unchanged(*command, "--python", PYTHON, exit_code=3)
            assert out == b"", (name, out)
            assert "toypkg/mod.py:" in err or seen, (name, err)
            if not seen:
                assert f"Python {sys.version_info[0]}.{sys.version_info[1]} does not compile the result: SyntaxError: " in err, (name, err)
                assert replace in err and "^" in err and "hint:" in err, (name, err)
        if seen:
            t.run_unchanged("diff", exit_code=3)
        else:
            # Without the option nothing is run, and nobody sees it: that is what the option is for.
            assert replace.encode() in t.run_unchanged("diff", exit_code=0)[0], name


def test_a_good_rule_is_written():
    t = tree()
    plain = t.run("diff")[0]
    assert plain and t.run("diff", "--python", PYTHON)[0] == plain
    assert t.run("apply", "--python", PYTHON)[0] == b"OK: the rule is in place\n"
    assert "anchor(1)" in t.module.read_text()
    assert "already applied" in t.run("apply", "--python", "/no/such/python")[1]  # nothing to compile: it is not run


def test_only_what_is_written_is_compiled():
    """A module beside it that never compiled is no matter, and nothing of the target is imported."""
    t = tree(module="raise SystemExit('imported')\nanchor()\n")
    t.write("site/toypkg/broken.py", "def (:\n")
    t.write("site/sitecustomize.py", "raise SystemExit('imported')\n")
    out, err = t.run("apply", "--python", PYTHON, environment={"PYTHONPATH": str(t.site), "PYTHONSTARTUP": "/no", "PYTHONHOME": "/no"})
    assert out == b"OK: the rule is in place\n", err
    assert not list(t.site.rglob("__pycache__"))


def test_added_files_are_compiled():
    t = tree(adds="def f():\n    return 1\n\n\nreturn 2\n")
    err = t.run_unchanged("apply", "--python", PYTHON, exit_code=3)[1]
    assert "toypkg/added.py:5" in err and "return 2" in err, err


def test_a_file_that_did_not_compile():
    """The error that was there may stay, and is said; another one may not come."""
    t = tree(module="anchor()\n\n\ndef f():\n    x = 1\n    global x\n")
    err = t.run("diff", "--python", PYTHON)[1]
    assert "toypkg/mod.py:6: Python" in err and "does not compile this file as it is: SyntaxError" in err, err
    t = tree(replace="(a, b): int = 1", module=t.module.read_text())
    err = t.run_unchanged("diff", "--python", PYTHON, exit_code=3)[1]
    assert "toypkg/mod.py:1:1" in err and "does not compile the result" in err, err


def test_encodings():
    """The bytes go to the interpreter as they are: it reads the cookie itself."""
    t = tree(module="# -*- coding: latin-1 -*-\nname = 'caf\xe9'\nanchor()\n".encode("latin-1"))
    t.run("diff", "--python", PYTHON)
    t = tree(module="\ufeffname = 'caf\xe9'\nanchor()\n", replace="return 1")
    err = t.run_unchanged("diff", "--python", PYTHON, exit_code=3)[1]
    assert "toypkg/mod.py:2:1" in err, err


def test_interpreters_that_are_none():
    t = tree()
    cases = [
        ("exit 0", "its answer is not that of a Python interpreter"),
        ("echo garbage; cat", "its answer is not that of a Python interpreter: garbage"),
        ("echo 'Unknown option: -I' >&2; exit 2", "it is older than Python 3.4"),
        ("echo 'No module named nothing' >&2; exit 1", "it ended with exit code 1: No module named nothing"),
        ("kill -SEGV $$", "it crashed"),
        ("while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done", "it printed without end"),
    ]
    for script, words in cases:
        python = t.script(script)
        for command in ("diff", "apply"):
            err = t.run_unchanged(command, "--python", python, exit_code=6)[1]
            assert f"{python} (--python) cannot check the result: {words}" in err and "hint:" in err, err
    err = t.run_unchanged("diff", "--python", "/no/such/python", exit_code=6)[1]
    assert "cannot be run: No such file or directory" in err, err
    err = t.run_unchanged("diff", "--python", "no-such-python", exit_code=6)[1]
    assert "no-such-python (--python): there is no such program on PATH" in err, err
    t.module.parent.joinpath("plain").write_text("no program")
    err = t.run_unchanged("diff", "--python", t.module.parent / "plain", exit_code=6)[1]
    assert "cannot be run: Permission denied" in err, err


def test_python_names_the_tree_too():
    """Without -t the interpreter names the environment, and compiles the result as well."""
    t = tree(match="anchor_at_top()", replace="return 1")
    environment = t.folder / "env"
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", environment], check=True)
    packages = next((environment / "lib").glob("python3*/site-packages"))
    for part in ("toypkg", "toypkg-1.0.dist-info"):
        (t.site / part).rename(packages / part)
    names = ["--rules-dir", t.folder / "rules", "--patches-dir", t.folder / "patches"]
    err = driver.suture("diff", "toy", *names, "--python", environment / "bin/python", exit_code=3)[1]
    assert "does not compile the result" in err, err
    driver.suture("status", "toy", *names, "--python", environment / "bin/python")
    # A bare name is looked for on PATH.
    search = {"PATH": f"{environment}/bin:{os.environ['PATH']}"}
    err = driver.suture("diff", "toy", *names, "--python", "python", exit_code=3, environment=search)[1]
    assert "does not compile the result" in err, err


def test_json():
    t = tree(match="anchor_at_top()", replace="return 1")
    out = t.run_unchanged("diff", "--json", "--python", PYTHON, exit_code=3)[0]
    report = json.loads(out)
    assert report["exit"] == 3, report
    (error,) = report["errors"]
    assert "does not compile the result" in error["message"], error
    assert error["file"] == "toypkg/mod.py" and error["line"] == 9, error


def main():
    tests = [value for name, value in sorted(globals().items()) if name.startswith("test_")]
    for test in tests:
        test()
        print(f"ok {test.__name__[5:].replace('_', ' ')}")
    SCRATCH.cleanup()


if __name__ == "__main__":
    main()
