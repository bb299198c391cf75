#!/usr/bin/env python3
"""`suture verify --backend` end to end on the CPU: real backend files of SGLang, real torch, and the doubles of the GPU and of
FlashInfer (double.py) in the place of those. What it says, that planted errors fail it, and that nothing is left behind.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "support")]
import driver  # noqa: E402
import trees  # noqa: E402
from backend_test import output  # noqa: E402
from planted import PLANTS, plant  # noqa: E402

RELEASES = {"cast": "0.5.6", "gather": "0.5.22", "native": "0.5.22"}
# In a graph, eager, and one that only the keys show.
PLANTED = ("no indptr refresh, decode", "the whole pool is cast after all", "gather off by one")


class World:
    def __init__(self, folder, torch):
        self.folder, self.torch = pathlib.Path(folder), torch
        (self.folder / "tmp").mkdir()

    def tree(self, release, patch):
        site = self.folder / f"{release}-{patch}"
        if not site.exists():
            shipped = self.folder / f"{release}-shipped"
            if not shipped.exists():
                trees.unpack(trees.find_wheel(driver.CACHE / "wheels", release), shipped)
            trees.patched_copy(shipped, site, driver.SUTURE, patch)
        return site

    def verify(self, site, *options, double=True):
        environment = {**os.environ, "PYTHONPATH": self.torch, "TMPDIR": str(self.folder / "tmp")}
        if double:
            environment["SUTURE_BACKEND_DOUBLE"] = str(HERE)
        before = driver.entries(site)
        command = [driver.SUTURE, "verify", "--backend", "-t", str(site), "--python", sys.executable, *options]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600, check=False)
        assert driver.differences(before, driver.entries(site)) == [], "verify wrote to the tree"
        assert not list((self.folder / "tmp").glob("suture-*")), "the harness left files behind"
        return done


def test_the_patches(world):
    for patch, release in RELEASES.items():
        done = world.verify(world.tree(release, patch))
        assert done.returncode == 0, done.stderr + done.stdout
        lines = done.stdout.splitlines()
        assert lines[0] == f"sglang {release}: {trees.PATCHES[patch]}, original against patched", lines[0]
        for line in (
            "the CPU, with a double of FlashInfer: proves nothing about a GPU",
            "equal      eager decode (10 outputs)",
            "equal      graph decode, eager steps between (24 outputs)",
            "equal      EAGLE draft (24 outputs)",
            "not there  pages of 4, eager decode: this release has no such path",
        ):
            assert line in lines, (line, done.stdout)
        assert sum(line.endswith("   equal") for line in lines) == 4, done.stdout
        assert "passed" not in done.stdout, "the double must not read as a pass"
        assert lines[-1].startswith("compared on the CPU's double: "), lines[-1]


def test_two_backends(world):
    """Patches of both backends in one tree, as they may be: FlashInfer's is verified, the other one is named, and
    verified where it is asked for."""
    site = world.folder / "two"
    shutil.copytree(world.tree("0.5.6", "cast"), site)
    subprocess.run([driver.SUTURE, "apply", trees.PATCHES["pages"], "-q", "-t", str(site)], check=True)
    done = world.verify(site)
    assert done.returncode == 0 and f"0.5.6: {trees.PATCHES['cast']}, original" in done.stdout, done.stderr + done.stdout
    left_out = f"note: {trees.PATCHES['pages']} is not verified in this run: it edits "
    assert left_out in done.stderr and "flashattention_backend.py" in done.stderr, done.stderr
    done = world.verify(site, trees.PATCHES["pages"])
    assert done.returncode == 0, done.stderr + done.stdout
    lines = done.stdout.splitlines()
    for line in (
        f"sglang 0.5.6: {trees.PATCHES['pages']}, original against patched",
        "the CPU, with a double of FlashAttention: proves nothing about a GPU",
        "equal      eager decode (10 outputs)",
        "equal      target verify, topk 2 (18 outputs)",
        "equal      pages of 64, graph decode (12 outputs)",
        "not there  FlashAttention 4: this release has no such path",
    ):
        assert line in lines, (line, done.stdout)
    assert sum(line.endswith("   equal") for line in lines) == 4, done.stdout
    done = world.verify(site, trees.PATCHES["pages"], trees.PATCHES["cast"])
    assert done.returncode == 5 and "edit different backends" in done.stderr, done.stderr


def test_a_named_patch_as_json(world):
    done = world.verify(world.tree("0.5.6", "cast"), "sglang-cast-active-slots", "--json")
    document = json.loads(done.stdout)
    answer = document["verification"]
    assert (done.returncode, document["exit"], answer["error"]) == (0, 0, None), done.stdout
    assert {path["state"] for path in answer["paths"]} == {"equal", "not-there"}, answer
    assert all(step["equal"] and step["max_error"][0] == step["max_error"][1] > 0 for step in answer["steps"]), answer


def test_planted_errors(world):
    for planted in (p for p in PLANTS if p.patch in RELEASES and p.name in PLANTED):
        site = world.folder / "planted"
        shutil.rmtree(site, ignore_errors=True)
        shutil.copytree(world.tree(planted.release, planted.patch), site)
        file = trees.added_file(site, "kv_cast") if planted.file == "kv_cast" else trees.backend_file(site)
        file.write_text(plant(file.read_text(), planted))
        done = world.verify(site)
        assert done.returncode == 7, (planted.name, done.stderr, done.stdout)
        assert f"DIFFERENT  {planted.path}: " in done.stdout, (planted.name, done.stdout)
        assert "error: verification failed: " in done.stderr and "passed" not in done.stdout, done.stderr
        assert "not measured: a path differs" in done.stdout, done.stdout


def test_a_file_that_does_not_load(world):
    """Both sides import a name that no stand-in has: nothing ran, so it is no pass."""
    site = world.folder / "unknown"
    shutil.copytree(world.folder / "0.5.6-shipped", site)
    file = trees.backend_file(site)
    file.write_text(file.read_text().replace("import torch\n", "import torch\nfrom sglang.srt.utils import of_tomorrow\n", 1))
    subprocess.run([driver.SUTURE, "apply", trees.PATCHES["cast"], "-q", "-t", str(site)], check=True)
    done = world.verify(site)
    assert done.returncode == 15, done.stderr + done.stdout
    assert "not run    eager decode: the unpatched side did not run: " in done.stdout and "of_tomorrow" in done.stdout, done.stdout
    assert '"eager decode" could not be run, so nothing is proved' in done.stderr, done.stderr


def test_without_a_gpu(world):
    """The real torch, no double: skipped where there is no GPU, with words and a code of its own."""
    if shutil.which("nvidia-smi"):
        return
    done = world.verify(world.tree("0.5.6", "cast"), double=False)
    assert done.returncode == 8 and "skipped, nothing was verified" in done.stderr, done.stderr
    assert "passed" not in done.stdout, done.stdout


def main():
    torch = output(HERE / "setup.sh", driver.CACHE)
    output(driver.SOURCE / "scripts" / "fetch_wheel.sh", driver.CACHE, *RELEASES.values())
    tests = {name: test for name, test in globals().items() if name.startswith("test_")}
    with tempfile.TemporaryDirectory(prefix="suture-verify-test-") as folder:
        world = World(folder, torch)
        for name, test in tests.items():
            test(world)
            print(f"ok      {name}", flush=True)
    print(f"{len(tests)} passed, 0 failed")


if __name__ == "__main__":
    main()
