"""Owners, modes, labels and access control lists: what suture writes has those of what it replaces, what it adds those of the
folder that it is in; and what it may not write. The lines of docs/environments.md on permissions.
"""

import os
import pathlib
import shutil
import stat
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cycle
import driver
import table
import toyserve
from cycle import World
from interpreters import interpreter
from unprivileged import as_nobody

COLUMNS = ["tree", "`apply`", "`engine.py` then", "what is added, of the tree's owner and group", "after `revert`"]
GROUP = 12345  # nobody's


def world(folder, **options):
    package = toyserve.unpacked(folder / "site")
    return World(folder, package, ["-t", str(folder / "site")], [interpreter("import venv")],
                 interpreter_environment={"PYTHONPATH": str(folder / "site")}, **options)


def root_only():
    if os.geteuid() != 0:
        raise driver.Skipped("only root can give files away")


def modes(paths):
    """The mode that all of them have."""
    found = {f"{stat.S_IMODE(path.stat().st_mode):o}" for path in paths}
    assert len(found) == 1, found
    return found.pop()


def cells(w, words="done"):
    """The cells of a tree that can be written; the cycle itself holds every mode, owner and attribute to be as before."""
    cycle.apply_and_revert(w)
    w.suture("apply", w.patch)
    assert w.code() == "new"
    owner = w.package.stat()
    ours = [w.package / "lazy_rows.py", w.package / ".suture", *(w.package / ".suture").rglob("*")]
    for path in [w.package / "engine.py", *ours]:
        assert (path.stat().st_uid, path.stat().st_gid) == (owner.st_uid, owner.st_gid), path
    files, folders = modes(path for path in ours if path.is_file()), modes(path for path in ours if path.is_dir())
    row = [words, modes([w.package / "engine.py"]), f"files {files}, folders {folders}"]
    w.suture("revert", w.patch)
    return [*row, "as before"]


def refused(w, exit_code=6):
    return [f"refused ({exit_code}): {cycle.refused(w, exit_code)}", "-", "-", "-"]


def everyone_reads(w):
    """Another user's interpreter runs the new code, and suture tells that user what is applied."""
    w.suture("apply", w.patch)
    other = World(w.folder, w.package, w.tree, [], interpreter_environment=w.interpreter_environment)
    other.before, _ = as_nobody(other)
    other.python = [*other.before, interpreter("import os", *other.before)]
    assert other.code() == "new" and other.verdict() == "applied", (other.code(), other.verdict())
    w.suture("revert", w.patch)


# --- modes -----------------------------------------------------------------------------------------------------------


def test_plain(folder):
    """files 644, folders 755"""
    return cells(world(folder))


def test_umask(folder):
    """the same, and suture runs with umask 077: another user imports the new code"""
    w = world(folder, umask=0o077)
    if os.geteuid() == 0:
        everyone_reads(w)
    return cells(w)


def test_private(folder):
    """files 600, folders 700"""
    w = world(folder)
    for path in [w.package, *w.package.rglob("*")]:
        path.chmod(0o700 if path.is_dir() else 0o600)
    return cells(w)


def test_private_file(folder):
    """`engine.py` is 600, the folder 755: the copies of it are as private"""
    w = world(folder)
    (w.package / "engine.py").chmod(0o600)
    cycle.apply_and_revert(w)
    w.suture("apply", w.patch)
    copies = modes(path for path in (w.package / ".suture").rglob("*") if path.is_file() and path.name != "lock")
    row = ["done", modes([w.package / "engine.py"]), f"files {modes([w.package / 'lazy_rows.py'])}, in `.suture` {copies}"]
    w.suture("revert", w.patch)
    return [*row, "as before"]


def test_executable_and_read_only(folder):
    """`engine.py` is 555"""
    w = world(folder)
    (w.package / "engine.py").chmod(0o555)
    return cells(w)


def test_setgid(folder):
    """folders 2775 of a group"""
    root_only()
    w = world(folder)
    for path in [folder / "site", w.package, *w.package.rglob("*")]:
        os.chown(path, 0, GROUP)
        path.chmod(0o2775 if path.is_dir() else 0o664)
    return cells(w)


# --- owners ----------------------------------------------------------------------------------------------------------


def given_away(folder, *paths):
    """(a world whose given paths are nobody's, words that make one nobody)"""
    w = world(folder)
    before, uid = as_nobody(w)
    for path in paths:
        os.chown(w.package / path, uid, uid)
    return w, before


def test_root_on_a_users_tree(folder):
    """a user's, patched by root"""
    root_only()
    w, _ = given_away(folder, ".", "engine.py", "rows.py", "__init__.py")
    return cells(w)


def test_user_on_roots_tree(folder):
    """root's, and suture runs as a user"""
    root_only()
    w = world(folder)
    w.before, _ = as_nobody(w)
    return refused(w)


def test_user_on_roots_file(folder):
    """a user's folder with root's file in it, and suture runs as that user"""
    root_only()
    w, w.before = given_away(folder, ".")
    return refused(w)


def test_read_only_folder(folder):
    """the user's own, of which the folder is 555"""
    root_only()
    w, w.before = given_away(folder, ".", "engine.py", "rows.py", "__init__.py")
    w.package.chmod(0o555)
    return refused(w)


def test_user_applied_already(folder):
    """root's, patched by root, and suture runs as a user: nothing to do"""
    root_only()
    w = world(folder)
    w.suture("apply", w.patch)
    w.before, _ = as_nobody(w)
    before = w.entries()
    done = w.suture("apply", w.patch)
    assert "already applied, nothing to do" in done.stderr and w.entries() == before, done.stderr
    return ["nothing to do (0)", "-", "-", "-"]


def test_read_only_mount(folder):
    """on a read-only mount"""
    w = world(folder)
    tools = {tool: shutil.which(tool) for tool in ("unshare", "mount", "sh")}
    if None in tools.values() or os.geteuid() != 0:
        raise driver.Skipped("a read-only mount needs root, unshare and mount")
    site = folder / "site"
    mount = f"{tools['mount']} --bind {site} {site} && {tools['mount']} -o remount,bind,ro {site} && exec \"$0\" \"$@\""
    w.before = [tools["unshare"], "-m", tools["sh"], "-c", mount]
    trial = subprocess.run([*w.before, shutil.which("true")], capture_output=True, check=False)
    if trial.returncode != 0:
        raise driver.Skipped(f"no read-only mount can be made here: {trial.stderr.decode().strip()}")
    w.suture("diff", w.patch)
    assert w.verdict() == "applicable"
    return refused(w)


# --- attributes ------------------------------------------------------------------------------------------------------


def with_attribute(folder, name, value, path="engine.py"):
    w = world(folder)
    try:
        os.setxattr(w.package / path, name, value)
    except OSError as error:
        raise driver.Skipped(f"no attribute {name} can be set here: {error.strerror}") from error
    w.suture("apply", w.patch)
    assert os.getxattr(w.package / path, name) == value, "apply lost the attribute"
    w.suture("revert", w.patch)
    assert os.getxattr(w.package / path, name) == value, "revert lost the attribute"
    return w


def test_user_attribute(folder):
    """`engine.py` has an attribute `user.origin`"""
    return cells(with_attribute(folder, "user.origin", b"built by us"), "done; the attribute is kept")


def test_selinux_label(folder):
    """`engine.py` has a label, as SELinux sets them"""
    root_only()
    return cells(with_attribute(folder, "security.selinux", b"system_u:object_r:lib_t:s0\0"), "done; the label is kept")


def acl(*entries):
    """An access control list as the kernel has it: (tag, permissions, id)."""
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)


ANYONE = 0xFFFFFFFF
ACL = acl((0x01, 6, ANYONE), (0x02, 6, GROUP), (0x04, 4, ANYONE), (0x10, 6, ANYONE), (0x20, 4, ANYONE))


def test_acl(folder):
    """`engine.py` has an access control list: one more user may write"""
    return cells(with_attribute(folder, "system.posix_acl_access", ACL), "done; the list is kept")


def test_default_acl(folder):
    """the folder has a default access control list: `engine.py`, older, is not given it"""
    return cells(with_attribute(folder, "system.posix_acl_default", ACL, "."), "done; `engine.py` has none, as before")


if __name__ == "__main__":
    table.main(globals(), COLUMNS)
