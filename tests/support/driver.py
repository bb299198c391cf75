"""What the end-to-end drivers share: the binary under test, scratch folders, a fingerprint of a tree, skipping.

Environment: SUTURE (the binary), SUTURE_SOURCE (the checkout), SUTURE_CACHE (downloads); ctest sets them.
"""

import hashlib
import json
import os
import pathlib
import subprocess
import sys

SOURCE = pathlib.Path(os.environ.get("SUTURE_SOURCE", pathlib.Path(__file__).resolve().parents[2]))
SUTURE = os.environ.get("SUTURE", str(SOURCE / "build" / "suture"))
CACHE = pathlib.Path(os.environ.get("SUTURE_CACHE", SOURCE / ".cache"))

SKIPPED = 77  # ctest's SKIP_RETURN_CODE


class Skipped(Exception):
    """One case of a driver that this machine cannot show; the reason is printed."""


def skip(reason):
    """Ends the test as skipped; as failed under CI, where a test that did not run must not pass for one that did."""
    if os.environ.get("CI") == "true":
        sys.exit(f"FAILED: {reason} (skipped elsewhere; CI=true makes it a failure)")
    print(f"SKIPPED: {reason}")
    sys.exit(SKIPPED)


def suture(*arguments, exit_code=0, environment=None):
    """Runs suture, holds it to the exit code and returns (stdout as bytes, stderr as text)."""
    command = [SUTURE, *map(str, arguments)]
    run = subprocess.run(command, capture_output=True, env={**os.environ, **(environment or {})}, check=False)
    errors = run.stderr.decode(errors="replace")
    assert run.returncode == exit_code, (
        f"{' '.join(command)}: exit code {run.returncode}, not {exit_code}\n{run.stdout.decode(errors='replace')}{errors}"
    )
    return run.stdout, errors


def verdicts(tree, *options):
    """{patch: verdict} as `suture status --json` tells them."""
    report = json.loads(suture("status", "--json", "-t", tree, *options)[0])
    assert len(report["trees"]) == 1, report
    return {patch["patch"]: patch["verdict"] for patch in report["trees"][0]["patches"]}


def entries(folder):
    """{relative path: what is there} of every file, link and folder: kind, owner, permission bits, extended attributes,
    bytes' SHA-256."""
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*")):
        stat = path.lstat()
        what = (stat.st_uid, stat.st_gid, stat.st_mode, attributes(path))
        if path.is_symlink():
            what += (os.readlink(path),)
        elif path.is_file():
            what += (hashlib.sha256(path.read_bytes()).hexdigest(),)
        found[path.relative_to(folder).as_posix()] = what
    return found


def attributes(path):
    """The extended attributes (labels, access control lists) of a file or folder; none where the file system has none."""
    try:
        return tuple((name, os.getxattr(path, name, follow_symlinks=False))
                     for name in sorted(os.listxattr(path, follow_symlinks=False)))
    except OSError:
        return ()


def differences(before, after):
    """The paths at which two results of entries() differ."""
    return sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
