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
PAGES = ("0.4.9.post2", "0.5.6", "0.5.13", "0.5.18", "0.5.22")
PATCHES = {
    "cast": "sglang-cast-active-slots", "gather": "sglang-gather-then-cast", "native": "sglang-native-fp8-kv",
    "pages": "sglang-cast-active-slots-fa3",
}  # fmt: skip
RELEASES = {"cast": CASTS, "gather": CASTS, "native": NATIVE, "pages": PAGES}  # that each patch is run on


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


def backend_name(patch):
    return "flashattention_backend.py" if patch == "pages" else "flashinfer_mla_backend.py"


def backend_file(site, patch="cast"):
    return site / ATTENTION / backend_name(patch)


def added_file(site, name):
    """What a patch added beside the backend: "kv_cast", "kv_cast_pages", "fp8_kv"."""
    return site / ATTENTION / f"suture_{name}.py"
