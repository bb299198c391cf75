#!/usr/bin/env python3
"""Random sequences of apply and revert over five patches, held to the model in toymesh.py after every step.

    python3 tests/fault/sequences_test.py [--sequences N] [--only NUMBER] [--seed N]

The model knows nothing of rules: a patch is a few replacements of text, and the bytes of a tree are those of the set of patches
that are applied, in whatever order that came about (the order of added import lines aside). Two of the five touch: whichever
comes second is `conflicting`, the message names both and the lines, and nothing is written.
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import random
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import attack  # noqa: E402
import toymesh  # noqa: E402

STEPS = 6
NAMES = sorted(toymesh.PATCHES)
DRAWN = [*NAMES, "mesh-cache", "mesh-inline"]  # those that touch more often


class Sequence:
    def __init__(self, number, seed, first, options, folder, count):
        self.draw = random.Random(f"{seed} {number}")
        self.options, self.tree, self.count = options, folder / f"tree-{number}", count
        attack.copy(first, self.tree)
        self.pristine = attack.look(first)
        self.applied = set()
        self.done = []

    def suture(self, *command):
        self.done.append(" ".join(command))
        return attack.run([*command, "-t", self.tree, *self.options])

    def run(self):
        for _ in range(self.draw.randint(3, STEPS)):
            kind = self.draw.choice(["apply", "apply", "apply both", "revert", "revert", "revert --all"])
            if kind == "apply":
                self.apply([self.draw.choice(DRAWN)])
            elif kind == "apply both":
                self.apply(self.draw.sample(NAMES, 2))
            else:
                self.revert([] if kind.endswith("--all") else [self.draw.choice(NAMES)])
        self.verdicts()
        rest = list(self.applied)
        self.draw.shuffle(rest)
        for name in rest:
            self.revert([name])
        assert attack.look(self.tree) == self.pristine, "the first bytes do not come back"
        assert not (self.tree / "toymesh/.suture").exists(), "something is left behind"

    def touching(self, names):
        """(one that is asked for, one that it touches), or nothing."""
        for i, name in enumerate(names):
            for other in [*sorted(self.applied), *names[:i]]:
                if name not in self.applied and frozenset({name, other}) in toymesh.TOUCH:
                    return name, other
        return None

    def apply(self, names):
        pair, before = self.touching(names), attack.look(self.tree)
        run = self.suture("apply", *names)
        if pair is None:
            assert run.exit == 0, run
            self.applied |= set(names)
            for name in names:
                self.count["applied"] += 1
        else:
            assert run.exit == 4 and f"{pair[0]}: conflicting: " in run.err and pair[1] in run.err, run
            # Of a patch that stands, its lines; of one that is asked for before, there are none yet.
            standing = pair[1] in self.applied
            lines = re.findall(rf"^  core/node\.py:(\d+): {pair[1]} wrote this", run.err, re.M)
            assert not standing or lines, run
            text = (self.tree / "toymesh/core/node.py").read_text().splitlines()
            assert all("pack" in text[int(line) - 1] or "peer" in text[int(line) - 1] or "rows" in text[int(line) - 1]
                       for line in lines), run
            assert attack.look(self.tree) == before, "refused, and something was written"
            self.count["conflicts"] += 1
        self.compare()

    def revert(self, names):
        before, stand = attack.look(self.tree), self.applied & set(names or NAMES)
        run = self.suture("revert", *(names or ["--all"]))
        assert run.exit == 0, run
        assert all(f"OK: {name} is reverted" in run.out for name in stand), run
        if not stand:
            assert "nothing to do" in run.err and attack.look(self.tree) == before, run
        self.applied -= stand
        self.count["reverted"] += len(stand)
        self.compare()

    def compare(self):
        present, expected = toymesh.present(self.tree), toymesh.expected(self.applied)
        different = sorted(path for path in present.keys() | expected.keys() if present.get(path) != expected.get(path))
        assert not different, f"{different} is not that of {sorted(self.applied)}:\n{present.get(different[0])}"

    def verdicts(self):
        report = json.loads(self.suture("status", "--json").out)["trees"][0]["patches"]
        for patch in report:
            name = patch["patch"]
            wanted = "applied" if name in self.applied else "conflicting" if self.touching([name]) else "applicable"
            assert patch["verdict"] == wanted, (patch, self.applied)


def run_one(number, seed, first, options, folder, count):
    sequence = Sequence(number, seed, first, options, folder, count)
    try:
        sequence.run()
        return None
    except Exception as error:  # noqa: BLE001 - the others run all the same
        return f"sequence {number}: {' | '.join(sequence.done)}\n{error!r}\n{error}"
    finally:
        attack.shutil.rmtree(sequence.tree)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sequences", type=int, default=200)
    parser.add_argument("--only", type=int)
    parser.add_argument("--seed", type=int, default=3)
    arguments = parser.parse_args()
    began, count = time.monotonic(), collections.Counter()
    numbers = range(arguments.sequences) if arguments.only is None else [arguments.only]
    with attack.scratch() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        options, first = toymesh.add_patches(folder), folder / "first"
        toymesh.install(first)
        ends = pool.map(lambda n: run_one(n, arguments.seed, first, options, folder, count), numbers)
        failures = [end for end in ends if end]
    for failure in failures[:5]:
        print("FAILED " + failure)
    print(f"{len(numbers)} sequences over {len(NAMES)} patches, {dict(count)}; {len(failures)} failed, "
          f"{time.monotonic() - began:.0f} s")
    assert arguments.only is not None or min(count["applied"], count["conflicts"], count["reverted"]) > 50, count
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
