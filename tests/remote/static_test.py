"""The executable needs a Linux kernel of the last ten years, and nothing else: no library, no file of the system.

It runs in a root folder that holds nothing but it and a tree, and on a kernel that knows no system call younger than
Linux 4.4 (old_kernel.py), where the command line's own scenarios run too.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import old_kernel

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import driver  # noqa: E402

EXAMPLE = driver.SOURCE / "examples" / "package"
PATCH = "toyserve-lazy-rows"
SCENARIOS = driver.SOURCE / "tests" / "cli" / "verdicts_test.py"


def is_static():
    headers = subprocess.run(["readelf", "-lW", driver.SUTURE], capture_output=True, text=True, check=True).stdout
    return "INTERP" not in headers


def round_trip(before, tree, folders):
    """status, diff, apply, revert, by a suture that is run behind the words `before`; tree, folders: as it sees them."""
    options = ["-t", tree, "--rules-dir", f"{folders}/rules", "--patches-dir", f"{folders}/patches"]
    said = []
    for words in (["status", PATCH], ["diff", PATCH], ["apply", PATCH], ["status", PATCH], ["revert", PATCH]):
        run = subprocess.run([*before, *words, *options], capture_output=True, text=True, check=False, env={})
        assert run.returncode == 0, (words, run.stdout, run.stderr)
        said.append(run.stdout)
    assert said[0].startswith("applicable") and said[3].startswith("applied"), said
    assert said[1].startswith("--- a/toyserve/engine.py\n"), said[1]


def bare_root(scratch):
    """A root folder with the executable, a tree and the patch: no libc, no /proc, no /etc, no /tmp."""
    root = pathlib.Path(scratch) / "root"
    shutil.copytree(EXAMPLE, root / "example")
    shutil.copy(driver.SUTURE, root / "suture")
    tree = root / "example" / "site-packages"
    before = driver.entries(tree)
    chroot = [shutil.which("chroot", path="/usr/sbin:/usr/bin:/sbin:/bin"), str(root)]
    enter = [] if os.geteuid() == 0 else [shutil.which("unshare"), "--map-root-user"]
    round_trip([*enter, *chroot, "/suture"], "/example/site-packages", "/example")
    assert driver.differences(before, driver.entries(tree)) == []
    assert sorted(path.name for path in root.iterdir()) == ["example", "suture"], "it left something behind"


def old_system_calls(scratch):
    tree = pathlib.Path(scratch) / "site"
    shutil.copytree(EXAMPLE / "site-packages", tree)
    wrapper = [sys.executable, str(pathlib.Path(old_kernel.__file__).resolve())]
    round_trip([*wrapper, driver.SUTURE], str(tree), EXAMPLE)
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    run = subprocess.run([*wrapper, sys.executable, str(SCENARIOS)], capture_output=True, text=True, check=False, env=environment)
    assert run.returncode == 0, run.stdout + run.stderr


def main():
    if not is_static():
        driver.skip("this build is linked dynamically (SUTURE_STATIC=OFF, or an archive is missing)")
    print(subprocess.run([driver.SOURCE / "scripts" / "check_static.sh", driver.SUTURE], capture_output=True, text=True,
                         check=True).stdout, end="")
    with tempfile.TemporaryDirectory(prefix="suture-static-") as scratch:
        bare_root(scratch)
        print("ok  in a root folder that holds nothing else")
        if old_kernel.supported():
            old_system_calls(scratch)
            print("ok  with the system calls of Linux 4.4 alone")


if __name__ == "__main__":
    main()
