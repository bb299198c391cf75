"""The connection is cut while suture-ssh applies a patch, at random moments: no file is ever torn, and the next run ends in
`applied`, with the bytes that a run without a cut leaves.

    python3 tests/remote/cuts_test.py [--cuts N] [--seed N]

Three kinds of cut in turn: ssh here is killed; the sshd of the session is killed (suture there goes on, and finds its
pipes closed); everything on the host is killed, as when it crashes. The moments: half lie between the first file that
suture makes in the tree and the end of the run; four of ten within some milliseconds of the first rename, which is a small
part of the time; one of ten anywhere in the run.
"""

import argparse
import collections
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

import hosts
from hosts import driver

SCRIPT = driver.SOURCE / "examples" / "remote" / "suture-ssh"
MODULES = 40
PATCH = "toyfleet-greets"

RULES = """\
file: "part_*.py"
rules:
  - id: toyfleet-greets
    in: Part.greet
    match: return $WORD
    replace: return $WORD.upper()
    expect: {min: %d, max: %d}
    applied: return $WORD.upper()
    ok: every part greets loudly
""" % (MODULES, MODULES)

PATCH_YAML = """\
patch: toyfleet-greets
summary: Greet loudly
package: {name: toyfleet}
rules: [toyfleet-greets]
"""


def make(folder):
    """The package, many files of it, and its patch."""
    site = folder / "site"
    (site / "toyfleet").mkdir(parents=True)
    (site / "toyfleet-1.0.dist-info").mkdir()
    (site / "toyfleet-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: toyfleet\nVersion: 1.0\n")
    (site / "toyfleet" / "__init__.py").write_text("")
    for number in range(MODULES):
        text = f'"""Part {number}."""\n\n\nclass Part:\n    def greet(self):\n        return "hello"\n'
        (site / "toyfleet" / f"part_{number:02}.py").write_text(text + f"\n\nNUMBER = {number}\n" * 50)
    for path, text in (("rules/toyfleet.yaml", RULES), (f"patches/{PATCH}/patch.yaml", PATCH_YAML)):
        (folder / path).parent.mkdir(parents=True)
        (folder / path).write_text(text)


def sources(site):
    return {path.name: path.read_bytes() for path in (site / "toyfleet").glob("*.py")}


class Cuts:
    def __init__(self, fleet):
        self.fleet, self.host = fleet, fleet["b"]
        self.made = fleet.folder / "made"
        make(self.made)
        self.site = self.host.near("site")
        self.old = sources(self.made / "site")
        self.fresh()
        self.lengths = self.watch(self.start())
        self.new = sources(self.site)
        assert self.old.keys() == self.new.keys() and sum(self.old[name] != self.new[name] for name in self.old) == MODULES

    def fresh(self):
        shutil.rmtree(self.site, ignore_errors=True)
        shutil.copytree(self.made / "site", self.site)

    def start(self):
        config = [] if self.fleet.namespaces else ["-F", self.fleet.config]
        command = [SCRIPT, *config, "--keep", "--binary", driver.SUTURE, "--rules-dir", self.made / "rules", "--patches-dir",
                   self.made / "patches", "b", "--", "apply", PATCH, "-t", self.host.path("site")]
        return subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                stdin=subprocess.DEVNULL, text=True, start_new_session=True)

    def watch(self, process):
        """Runs it to its end; the seconds that it took, and those from the first file that suture made in the tree."""
        started, window = time.monotonic(), None
        while process.poll() is None:
            if window is None and (self.site / "toyfleet" / ".suture").exists():
                window = time.monotonic()
            time.sleep(0.001)
        assert process.returncode == 0, process.stdout.read()
        return {"run": time.monotonic() - started, "writing": time.monotonic() - window, "renaming": 0.01}

    def wait_for(self, process, moment, share):
        """Sleeps until the moment, and then for a share of the time that belongs to it."""
        folder = self.site / "toyfleet"
        while moment != "run" and process.poll() is None and not (folder / ".suture").exists():
            time.sleep(0.001)
        most = 0
        while moment == "renaming" and process.poll() is None:
            # Each staged file has names beside it. The first that is gone again was renamed.
            names = len(os.listdir(folder))
            if names < most and most > 2 * MODULES:
                break
            most = max(most, names)
        time.sleep(share * self.lengths[moment])

    def cut(self, kind, process):
        if kind == "host":
            self.host.kill_sessions()
        elif kind == "session":
            for session in self.host.sessions():
                if "sshd" in name_of(session):
                    kill(session)
        else:
            for one in [entry for entry in map(int, filter(str.isdigit, os.listdir("/proc"))) if group_of(entry) == process.pid]:
                if name_of(one) == "ssh":
                    kill(one)

    def one(self, kind, moment, share):
        """Cuts one run, looks at the tree, runs again; how many files were new at the cut."""
        self.fresh()
        process = self.start()
        self.wait_for(process, moment, share)
        self.cut(kind, process)
        written = self.whole_files()
        process.communicate(timeout=60)
        assert process.returncode in (0, 20), process.returncode
        again = self.start()
        said = again.communicate(timeout=120)[0]
        assert again.returncode == 0, f"the next run: exit code {again.returncode}\n{said}"
        assert sources(self.site) == self.new, "the next run left other bytes"
        folders = ["--rules-dir", self.made / "rules", "--patches-dir", self.made / "patches"]
        assert driver.verdicts(self.site, *folders)[PATCH] == "applied", said
        driver.suture("revert", "--all", "-t", self.site)
        left = {path.name for path in (self.site / "toyfleet").iterdir()}
        assert sources(self.site) == self.old and left == set(self.old), f"revert leaves {left - set(self.old)}"
        return written

    def whole_files(self):
        """Every file is as it was or as it will be; how many are as they will be."""
        count = 0
        for name, data in sources(self.site).items():
            assert name in self.old, f"an unknown file: {name}"
            assert data in (self.old[name], self.new[name]), f"{name} is torn"
            count += data != self.old[name]
        return count


def name_of(process):
    try:
        return pathlib.Path(f"/proc/{process}/comm").read_text().strip()
    except OSError:
        return ""


def group_of(process):
    try:
        return os.getpgid(process)
    except OSError:
        return None


def kill(process):
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:
        pass


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--cuts", type=int, default=20)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    options = parser.parse_args()
    dice = random.Random(options.seed)
    met = collections.Counter()
    with hosts.Fleet("b") as fleet:
        cuts = Cuts(fleet)
        print(f"seed {options.seed}; a run takes {cuts.lengths['run']:.2f} s, and writes for the last {cuts.lengths['writing']:.2f} s")
        for number in range(options.cuts):
            kind, share = ("ssh", "session", "host")[number % 3], dice.random()
            moment = "run" if number % 10 == 9 else "renaming" if number % 10 in (1, 4, 5, 7) else "writing"
            try:
                written = cuts.one(kind, moment, share)
            except AssertionError:
                print(f"FAILED at cut {number}: {kind}, at {share:.3f} from {moment} on")
                raise
            met["none" if written == 0 else "all" if written == MODULES else "some"] += 1
    print(f"{options.cuts} cuts, no file torn, every next run applied; files new at the cut: "
          f"all {met['all']}, some {met['some']}, none {met['none']}")


if __name__ == "__main__":
    sys.exit(main())
