"""Every kind of pitfalls, case by case (cases.py says how they are written), on the built binary.

    python3 tests/pitfalls/pitfalls_test.py [WORD...]      only the files or cases whose names hold a WORD

An edit: `diff` shows it, `apply` writes exactly the bytes expected and Python still compiles them, a second `apply` writes
nothing, `revert` brings every byte back, and the result without a receipt is recognised as applied. A refusal: the verdict,
its exit code, its words, and not one byte of the tree changed by `diff` and `apply`.
"""

import concurrent.futures
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
sys.path.insert(0, str(HERE))
import cases  # noqa: E402
import driver  # noqa: E402
import steps_runs  # noqa: E402,F401
import steps_trees  # noqa: E402,F401
import world  # noqa: E402

EXIT = {"absent": 5, "outdated": 0, "applied": 0, "partial": 4, "out-of-range": 5, "conflicting": 4, "superseded": 0,
        "blocked": 5, "ambiguous": 4, "foreign-edit": 4, "drifted": 4, "error": 3}
FEWEST = 5  # cases of a kind


class Toy:
    """A package with the files of a case, and the rule and patch folder of it, in a scratch folder."""

    def __init__(self, folder, case):
        self.folder = folder
        self.case = case
        self.site = folder / "site"
        self.package = self.site / "toypack"
        self.write({"__init__.py": b"", **(case.before or {"mod.py": b"x = 1\n"})})
        info = self.site / f"toypack-{case.version}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: toypack\nVersion: {case.version}\n")
        (folder / "rules").mkdir()
        (folder / "rules/rules.yaml").write_text(case.rules_file())
        (folder / "patches/the-patch").mkdir(parents=True)
        (folder / "patches/the-patch/patch.yaml").write_text(case.patch_file())

    def write(self, files):
        for path, data in files.items():
            target = self.package / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)

    def run(self, command, *options):
        words = [driver.SUTURE, command, "the-patch", "-t", "site", "--rules-dir", "rules", "--patches-dir", "patches", *options]
        return subprocess.run(words, cwd=self.folder, capture_output=True, timeout=60, check=False,
                              env={"PATH": "/nowhere", "LC_ALL": "C"})

    def entries(self):
        return driver.entries(self.site)


def expect(condition, what, done=None):
    if condition:
        return
    said = "" if done is None else (done.stdout + done.stderr).decode(errors="backslashreplace")
    raise AssertionError(f"{what}\n{said}")


def patched(before, diff):
    """`before` with the hunks of a unified diff of it."""
    lines = before.split(b"\n")
    out, at = [], 0
    hunks = re.split(rb"^@@ -(\d+)(?:,(\d+))? .*\n", diff, flags=re.MULTILINE)[1:]
    for number, count, body in zip(hunks[::3], hunks[1::3], hunks[2::3]):
        begin = int(number) - (count != b"0")
        out += lines[at:begin]
        at = begin
        for line in body.split(b"\n")[:-1]:
            if line.startswith(b"\\"):
                continue
            at += line[:1] in b" -"
            if line[:1] in b" +":
                out.append(line[1:])
    return b"\n".join(out + lines[at:])


def compiles(data):
    try:
        compile(data, "result", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def check_bytes(toy, expected, when):
    for path, data in expected.items():
        have = (toy.package / path).read_bytes()
        expect(have == data, f"{path} {when}:\n{have.decode(errors='backslashreplace')!s}\nand not:\n"
                             f"{data.decode(errors='backslashreplace')}\n{have!r}")


def check_edit(toy):
    case = toy.case
    expected = {**case.before, **case.after}
    pristine = toy.entries()
    diff = toy.run("diff", "--exit-code")
    expect(diff.returncode == 1 and toy.entries() == pristine, f"diff: exit {diff.returncode}", diff)
    for path in case.after:
        part = re.search(rb"^--- a/toypack/" + re.escape(path.encode()) + rb"\n\+\+\+ .*\n((?:[ @+\\-].*\n)*)", diff.stdout,
                         re.MULTILINE)
        shown = patched(case.before[path], re.split(rb"^--- ", part.group(1), flags=re.MULTILINE)[0]) if part else b""
        ends = shown.rstrip(b"\n") == case.after[path].rstrip(b"\n")  # `\ No newline` is the diff's own test
        expect(ends, f"diff shows another {path}", diff)
    done = toy.run("apply")
    expect(done.returncode == 0, f"apply: exit {done.returncode}", done)
    check_bytes(toy, expected, "is now")
    for path, data in case.after.items():
        expect(compiles(data) or not compiles(case.before[path]), f"{path} does not compile any more")
    applied = toy.entries()
    done = toy.run("apply")
    expect(done.returncode == 0 and toy.entries() == applied, "a second apply wrote something", done)
    done = toy.run("revert")
    expect(done.returncode == 0 and toy.entries() == pristine, "revert did not bring every byte back", done)
    toy.write(expected)
    written = toy.entries()
    done = toy.run("apply")
    expect(done.returncode == 0 and b"already applied" in done.stderr and toy.entries() == written,
           "without a receipt: not recognised as applied", done)


def check_refusal(toy):
    case = toy.case
    pristine = toy.entries()
    for command in ("diff", "apply"):
        done = toy.run(command)
        expect(toy.entries() == pristine, f"{command} wrote something", done)
        said = done.stderr.decode(errors="backslashreplace")
        expect(done.returncode == EXIT[case.verdict], f"{command}: exit {done.returncode}, not {EXIT[case.verdict]}", done)
        nothing = {"applied": "already applied", "superseded": "superseded"}
        word = nothing.get(case.verdict, "error:" if case.verdict == "error" else f"the-patch: {case.verdict}")
        for words in (word, *case.says):
            expect(words in said, f"{command} does not say {words!r}", done)


@dataclasses.dataclass
class Steps:
    """A case that is a function: steps_*.py."""
    kind: str
    name: str
    function: object
    edits: bool
    known: str = ""


def all_kinds():
    """{stem: (the kind in a sentence, its cases)}"""
    kinds = cases.read_all()
    for stem, functions in world.KINDS.items():
        kinds[stem] = (world.SENTENCES[stem], [Steps(stem, name.split(": ", 1)[1], function, name.startswith("edit:"), known)
                              for name, function, known in functions])
    return dict(sorted(kinds.items()))


def run(case):
    """None, or why the case fails."""
    with tempfile.TemporaryDirectory(prefix="suture-pitfall-") as scratch:
        try:
            if isinstance(case, Steps):
                case.function(world.World(pathlib.Path(scratch).resolve()))
                return None
            toy = Toy(pathlib.Path(scratch), case)
            check_edit(toy) if case.edits else check_refusal(toy)
        except AssertionError as problem:
            return str(problem)
        except Exception:  # noqa: BLE001 - the next case runs all the same
            return traceback.format_exc()
    return None


def too_few(kinds):
    """Kinds that a file does not show from both sides."""
    out = []
    for stem, (sentence, of_kind) in kinds.items():
        edits = sum(case.edits for case in of_kind)
        if len(of_kind) < FEWEST or min(edits, len(of_kind) - edits) < len(of_kind) // 4 or not sentence:
            out.append(f"{stem}: {len(of_kind)} cases, {edits} of them edits")
    return out


def main(words):
    kinds = all_kinds()
    chosen = [case for _, of_kind in kinds.values() for case in of_kind
              if not words or any(word in f"{case.kind}/{case.name}" for word in words)]
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool:
        reasons = list(pool.map(run, chosen))
    failed, known = 0, []
    for case, reason in zip(chosen, reasons):
        if case.known and reason:
            known.append(f"{case.kind}: {case.name}: {case.known}")
        elif case.known or reason:
            failed += 1
            print(f"FAILED  {case.kind}: {case.name}\n{reason or 'it is marked as known to fail and passes: take the mark away'}")
    for line in known:
        print(f"known   {line}")
    for line in too_few(kinds):
        failed += 1
        print(f"FAILED  {line}")
    edits = sum(case.edits for case in chosen)
    print(f"{len(kinds)} kinds, {len(chosen)} cases ({edits} edits, {len(chosen) - edits} refusals), {failed} failed, "
          f"{len(known)} known to fail")
    sys.exit(1 if failed or not chosen else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
