"""Downloads uv, an installer that links its environments to a cache, from PyPI into the cache of downloads, once."""

import fcntl
import shutil
import subprocess
import sys

import driver

UV = "0.13.9"


def uv():
    """The executable."""
    folder = driver.CACHE / f"uv-{UV}"
    if folder.exists():
        return folder / "bin" / "uv"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(driver.CACHE / f"uv-{UV}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several drivers ask at once
        if not folder.exists():
            staging = folder.with_suffix(".staging")
            shutil.rmtree(staging, ignore_errors=True)
            done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check",
                                   "--no-deps", "--only-binary=:all:", "--target", staging, f"uv=={UV}"],
                                  capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise driver.Skipped(f"pip could not download uv {UV}; is there a network? {done.stderr.strip()}")
            staging.rename(folder)
    return folder / "bin" / "uv"
