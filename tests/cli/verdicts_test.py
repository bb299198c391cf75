"""Every verdict, in the words of diff, apply, status and revert, with the exit code; and that nothing is written where
the verdict is not `applicable` or `outdated`.
"""

import re
import shutil

import scenario
import toycache
from scenario import driver
from toycache import ACTIVE, DECODE, GATHER, PREFETCH, RULES


def refused(s, *patches, options=()):
    """The commands on a tree where the patches cannot be applied."""
    with s.unchanged():
        s.run("diff", *patches, "-t", "site", *options)
        s.run("apply", *patches, "-t", "site", *options)
        s.run("status", *patches, "-t", "site", "--check", *options)


def apply_quietly(s, *patches):
    done = s.run_raw("apply", *patches, "-t", "site", shown=False)
    assert done.returncode == 0, done.stderr.decode()
    s.say(f"({' and '.join(patches)} applied)")


# --- the way it should go --------------------------------------------------------------------------------------------


def test_round_trip(s):
    """status, diff, apply, apply again, status, revert, revert again: every byte comes back"""
    toycache.toy(s)
    pristine = s.entries()
    with s.unchanged():
        s.run("status", "-t", "site")
        s.run("diff", "toy-active", "-t", "site")
        s.run("diff", "toy-active", "-t", "site", "--exit-code", keep=lambda line: False)
        s.run("status", "toy-active", "-t", "site", "--check")
        s.run("apply", "toy-active", "-t", "site", "--dry-run")
    s.run("apply", "toy-active", "-t", "site")
    with s.unchanged():
        s.run("apply", "toy-active", "-t", "site")
        s.run("diff", "toy-active", "-t", "site", "--exit-code")
        s.run("status", "-t", "site")
        s.run("status", "-t", "site", "--check")
    s.run("revert", "toy-active", "-t", "site")
    assert driver.differences(pristine, s.entries()) == []
    with s.unchanged():
        s.run("revert", "toy-active", "-t", "site")
        s.run("revert", "--all", "-t", "site")


def test_diff_without_a_name(s):
    """diff with no PATCH: the applicable one with the lowest recommend, the others named; then nothing to do"""
    toycache.toy(s)
    s.run("diff", "-t", "site", keep=lambda line: line.startswith(("---", "+++", "+ ")))
    s.write("patches/toy-active/patch.yaml", ACTIVE.replace("recommend: 1", "recommend: 5"))
    s.run("diff", "-t", "site", keep=lambda line: line.startswith(("---", "+++", "+ ")))
    apply_quietly(s, "toy-active", "toy-prefetch")
    s.run("diff", "-t", "site", "--exit-code")


def test_diff_without_a_name_and_none_applies(s):
    """diff with no PATCH where none is applicable: why not, each"""
    toycache.toy(s, version="3.0", decode=DECODE.replace("def prefetch", "def fetch"))
    refused_diff = s.run("diff", "-t", "site")
    assert refused_diff.returncode == 5


def test_two_at_once(s):
    """Two patches of one file at once, and taken back one by one in the other order"""
    toycache.toy(s)
    pristine = s.entries()
    s.run("diff", "toy-active", "toy-prefetch", "-t", "site")
    s.run("apply", "toy-active", "toy-prefetch", "-t", "site")
    s.run("status", "-t", "site")
    s.run("revert", "toy-active", "-t", "site")
    s.run("status", "-t", "site")
    s.run("revert", "--all", "-t", "site")
    assert driver.differences(pristine, s.entries()) == []


def test_all_or_nothing(s):
    """One patch that fits beside one that drifted: nothing is written, and each says what it is"""
    toycache.toy(s, DECODE.replace(".unpack(", ".expand("))
    refused(s, "toy-prefetch", "toy-active")
    s.run("apply", "toy-prefetch", "-t", "site")


def test_quiet_and_verbose(s):
    """--quiet leaves data and errors; --verbose adds rules and sites"""
    toycache.toy(s)
    s.run("status", "-v", "-t", "site")
    s.run("apply", "toy-active", "-q", "-t", "site")
    s.run("apply", "toy-active", "-q", "-t", "site")
    s.run("status", "toy-active", "-v", "-t", "site")
    s.run("revert", "toy-active", "-q", "-t", "site")


def test_hard_link_and_bytecode(s):
    """A hard link into a cache is broken on purpose, and stale bytecode goes: both are said"""
    toycache.toy(s)
    (s.folder / "cache.py").hardlink_to(s.folder / "site/toycache/decode.py")
    s.write("site/toycache/__pycache__/decode.cpython-311.pyc", b"stale")
    s.run("apply", "toy-active", "-t", "site")
    assert s.read("cache.py") == DECODE


# --- the verdicts, in the order of the table -------------------------------------------------------------------------


def test_absent_scope(s):
    """absent: no scope that any rule names"""
    toycache.toy(s, '"""Nothing of what was here is left."""\n')
    refused(s, "toy-prefetch")


def test_outdated(s):
    """outdated: another edition of the patch is applied; apply takes it back and applies anew"""
    toycache.toy(s)
    apply_quietly(s, "toy-prefetch")
    s.write("rules/toycache.yaml", RULES.replace("self.rows.prefetched = True", "self.rows.prefetched += 1"))
    with s.unchanged():
        s.run("status", "toy-prefetch", "-t", "site", "--check")
        s.run("diff", "toy-prefetch", "-t", "site")
    s.run("apply", "toy-prefetch", "-t", "site")
    s.run("status", "toy-prefetch", "-t", "site", "--check")
    s.run("revert", "--all", "-t", "site")
    assert s.read("site/toycache/decode.py") == DECODE


def test_outdated_in_words_only(s):
    """A note, a summary or an ok of another wording is no other edition"""
    toycache.toy(s)
    apply_quietly(s, "toy-prefetch")
    s.write("rules/toycache.yaml", RULES.replace("ok: prefetch marks the rows", "ok: rows are marked"))
    s.write("patches/toy-prefetch/patch.yaml", PREFETCH.replace("Mark rows", "Marks the rows"))
    s.run("status", "toy-prefetch", "-t", "site", "--check")


def test_out_of_range(s):
    """out-of-range: the installed version is outside the patch's range"""
    toycache.toy(s, version="2.0.1")
    refused(s, "toy-active")
    s.run("diff", "toy-active", "-t", "site", "--assume-version", "1.9", keep=lambda line: line.startswith(("---", "+++")))


def test_prerelease_counts(s):
    """A prerelease and a local build are in the range by their order, as any version"""
    toycache.toy(s, version="1.5rc1+cu128")
    s.run("status", "toy-active", "-t", "site", "--check")


def test_conflicting(s):
    """conflicting: a patch that excludes this one is applied; asked for by name it fails, else it is as it should be"""
    toycache.toy(s)
    apply_quietly(s, "toy-active")
    refused(s, "toy-gather")
    with s.unchanged():
        s.run("status", "-t", "site", "--check")
        s.run("apply", "toy-active", "toy-gather", "-t", "site")


def test_conflicting_with_each_other(s):
    """Two patches that exclude each other, asked for at once"""
    toycache.toy(s)
    refused(s, "toy-active", "toy-gather")


def superseded_patch(s):
    s.write("patches/toy-active/patch.yaml", ACTIVE + """\
superseded:
  - {file: decode.py, in: Decoder.step, match: $ROWS.unpack_some($$$), note: the step unpacks its own rows itself}
""")


def test_superseded(s):
    """superseded: upstream does it already; nothing to do, exit 0, and a failure under --strict"""
    new = DECODE.replace("""self.rows.get_rows(layer.index).unpack(
            query.kind
        )""", "self.rows.unpack_some(self.kernel.slots, query.kind)")
    toycache.toy(s, new)
    superseded_patch(s)
    refused(s, "toy-active")
    refused(s, "toy-active", options=("--strict",))
    s.run("apply", "toy-active", "toy-prefetch", "-t", "site")


def test_blocked(s):
    """blocked: something that the patch needs is not there; says which, and where it was searched"""
    toycache.toy(s)
    s.write("patches/toy-active/patch.yaml", ACTIVE + """\
requires:
  - {file: rows.py, in: Rows, match: "def unpack_some($$$): $$$", note: Rows can unpack some of its rows}
""")
    refused(s, "toy-active")


def test_blocked_import(s):
    """blocked: an import that would be added does not resolve in the tree"""
    toycache.toy(s)
    s.write("patches/toy-active/patch.yaml", ACTIVE.replace("adds:\n  - {path: active_rows.py, from: active_rows.py}\n", ""))
    refused(s, "toy-active")


def test_ambiguous(s):
    """ambiguous: two shapes of a rule hold at one site"""
    toycache.toy(s)
    toycache.only_rule(s, """\
file: decode.py
rules:
  - id: only-rule
    in: Decoder.step
    any_of:
      - {match: $ROWS.get_rows($LAYER).unpack($KIND), replace: "unpack_all($ROWS, $KIND)"}
      - {match: self.rows.get_rows($LAYER).unpack($KIND), replace: "unpack_mine($LAYER, $KIND)"}
    expect: 1
""")
    refused(s, "only")


def test_foreign_edit(s):
    """foreign-edit: a rule finds a wrong count in a file that somebody edited"""
    toycache.toy(s)
    path = "site/toycache/decode.py"
    s.write(path, DECODE.replace("self.rows.get_rows(layer.index).unpack(\n            query.kind\n        )", "None  # mine"))
    refused(s, "toy-active")


def test_foreign_edit_after_apply(s):
    """An edit of the very lines that a patch wrote: partial, and revert refuses with the difference"""
    toycache.toy(s)
    apply_quietly(s, "toy-prefetch")
    path = "site/toycache/decode.py"
    s.write(path, s.read(path).replace("self.rows.prefetched = True", "self.rows.prefetched = False"))
    refused(s, "toy-prefetch")
    with s.unchanged():
        s.run("revert", "toy-prefetch", "-t", "site")


def test_users_own_lines(s):
    """A user's edit elsewhere in the file stays, through apply and revert; --strict makes it a failure"""
    toycache.toy(s)
    path = "site/toycache/decode.py"
    mine = DECODE.replace("One step of the decoder", "My own step")
    s.write(path, mine)
    with s.unchanged():
        s.run("apply", "toy-active", "-t", "site", "--strict")
    s.run("apply", "toy-active", "-t", "site")
    s.write(path, s.read(path) + "\n\nMINE = 1\n")
    s.run("status", "toy-active", "-t", "site")
    s.run("revert", "toy-active", "-t", "site")
    assert s.read(path) == mine + "\n\nMINE = 1\n"


def test_added_file_is_there(s):
    """foreign-edit: a file that would be added is there already, with bytes that nobody knows"""
    toycache.toy(s)
    s.write("site/toycache/active_rows.py", "MINE = 1\n")
    refused(s, "toy-active")


def test_drifted(s):
    """drifted: a release with a shape that the rules do not know; the nearest candidates and what differs"""
    toycache.toy(s, DECODE.replace(".unpack(\n            query.kind\n        )", ".unpack(query.kind, copy=False)"))
    refused(s, "toy-active")


def test_drifted_too_many(s):
    """drifted: more sites than the rule knows"""
    twice = DECODE.replace("        return self.kernel", "        again = self.rows.get_rows(0).unpack(query.kind)\n        return self.kernel")
    toycache.toy(s, twice)
    refused(s, "toy-active")


def test_partial(s):
    """partial: one rule is in place without a receipt, one is still to do"""
    half = DECODE.replace("        return self.rows.get_rows(layer.index)\n",
                          "        self.rows.prefetched = True\n        return self.rows.get_rows(layer.index)\n")
    toycache.toy(s, half)
    s.write("patches/toy-gather/patch.yaml", GATHER.replace("[toy-step-gathers]", "[toy-step-gathers, toy-prefetch-counts]"))
    refused(s, "toy-gather")


def test_partial_after_apply(s):
    """partial: a file that was added is gone"""
    toycache.toy(s)
    apply_quietly(s, "toy-active")
    (s.folder / "site/toycache/active_rows.py").unlink()
    refused(s, "toy-active")
    s.run("revert", "toy-active", "-t", "site")
    assert s.read("site/toycache/decode.py") == DECODE


def test_applied_without_receipt(s):
    """applied without a receipt: nothing to do; revert says how to reinstall, exit 4"""
    toycache.toy(s)
    apply_quietly(s, "toy-active")
    shutil.rmtree(s.folder / "site/toycache/.suture")
    with s.unchanged():
        s.run("status", "toy-active", "-t", "site", "--check")
        s.run("apply", "toy-active", "-t", "site")
        s.run("revert", "toy-active", "-t", "site")
        s.run("revert", "--all", "-t", "site")


def test_reinstalled(s):
    """A reinstall over an applied patch: its receipt is void, and the patch is applicable again"""
    toycache.toy(s)
    apply_quietly(s, "toy-active")
    toycache.toy(s)
    s.run("status", "toy-active", "-t", "site")
    s.run("revert", "--all", "-t", "site")


def test_unknown_to_the_catalog(s):
    """A patch that this run has no rules of: status and revert go by the receipt in the tree"""
    toycache.toy(s)
    pristine = s.entries()
    apply_quietly(s, "toy-active")
    for folder in ("rules", "patches"):
        (s.folder / folder).rename(s.folder / f"{folder}-put-away")
    with s.unchanged():
        s.run("status", "-t", "site")
        s.run("status", "toy-active", "-t", "site/toycache", "-v")
        s.run("status", "toy-prefetch", "-t", "site")
    s.run("revert", "toy-active", "-t", "site")
    assert driver.differences(pristine, s.entries()) == []
    s.run("revert", "toy-active", "-t", "site")


def test_uninstalled(s):
    """Uninstalled: only .suture and the added file are left; absent, and revert --all cleans up"""
    toycache.toy(s)
    apply_quietly(s, "toy-active")
    for name in ("__init__.py", "decode.py", "rows.py"):
        (s.folder / "site/toycache" / name).unlink()
    shutil.rmtree(s.folder / "site/toycache-1.0.dist-info")
    s.run("status", "toy-active", "-t", "site")
    s.run("revert", "--all", "-t", "site")
    assert s.entries() == {}, s.entries()


# --- several trees ---------------------------------------------------------------------------------------------------


def test_several_trees(s):
    """status of several trees is a table; a tree that is not there is said and spoils no other row"""
    toycache.toy(s, site="one")
    toycache.toy(s, site="two", version="2.1")
    toycache.toy(s, DECODE.replace(".unpack(", ".expand("), site="three", version="1.2")
    s.run("status", "-t", "one", "-t", "two", "-t", "three")
    s.run("status", "toy-active", "-t", "one", "-t", "nowhere", "-t", "three", "--check")
    s.run("status", "toy-active", "-v", "-t", "one", "-t", "three")


# --- list and explain ------------------------------------------------------------------------------------------------


def test_list(s):
    """list: the patches there are, and no tree is needed"""
    toycache.toy(s)
    # Beside the shipped patches, whose names are wider: the columns are not shown.
    lines = s.run_raw("list").stdout.decode().splitlines()
    s.lines += [" | ".join(re.split("  +", line)) for line in lines if line.startswith("toy")]


def test_explain(s):
    """explain: one patch in words, with its page"""
    toycache.toy(s)
    s.run("explain", "toy-active")
    s.run("explain", "toy-prefetch")


scenario.main(globals())
