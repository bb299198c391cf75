"""Trees to run: the few files of a wheel that matter, unpatched, and copies that suture has patched."""

import pathlib
import shutil
import subprocess
import zipfile

ATTENTION = "sglang/srt/layers/attention/"
PATCHES = {
    "cast": "sglang-cast-active-slots", "gather": "sglang-gather-then-cast", "pages": "sglang-cast-active-slots-fa3",
}  # fmt: skip
FILES = {"cast": "flashinfer_mla_backend.py", "gather": "flashinfer_mla_backend.py", "pages": "flashattention_backend.py"}


def find_wheel(folder, release):
    found = sorted(pathlib.Path(folder).glob(f"sglang-{release}-*.whl"))
    return found[0] if found else None


def _wanted(name):
    return (
        ".dist-info/" in name
        or name.endswith("/__init__.py")
        and name.count("/") <= 4
        or name.startswith(ATTENTION)
        and name.endswith(".py")
    )


def unpack(wheel, target):
    """A site-packages folder with the package's attention folder and its metadata."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(target, [name for name in archive.namelist() if _wanted(name)])
    return target


def patched_copy(site, target, suture, patch):
    """A copy of `site` after `suture apply`; raises with suture's own words if that fails."""
    shutil.copytree(site, target)
    done = subprocess.run([suture, "apply", PATCHES[patch], "-t", str(target)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"suture apply exited {done.returncode}: {(done.stderr or done.stdout).strip()}")
    return target


def package(site):
    return site / "sglang"


def backend_file(site, patch="cast"):
    return site / ATTENTION / FILES[patch]


def kv_cast_file(site, name="kv_cast"):
    return site / ATTENTION / f"suture_{name}.py"
