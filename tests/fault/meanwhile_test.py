#!/usr/bin/env python3
"""What others do to a tree while suture works on it: hold its lock, die with it, change a file, swap a folder for a link.

    python3 tests/fault/meanwhile_test.py [--only WORD]

strace holds suture up at one system call, and the test does its harm then: no test waits for a time and hopes.
"""

import argparse
import contextlib
import fcntl
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import attack  # noqa: E402
import toymesh  # noqa: E402

APPLY = ["apply", "mesh-cache", "mesh-frame"]
MINE = "# written by somebody else meanwhile\n"


class Tree:
    """A fresh tree, and suture on it."""

    def __init__(self, folder):
        self.folder = folder
        self.options = toymesh.add_patches(folder)
        self.site = folder / "site"
        toymesh.install(self.site)
        self.package = self.site / "toymesh"
        self.pristine = attack.look(self.site)

    def words(self, command):
        return [str(word) for word in [*command, "-t", self.site, *self.options]]

    def run(self, *command, exit_code=0):
        done = attack.run(self.words(command))
        assert done.exit == exit_code, done
        return done

    def call_before(self, command, call, count):
        """(call, occurrence) of what the command does before that one: a copy of the tree tells."""
        probe = self.folder / "probe"
        attack.copy(self.site, probe)
        words = [str(word) for word in [*command, "-t", probe, *self.options]]
        calls, done = attack.calls_of(words, self.folder / "trace", attack.CALLS)
        shutil.rmtree(probe)
        assert (call, count) in calls, f"{command} has no {call} {count}\n{done}"
        return calls[calls.index((call, count)) - 1]

    @contextlib.contextmanager
    def held_up(self, command, call, count):
        """Runs the command and stops it before the call's count-th occurrence; inside, it stands still. Gives its process id,
        and a list that holds the finished run afterwards."""
        before, occurrence = self.call_before(command, call, count)
        log = self.folder / "trace"
        log.unlink(missing_ok=True)
        # A signal to stop is obeyed when the call that it was sent in is done: so it is sent in the one before.
        process = subprocess.Popen(
            ["strace", "-qq", "-o", str(log), "-e", f"trace={before}", "-e",
             f"inject={before}:signal=SIGSTOP:when={occurrence}", "-e", "signal=none", attack.driver.SUTURE,
             *self.words(command)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**attack.ENVIRONMENT, "PATH": os.environ["PATH"]})
        stopped = until(lambda: child_of(process.pid) and state_of(child_of(process.pid)) in "tT"
                        and log.exists() and log.read_text().count(f"{before}(") >= occurrence)
        assert stopped, f"{command} was not held up at {call} {count}"
        child, runs = child_of(process.pid), []
        try:
            yield child, runs
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGCONT)
            out, err = process.communicate(timeout=attack.SECONDS)
            runs.append(attack.Run(command, process.returncode, out, err))


def until(condition, seconds=attack.SECONDS):
    """Whether it comes true. The seconds are for a test that hangs, and decide nothing else."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.005)
    return False


def child_of(pid):
    text = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
    words = text.read_text().split() if text.exists() else []
    return int(words[0]) if words else 0


def state_of(pid):
    with contextlib.suppress(OSError):
        return re.search(r"^State:\s+(\w)", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)[1]
    return "?"


def untouched(tree, *but):
    """Nothing is written, nothing is left over; `but`: what the test changed itself."""
    now = attack.look(tree.site)
    different = [path for path in now.keys() | tree.pristine.keys() if now.get(path) != tree.pristine.get(path)]
    assert sorted(different) == sorted(but), different


# --- locks ------------------------------------------------------------------------------------------------------------


def test_a_lock_of_a_dead_process_is_no_obstacle(tree):
    with tree.held_up(APPLY, "renameat2", 1) as (child, _):
        os.kill(child, signal.SIGKILL)
    record = (tree.package / ".suture/lock").read_text()
    assert record.startswith(f"held by process {child} on {socket.gethostname()} "), record
    done = tree.run(*APPLY)
    assert "waiting" not in done.err and "a write to" in done.err, done
    assert toymesh.present(tree.site) == toymesh.expected(["mesh-cache", "mesh-frame"])


def test_a_live_one_is_waited_for(tree):
    with tree.held_up(APPLY, "renameat2", 1) as (child, first):
        log = tree.folder / "second"
        with log.open("w") as file:
            second = subprocess.Popen([attack.driver.SUTURE, *tree.words(APPLY)], stdout=file, stderr=file,
                                      env=attack.ENVIRONMENT)
        said = f"waiting for another suture (process {child} on {socket.gethostname()}) that is working on {tree.package}\n"
        assert until(lambda: log.read_text() == said), log.read_text()
    assert second.wait(attack.SECONDS) == 0, log.read_text()
    assert "mesh-cache: already applied, nothing to do" in log.read_text(), log.read_text()
    assert first[0].exit == 0, first[0]


def test_how_long_is_said_with_lock_timeout(tree):
    with tree.held_up(APPLY, "renameat2", 1) as (child, first):
        for command in (["apply", "mesh-retry"], ["revert", "--all"]):
            done = tree.run(*command, "--lock-timeout", "0", exit_code=6)
            assert f"another suture (process {child} on {socket.gethostname()}) has been working on" in done.err, done
            assert "nothing was written" in done.err, done
            done = tree.run(*command, "--lock-timeout", "1", exit_code=6)
            assert done.err.startswith("waiting for another suture (process "), done
            assert done.err.count("waiting for") == 1, done  # whatever the number of locks that the run asks for
        done = tree.run("status", "--lock-timeout", "1")
        assert done.err.count("waiting for") == 1, done
    assert first[0].exit == 0, first[0]
    for wrong in ("soon", "-1", "1.5", "99999999"):
        done = tree.run(*APPLY, "--lock-timeout", wrong, exit_code=2)
        assert "--lock-timeout is given" in done.err, done


def test_readers_do_not_see_half_a_write(tree):
    """status waits for the writer, and then tells of the whole."""
    with tree.held_up(APPLY, "renameat2", 2) as (_, first):
        log = tree.folder / "second"
        with log.open("w") as file:
            status = subprocess.Popen([attack.driver.SUTURE, *tree.words(["status", "mesh-cache", "mesh-frame"])],
                                      stdout=file, stderr=subprocess.STDOUT, env=attack.ENVIRONMENT)
        assert until(lambda: "waiting" in log.read_text()), log.read_text()
    assert status.wait(attack.SECONDS) == 0 and first[0].exit == 0
    assert "applied       mesh-cache\napplied       mesh-frame\n" in log.read_text(), log.read_text()


def test_a_writer_waits_for_readers(tree):
    tree.run(*APPLY)
    with (tree.package / ".suture/lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
        done = tree.run("revert", "--all", "--lock-timeout", "0", exit_code=6)
        assert "another suture has been working on" in done.err, done  # no writer to name
        tree.run("status")
    tree.run("revert", "--all")
    untouched(tree)


# --- a file that changes between plan and write -----------------------------------------------------------------------

# Where apply is held up, from its first step in the tree to the exchange itself.
STAGES = [("linkat", 1), ("fchmod", 1), ("unlinkat", 3), ("renameat2", 1), ("renameat2", 2), ("renameat2", 3)]


def changed(tree, call, count, harm, path):
    """Held up there, `harm` is done to the file: apply writes nothing, and says so; what was done stays."""
    with tree.held_up(APPLY, call, count) as (_, runs):
        harm(tree.package / path)
        harmed = attack.look(tree.site).get(f"toymesh/{path}")
    done = runs[0]
    noticed = f"{path} changed while suture was planning" in done.err
    gone = harm is remove and f"{path}: No such file or directory" in done.err
    assert done.exit == 6 and (noticed or gone), done
    assert "nothing was written" in done.err or "every file is as it was" in done.err, done
    assert attack.look(tree.site).get(f"toymesh/{path}") == harmed, f"the change to {path} is lost"
    other_name = ["cache-of-frame"] if harm is overwrite and path == "core/frame.py" else []
    untouched(tree, f"toymesh/{path}", *other_name)


def overwrite(path):
    path.write_text(MINE)


def replace(path):
    other = path.with_name("other.tmp")
    other.write_text(MINE)
    other.rename(path)


def remove(path):
    path.unlink()


def fresh(tree, number):
    folder = tree.folder / str(number)
    folder.mkdir()
    return Tree(folder)


def test_a_changed_file_is_noticed(tree):
    """Each way to change a file, at each stage. core/frame.py is the first that takes its place, core/node.py the second."""
    number = 0
    for call, count in STAGES:
        for harm in (overwrite, replace, remove):
            for path in ("core/frame.py", "core/node.py"):
                if (call, count) > ("renameat2", 1) and path == "core/frame.py":
                    continue  # it is written by then
                if (call, count) == ("renameat2", 3):
                    continue
                number += 1
                changed(fresh(tree, number), call, count, harm, path)


def test_a_file_that_appears_is_not_overwritten(tree):
    """The file to be added is there all of a sudden."""
    def appear(path):
        path.parent.mkdir(exist_ok=True)
        path.write_text(MINE)
    for number, (call, count) in enumerate([("linkat", 1), ("renameat2", 1), ("renameat2", 4)]):
        one = fresh(tree, number)
        with one.held_up(APPLY, call, count) as (_, runs):
            appear(one.package / "lib/packed.py")
        done = runs[0]
        assert done.exit == 6, done
        assert (one.package / "lib/packed.py").read_text() == MINE, "somebody's file is lost"
        untouched(one, "toymesh/lib", "toymesh/lib/packed.py")


def test_a_revert_does_not_remove_what_was_changed(tree):
    tree.run(*APPLY)
    applied = attack.look(tree.site)
    with tree.held_up(["revert", "--all"], "renameat2", 1) as (_, runs):
        (tree.package / "lib/packed.py").write_text(MINE)
    assert runs[0].exit == 6, runs[0]
    assert (tree.package / "lib/packed.py").read_text() == MINE
    now = attack.look(tree.site)
    different = [path for path in now.keys() | applied.keys() if now.get(path) != applied.get(path)]
    assert different == ["toymesh/lib/packed.py"], different


# --- names that lead elsewhere all of a sudden ------------------------------------------------------------------------


def swapped(tree, call, count, command=APPLY):
    """core becomes a link to a folder outside that looks the same; nothing outside may change."""
    outside = tree.folder / "outside"
    with tree.held_up(command, call, count) as (_, runs):
        shutil.copytree(tree.package / "core", outside)
        before = attack.look(outside)
        (tree.package / "core").rename(tree.folder / "moved")
        (tree.package / "core").symlink_to(outside)
    return runs[0], outside, before


def test_a_folder_that_becomes_a_link_leads_nowhere(tree):
    for number, (call, count) in enumerate([("flock", 1), ("linkat", 1), ("fchmod", 1), ("renameat2", 1), ("renameat2", 2)]):
        one = fresh(tree, number)
        done, outside, before = swapped(one, call, count)
        assert attack.look(outside) == before, f"written outside, held up at {call} {count}"
        assert done.exit in (4, 5, 6), done
        moved = one.folder / "moved"
        assert not [path for path in moved.rglob(".suture-*")], "staged files are left in the folder that went away"
        for name in ("node.py", "frame.py", "other.py"):
            assert (moved / name).read_bytes() == toymesh.FILES[f"core/{name}"].encode(), f"{name} is written, exit 6"


def test_suture_s_own_folder_that_becomes_a_link(tree):
    """.suture is swapped before the lock is taken, and when it is held."""
    for number, (call, count) in enumerate([("mkdirat", 1), ("flock", 1), ("linkat", 1)]):
        one = fresh(tree, number)
        outside = one.folder / "outside"
        outside.mkdir()
        with one.held_up(APPLY, call, count) as (_, runs):
            if (one.package / ".suture").exists():
                (one.package / ".suture").rename(one.folder / "moved")
            (one.package / ".suture").symlink_to(outside)
        assert runs[0].exit == 6, runs[0]
        assert not list(outside.iterdir()), "written outside"
        assert toymesh.present(one.site) == toymesh.expected([])


def test_the_package_itself_is_replaced(tree):
    """An upgrade puts another folder in its place while suture holds the lock of the first."""
    for number, (call, count) in enumerate([("flock", 1), ("linkat", 1)]):
        one = fresh(tree, number)
        with one.held_up(APPLY, call, count) as (_, runs):
            shutil.copytree(one.package, one.folder / "next", symlinks=True)
            one.package.rename(one.folder / "moved")
            (one.folder / "next").rename(one.package)
        assert toymesh.present(one.site) in (toymesh.expected([]), toymesh.expected(["mesh-cache", "mesh-frame"])), runs[0]
        if runs[0].exit == 0:
            continue
        assert runs[0].exit == 6, runs[0]
        one.run(*APPLY)
        one.run("revert", "--all")


def test_the_package_becomes_a_link(tree):
    """Before the lock is opened, and when it is held: what the link leads to is not written to."""
    for number, (call, count) in enumerate([("mkdirat", 1), ("flock", 1)]):
        one = fresh(tree, number)
        victim = one.folder / "victim"
        with one.held_up(APPLY, call, count) as (_, runs):
            shutil.copytree(one.package, victim, symlinks=True)
            shutil.rmtree(victim / ".suture", ignore_errors=True)
            before = attack.look(victim)
            one.package.rename(one.folder / "moved")
            one.package.symlink_to(victim)
        assert runs[0].exit == 6 and "while suture was planning" in runs[0].err, runs[0]
        assert attack.look(victim) == before, f"written outside, held up at {call} {count}"
        assert not (one.folder / "moved/.suture").exists(), runs[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    attack.need_strace()
    attack.run_tests(globals(), arguments.only, Tree)


if __name__ == "__main__":
    main()
