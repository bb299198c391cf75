"""The package of examples/package as something to install: wheels of it, projects of it, and which of its code runs.

Nothing of it comes from any project. Unpatched, `decode` unpacks all 100 rows; patched, the two that it reads.
"""

import base64
import hashlib
import pathlib
import subprocess
import zipfile

from driver import SOURCE

EXAMPLE = SOURCE / "examples" / "package"
PATCH = "toyserve-lazy-rows"
OPTIONS = ["--rules-dir", str(EXAMPLE / "rules"), "--patches-dir", str(EXAMPLE / "patches")]
FILES = {path.name: path.read_bytes() for path in sorted((EXAMPLE / "site-packages" / "toyserve").glob("*.py"))}
VERSION = "1.2.0"

# What of it runs, for an interpreter of the environment.
PROGRAM = """
from toyserve import engine, rows
e = engine.Engine(rows.RowStore([[i, 2 * i] for i in range(100)]))
print(sum(e.decode([7, 7, 3])), rows.unpacked, len(e.dump()))
"""
CODE = {"3.1875 100 100": "old", "3.1875 2 100": "new"}

PYPROJECT = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "toyserve"
version = "%s"

[tool.setuptools]
packages = ["toyserve"]
"""


def write(folder, files):
    for path, data in files.items():
        target = pathlib.Path(folder) / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data if isinstance(data, bytes) else data.encode())


def members(files, version):
    """What a wheel of it holds: the package, and its metadata with the hash of each file."""
    info = f"toyserve-{version}.dist-info"
    out = {f"toyserve/{path}": data for path, data in files.items()}
    out[f"{info}/METADATA"] = f"Metadata-Version: 2.1\nName: toyserve\nVersion: {version}\n".encode()
    out[f"{info}/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: none\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    lines = [record_line(path, data) for path, data in out.items()]
    out[f"{info}/RECORD"] = ("\n".join([*lines, f"{info}/RECORD,,"]) + "\n").encode()
    return out


def record_line(path, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(data)}"


def wheel(folder, version=VERSION, files=None):
    """A wheel of it in `folder`; its path."""
    path = pathlib.Path(folder) / f"toyserve-{version}-py3-none-any.whl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in members(files or FILES, version).items():
            archive.writestr(zipfile.ZipInfo(name, (2024, 1, 1, 0, 0, 0)), data)
    return path


def unpacked(site, version=VERSION, files=None):
    """The package in a folder, as pip leaves it there."""
    write(site, members(files or FILES, version))
    return pathlib.Path(site) / "toyserve"


def project(folder, below="src"):
    """A project of setuptools with its package in `below`; the package's folder."""
    where = "" if below == "." else f'package-dir = {{"" = "{below}"}}\n'
    write(folder, {"pyproject.toml": PYPROJECT % VERSION + where})
    package = pathlib.Path(folder) / below / "toyserve"
    write(package, FILES)
    return package.resolve()


def code_that_runs(command, environment, cwd, program=PROGRAM):
    """"old" or "new", of a fresh interpreter that imports the package; what it says where it cannot."""
    run = subprocess.run([*map(str, command), "-c", program], cwd=cwd, env=environment, capture_output=True, text=True,
                         check=False)
    out = run.stdout.strip()
    return CODE.get(out, out) if run.returncode == 0 else run.stderr.strip().splitlines()[-1]
