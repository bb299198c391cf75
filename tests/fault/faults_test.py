#!/usr/bin/env python3
"""Every file-system call of the binary fails once, in every way that it can fail, and the process is killed before it.

    python3 tests/fault/faults_test.py            a spread of the fault points: every call that writes, and some that read
    python3 tests/fault/faults_test.py --all      all of them
    python3 tests/fault/faults_test.py --only revert-one:renameat:2:EIO

strace injects the faults. After each: every file is old or new, whole; exit 0 means new, and any other exit without a journal
means old; `status` says whether something is to be put right; the next run of the same command, or `revert --all`, finds the
tree in order and leaves nothing but what a run without a fault leaves; and the first bytes come back.
"""

import argparse
import collections
import concurrent.futures
import os
import pathlib
import resource
import signal
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import attack  # noqa: E402
import toymesh  # noqa: E402

EXITS = {0, 1, 3, 4, 5, 6}

# (patches applied before, the command, patches after); "killed": the command dies first, at that fault point.
APPLY = ["apply", "mesh-cache", "mesh-frame"]
JOBS = {
    "apply-one": ((), ["apply", "mesh-cache"], ("mesh-cache",), None),
    "apply-two": ((), APPLY, ("mesh-cache", "mesh-frame"), None),
    "apply-more": (("mesh-cache", "mesh-frame"), ["apply", "mesh-stats", "mesh-retry"],
                   ("mesh-cache", "mesh-frame", "mesh-stats", "mesh-retry"), None),
    "revert-one": (("mesh-cache", "mesh-stats", "mesh-frame"), ["revert", "mesh-cache"], ("mesh-stats", "mesh-frame"), None),
    "revert-all": (("mesh-cache", "mesh-frame"), ["revert", "--all"], (), None),
    # The run that puts a crash right: before the first file was in place, between two, and when a journal alone was left.
    "undo": ((), APPLY, ("mesh-cache", "mesh-frame"), "staged"),
    "finish": ((), APPLY, ("mesh-cache", "mesh-frame"), "half"),
    "tidy": (("mesh-cache", "mesh-frame"), ["revert", "--all"], (), "placed"),
}


class World:
    """The trees of one job: as it begins, and as it ends where nothing fails."""

    def __init__(self, name, folder, options):
        self.name, self.folder, self.options = name, folder, options
        before, self.command, after, crash = JOBS[name]
        self.first = folder / "first"
        toymesh.install(self.first)
        self.begin = folder / "begin"
        attack.copy(self.first, self.begin)
        self.pristine = attack.look(self.first)
        if before:
            self.must("apply", *before, tree=self.begin)
        self.old = attack.look(self.begin)
        end = folder / "end"
        attack.copy(self.begin, end)
        if crash:
            self.crash(crash)
        self.must(*self.command, tree=end)
        self.new = attack.look(end)
        assert after or not (end / "toymesh/.suture").exists(), "the last revert leaves something"
        assert toymesh.present(end) == toymesh.expected(after), name
        traced = folder / "traced"
        attack.copy(self.begin, traced)
        self.calls, done = attack.calls_of(self.words(self.command, traced), folder / "log", attack.CALLS)
        assert done.exit == 0, done
        assert attack.look(traced) == self.new, name

    def words(self, command, tree):
        return [*command, "-t", tree, *self.options]

    def must(self, *command, tree):
        done = attack.run(self.words(command, tree))
        assert done.exit == 0, done
        return done

    def crash(self, kind):
        """The command dies in `begin`: before the first file is in place, between two, when the last one is."""
        probe = self.folder / "probe"
        attack.copy(self.begin, probe)
        calls, done = attack.calls_of(self.words(self.command, probe), self.folder / "log", attack.CALLS)
        journals = [i for i, line in enumerate(self.marks(done.trace)) if '"journal.new"' in line and "rename" in line]
        at = {"staged": journals[1] - 1, "half": journals[1] + 4, "placed": self.last_placed(done.trace)}[kind]
        call, count = calls[at]
        died = attack.traced(self.words(self.command, self.begin), self.folder / "log", "-e", f"trace={call}", "-e",
                             f"inject={call}:signal=SIGKILL:when={count}")
        assert died.exit == -signal.SIGKILL and attack.left_over(self.begin), died

    @staticmethod
    def marks(trace):
        lines, begun = [], False
        for line in trace.splitlines():
            begun = begun or ("rt_sigaction" in line and "SIGPIPE" in line)
            if begun and line.split("(", 1)[0] in attack.CALLS:
                lines.append(line)
        return lines

    def last_placed(self, trace):
        """The first removal of a staged file: every file is in place."""
        return next(i for i, line in enumerate(self.marks(trace)) if line.startswith("unlinkat") and '".suture-' in line)


class Tally:
    def __init__(self):
        self.lock = threading.Lock()
        self.rows = collections.defaultdict(collections.Counter)
        self.points = set()
        self.failures = []


def strace_words(call, count, fault):
    if fault == "KILL":
        return ["-e", f"trace={call}", "-e", f"inject={call}:signal=SIGKILL:when={count}"]
    if fault.startswith("ALL-"):  # from this one on, every call that writes
        names = ",".join(attack.WRITES)
        return ["-e", f"trace={names}", "-e", f"inject={names}:error={fault[4:]}:when={count}+"]
    return ["-e", f"trace={call}", "-e", f"inject={call}:error={fault}:when={count}"]


def injure(world, call, count, fault, tree, log):
    """Runs the job with one fault; the run, whether it met the fault."""
    words = world.words(world.command, tree)
    if call != "size":
        done = attack.traced(words, log, *strace_words(call, count, fault))
        return done, done.hit
    # Real short writes: no file may grow past `count` bytes.
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (count, resource.RLIM_INFINITY))
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL if fault == "SIGXFSZ" else signal.SIG_IGN)
    done = attack.run(words, preexec_fn=limit)
    return done, done.exit != 0


def problems_after(world, point, tree, done, row):
    """What is wrong with the tree after the fault; counts what happened."""
    fault = point[2]
    now = attack.look(tree)
    torn = attack.torn(now, world.old, world.new)
    row["torn files"] += len(torn)
    if torn:
        yield f"torn: {torn}"
    killed = done.exit < 0
    row["crashes"] += killed
    if killed and fault != "KILL":
        yield "it crashed"
    if not killed and done.exit not in EXITS:
        yield "an exit code that is not documented"
    pending = attack.left_over(tree)
    files, old, new = map(attack.outside_suture, (now, world.old, world.new))
    output = point[0] == "write" and "stdout" in done.err
    if fault == "EINTR" and done.exit != 0:
        yield "EINTR is no failure"
    if done.exit == 0 and files != new:
        yield "exit 0, and not every file is new"
    if done.exit > 0:
        row["refused"] += 1
        if "error" not in done.err and not fault.startswith("ALL-"):
            yield "it failed without a word"
        journal = any(path.endswith("/.suture/journal") for path in pending)
        if files != old and not journal and not output and not (world.name in ("finish", "tidy") and files == new):
            yield "it failed, and the files are not as they were"
    if pending:
        status = attack.run(world.words(["status"], tree))
        if status.exit != 0 or "interrupted" not in status.err:
            yield f"status says nothing of an interrupted run\n{status}"


def seen(found, fault):
    """What is compared. Of a folder that is said not to be there (ENOENT, and it is) nobody can expect that it goes."""
    return {path: what for path, what in found.items() if fault != "ENOENT" or what[0] != "folder"}


def problems_recovered(world, tree, index, fault, pending, row):
    """What is wrong after the next run."""
    again = index % 2 == 0
    command = world.command if again else ["revert", "--all"]
    done = attack.run(world.words(command, tree))
    if done.exit != 0:
        yield f"the next run fails\n{done}"
        return
    if pending:
        row["recoveries"] += 1
        if not any(word in done.err for word in ("finished a write", "undid a write", "removed")):
            yield f"the next run does not say what it found: {pending}\n{done}"
    left = attack.left_over(tree)
    row["left-over temp files"] += len(left)
    if left:
        yield f"left over after recovery: {left}"
    if again and seen(attack.look(tree), fault) != seen(world.new, fault):
        yield f"not as a run without a fault leaves it\n{done}"
    if again:
        done = attack.run(world.words(["revert", "--all"], tree))
        if done.exit != 0:
            yield f"revert fails\n{done}"
    end = attack.look(tree)
    lost = sum(1 for path, what in world.pristine.items() if end.get(path) != what)
    row["lost bytes"] += sum(len(what[-1] or b"") for path, what in world.pristine.items() if end.get(path) != what)
    if lost or seen(end, fault) != seen(world.pristine, fault):
        yield f"the first bytes do not come back: {sorted(set(end) ^ set(world.pristine))} {lost}"


def attack_point(world, index, point, tally):
    call, count, fault = point
    name = f"{world.name}:{call}:{count}:{fault}"
    tree, log = world.folder / f"w{threading.get_ident()}", world.folder / f"l{threading.get_ident()}"
    attack.copy(world.begin, tree)
    row = collections.Counter()
    problems = []
    try:
        done, hit = injure(world, call, count, fault, tree, log)
        row["faults"] += hit
        problems += problems_after(world, point, tree, done, row)
        problems += problems_recovered(world, tree, index, fault, attack.left_over(tree), row)
        if problems:
            problems.append(str(done))
    except Exception as error:  # noqa: BLE001 - the other points are tried all the same
        problems.append(repr(error))
    with tally.lock:
        tally.rows[world.name].update(row)
        if row["faults"]:
            tally.points.add(name)
        if problems:
            tally.failures.append(name + "\n  " + "\n".join(problems).replace("\n", "\n  "))


def points_of(world, everything, share):
    """[(call, occurrence, fault)]. The spread: of each call that writes a kill and one or two of its errors in turn, of every
    seventh call that only reads one; and of all that every SHARE-th."""
    points = []
    for index, (call, count) in enumerate(world.calls):
        errors = attack.CALLS[call]
        if everything:
            points += [(call, count, error) for error in (*errors, "KILL")]
        elif call in attack.WRITES:
            points += [(call, count, errors[(index + i) % len(errors)]) for i in range(1 + index % 2)]
            points.append((call, count, "KILL"))
        elif index % 7 == 0 and errors:
            points.append((call, count, errors[index // 7 % len(errors)]))
    writes = [count for call, count in world.calls if call in attack.WRITES]
    step = 1 if everything else 9
    for n in range(1, len(writes) + 1, step):  # a disk that goes read-only, a disk that is full, and stay so
        points += [("*", n, "ALL-EROFS"), ("*", n, "ALL-ENOSPC")]
    largest = max(len(what[-1]) for what in world.new.values() if isinstance(what[-1], bytes))
    sizes = range(0, largest, 16 if everything else 400)
    points += [("size", size, fault) for size in sizes for fault in ("EFBIG", "SIGXFSZ")]
    first = list(JOBS).index(world.name) % share  # jobs share calls: each gets other ones
    return points if everything else points[first::share]


COLUMNS = ("faults", "crashes", "refused", "recoveries", "torn files", "lost bytes", "left-over temp files")


def table(tally):
    width = max(map(len, JOBS))
    print(f"{'':{width}}  " + "  ".join(COLUMNS))
    for name, row in [*tally.rows.items(), ("all", sum(tally.rows.values(), collections.Counter()))]:
        print(f"{name:{width}}  " + "  ".join(f"{row[column]:{len(column)}}" for column in COLUMNS))
    print(f"{len(tally.points)} distinct fault points (call, occurrence, error) on {attack.driver.SUTURE}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--all", action="store_true", help="every fault at every call")
    parser.add_argument("--only", default="", help="JOB, or JOB:CALL:OCCURRENCE:FAULT as a failure is called")
    parser.add_argument("--share", type=int, default=4, help="without --all: every how-manieth point; 1 takes about 2,200")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    arguments = parser.parse_args()
    attack.need_strace()
    began, tally = time.monotonic(), Tally()
    with attack.scratch() as folder, concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        options = toymesh.add_patches(folder)
        for name in JOBS:
            if not (name + ":").startswith(arguments.only.split(":")[0]):
                continue
            world = World(name, folder / name, options)
            points = points_of(world, arguments.all or ":" in arguments.only, arguments.share)
            futures = [pool.submit(attack_point, world, index, point, tally) for index, point in enumerate(points)
                       if f"{name}:{point[0]}:{point[1]}:{point[2]}".startswith(arguments.only)]
            for future in futures:
                future.result()
    table(tally)
    for failure in tally.failures[:20]:
        print("FAILED " + failure)
    enough = arguments.only or len(tally.points) >= 400
    print(f"{len(tally.failures)} failed, {time.monotonic() - began:.0f} s" + ("" if enough else "; fewer than 400 points"))
    sys.exit(1 if tally.failures or not enough else 0)


if __name__ == "__main__":
    main()
