"""Who changed a file, by RECORD and by the receipt; and what pip and uv do to a tree that suture wrote to. The lines of
docs/environments.md on edits by hand and on installers.
"""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import cycle
import driver
import layouts_test as layouts
import table
import toyserve
from cycle import World
from interpreters import interpreter

COLUMNS = ["what happens", "`status`", "code that runs", "`apply`", "`revert`"]

ENGINE = toyserve.FILES["engine.py"]
ELSEWHERE = (b"self.store = store", b"self.store = store  # mine")
AT_THE_PLACE = (b"rows = unpack(\n", b"rows = unpack(*[\n"), (b"# all of them\n        )", b"# all of them\n        ])")
LATER = {**toyserve.FILES, "engine.py": ENGINE.replace(b"# The table", b"# In this version too, the table")}


def installed(folder):
    """A virtual environment with the package from a wheel."""
    python, site = layouts.lone_venv(folder)
    world = World(folder, site / "toyserve", ["-t", "venv"], [python])
    install(world)
    return world


def by_hand(folder, files=None):
    """The package as pip leaves it, without pip, in a folder that PYTHONPATH names."""
    package = toyserve.unpacked(folder / "site", files=files)
    return World(folder, package, ["-t", str(folder / "site")], [interpreter("import venv")],
                 interpreter_environment={"PYTHONPATH": str(folder / "site")})


def install(world, version=toyserve.VERSION, files=None, *options):
    wheel = toyserve.wheel(world.folder / f"wheels-{version}", version, files)
    layouts.pip_install(world.folder, world.python[0], *options, wheel)


def edit(world, *pairs):
    engine = world.package / "engine.py"
    for old, new in pairs:
        assert engine.read_bytes().count(old) == 1, old
        engine.write_bytes(engine.read_bytes().replace(old, new))


def status(world):
    """Verdict and reason, and the note on receipts that count no more."""
    done = world.suture("status", world.patch)
    line = done.stdout.decode().splitlines()[0]
    verdict, _, reason = line.partition(world.patch)
    words = f"{verdict.strip()}: {reason.strip()}" if reason.strip() else verdict.strip()
    void = [line for line in done.stderr.splitlines() if "since: revert removes what is left" in line]
    return plain(world, words + ("; its receipt is void, which is said" if void else ""))


def plain(world, words):
    """Without the names of the test's rules."""
    return cycle.without_rules(world.shown(words).replace("`unpack($TABLE)`", "the code"))


def apply(world, *options, exit_code=0, code="new"):
    """What apply says where it is not simply done; `code` runs then. Never is half of it written."""
    before = world.entries()
    done = world.suture("apply", world.patch, *options, exit_code=exit_code)
    if exit_code:
        assert world.entries() == before, "a refused apply wrote something"
    assert world.code() == code, world.code()
    if exit_code:
        return f"refused ({exit_code}): {plain(world, cycle.message_of(done, world)).split(';')[0]}"
    if "nothing to do" in done.stderr:
        return "nothing to do"
    return f"{code} code" + (", the edit is kept, which is said" if "edited by hand elsewhere" in done.stderr else "")


def revert(world, exit_code=0, code="old", wanted=None):
    """What revert says; `wanted`: the bytes of engine.py then, which are those as shipped where it is left out."""
    done = world.suture("revert", world.patch, exit_code=exit_code)
    if exit_code:
        assert "\n--- a/toyserve" in done.stderr, done.stderr
        return f"refused ({exit_code}), with the difference"
    assert world.code() == code, world.code()
    assert (world.package / "engine.py").read_bytes() == (wanted or ENGINE)
    assert not list(world.package.glob(".suture*")), "something of suture's is left"
    return "drops the receipt" if "its receipt is dropped" in done.stderr else f"{code} code, as it was"


# --- edits by hand ---------------------------------------------------------------------------------------------------


def test_edit_elsewhere_before(folder):
    """an edit by hand elsewhere in the file, then `apply`"""
    world = by_hand(folder)
    edit(world, ELSEWHERE)
    words = status(world), f"{world.code()}", apply(world)
    return [*words, revert(world, wanted=ENGINE.replace(*ELSEWHERE)) + ", with the edit"]


def test_edit_elsewhere_strict(folder):
    """the same, and `apply --strict`"""
    world = by_hand(folder)
    edit(world, ELSEWHERE)
    return [status(world), world.code(), apply(world, "--strict", exit_code=4, code="old"), "-"]


def test_edit_elsewhere_after(folder):
    """`apply`, then an edit by hand elsewhere in the file"""
    world = by_hand(folder)
    world.suture("apply", world.patch)
    edit(world, ELSEWHERE)
    words = status(world), world.code(), apply(world)
    return [*words, revert(world, wanted=ENGINE.replace(*ELSEWHERE)) + ", with the edit"]


def test_edit_at_the_place_before(folder):
    """an edit by hand at the place, then `apply`"""
    world = by_hand(folder)
    edit(world, *AT_THE_PLACE)
    return [status(world), world.code(), apply(world, exit_code=4, code="old"), "-"]


def test_edit_at_the_place_unknown(folder):
    """the same, where RECORD has no hash of the file"""
    world = by_hand(folder)
    edit(world, *AT_THE_PLACE)
    record = next(world.package.parent.glob("toyserve-*.dist-info/RECORD"))
    record.write_text("".join(line for line in record.read_text().splitlines(True) if "engine.py" not in line))
    return [status(world), world.code(), apply(world, exit_code=4, code="old"), "-"]


def test_other_code_as_shipped(folder):
    """the same code, as shipped: by RECORD nobody edited it"""
    engine = ENGINE
    for old, new in AT_THE_PLACE:
        engine = engine.replace(old, new)
    world = by_hand(folder, files={**toyserve.FILES, "engine.py": engine})
    return [status(world), world.code(), apply(world, exit_code=4, code="old"), "-"]


def test_edit_at_the_place_after(folder):
    """`apply`, then an edit by hand at the place"""
    world = by_hand(folder)
    world.suture("apply", world.patch)
    edit(world, (b"rows = LazyRows(", b"rows = (LazyRows)("))
    words = status(world), world.code(), apply(world, exit_code=4)
    before = world.entries()
    reverted = revert(world, exit_code=4)
    assert world.entries() == before, "a refused revert wrote something"
    return [*words, reverted]


def test_edit_at_the_place_of_another(folder):
    """`apply`, then an edit by hand in the file where another patch has its place, and `apply` of that patch"""
    world = by_hand(folder)
    world.suture("apply", world.patch)
    edit(world, (b"return unpack(self.store.packed())", b"return list(map(unpack, [self.store.packed()]))[0]"))
    rules = "rules:\n  - {id: dump, file: engine.py, in: Engine.dump, match: unpack($T), replace: 'unpack($T)[:8]', expect: 1}\n"
    toyserve.write(folder, {"rules/dump.yaml": rules, "patches/dump/patch.yaml":
                            "patch: dump\nsummary: Eight\npackage: {name: toyserve}\nrules: [dump]\n"})
    world.options = ["--rules-dir", str(folder / "rules"), "--patches-dir", str(folder / "patches")]
    world.patch = "dump"
    done = world.suture("apply", "dump", exit_code=4)
    assert b"" == done.stdout and "+        return list(map(unpack" in done.stderr, done.stderr
    words = plain(world, cycle.message_of(done, world)).replace("`unpack($T)`", "the code")
    return ["foreign-edit", world.code(), f"refused (4), with the difference: {words}", "-"]


def test_added_file_edited(folder):
    """`apply`, then an edit by hand of the file that it added"""
    world = by_hand(folder)
    world.suture("apply", world.patch)
    added = world.package / "lazy_rows.py"
    added.write_text(added.read_text() + "# mine\n")
    words = status(world), world.code(), apply(world, exit_code=4)
    return [*words, revert(world, exit_code=4)]


def test_put_back_by_hand(folder):
    """`apply`, then the original file is put back by hand"""
    world = by_hand(folder)
    world.suture("apply", world.patch)
    (world.package / "engine.py").write_bytes(ENGINE)
    return [status(world), world.code(), apply(world), revert(world)]


# --- installers ------------------------------------------------------------------------------------------------------


def test_pip_check(folder):
    """`apply`, then `pip check`, and `pip install` of what is there already"""
    world = installed(folder)
    world.suture("apply", world.patch)
    layouts.pip(folder, world.python[0], "check")
    install(world)
    install(world, toyserve.VERSION, None, "--upgrade")
    # A file that is named is installed anew where its version is the same: this one is satisfied.
    return [status(world), world.code(), "-", "-"]


def test_pip_reinstall(folder):
    """`apply`, then `pip install --force-reinstall`"""
    world = installed(folder)
    world.suture("apply", world.patch)
    install(world, toyserve.VERSION, None, "--force-reinstall")
    return [status(world), world.code(), apply(world), revert(world)]


def test_pip_reinstall_and_revert(folder):
    """the same, then `revert`"""
    world = installed(folder)
    world.suture("apply", world.patch)
    install(world, toyserve.VERSION, None, "--force-reinstall")
    return [status(world), world.code(), "-", revert(world)]


def test_pip_upgrade(folder):
    """`apply`, then an upgrade to a version in the patch's range"""
    world = installed(folder)
    world.suture("apply", world.patch)
    install(world, "1.3.0", LATER, "--upgrade")
    return [status(world), world.code(), apply(world), revert(world, wanted=LATER["engine.py"])]


def test_pip_downgrade(folder):
    """`apply`, then a downgrade to a version in the patch's range"""
    world = installed(folder)
    world.suture("apply", world.patch)
    install(world, "1.0.0", LATER)
    return [status(world), world.code(), apply(world), revert(world, wanted=LATER["engine.py"])]


def test_pip_upgrade_out_of_range(folder):
    """`apply`, then an upgrade to a version outside the patch's range"""
    world = installed(folder)
    world.suture("apply", world.patch)
    install(world, "2.0.0", LATER, "--upgrade")
    row = [status(world), world.code(), apply(world, exit_code=5, code="old"), revert(world, wanted=LATER["engine.py"])]
    assert not (world.package / "lazy_rows.py").exists(), "an added file is left"
    return row


def test_pip_upgrade_has_the_file(folder):
    """`apply`, then an upgrade that ships a file of its own where the patch adds one"""
    world = installed(folder)
    world.suture("apply", world.patch)
    files = {**LATER, "lazy_rows.py": b"LIMIT = 8\n"}
    install(world, "1.3.0", files, "--upgrade")
    row = [status(world), world.code(), apply(world, exit_code=4, code="old"), revert(world, wanted=files["engine.py"])]
    assert (world.package / "lazy_rows.py").read_bytes() == files["lazy_rows.py"], "revert removed the package's own file"
    return row


def test_pip_upgrade_has_the_very_file(folder):
    """the same, with the very bytes that the patch adds"""
    world = installed(folder)
    world.suture("apply", world.patch)
    files = {**LATER, "lazy_rows.py": (world.package / "lazy_rows.py").read_bytes()}
    install(world, "1.3.0", files, "--upgrade")
    row = [status(world), world.code(), apply(world), revert(world, wanted=files["engine.py"])]
    assert (world.package / "lazy_rows.py").read_bytes() == files["lazy_rows.py"], "revert removed the package's own file"
    return row


def test_pip_uninstall(folder):
    """`apply`, then `pip uninstall`"""
    python, site = layouts.lone_venv(folder)
    before = {path: what for path, what in driver.entries(site).items() if not cycle.is_bytecode(path)}
    world = World(folder, site / "toyserve", ["-t", "venv"], [python])
    install(world)
    world.suture("apply", world.patch)
    layouts.pip(folder, python, "uninstall", "--quiet", "--yes", "toyserve")
    left = sorted(path.relative_to(site).as_posix() for path in site.rglob("toyserve/*"))
    assert left == ["toyserve/.suture", "toyserve/lazy_rows.py"], left
    words = status(world)
    done = world.suture("apply", world.patch, exit_code=5)
    refused = f"refused (5): {plain(world, cycle.message_of(done, world))}"
    world.suture("revert", "--all")
    after = {path: what for path, what in driver.entries(site).items() if not cycle.is_bytecode(path)}
    assert before == after, driver.differences(before, after)
    return [words, "-", refused, "removes what is left, the folder too"]


def test_pip_uninstall_and_install(folder):
    """`apply`, `pip uninstall`, `pip install`"""
    world = installed(folder)
    world.suture("apply", world.patch)
    layouts.pip(folder, world.python[0], "uninstall", "--quiet", "--yes", "toyserve")
    install(world)
    return [status(world), world.code(), apply(world), revert(world)]


def test_uv_reinstall(folder):
    """`apply`, then `uv pip install --reinstall`, hard links"""
    world, _, _ = layouts.uv_pair(folder, "hardlink")
    world.suture("apply", world.patch)
    layouts.uv_install(folder, world.python[0], "hardlink", "--reinstall")
    return [status(world), world.code(), apply(world), revert(world)]


if __name__ == "__main__":
    table.main(globals(), COLUMNS)
