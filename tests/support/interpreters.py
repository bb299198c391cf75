"""The Python interpreters of this machine, by what they can do."""

import functools
import shutil
import subprocess
import sys

from driver import Skipped


def can(python, code, *before):
    """Whether an interpreter runs `code`; `before`: words in front of the command."""
    return subprocess.run([*before, python, "-c", code], capture_output=True, check=False).returncode == 0


@functools.cache
def interpreter(code, *before):
    """A Python 3 on this machine that runs `code`; `before`: words in front of the command."""
    found = [shutil.which("python3", path=folder) for folder in (None, "/usr/bin", "/usr/local/bin")]
    for python in dict.fromkeys([sys.executable, *filter(None, found)]):
        if can(python, code, *before):
            return python
    raise Skipped(f"no Python 3 here that runs: {code}")


def builder():
    """One that makes virtual environments, and has pip and a setuptools that knows editable installs (PEP 660)."""
    # In this order: setuptools wants to be imported before pip brings in another distutils.
    return interpreter("import setuptools, wheel, pip, venv; assert int(setuptools.__version__.split('.')[0]) >= 64")
