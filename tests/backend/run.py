#!/usr/bin/env python3
"""Runs the real MLA backend files of SGLang releases on the CPU, unpatched and patched, and compares their bits.

    python3 tests/backend/run.py --suture build/suture --wheels .cache/wheels [--backend fa3]

One line a release, patch and path; then the contract of what the patches add; then the planted errors, each of which
must make its path fail. Exit code: 0 all passed, 1 something failed, 77 nothing could be run (skipped). With --require
a skip is a failure. `setup.sh` beside this file makes the environment and fetches the wheels.
"""

import argparse
import pathlib
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
RELEASES = {
    "flashinfer": ("0.5.1", "0.5.6", "0.5.13", "0.5.15", "0.5.18", "0.5.22"),
    "fa3": ("0.4.9.post2", "0.5.6", "0.5.13", "0.5.18", "0.5.22"),
}
PATCHES = {"flashinfer": ("cast", "gather"), "fa3": ("pages",)}
SKIPPED = 77


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suture", required=True, help="the suture binary")
    parser.add_argument("--wheels", default=str(HERE.parents[1] / ".cache" / "wheels"), help="folder of SGLang wheels")
    parser.add_argument("--backend", choices=RELEASES, default="flashinfer", help="whose patches (default flashinfer)")
    parser.add_argument("--releases", nargs="+", help="other releases than those that are tested")
    parser.add_argument("--paths", nargs="+", help="only paths whose name holds one of these words")
    parser.add_argument("--no-plants", action="store_true", help="leave the planted errors out")
    parser.add_argument("--require", action="store_true", help="a skip is a failure")
    parser.add_argument("--keep", metavar="FOLDER", help="keep the trees there")
    options = parser.parse_args()
    options.releases = options.releases or list(RELEASES[options.backend])
    options.patches = PATCHES[options.backend]
    return options


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


def run_releases(options, all_trees, tally):
    import sides
    import trees

    for release in options.releases:
        if trees.find_wheel(options.wheels, release) is None:
            tally.skip(f"{release}", f"no wheel of SGLang {release} in {options.wheels}")
            continue
        for patch in options.patches:
            source = trees.backend_file(all_trees.site(release), patch).read_text()
            try:
                site = all_trees.site(release, patch)
            except RuntimeError as error:
                tally.line(f"{release}  {trees.PATCHES[patch]}", str(error))
                continue
            for name in options.subject.runnable(source):
                if options.paths and not any(word in name for word in options.paths):
                    continue
                shipped = trees.package(all_trees.site(release))
                patched = trees.package(site)
                why = sides.run_path(options.device, name, shipped, patched, patch, subject=options.subject).why
                tally.line(f"{release}  {trees.PATCHES[patch]}  {name}", why)


def run_contract(options, all_trees, tally):
    for (release, patch), site in all_trees.made.items():
        if patch is not None:
            for what, why in check_contract(site, patch):
                tally.line(f"contract  {what}", why)
            return


def check_contract(site, patch):
    import contract
    import fa3_contract
    import trees

    if patch == "pages":
        return fa3_contract.check(trees.kv_cast_file(site), trees.kv_cast_file(site, "kv_cast_pages"))
    return contract.check(trees.kv_cast_file(site))


def run_plants(options, all_trees, tally):
    import planted
    import sides
    import trees

    for plant in planted.PLANTS:
        if plant.release not in options.releases or plant.patch not in options.patches:
            continue
        what = f"planted  {plant.name}  ({plant.release}, {plant.patch})"
        if trees.find_wheel(options.wheels, plant.release) is None:
            tally.skip(what, f"no wheel of SGLang {plant.release}")
            continue
        site = all_trees.folder / "planted"
        shutil.rmtree(site, ignore_errors=True)
        try:
            shutil.copytree(all_trees.site(plant.release, plant.patch), site)
            backend = plant.file == "backend"
            file = trees.backend_file(site, plant.patch) if backend else trees.kv_cast_file(site, plant.file)
            file.write_text(planted.plant(file.read_text(), plant))
        except (LookupError, RuntimeError) as error:
            tally.line(what, str(error))
            continue
        if plant.path == "contract":
            found = [f"{check}: {why}" for check, why in check_contract(site, plant.patch) if why]
            why = found[0] if found else None
        else:
            shipped = trees.package(all_trees.site(plant.release))
            bad = trees.package(site)
            how = (plant.path, shipped, bad, plant.patch, plant.by_keys)
            why = sides.run_path(options.device, *how, subject=options.subject).why
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

    import double
    import subjects

    options.subject = subjects.FA3 if options.backend == "fa3" else subjects.FLASHINFER
    options.device = double.device(heads=2)
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
