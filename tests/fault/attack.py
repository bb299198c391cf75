"""What the tests of this folder share: a scratch folder in memory, strace's faults, and the eye that looks at a tree."""

import contextlib
import dataclasses
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import driver  # noqa: E402

SECONDS = 60
ENVIRONMENT = {"PATH": "/nowhere", "LC_ALL": "C"}
# The errors that each call may end with. A call that another libc makes instead (rename for renameat) stands here too.
DISK = ("ENOSPC", "EDQUOT", "EIO", "EROFS")
WRITES = {
    "mkdirat": (*DISK, "EACCES", "EINTR"),
    "write": ("ENOSPC", "EDQUOT", "EIO", "EINTR"),
    "pwrite64": ("ENOSPC", "EDQUOT", "EIO", "EINTR"),
    "fsync": ("EIO", "ENOSPC", "EDQUOT", "EINTR"),
    "renameat": (*DISK, "EACCES", "ENOENT", "EINTR"),
    "renameat2": (*DISK, "EACCES", "ENOENT", "EINVAL", "EINTR"),
    "linkat": (*DISK, "EACCES", "EPERM", "EMLINK", "EINTR"),
    "unlinkat": ("EIO", "EROFS", "EACCES", "EINTR"),
    "fchmod": ("EIO", "EROFS", "EPERM", "EINTR"),
    "fchown": ("EIO", "EROFS", "EPERM", "EDQUOT", "EINTR"),
    "fsetxattr": ("ENOSPC", "EDQUOT", "EIO", "EROFS", "EPERM", "EINTR"),
    "fremovexattr": ("EIO", "EROFS", "EPERM", "EINTR"),
    "flock": ("EINTR", "ENOLCK", "EIO"),
}
READS = {
    "openat": ("EIO", "EACCES", "ENOENT", "ENOSPC", "EROFS", "EDQUOT", "EINTR", "EMFILE"),
    "newfstatat": ("EIO", "EACCES", "ENOENT", "EINTR"),
    "fstat": ("EIO", "EINTR"),
    "pread64": ("EIO", "EINTR"),
    "getdents64": ("EIO", "EINTR"),
    "flistxattr": ("EIO", "EINTR", "ENOTSUP"),
    "fgetxattr": ("EIO", "EINTR"),
    "readlink": ("EIO", "EACCES"),
    "getcwd": ("ENOENT",),
    "close": (),  # whatever it says, Linux has closed it: strace, which does not, would leave a lock held
}
CALLS = {**WRITES, **READS}
STAGED = re.compile(r"^\.suture-[0-9a-f]{16}-\d+\.(new|old)$")


@contextlib.contextmanager
def scratch():
    """A folder in memory where there is one: an fsync on a disk takes longer than a run. What a disk may lose is for the
    double in memory (tests/unit/store_test.cc)."""
    memory = pathlib.Path("/dev/shm")
    parent = memory if os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 32 << 20 else None
    with tempfile.TemporaryDirectory(prefix="suture-fault-", dir=parent) as folder:
        yield pathlib.Path(folder).resolve()


def need_strace():
    """Skips the test (fails it under CI) where strace cannot trace."""
    if shutil.which("strace") is None:
        driver.skip("strace is not installed")
    done = subprocess.run(["strace", "-qq", "-o", "/dev/null", "-e", "inject=chdir:error=EIO", "true"], capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        driver.skip(f"strace may not trace here: {done.stderr.strip()}")


def copy(source, target):
    """With owners, attributes and hard links."""
    shutil.rmtree(target, ignore_errors=True)
    subprocess.run(["cp", "-a", str(source), str(target)], check=True)


@dataclasses.dataclass
class Run:
    command: list
    exit: int  # negative: killed by that signal
    out: str
    err: str
    trace: str = ""

    @property
    def hit(self):
        return "(INJECTED)" in self.trace or "+++ killed by" in self.trace

    def __str__(self):
        return f"$ {' '.join(self.command)}\nexit {self.exit}\n{self.out}{self.err}"


def run(command, **options):
    """suture with these words."""
    command = [str(word) for word in command]
    done = subprocess.run([driver.SUTURE, *command], capture_output=True, env=ENVIRONMENT, timeout=SECONDS, check=False,
                          **options)
    return Run(command, done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


def traced(command, log, *words):
    """suture under strace, with strace's own words; the trace goes to `log`."""
    command = [str(word) for word in command]
    done = subprocess.run(["strace", "-qq", "-o", str(log), *words, driver.SUTURE, *command], capture_output=True,
                          env={**ENVIRONMENT, "PATH": os.environ["PATH"]}, timeout=SECONDS, check=False)
    text = log.read_text(errors="replace") if log.exists() else ""
    exit_code = -9 if done.returncode in (137, -9) else done.returncode
    return Run(command, exit_code, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"), text)


def calls_of(command, log, names):
    """[(call, which of its occurrences)] in the order that the command makes them, those of the loader left out."""
    words = ["-e", f"trace={','.join(['rt_sigaction', *names])}"]
    done = traced(command, log, *words)
    found, count, begun = [], {}, False
    for line in done.trace.splitlines():
        name = line.split("(", 1)[0]
        if name == "rt_sigaction":
            begun = begun or "SIGPIPE" in line  # what main does first
            continue
        if name not in names:
            continue
        count[name] = count.get(name, 0) + 1
        if begun:
            found.append((name, count[name]))
    assert found, done
    return found, done


def look(site):
    """{path: (kind, mode, owner, attributes, bytes)} of what stands there, bytecode aside, and a lock: a run that could not be
    locked, or was killed before it wrote anything, may leave an empty one."""
    found = {}
    for path in sorted(pathlib.Path(site).rglob("*")):
        name = path.relative_to(site).as_posix()
        if name.endswith(("/.suture/lock", ".pyc")) or (path.name == ".suture" and not set(os.listdir(path)) - {"lock"}):
            continue
        state = path.lstat()
        attributes = ()
        if not path.is_symlink():
            with contextlib.suppress(OSError):
                attributes = tuple((key, os.getxattr(path, key)) for key in os.listxattr(path))
        data = os.readlink(path) if path.is_symlink() else None if path.is_dir() else path.read_bytes()
        found[name] = ("folder" if path.is_dir() else "file", state.st_mode, state.st_uid, state.st_gid, attributes, data)
    return found


def outside_suture(found):
    """The files that are not suture's own, without folders."""
    return {path: what for path, what in found.items()
            if "/.suture" not in path and what[0] != "folder" and not STAGED.match(path.rsplit("/", 1)[-1])}


def left_over(site):
    """Names that only an unfinished run leaves."""
    return [path for path in look(site)
            if STAGED.match(path.rsplit("/", 1)[-1]) or path.endswith(("/.suture/journal", "/.suture/journal.new"))]


def torn(now, old, new):
    """The files that are neither as before nor as after."""
    now, old, new = outside_suture(now), outside_suture(old), outside_suture(new)
    return [path for path in now.keys() | (old.keys() & new.keys()) if now.get(path) not in (old.get(path), new.get(path))]


def run_tests(names, only, make_tree):
    """Runs each test_* of a driver's names whose name holds `only`, with a tree of its own; exits with 1 where one fails or
    there is none. make_tree: from an empty folder."""
    tests = {name: test for name, test in names.items() if name.startswith("test_") and only in name}
    failed = 0
    for name, test in tests.items():
        with scratch() as folder:
            try:
                test(make_tree(folder))
                print(f"ok      {name}")
            except Exception:  # noqa: BLE001 - the next one runs all the same
                failed += 1
                print(f"FAILED  {name}\n{traceback.format_exc()}")
    print(f"{len(tests)} tests, {failed} failed")
    sys.exit(1 if failed or not tests else 0)
