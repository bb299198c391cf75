#!/usr/bin/env python3
"""ctest's way to run.py: fetches torch and the wheels into the cache, then runs all releases, paths and plants of the
FlashInfer backend's patches."""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import driver  # noqa: E402

sys.path.insert(0, str(HERE))
import trees  # noqa: E402


def output(*command):
    """The last line on stdout, or a skip with what the command said."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        driver.skip(f"{pathlib.Path(command[0]).name}: {done.stderr.strip() or done.returncode}")
    return done.stdout.strip().splitlines()[-1]


def main(*patches):
    torch = output(HERE / "setup.sh", driver.CACHE)
    releases = sorted({release for patch in patches for release in trees.RELEASES[patch]})
    output(driver.SOURCE / "scripts" / "fetch_wheel.sh", driver.CACHE, *releases)
    command = [sys.executable, HERE / "run.py", "--suture", driver.SUTURE, "--wheels", driver.CACHE / "wheels"]
    command += ["--patches", *patches]
    if os.environ.get("CI") == "true":
        command.append("--require")
    environment = {**os.environ, "PYTHONPATH": torch, "PYTHONDONTWRITEBYTECODE": "1"}
    sys.stdout.flush()
    return subprocess.run(list(map(str, command)), env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main("cast", "gather", "native"))
