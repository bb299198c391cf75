"""What is done in every environment: found, applied, run, applied again, reverted, run; and held to have changed nothing else."""

import dataclasses
import json
import os
import pathlib
import re
import resource
import subprocess

import driver
import toyserve

SECONDS = 60
MEMORY = 2 << 30
# What pip and interpreters get: this machine's settings of pip among them, no environment of the caller's.
OUTSIDE = {key: value for key, value in os.environ.items() if key == "PATH" or key.startswith("PIP_")}
OUTSIDE |= {"LC_ALL": "C.UTF-8", "PIP_BREAK_SYSTEM_PACKAGES": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1",
            "PIP_ROOT_USER_ACTION": "ignore"}


@dataclasses.dataclass
class World:
    """An environment, and how suture and its interpreter are run."""

    folder: pathlib.Path  # all of it: what is not to change
    package: pathlib.Path  # the folder that the interpreter imports
    tree: list  # the options that name it
    python: list  # the interpreter's command
    environment: dict = dataclasses.field(default_factory=dict)  # suture's own, beside HOME
    interpreter_environment: dict = dataclasses.field(default_factory=dict)
    before: list = dataclasses.field(default_factory=list)  # words in front of suture
    umask: int = 0o022
    bytecode: bool = False  # the interpreter may write bytecode
    binary: str = driver.SUTURE
    patch: str = toyserve.PATCH
    program: str = toyserve.PROGRAM
    writes: tuple = ("engine.py", "lazy_rows.py")  # what apply writes, in the package
    options: list = dataclasses.field(default_factory=lambda: toyserve.OPTIONS)

    def suture(self, *arguments, exit_code=0):
        """The finished process; its stderr as text."""
        environment = {"PATH": "/nowhere", "HOME": str(self.folder / "home"), "LC_ALL": "C", **self.environment}
        run = subprocess.run([*self.before, self.binary, *arguments, *self.tree, *self.options], cwd=self.folder,
                             env=environment, capture_output=True, timeout=SECONDS, check=False, umask=self.umask,
                             preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY)))
        run.stderr = run.stderr.decode(errors="replace")
        words = f"suture {' '.join(map(str, arguments))}: exit code {run.returncode}, not {exit_code}"
        assert exit_code is None or run.returncode == exit_code, f"{words}\n{run.stdout.decode(errors='replace')}{run.stderr}"
        return run

    def verdict(self):
        report = json.loads(self.suture("status", self.patch, "--json").stdout)
        return report["trees"][0]["patches"][0]["verdict"]

    def code(self):
        environment = {**OUTSIDE, "HOME": str(self.folder / "home"), **self.interpreter_environment}
        if not self.bytecode:
            environment["PYTHONDONTWRITEBYTECODE"] = "1"
        return toyserve.code_that_runs(self.python, environment, self.folder, self.program)

    def entries(self):
        return driver.entries(self.folder)

    def relative(self, path):
        return pathlib.Path(path).relative_to(self.folder).as_posix()

    def shown(self, text):
        """Without what is this machine's: the scratch folder, the version of Python."""
        for option, value in zip(self.tree, self.tree[1:]):
            if option == "--python" and not pathlib.Path(value).is_relative_to(self.folder):
                text = text.replace(str(value), "EXE")
        text = re.sub(r"(python|cpython-)3\.?\d+", r"\1X.Y", text.replace(str(self.folder) + "/", ""))
        return text.replace(str(self.folder), ".").replace(toyserve.EXAMPLE.as_posix(), "EXAMPLE")


def run(command, folder, environment=None):
    """Runs what is no suture, holds it to success, returns its stdout."""
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, check=False,
                          env={**OUTSIDE, "HOME": str(folder / "home"), **(environment or {})}, timeout=3 * SECONDS)
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
    return done.stdout.strip()


def found_by(world):
    """How status -v says that it found the tree."""
    words = world.suture("status", world.patch, "-v").stderr
    note = next(line for line in words.splitlines() if line.startswith("note: "))
    return world.shown(note.split(": ", 2)[2])


def said(run_of_suture, world):
    """The notes of a run that are worth a column: not those that every environment gives."""
    notes = [line.removeprefix("note: ") for line in run_of_suture.stderr.splitlines() if line.startswith("note: ")]
    return "; ".join(world.shown(note) for note in notes if "bytecode" not in note and "EXAMPLE" not in note)


def is_bytecode(path):
    return path.endswith((".pyc", "__pycache__"))


def expect_changes(world, before, after, wanted):
    """Of what was there before, the wanted paths alone are another now (or gone, or new); bytecode aside."""
    changed = [path for path in driver.differences(before, after) if not is_bytecode(path)]
    assert changed == sorted(wanted), f"changed: {changed}, not {sorted(wanted)}"


def without_suture(entries):
    return {path: what for path, what in entries.items() if ".suture" not in pathlib.PurePosixPath(path).parts}


def apply_and_revert(world):
    """The whole cycle; [apply, again, revert, said]."""
    assert world.verdict() == "applicable", world.verdict()
    assert world.code() == "old", world.code()
    before = world.entries()
    world.suture("diff", world.patch)
    assert world.entries() == before, "diff or status wrote something"

    first = world.suture("apply", world.patch)
    applied = world.entries()
    expect_changes(world, before, without_suture(applied), [world.relative(world.package / name) for name in world.writes])
    after_apply = world.code()
    assert after_apply == "new" and world.verdict() == "applied", (after_apply, world.verdict())
    applied = world.entries()  # the interpreter may have written bytecode
    again = world.suture("apply", world.patch)
    assert "already applied, nothing to do" in again.stderr and world.entries() == applied, again

    last = world.suture("revert", world.patch)
    expect_changes(world, before, world.entries(), [])
    after_revert = world.code()
    assert after_revert == "old" and world.verdict() == "applicable", after_revert
    notes = "; ".join(filter(None, [said(first, world), said(last, world)]))
    return [f"{after_apply} code runs", "nothing to do", f"{after_revert} code runs, every byte as before", notes or "-"]


def refused(world, exit_code, code="old"):
    """diff, apply and revert write nothing; apply's message, without its hint."""
    before = world.entries()
    done = world.suture("apply", world.patch, exit_code=exit_code)
    assert world.entries() == before, "a refused apply wrote something"
    assert world.code() == code, world.code()
    return message_of(done, world)


def message_of(done, world):
    line = next(line for line in done.stderr.splitlines() if line.startswith("error: ")).removeprefix("error: ")
    return world.shown(without_rules(line.removeprefix(f"{world.patch}: ")))


def without_rules(words):
    """Without the names of rules, which are the test's and not the environment's."""
    return re.sub(r"rules? [\w-]+( and [\w-]+)?: ", "", words)
