"""Edits that people make to installed packages, each a patch of ours on every release that the tables name:

  status says the verdict of the table; diff writes nothing, and git apply of it gives the bytes that apply writes; the
  task's check (Python's ast alone, nothing of suture) is wrong before and right after; the result compiles; a second
  apply changes no byte; the state is recognised without the receipt too; revert restores every byte. Where the verdict
  is no `applicable` nothing is written, and neither is it with the version range lifted to >=0.

Usage: tasks_test.py [--download] [NN-name...] [RELEASE...]     without a name: all; --download: only fetch the wheels
"""

import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import driver

HERE = pathlib.Path(__file__).resolve().parent
TABLE = HERE / "verdicts.tsv"
EXIT_CODES = {"out-of-range": 5, "absent": 5, "blocked": 5, "drifted": 4, "ambiguous": 4, "superseded": 0}
PLATFORMS = ("manylinux_2_34_x86_64", "manylinux_2_28_x86_64", "manylinux_2_17_x86_64")
PACKAGES = {  # sglang elsewhere
    "19-xgrammar-decorator": "xgrammar",
    "36-uvicorn-cancel": "uvicorn",
    "37-outlines-no-exl2": "outlines",
}
# Files that look like a task's own and that its edit must leave alone; unpacked beside the rules' files where they are.
BESIDE = {
    "01-keepalive-kwarg": ("srt/utils.py", "srt/utils/common.py", "srt/disaggregation/mini_lb.py"),
    "02-efa-positional": ("srt/configs/load_config.py", "srt/server_args.py", "srt/disaggregation/utils.py"),
    "08-meminfo-fallback": ("srt/utils.py",),
    "22-qwen3asr-exist-ok": ("srt/configs/__init__.py", "srt/configs/qwen3_omni.py"),
    "24-qwen-legacy-load": ("srt/multimodal/processors/qwen_audio.py", "srt/multimodal/processors/glm4v.py"),
    "30-decord-guard": (
        "srt/multimodal/processors/base_processor.py",
        "srt/multimodal/processors/nano_nemotron_vl.py",
        "srt/utils/common.py",
    ),
    "31-no-gc-freeze": ("srt/utils.py", "srt/utils/common.py"),
    "33-dsa-uncompiled": ("srt/layers/attention/nsa/nsa_indexer.py",),
    "35-reasoning-name": ("srt/server_args.py",),
}


def rows():
    """(task, release, verdict, verdict with the version range lifted) of verdicts.tsv."""
    for line in TABLE.read_text().splitlines():
        if line and not line.startswith("#"):
            task, release, verdict, lifted = line.split("\t")
            yield task, release, verdict, verdict if lifted == "-" else lifted


def package(task):
    return PACKAGES.get(task, "sglang")


# --- Wheels ---------------------------------------------------------------------------------------------------------


def wheel(name, release):
    found = sorted((driver.CACHE / "wheels").glob(f"{name}-{release}-*.whl"))
    return found[0] if found else None


def fetch(name, release):
    if wheel(name, release):
        return None
    (driver.CACHE / "wheels").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=driver.CACHE) as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--only-binary=:all:", "--python-version", "3.11", "-d", folder, f"{name}=={release}"]
        command += [word for platform in PLATFORMS for word in ("--platform", platform)]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            return f"{name} {release}: {run.stderr.strip()}"
        for file in pathlib.Path(folder).glob("*.whl"):
            shutil.move(file, driver.CACHE / "wheels" / file.name)
    return None


def download():
    wanted = sorted({(package(task), release) for task, release, _, _ in rows()})
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        problems = [problem for problem in pool.map(lambda names: fetch(*names), wanted) if problem]
    if problems:
        driver.skip("no wheel: " + "; ".join(problems))
    print(f"{len(wanted)} wheels are there")


# --- A task's patch and tree ----------------------------------------------------------------------------------------


class Patch:
    """A task's folder as options of suture, in two editions: as written, and with the version range lifted to >=0."""

    def __init__(self, task, scratch):
        self.folder = HERE / task
        assert (self.folder / "patch.yaml").exists(), f"the rule language cannot say it yet: see {task}/WANTED.md"
        text = (self.folder / "patch.yaml").read_text()
        self.name = re.search(r"^patch: (\S+)$", text, re.MULTILINE)[1]
        self.rules = len(re.search(r"^rules: \[(.*)\]$", text, re.MULTILINE)[1].split(","))
        self.options = ("--patches-dir", self.folder, "--rules-dir", self.folder / "rules")
        lifted = pathlib.Path(scratch) / "lifted"
        lifted.mkdir()
        text, count = re.subn(r'(versions: *)"[^"]*"', r'\1">=0"', text, count=1)
        assert count == 1, f"{task}: the patch has no version range"
        (lifted / "patch.yaml").write_text(text)
        self.lifted = ("--patches-dir", lifted, "--rules-dir", self.folder / "rules")
        yaml = text + "".join(file.read_text() for file in sorted((self.folder / "rules").glob("*.yaml")))
        self.files = set(re.findall(r"(?:^|[\s\[])((?:srt|kernels|protocols|models)/[\w/]+\.py)", yaml)) | set(BESIDE.get(task, ()))


def unpack(archive, name, files, tree):
    """The files that are there, and the metadata, as pip would lay them out."""
    with zipfile.ZipFile(archive) as content:
        for entry in content.namelist():
            top, _, path = entry.partition("/")
            if (top == name and path in files) or (top.endswith(".dist-info") and path.count("/") == 0):
                content.extract(entry, tree)
    (tree / name).mkdir(exist_ok=True)  # the package is there, whatever of it the task needs


def check(task, tree, original=None):
    """(whether the task's check is content, what it says)"""
    number = task.split("-")[0]
    command = [sys.executable, HERE / "checks" / "check.py", number, tree]
    command += ["--orig", original] if original else []
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    said = (run.stdout + run.stderr).strip()
    assert run.returncode in (0, 1) and said.startswith(("OK", "WRONG")), f"check {number} broke: {said}"
    return run.returncode == 0, said


def source_changes(before, after):
    return [path for path in driver.differences(before, after) if ".suture" not in path.split("/")]


def git_apply(diff, tree, scratch):
    """The tree after git took the diff, as entries()."""
    copy = pathlib.Path(scratch) / "by-git"
    shutil.copytree(tree, copy)
    command = ["git", "apply", "-p1", "--whitespace=nowarn"]
    environment = {"GIT_CEILING_DIRECTORIES": str(copy.parent), "PATH": "/usr/local/bin:/usr/bin:/bin"}
    run = subprocess.run(command, input=diff, capture_output=True, cwd=copy, env=environment, check=False)
    assert run.returncode == 0, f"git refuses the diff: {run.stderr.decode()}"
    return driver.entries(copy)


# --- The two outcomes -----------------------------------------------------------------------------------------------


def verdict_of(patch, tree, options):
    return driver.verdicts(tree, patch.name, *options)[patch.name]


def check_applicable(task, patch, tree, scratch):
    where = ("-t", tree, *patch.options)
    original = pathlib.Path(scratch) / "original"
    shutil.copytree(tree, original)
    pristine = driver.entries(tree)
    content, said = check(task, tree)
    assert not content, "the check is content with the release as it is"

    diff, _ = driver.suture("diff", patch.name, *where)
    driver.suture("diff", patch.name, "--exit-code", *where, exit_code=1)
    assert driver.differences(pristine, driver.entries(tree)) == [], "diff wrote"
    by_git = git_apply(diff, tree, scratch)

    said, _ = driver.suture("apply", patch.name, *where)
    applied = driver.entries(tree)
    assert 1 <= said.decode().count("OK: ") <= patch.rules, f"apply said {said.decode()!r}"
    assert source_changes(by_git, applied) == [], "git apply gives other bytes than apply"
    for path in source_changes(pristine, applied):
        compile((tree / path).read_bytes(), path, "exec", dont_inherit=True)
    content, said = check(task, tree, original)
    assert content, f"{said}\n{diff.decode(errors='replace')}"
    assert verdict_of(patch, tree, patch.options) == "applied"

    again = "".join(map(str, driver.suture("apply", patch.name, *where)))
    assert "nothing to do" in again, again
    assert driver.suture("diff", patch.name, "--exit-code", *where)[0] == b""
    assert driver.differences(applied, driver.entries(tree)) == [], "a second apply changed something"
    check_without_receipt(patch, tree, scratch)

    driver.suture("revert", patch.name, *where)
    assert driver.differences(pristine, driver.entries(tree)) == [], "revert did not restore every byte"
    assert verdict_of(patch, tree, patch.lifted) == "applicable"


def check_without_receipt(patch, tree, scratch):
    """Whoever edited by hand, or lost .suture, is told so by structure, and nothing is written twice. Where our result
    is what upstream wrote later, it is `superseded`."""
    copy = pathlib.Path(scratch) / "by-hand"
    shutil.copytree(tree, copy)
    for folder in copy.rglob(".suture"):
        shutil.rmtree(folder)
    before = driver.entries(copy)
    found = verdict_of(patch, copy, patch.options)
    assert found in ("applied", "superseded"), f"without its receipt the result is {found}"
    driver.suture("apply", patch.name, "-t", copy, *patch.options)
    assert driver.differences(before, driver.entries(copy)) == [], "apply wrote where all was in place"


def check_not_applicable(patch, tree, options, verdict):
    pristine = driver.entries(tree)
    found = verdict_of(patch, tree, options)
    assert found == verdict, f"{found}, not {verdict}"
    code = EXIT_CODES[verdict]
    driver.suture("apply", patch.name, "-t", tree, *options, exit_code=code)
    assert driver.suture("diff", patch.name, "-t", tree, *options, exit_code=code)[0] == b""
    assert driver.differences(pristine, driver.entries(tree)) == [], "something was written"


def check_release(task, release, verdict, lifted):
    archive = wheel(package(task), release)
    if archive is None:
        driver.skip(f"no wheel of {package(task)} {release}; --download fetches it")
    with tempfile.TemporaryDirectory() as scratch:
        patch = Patch(task, scratch)
        tree = pathlib.Path(scratch).resolve() / "site-packages"
        unpack(archive, package(task), patch.files, tree)
        found = verdict_of(patch, tree, patch.options)
        assert found == verdict, f"{found}, not {verdict}"
        if verdict == "applicable":
            return check_applicable(task, patch, tree, scratch)
        check_not_applicable(patch, tree, patch.options, verdict)
        return check_not_applicable(patch, tree, patch.lifted, lifted)


def main(arguments):
    if "--download" in arguments:
        return download()
    assert shutil.which(driver.SUTURE), f"there is no suture at {driver.SUTURE}; SUTURE= names another"
    tasks = {row[0] for row in rows()}
    named = [argument for argument in arguments if argument in tasks]
    releases = [argument for argument in arguments if argument not in tasks]
    failures, passed = [], 0
    for task, release, verdict, lifted in rows():
        if (named and task not in named) or (releases and release not in releases):
            continue
        try:
            check_release(task, release, verdict, lifted)
            passed += 1
        except (AssertionError, OSError, SyntaxError) as problem:
            failures.append(f"{task} {release}: {problem}")
            print("FAILED: " + failures[-1])
    assert passed or failures, f"no row of {TABLE.name} is named by {arguments}"
    print(f"{passed} of {passed + len(failures)} rows passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
