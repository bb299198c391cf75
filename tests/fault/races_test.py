#!/usr/bin/env python3
"""Processes at one tree at the same time: 200 rounds of 16, each round on a tree of its own.

    python3 tests/fault/races_test.py [--rounds N] [--only WORD] [--seed N]

All 16 wait at one gate, and begin together. Each must end with a verdict, and what they leave must be a tree that the receipts
tell the truth about: the files are those of the patches that are applied, by the model in toymesh.py, nothing is left over, and
`revert --all` brings the first bytes back.
"""

import argparse
import collections
import contextlib
import concurrent.futures
import json
import os
import pathlib
import random
import shlex
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import attack  # noqa: E402
import toymesh  # noqa: E402

PROCESSES = 16
APART = ["mesh-cache", "mesh-retry", "mesh-frame", "mesh-stats"]  # patches that touch nowhere


def same_patch(draw):
    return [["apply", "mesh-cache"]] * PROCESSES


def different_patches(draw):
    return [["apply", *draw.sample(APART, draw.randint(1, 2))] for _ in range(PROCESSES)]


def apply_against_revert(draw):
    return [draw.choice([["apply", "mesh-cache", "mesh-frame"], ["revert", "mesh-cache"], ["revert", "--all"]])
            for _ in range(PROCESSES)]


def patches_that_touch(draw):
    return [["apply", draw.choice(["mesh-cache", "mesh-inline"])] for _ in range(PROCESSES)]


def readers_too(draw):
    return [draw.choice([["status"], ["diff", "mesh-cache"], ["apply", "mesh-cache", "mesh-retry"], ["revert", "mesh-retry"]])
            for _ in range(PROCESSES)]


def some_are_killed(draw):
    return [["apply", *draw.sample(APART, 2)] for _ in range(PROCESSES)]


KINDS = [same_patch, different_patches, apply_against_revert, patches_that_touch, readers_too, some_are_killed]


class Round:
    def __init__(self, number, kind, seed, world, folder):
        self.name = f"{number}:{kind.__name__}"
        self.kind, self.world, self.folder = kind, world, folder
        self.draw = random.Random(f"{seed} {number}")
        self.tree = folder / "site"
        attack.copy(world.first, self.tree)

    def run(self):
        commands = self.kind(self.draw)
        runs = self.race([self.world.words(command, self.tree) for command in commands])
        self.each_ends(commands, runs)
        self.coherent(runs)

    def race(self, commands):
        """All at once: each waits for the end of its input, which is one pipe for all."""
        lines = [f"{{ read _ <&3; exec {shlex.join([attack.driver.SUTURE, *words])}; }} "
                 f'>{self.folder}/out{i} 2>{self.folder}/err{i} & pids="$pids $!"\n' for i, words in enumerate(commands)]
        script = "exec 3<&0\n" + "".join(lines) + 'echo $pids\nfor pid in $pids; do wait $pid; echo $?; done'
        shell = subprocess.Popen(["/bin/sh", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                 stderr=subprocess.DEVNULL, env=attack.ENVIRONMENT)
        pids = list(map(int, shell.stdout.readline().split()))
        shell.stdin.close()
        if self.kind is some_are_killed:
            time.sleep(self.draw.random() / 50)
            for pid in self.draw.sample(pids, 4):
                with contextlib.suppress(ProcessLookupError):  # it was done
                    os.kill(pid, signal.SIGKILL)
        exits = shell.stdout.read().split()
        shell.wait(timeout=attack.SECONDS)
        assert len(exits) == len(commands), exits
        def text(name):  # not there where the shell was killed before it was suture
            return (self.folder / name).read_text() if (self.folder / name).exists() else ""
        return [attack.Run(command, -9 if code == "137" else int(code), text(f"out{i}"), text(f"err{i}"))
                for i, (command, code) in enumerate(zip(commands, exits, strict=True))]

    def each_ends(self, commands, runs):
        """With 0; or killed, where that is the game; or, where patches touch, with conflicting."""
        for command, run in zip(commands, runs, strict=True):
            killed = self.kind is some_are_killed and run.exit == -9
            conflict = self.kind is patches_that_touch and run.exit == 4 and ": conflicting: " in run.err
            assert run.exit == 0 or killed or conflict, run
            said = run.out + run.err
            assert killed or command[0] == "diff" or any(patch in said or "OK:" in said or "nothing to do" in said
                                                         for patch in toymesh.PATCHES), run
        if self.kind is same_patch:
            wrote = [run for run in runs if "OK: " in run.out]
            assert len(wrote) == 1, f"{len(wrote)} of them wrote"
            assert all("already applied" in run.err for run in runs if run not in wrote), runs

    def coherent(self, runs):
        if self.kind is some_are_killed:  # the last may have been killed: the next one puts that right
            runs.append(self.world.must("apply", "mesh-cache", tree=self.tree))
        left = attack.left_over(self.tree)
        assert not left, f"left over: {left}\n" + "\n".join(map(str, runs))
        report = json.loads(self.world.must("status", "--json", tree=self.tree).out)["trees"][0]
        applied = [patch["patch"] for patch in report["patches"] if patch["verdict"] == "applied"]
        rest = {patch["verdict"] for patch in report["patches"]} - {"applied", "applicable", "conflicting"}
        assert not rest, report
        assert toymesh.present(self.tree) == toymesh.expected(applied), f"not the files of {applied}"
        self.world.must("revert", "--all", tree=self.tree)
        assert attack.look(self.tree) == self.world.pristine, "the first bytes do not come back"


class World:
    def __init__(self, folder):
        self.options = toymesh.add_patches(folder)
        self.first = folder / "first"
        toymesh.install(self.first)
        self.pristine = attack.look(self.first)

    def words(self, command, tree):
        return [*command, "-t", str(tree), *self.options]

    def must(self, *command, tree):
        done = attack.run(self.words(command, tree))
        assert done.exit == 0, done
        return done


def one_round(number, seed, world, folder):
    kind = KINDS[number % len(KINDS)]
    place = folder / f"round-{number}"
    place.mkdir()
    try:
        Round(number, kind, seed, world, place).run()
        return kind.__name__, None
    except Exception as error:  # noqa: BLE001 - the other rounds run all the same
        return kind.__name__, f"round {number}, {kind.__name__}: {error!r}\n{error}"
    finally:
        subprocess.run(["rm", "-rf", str(place)], check=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=7)
    arguments = parser.parse_args()
    began = time.monotonic()
    chosen = [n for n in range(arguments.rounds) if arguments.only in KINDS[n % len(KINDS)].__name__]
    coherent, failures = collections.Counter(), []
    with attack.scratch() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        world = World(folder)
        for kind, failure in pool.map(lambda n: one_round(n, arguments.seed, world, folder), chosen):
            coherent[kind] += failure is None
            failures += [failure] if failure else []
    for kind, count in coherent.items():
        print(f"{kind:24}{count:4} rounds of {PROCESSES} processes ended coherent")
    for failure in failures[:5]:
        print("FAILED " + failure)
    print(f"{len(chosen)} rounds, {len(failures)} failed, {time.monotonic() - began:.0f} s")
    sys.exit(1 if failures or not chosen else 0)


if __name__ == "__main__":
    main()
