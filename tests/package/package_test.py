"""The patch of examples/package on its package: README.md shows what is printed, and the code still computes the
same, with fewer rows unpacked.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import driver

EXAMPLE = driver.SOURCE / "examples" / "package"
PATCH = "toyserve-lazy-rows"
FOLDERS = ["--rules-dir", EXAMPLE / "rules", "--patches-dir", EXAMPLE / "patches"]

README = (driver.SOURCE / "README.md").read_text()


def run_engine(tree):
    """(scores of three slots, rows of the dump, rows unpacked by decode), computed by the package in `tree`."""
    program = """
from toyserve import engine, rows
e = engine.Engine(rows.RowStore([[i, 2 * i] for i in range(100)]))
print((e.decode([7, 7, 3]), rows.unpacked, len(e.dump())))
"""
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, env=environment, check=True)
    scores, unpacked, dumped = eval(run.stdout)  # our own program's output
    return scores, dumped, unpacked


def main():
    with tempfile.TemporaryDirectory() as scratch:
        tree = pathlib.Path(scratch) / "site-packages"
        shutil.copytree(EXAMPLE / "site-packages", tree, ignore=shutil.ignore_patterns("__pycache__"))
        pristine = driver.entries(tree)
        scores, dumped, unpacked = run_engine(tree)
        assert unpacked == 100

        assert driver.verdicts(tree, *FOLDERS)[PATCH] == "applicable"
        diff, _ = driver.suture("diff", PATCH, "-t", tree, *FOLDERS)
        assert f"```diff\n{diff.decode()}```\n" in README, f"README.md shows another diff than this:\n{diff.decode()}"
        rule = textwrap.dedent("".join((EXAMPLE / "rules" / "toyserve.yaml").read_text().splitlines(True)[1:13]))  # behind the schema
        assert f"```yaml\n{rule}```\n" in README, f"README.md shows another rule than this:\n{rule}"

        said, _ = driver.suture("apply", PATCH, "-t", tree, *FOLDERS)
        assert b"OK: decode unpacks the rows that it reads\n" in said, said
        assert driver.verdicts(tree, *FOLDERS)[PATCH] == "applied"
        assert run_engine(tree) == (scores, dumped, 2), "patched, it must compute the same from two rows"

        driver.suture("revert", PATCH, "-t", tree, *FOLDERS)
        assert driver.differences(pristine, driver.entries(tree)) == []


if __name__ == "__main__":
    main()
