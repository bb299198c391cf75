#!/usr/bin/env python3
"""Runs the real MLA backend files of SGLang releases on the CPU, unpatched and patched, and compares their bits.

    python3 tests/backend/run.py --suture build/suture --wheels .cache/wheels

One line a release, patch and path; then the contract of suture_kv_cast.py; then the planted errors, each of which must
make its path fail. Exit code: 0 all passed, 1 something failed, 77 nothing could be run (skipped). With --require a
skip is a failure. `setup.sh` beside this file makes the environment and fetches the wheels.
"""

import argparse
import pathlib
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suture", required=True, help="the suture binary")
    parser.add_argument("--wheels", default=str(HERE.parents[1] / ".cache" / "wheels"), help="folder of SGLang wheels")
    parser.add_argument("--releases", nargs="+", help="these, for all patches; else those of trees.py for each")
    parser.add_argument("--patches", nargs="+", default=["cast", "gather", "native", "pages"], help="only these")
    parser.add_argument("--paths", nargs="+", help="only paths whose name holds one of these words")
    parser.add_argument("--no-plants", action="store_true", help="leave the planted errors out")
    parser.add_argument("--require", action="store_true", help="a skip is a failure")
    parser.add_argument("--keep", metavar="FOLDER", help="keep the trees there")
    return parser.parse_args()


class Tally:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def line(self, what, why=None, note=""):
        if why is None:
            self.passed += 1
            print(f"PASS  {what}{note}", flush=True)
        else:
            self.failed += 1
            print(f"FAIL  {what}: {why}", flush=True)

    def skip(self, what, why):
        self.skipped += 1
        print(f"SKIP  {what}: {why}", flush=True)


class Trees:
    """Unpacked and patched trees by (release, patch), made once."""

    def __init__(self, options, folder):
        self.options, self.folder = options, pathlib.Path(folder)
        self.made = {}

    def site(self, release, patch=None):
        import trees

        key = (release, patch)
        if key not in self.made:
            target = self.folder / f"{release}-{patch or 'shipped'}"
            if patch is None:
                self.made[key] = trees.unpack(trees.find_wheel(self.options.wheels, release), target)
            else:
                self.made[key] = trees.patched_copy(self.site(release), target, self.options.suture, patch)
        return self.made[key]


def releases_of(options, patch=None):
    """Those that this patch is run on; without a patch, all."""
    import trees

    if options.releases:
        return options.releases
    named = {release for p in ([patch] if patch else options.patches) for release in trees.RELEASES[p]}
    return sorted(named, key=lambda release: [int(part) for part in release.split(".")])


def run_path(patch, name, shipped, patched, look_at_keys=True, capability=None):
    """Why the two trees (site folders) differ on this path; None: they do not."""
    import double
    import sides
    import subjects
    import trees

    device = double.device(2, patch)
    if capability:
        device.capability = capability
    subject = subjects.SUBJECTS[trees.backend_name(patch)]
    return sides.run_path(
        device, name, trees.package(shipped), trees.package(patched), patch, look_at_keys, subject=subject
    ).why


def run_releases(options, all_trees, tally):
    import subjects
    import trees

    for release in releases_of(options):
        if trees.find_wheel(options.wheels, release) is None:
            tally.skip(f"{release}", f"no wheel of SGLang {release} in {options.wheels}")
            continue
        for patch in options.patches:
            if release not in releases_of(options, patch):
                continue
            shipped = all_trees.site(release)
            source = trees.backend_file(shipped, patch).read_text()
            try:
                site = all_trees.site(release, patch)
            except RuntimeError as error:
                tally.line(f"{release}  {trees.PATCHES[patch]}", str(error))
                continue
            for name in subjects.SUBJECTS[trees.backend_name(patch)].runnable(source):
                if not options.paths or any(word in name for word in options.paths):
                    tally.line(f"{release}  {trees.PATCHES[patch]}  {name}", run_path(patch, name, shipped, site))
            if patch == "native":
                run_other_gpus(options, release, shipped, site, tally)


def run_other_gpus(options, release, shipped, site, tally):
    """Where no kernel reads FP8 keys the patched tree must run as it did: the double refuses such a plan there."""
    import trees

    name = "graph decode, eager steps between"
    for capability in ((8, 0), (10, 0)):
        what = f"{name}, on SM{capability[0]}{capability[1]}"
        if not options.paths or any(word in what for word in options.paths):
            why = run_path("native", name, shipped, site, look_at_keys=False, capability=capability)
            tally.line(f"{release}  {trees.PATCHES['native']}  {what}", why)


def run_contract(options, all_trees, tally):
    left = {"cast", "native", "pages"} & set(options.patches)
    for (_, patch), site in all_trees.made.items():
        if patch in left:
            left.remove(patch)
            for what, why in check_contract(site, patch):
                tally.line(f"contract  {what}", why)


def check_contract(site, patch):
    """(what, why it does not hold or None) of each promise of the files that this patch adds."""
    import contract
    import fa3_contract
    import fp8_contract
    import trees

    if patch == "native":
        return fp8_contract.check(trees.added_file(site, "fp8_kv"))
    kv_cast = trees.added_file(site, "kv_cast")
    if patch == "pages":
        return fa3_contract.check(kv_cast, trees.added_file(site, "kv_cast_pages"))
    return contract.check(kv_cast)


def run_plants(options, all_trees, tally):
    import planted
    import trees

    for plant in planted.PLANTS:
        if plant.patch not in options.patches or plant.release not in releases_of(options, plant.patch):
            continue
        what = f"planted  {plant.name}  ({plant.release}, {plant.patch})"
        if trees.find_wheel(options.wheels, plant.release) is None:
            tally.skip(what, f"no wheel of SGLang {plant.release}")
            continue
        site = all_trees.folder / "planted"
        shutil.rmtree(site, ignore_errors=True)
        try:
            shutil.copytree(all_trees.site(plant.release, plant.patch), site)
            is_backend = plant.file == "backend"
            file = trees.backend_file(site, plant.patch) if is_backend else trees.added_file(site, plant.file)
            file.write_text(planted.plant(file.read_text(), plant))
        except (LookupError, RuntimeError) as error:
            tally.line(what, str(error))
            continue
        if plant.path == "contract":
            found = [f"{check}: {why}" for check, why in check_contract(site, plant.patch) if why]
            why = found[0] if found else None
        else:
            why = run_path(plant.patch, plant.path, all_trees.site(plant.release), site, plant.by_keys)
        if why is None:
            tally.line(what, f"not caught by: {plant.path}")
        elif why.startswith("the unpatched side"):
            tally.line(what, why)
        else:
            tally.line(what, note=f": caught, {why[:110]}")


def main():
    options = parse()
    sys.path[:0] = [str(HERE), str(HERE.parents[1] / "verify_backend")]
    sys.dont_write_bytecode = True
    try:
        import torch
    except ImportError as error:
        print(f"SKIP  no torch in {sys.executable} ({error}); tests/backend/setup.sh makes an environment that has it")
        return 1 if options.require else SKIPPED
    torch.set_num_threads(1)
    torch.set_grad_enabled(False)
    print(f"torch {torch.__version__}, wheels in {options.wheels}")

    tally = Tally()
    folder = options.keep or tempfile.mkdtemp(prefix="suture-backend-")
    try:
        all_trees = Trees(options, folder)
        run_releases(options, all_trees, tally)
        if not options.paths:
            run_contract(options, all_trees, tally)
            if not options.no_plants:
                run_plants(options, all_trees, tally)
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    tail = f", {tally.skipped} skipped" if tally.skipped else ""
    print(f"{tally.passed} passed, {tally.failed} failed{tail}")
    if tally.failed or (options.require and tally.skipped):
        return 1
    return 0 if tally.passed else SKIPPED


if __name__ == "__main__":
    sys.exit(main())
