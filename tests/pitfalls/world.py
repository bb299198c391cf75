"""What the cases that take several steps stand in: site-packages in a scratch folder, one patch or more, and suture run on them."""

import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support"))
import driver  # noqa: E402

SENTENCES = {
    "15-hard-links": "Site-packages are hard links into a package manager's cache: an edit in place changes every other environment.",
    "16c-exit-codes": "A failed patch exits 0, and the build goes on.",
    "17-below-a-root": "Run below a repository's root, or on the wrong folder, the tool skips in silence and exits 0.",
    "19-superseded-beside": "A superseded patch aborts a second one that is still needed.",
    "21a-two-patchers": "Two patchers overwrite each other.",
    "21b-workers": "Several workers patch the same file at the same time.",
    "22-spawned-workers": "In-memory patches are lost where the framework spawns its workers.",
    "23-where-it-is-found": "The package is found through a .pth file, an environment, an editable install, dist-packages.",
    "26-applied-again": "Applied when the image is built and again by the entry point: the start fails.",
}
KINDS = {}  # kind -> [(name, function, what is known to be wrong)]

OLD = "x = slow(1)\n"
NEW = "x = fast(1)\n"
RULE = {"match": "slow($A)", "replace": "fast($A)"}


def kind(stem, known=""):
    """Makes the function a case of the kind; its docstring is its name, and begins with `edit:` or `refuse:`."""
    def add(function):
        KINDS.setdefault(stem, []).append((function.__doc__, function, known))
        return function
    return add


class World:
    def __init__(self, folder):
        self.folder = folder
        self.patch()

    # --- building

    def write(self, path, data):
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data if isinstance(data, bytes) else data.encode())
        return target

    def patch(self, name="the-patch", rules=(RULE,), keys="", package="{name: toypack}"):
        """A patch and its rules; a rule is a map of its keys, each with its text."""
        ids = []
        text = "rules:\n"
        for number, rule in enumerate(rules):
            ids.append(f"{name}-rule-{number}")
            every = {"id": ids[-1], "file": "mod.py", "expect": "1", **rule}
            text += "  - " + "\n    ".join(f"{key}: {value}" for key, value in every.items()) + "\n"
        self.write(f"rules/{name}.yaml", text)
        self.write(f"patches/{name}/patch.yaml",
                   f"patch: {name}\nsummary: A case\npackage: {package}\n{keys}rules: [{', '.join(ids)}]\n")

    def install(self, files=None, site="site", name="toypack", version="1.0"):
        for path, data in {"__init__.py": "", "mod.py": OLD, **(files or {})}.items():
            if data is not None:
                self.write(f"{site}/{name}/{path}", data)
        self.write(f"{site}/{name}-{version}.dist-info/METADATA",
                   f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        return self

    # --- running

    def command(self, *arguments):
        return [driver.SUTURE, *map(str, arguments), "--rules-dir", str(self.folder / "rules"), "--patches-dir",
                str(self.folder / "patches")]

    def start(self, *arguments):
        return subprocess.Popen(self.command(*arguments), cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, *arguments, code=0, says="", environment=None, cwd=None):
        done = subprocess.run(self.command(*arguments), cwd=cwd or self.folder, capture_output=True, timeout=60, check=False,
                              env={"PATH": "/nowhere", "LC_ALL": "C", "HOME": str(self.folder), **(environment or {})})
        text = (done.stdout + done.stderr).decode(errors="backslashreplace")
        assert done.returncode == code, f"{' '.join(map(str, arguments))}: exit {done.returncode}, not {code}\n{text}"
        assert says in text, f"{' '.join(map(str, arguments))} does not say {says!r}\n{text}"
        return text

    def apply(self, *patches, tree="site", **more):
        return self.run("apply", *(patches or ["the-patch"]), "-t", tree, **more)

    def refused(self, *patches, tree="site", code=4, says="", options=()):
        """`apply` ends with that code, and changes not one byte."""
        before = driver.entries(self.folder)
        self.run("apply", *(patches or ["the-patch"]), "-t", tree, *options, code=code, says=says)
        changed = driver.differences(before, driver.entries(self.folder))
        assert not changed, f"written: {changed}"

    # --- looking

    def has(self, text=NEW, path="site/toypack/mod.py"):
        have = (self.folder / path).read_bytes()
        want = text if isinstance(text, bytes) else text.encode()
        assert have == want, f"{path}:\n{have!r}\nnot\n{want!r}"

    def python(self, code, *arguments):
        done = subprocess.run([sys.executable, "-c", code, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                              timeout=60, check=False, env={**os.environ, "PYTHONPATH": str(self.folder / "site")})
        assert done.returncode == 0, done.stderr
        return done.stdout


def copy_tree(world, source, target):
    shutil.copytree(world.folder / source, world.folder / target)
