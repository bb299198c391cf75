"""Every patch of releases.tsv on one real SGLang release, a whole unpacked wheel:

  status says the verdict of the table; diff is taken by `git apply -p1` and by `patch -p1` and gives the very bytes that
  apply writes; no cast of the whole pool is left; the files compile; a second apply changes no byte; revert restores
  every byte. Where the patch is not applicable nothing is written, with the version range lifted to >=0 too. A patch that
  requires a FlashInfer is given one in small (tests/support/flashinfer_tree.py), and is blocked without it.

  With the release's casts replaced as an upstream fix would replace them, each patch reads superseded.

Usage: release_test.py RELEASE
"""

import ast
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import driver
import flashinfer_tree
import table

BACKEND = "sglang/srt/layers/attention/flashinfer_mla_backend.py"
CLASS = "FlashInferMLAAttnBackend"
CAST = r"([\w.]+\.get_key_buffer\(\s*layer\.layer_id\s*\))\.to\(\s*q\.dtype\s*\)"
METHODS = ("forward_decode", "forward_extend")
NATIVE = "sglang-native-fp8-kv"
EXIT_CODES = {"out-of-range": 5, "absent": 5, "blocked": 5, "drifted": 4, "superseded": 0}


def is_pool(node):
    """X.get_key_buffer(...): the whole pool of a layer."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get_key_buffer"


def whole_pool_casts(source):
    """Lines in the two methods that cast the whole pool: X.get_key_buffer(..).to(..), also by way of a variable."""
    (backend,) = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef) and node.name == CLASS]
    lines = []
    for method in backend.body:
        if not isinstance(method, ast.FunctionDef) or method.name not in METHODS:
            continue
        pools = {
            target.id
            for node in ast.walk(method)
            if isinstance(node, ast.Assign) and is_pool(node.value)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(method):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "to":
                receiver = node.func.value
                if is_pool(receiver) or (isinstance(receiver, ast.Name) and receiver.id in pools):
                    lines.append(node.lineno)
    return lines


def check_oracle():
    """The check above must be able to fail."""
    body = "class {}:\n  def forward_decode(self):\n    {}\n".format
    assert whole_pool_casts(body(CLASS, "k = p.q.get_key_buffer(1).to(d)")) == [3]
    assert whole_pool_casts(body(CLASS, "k = p.get_key_buffer(1); k = k.to(d)")) == [3]
    assert whole_pool_casts(body(CLASS, "k = f(p.get_key_buffer(1), d); v = w.to(d)")) == []


def apply_by_tool(command, diff, tree, files):
    """The files after `command` took the diff, in a folder of their own outside of any repository."""
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            if (tree / file).exists():
                (pathlib.Path(folder) / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(tree / file, pathlib.Path(folder) / file)
        environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(pathlib.Path(folder).parent)}
        run = subprocess.run(command, input=diff, capture_output=True, cwd=folder, env=environment, check=False)
        assert run.returncode == 0, f"{command}: {run.stdout.decode()}{run.stderr.decode()}"
        written = sorted(path.relative_to(folder).as_posix() for path in pathlib.Path(folder).rglob("*") if path.is_file())
        assert written == sorted(files), f"{command} left {written}, not {files}"
        return {file: (pathlib.Path(folder) / file).read_bytes() for file in files}


def check_applicable(tree, patch, *options):
    pristine = driver.entries(tree)
    casts = whole_pool_casts((tree / BACKEND).read_bytes())
    assert casts, "the release has no whole-pool cast to begin with"

    diff, _ = driver.suture("diff", patch, "-t", tree, *options)
    files = re.findall(r"^\+\+\+ b/(\S+)$", diff.decode(), re.MULTILINE)
    assert BACKEND in files, files
    driver.suture("diff", patch, "-t", tree, "--exit-code", *options, exit_code=1)
    assert driver.differences(pristine, driver.entries(tree)) == [], "diff wrote"
    by_git = apply_by_tool(["git", "apply", "-p1", "--whitespace=nowarn"], diff, tree, files)
    by_patch = apply_by_tool(["patch", "-p1", "--silent"], diff, tree, files)

    said, _ = driver.suture("apply", patch, "-t", tree, *options)
    assert said.decode().count("OK: ") >= 3, said
    applied = driver.entries(tree)
    changed = [path for path in driver.differences(pristine, applied) if ".suture" not in path.split("/")]
    assert changed == sorted(files), f"apply changed {changed}, the diff {files}"
    for file in files:
        written = (tree / file).read_bytes()
        assert written == by_git[file], f"{file}: git apply gives other bytes than apply"
        assert written == by_patch[file], f"{file}: patch gives other bytes than apply"
        compile(written, file, "exec")
    assert whole_pool_casts((tree / BACKEND).read_bytes()) == [], "a whole-pool cast is left"
    assert driver.verdicts(tree, *options)[patch] == "applied"

    again = "".join(map(str, driver.suture("apply", patch, "-t", tree, *options)))
    assert "nothing to do" in again, again
    assert driver.suture("diff", patch, "-t", tree, "--exit-code", *options)[0] == b""
    assert driver.differences(applied, driver.entries(tree)) == [], "a second apply changed something"

    driver.suture("revert", patch, "-t", tree)
    assert driver.differences(pristine, driver.entries(tree)) == [], "revert did not restore every byte"
    assert driver.verdicts(tree, *options)[patch] == "applicable"
    return f"{len(casts)} casts gone, {len(files)} files"


def check_not_applicable(tree, patch, verdict, *options):
    pristine = driver.entries(tree)
    assert driver.verdicts(tree, *options)[patch] == verdict
    driver.suture("apply", patch, "-t", tree, *options, exit_code=EXIT_CODES[verdict])
    assert driver.suture("diff", patch, "-t", tree, *options, exit_code=EXIT_CODES[verdict])[0] == b""
    assert driver.differences(pristine, driver.entries(tree)) == [], "something was written"


def check_upstream_fixes(tree, patches, *options):
    """The release's own file with its two casts replaced, in the two shapes that a fix has: nothing is to be patched."""
    file = tree / BACKEND
    shipped = file.read_bytes()
    text = shipped.decode()
    by_pages, casts = re.subn(CAST, r"self.shadow.pages_of(\1, self.forward_metadata)", text)
    by_dtype, runs = re.subn(r"\bout=o,", "out=o, ckv_scale=self.kv_scale, kpe_scale=self.kv_scale,", re.sub(CAST, r"\1", text))
    assert (casts, runs) == (2, 2), f"{casts} casts and {runs} runs to write the fix on"
    for fixed in (by_pages, by_dtype):
        ast.parse(fixed)
        file.write_text(fixed)
        found = driver.verdicts(tree, *options)
        assert {found[patch] for patch in patches} == {"superseded"}, found
    file.write_bytes(shipped)


def lift_range(patch, folder):
    """A copy of the shipped patches in which `patch` takes every version."""
    shutil.copytree(driver.SOURCE / "patches", folder, ignore=shutil.ignore_patterns("__pycache__"))
    file = folder / patch / "patch.yaml"
    text, count = re.subn(r'(versions: *)("[^"]*"|\'[^\']*\')', r'\1">=0"', file.read_text(), count=1)
    assert count == 1, f"{file} has no version range"
    file.write_text(text)
    return folder


def main(release):
    check_oracle()
    wheels = sorted((driver.CACHE / "wheels").glob(f"sglang-{release}-*.whl"))
    if not wheels:
        driver.skip(f"no wheel of SGLang {release}")
    with tempfile.TemporaryDirectory() as scratch:
        tree = pathlib.Path(scratch).resolve() / "site-packages"
        subprocess.run([sys.executable, "-m", "zipfile", "-e", wheels[0], tree], check=True)
        given = ("--with", f"flashinfer={flashinfer_tree.make(pathlib.Path(scratch) / 'flashinfer')}")
        rows = [row[1:] for row in table.rows() if row[0] == release]
        for patch, verdict, lifted in rows:
            found = driver.verdicts(tree, *given)[patch]
            assert found == verdict, f"{patch} on {release}: {found}, not {verdict}"
            if verdict == "applicable":
                if patch == NATIVE:
                    check_not_applicable(tree, patch, "blocked")
                print(f"{release} {patch}: {verdict}, {check_applicable(tree, patch, *given)}")
            else:
                check_not_applicable(tree, patch, verdict)
                folder = lift_range(patch, pathlib.Path(scratch) / patch)
                check_not_applicable(tree, patch, lifted, "--patches-dir", folder, *given)
                print(f"{release} {patch}: {verdict}, with its version range lifted {lifted}")
        applicable = [patch for patch, verdict, _ in rows if verdict == "applicable"]
        if applicable:
            check_upstream_fixes(tree, applicable, *given)
            print(f"{release}: with an upstream fix in place of the casts, {len(applicable)} patches superseded")


if __name__ == "__main__":
    main(sys.argv[1])
