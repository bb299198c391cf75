"""Trees to run: the few files of a wheel that matter, unpatched, and copies that suture has patched."""

import pathlib
import shutil
import subprocess
import sys
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import flashinfer_tree  # noqa: E402

ATTENTION = "sglang/srt/layers/attention/"
CASTS = ("0.5.1", "0.5.6", "0.5.13", "0.5.15", "0.5.18", "0.5.22")
NATIVE = ("0.5.16", "0.5.18", "0.5.19", "0.5.20", "0.5.22")  # whose FlashInfer reads FP8 keys
PATCHES = {"cast": "sglang-cast-active-slots", "gather": "sglang-gather-then-cast", "native": "sglang-native-fp8-kv"}
RELEASES = {"cast": CASTS, "gather": CASTS, "native": NATIVE}  # that each patch is run on


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
    """A copy of `site` after `suture apply`; raises with suture's own words if that fails. The double of FlashInfer is no
    package that suture could look at: what stands for one on disk lies beside the copy."""
    shutil.copytree(site, target)
    command = [suture, "apply", PATCHES[patch], "-t", str(target)]
    if patch == "native":
        command += ["--with", f"flashinfer={flashinfer_tree.make(f'{target}-flashinfer')}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"suture apply exited {done.returncode}: {(done.stderr or done.stdout).strip()}")
    return target


def package(site):
    return site / "sglang"


def backend_file(site):
    return site / ATTENTION / "flashinfer_mla_backend.py"


def kv_cast_file(site):
    return site / ATTENTION / "suture_kv_cast.py"


def fp8_kv_file(site):
    return site / ATTENTION / "suture_fp8_kv.py"
