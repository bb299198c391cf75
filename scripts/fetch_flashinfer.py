#!/usr/bin/env python3
"""Lays out releases of FlashInfer as pip would install them, without installing them: CACHE/flashinfer/VERSION.

    scripts/fetch_flashinfer.py CACHE VERSION...        prints one folder a line

Only what conditions read is kept: Python files, headers and metadata. FlashInfer has wheels from 0.5.0 on. Older ones are
source archives, whose metadata pip can only get by running their build (100 s each); these are taken from the index
that pip is set to, checked by the index's own SHA-256, and their include/ goes where the wheel has it, flashinfer/data/include.
"""

import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.parse
import urllib.request
import zipfile

DISTRIBUTION = "flashinfer-python"
KEPT = (".py", ".cuh", ".h", ".inc")


def index_page():
    """The project's page in the index that pip would ask (PEP 691)."""
    configured = subprocess.run(
        [sys.executable, "-m", "pip", "config", "get", "global.index-url"], capture_output=True, text=True, check=False
    )
    if configured.returncode == 0:
        base = configured.stdout.strip()
    else:
        from pip._internal.models.index import PyPI

        base = PyPI.simple_url
    request = urllib.request.Request(
        f"{base.rstrip('/')}/{DISTRIBUTION}/", headers={"Accept": "application/vnd.pypi.simple.v1+json"}
    )
    with urllib.request.urlopen(request) as answer:
        return answer.url, json.load(answer)


def fetch_wheel(version, staging):
    """The wheel's path, or None where there is none."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary=:all:", "--python-version", "3.11", "--platform", "manylinux_2_28_x86_64"]
    run = subprocess.run(
        [*command, "-d", staging, f"{DISTRIBUTION}=={version}"], capture_output=True, text=True, check=False
    )
    return next(iter(staging.glob("*.whl")), None) if run.returncode == 0 else None


def fetch_archive(version, staging):
    url, page = index_page()
    wanted = f"flashinfer_python-{version}.tar.gz"
    entry = next((file for file in page["files"] if file["filename"] == wanted), None)
    if entry is None:
        sys.exit(f"fetch_flashinfer: the index has neither a wheel nor an archive of {DISTRIBUTION} {version}")
    target = staging / wanted
    with urllib.request.urlopen(urllib.parse.urljoin(url, entry["url"])) as answer, target.open("wb") as out:
        shutil.copyfileobj(answer, out)
    if hashlib.sha256(target.read_bytes()).hexdigest() != entry["hashes"]["sha256"]:
        sys.exit(f"fetch_flashinfer: {wanted} is not what the index says it is; try again")
    return target


def safe(name):
    parts = pathlib.PurePosixPath(name).parts
    return bool(parts) and ".." not in parts and not name.startswith("/")


def kept(name):
    """Whether a condition may ask for it: not the libraries of others that are packed in (CUTLASS and the like)."""
    if name.startswith("flashinfer/data/") and not name.startswith(("flashinfer/data/include/", "flashinfer/data/csrc/")):
        return False
    return name.endswith(KEPT)


def unpack_wheel(wheel, folder):
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            top = name.split("/")[0]
            if safe(name) and (top.endswith(".dist-info") or (top == "flashinfer" and kept(name))):
                archive.extract(name, folder)


def installed_place(name, version):
    """Where a file of the source archive lies once it is installed; None: it is not."""
    inner = name.partition("/")[2]
    if inner == "PKG-INFO":
        return f"flashinfer_python-{version}.dist-info/METADATA"
    if not inner.endswith(KEPT):
        return None
    if inner.startswith("include/"):
        return f"flashinfer/data/{inner}"
    return inner if inner.startswith("flashinfer/") else None


def unpack_archive(path, version, folder):
    with tarfile.open(path) as archive:
        for member in archive:
            place = installed_place(member.name, version) if member.isfile() and safe(member.name) else None
            if place:
                (folder / place).parent.mkdir(parents=True, exist_ok=True)
                (folder / place).write_bytes(archive.extractfile(member).read())


def fetch(cache, version):
    """The site-packages folder with this FlashInfer in it; one that is there is not fetched again."""
    final = cache / "flashinfer" / version
    if final.is_dir():
        return final
    final.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=final.parent, prefix=".fetch-") as scratch:
        staging, folder = pathlib.Path(scratch) / "download", pathlib.Path(scratch) / "tree"
        staging.mkdir()
        folder.mkdir()
        wheel = fetch_wheel(version, staging)
        if wheel:
            unpack_wheel(wheel, folder)
        else:
            unpack_archive(fetch_archive(version, staging), version, folder)
        if not (folder / "flashinfer" / "__init__.py").exists():
            sys.exit(f"fetch_flashinfer: no flashinfer/__init__.py in {DISTRIBUTION} {version}")
        folder.rename(final)
    return final


def main(cache, versions):
    for version in versions:
        print(fetch(pathlib.Path(cache), version), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
