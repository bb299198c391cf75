"""Every patch of releases.tsv on one real SGLang release, a whole unpacked wheel:

  status says the verdict of the table; diff is taken by `git apply -p1` and by `patch -p1` and gives the very bytes that
  apply writes; no cast of the whole pool is left; the files compile; a second apply changes no byte; revert restores
  every byte. Where the patch is not applicable nothing is written, with the version range lifted to >=0 too. A patch that
  requires a FlashInfer is given one in small (tests/support/flashinfer_tree.py), and is blocked without it.

  With the release's casts replaced as an upstream fix would replace them, each patch reads superseded.

On a few releases, patches of two backends stand in one tree: in any order of apply and revert the same bytes.

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

ATTENTION = "sglang/srt/layers/attention"
FLASHINFER, FA3 = "sglang-cast-active-slots", "sglang-cast-active-slots-fa3"
CLASSES = {"flashinfer_mla_backend.py": "FlashInferMLAAttnBackend", "flashattention_backend.py": "FlashAttentionBackend"}
TOGETHER = ("0.4.9.post2", "0.5.9", "0.5.22")
CAST = r"([\w.]+\.get_key_buffer\(\s*layer\.layer_id\s*\))\.to\(\s*q\.dtype\s*\)"
METHODS = ("forward_decode", "forward_extend")
NATIVE = "sglang-native-fp8-kv"
EXIT_CODES = {"out-of-range": 5, "absent": 5, "blocked": 5, "drifted": 4, "superseded": 0}


def is_pool(node):
    """X.get_key_buffer(...): the whole pool of a layer."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get_key_buffer"


def backend_of(patch):
    return f"{ATTENTION}/{'flashattention_backend.py' if patch == FA3 else 'flashinfer_mla_backend.py'}"


def whole_pool_casts(source, name):
    """Lines in the two methods of class `name` that cast the whole pool: X.get_key_buffer(..).to(..), also by way of a
    variable."""
    (backend,) = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef) and node.name == name]
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
    body = "class C:\n  def forward_decode(self):\n    {}\n".format
    assert whole_pool_casts(body("k = p.q.get_key_buffer(1).to(d)"), "C") == [3]
    assert whole_pool_casts(body("k = p.get_key_buffer(1); k = k.to(d)"), "C") == [3]
    assert whole_pool_casts(body("k = f(p.get_key_buffer(1), d); v = w.to(d)"), "C") == []


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
    backend = backend_of(patch)
    name = CLASSES[pathlib.Path(backend).name]
    casts = whole_pool_casts((tree / backend).read_bytes(), name)
    assert casts, "the release has no whole-pool cast to begin with"

    diff, _ = driver.suture("diff", patch, "-t", tree, *options)
    files = re.findall(r"^\+\+\+ b/(\S+)$", diff.decode(), re.MULTILINE)
    assert backend in files, files
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
    assert whole_pool_casts((tree / backend).read_bytes(), name) == [], "a whole-pool cast is left"
    assert driver.verdicts(tree, *options)[patch] == "applied"

    again = "".join(map(str, driver.suture("apply", patch, "-t", tree, *options)))
    assert "nothing to do" in again, again
    assert driver.suture("diff", patch, "-t", tree, "--exit-code", *options)[0] == b""
    assert driver.differences(applied, driver.entries(tree)) == [], "a second apply changed something"

    driver.suture("revert", patch, "-t", tree)
    assert driver.differences(pristine, driver.entries(tree)) == [], "revert did not restore every byte"
    assert driver.verdicts(tree, *options)[patch] == "applicable"
    return f"{len(casts)} casts gone, {len(files)} files"


def check_together(tree):
    """The two patches edit two files and add one in common, which goes with the last of them."""
    pristine, both = driver.entries(tree), []
    for first, second in ((FLASHINFER, FA3), (FA3, FLASHINFER)):
        driver.suture("apply", first, "-t", tree)
        alone = {path: (tree / path).read_bytes() for path in package_files(tree)}
        driver.suture("apply", second, "-t", tree)
        assert {patch: driver.verdicts(tree)[patch] for patch in (first, second)} == {first: "applied", second: "applied"}
        both.append({path: (tree / path).read_bytes() for path in package_files(tree)})
        for gone, left in ((second, first), (first, second)):
            driver.suture("revert", gone, "-t", tree)
            assert (tree / ATTENTION / "suture_kv_cast.py").exists(), "the file of both went with one"
            assert driver.verdicts(tree)[left] == "applied", f"{gone} took {left} along"
            if left == first:
                now = {path: (tree / path).read_bytes() for path in package_files(tree)}
                assert now == alone, f"{second} left something behind"
            driver.suture("apply", gone, "-t", tree)
            now = {path: (tree / path).read_bytes() for path in package_files(tree)}
            assert now == both[-1], f"{gone} again, and other bytes"
        driver.suture("revert", first, "-t", tree)
        driver.suture("revert", second, "-t", tree)
        assert driver.differences(pristine, driver.entries(tree)) == [], "revert did not restore every byte"
    assert both[0] == both[1], "the bytes depend on the order"
    return "one beside the other, in both orders"


def package_files(tree):
    folder = tree / ATTENTION
    return [path.relative_to(tree) for path in sorted(folder.glob("*.py"))]


def check_not_applicable(tree, patch, verdict, *options):
    pristine = driver.entries(tree)
    assert driver.verdicts(tree, *options)[patch] == verdict
    driver.suture("apply", patch, "-t", tree, *options, exit_code=EXIT_CODES[verdict])
    assert driver.suture("diff", patch, "-t", tree, *options, exit_code=EXIT_CODES[verdict])[0] == b""
    assert driver.differences(pristine, driver.entries(tree)) == [], "something was written"


def check_upstream_fixes(tree, patches, *options):
    """The release's own file with its two casts replaced, in the shapes that a fix has: nothing is to be patched."""
    for backend in sorted({backend_of(patch) for patch in patches}):
        file = tree / backend
        shipped = file.read_bytes()
        for fixed in upstream_fixes(shipped.decode(), backend):
            ast.parse(fixed)
            file.write_text(fixed)
            found = driver.verdicts(tree, *options)
            assert {found[patch] for patch in patches if backend_of(patch) == backend} == {"superseded"}, found
        file.write_bytes(shipped)


def upstream_fixes(text, backend):
    """A shadow by pages; for FlashInfer, FP8 by dtype too."""
    by_pages, casts = re.subn(CAST, r"self.shadow.pages_of(\1, self.forward_metadata)", text)
    assert casts == 2, f"{casts} casts to write the fix on"
    if backend == backend_of(FA3):
        return [by_pages]
    by_dtype, runs = re.subn(r"\bout=o,", "out=o, ckv_scale=self.kv_scale, kpe_scale=self.kv_scale,", re.sub(CAST, r"\1", text))
    assert runs == 2, f"{runs} runs to write the fix on"
    return [by_pages, by_dtype]


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
        if release in TOGETHER:
            print(f"{release} {FLASHINFER} and {FA3}: {check_together(tree)}")


if __name__ == "__main__":
    main(sys.argv[1])
