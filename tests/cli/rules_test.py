"""Rule and patch files that are wrong: each says where (file:line:column, the line, a caret), why, and what to write
instead. Exit 3, and no tree is touched.
"""

import os

import scenario
import toycache
from scenario import driver

RULE = """\
file: decode.py
rules:
  - id: only-rule
    in: Decoder.step
    match: $ROWS.get_rows($LAYER).unpack($KIND)
    replace: unpack_active($ROWS, $KIND)
    expect: 1
"""


def wrong_rule(s, rule):
    """Runs status on a good tree with one rule that is wrong."""
    toycache.toy(s)
    toycache.only_rule(s, rule)
    with s.unchanged():
        s.run("apply", "only", "-t", "site")


def test_pattern_syntax(s):
    """A syntax error in a pattern"""
    wrong_rule(s, RULE.replace("match: $ROWS.get_rows($LAYER).unpack($KIND)", "match: $ROWS.get_rows($LAYER.unpack($KIND)"))


def test_replacement_syntax(s):
    """A syntax error in a replacement"""
    wrong_rule(s, RULE.replace("unpack_active($ROWS, $KIND)", "unpack_active($ROWS, $KIND"))


def test_unbound_metavariable(s):
    """A metavariable of the edit that the match does not bind"""
    wrong_rule(s, RULE.replace("unpack_active($ROWS, $KIND)", "unpack_active($ROW, $KIND)"))


def test_pattern_of_a_condition(s):
    """A syntax error in a requirement of a patch"""
    toycache.toy(s)
    s.write("patches/toy-active/patch.yaml", toycache.ACTIVE + "requires:\n  - {file: rows.py, match: \"def (:\"}\n")
    s.run("list")


def test_duplicate_id(s):
    """One id twice in the folders, in two files: both places are named"""
    s.write("rules/other.yaml", RULE)
    wrong_rule(s, RULE)


def test_duplicate_id_in_one_file(s):
    """One id twice in one file"""
    wrong_rule(s, RULE + RULE.split("rules:\n")[1])


def test_missing_expect(s):
    """No expect"""
    wrong_rule(s, RULE.replace("    expect: 1\n", ""))


def test_unknown_key(s):
    """An unknown key, with the nearest known one"""
    wrong_rule(s, RULE.replace("expect: 1", "expects: 1"))


def test_two_documents(s):
    """Two YAML documents"""
    wrong_rule(s, RULE + "---\n" + RULE)


def test_alias(s):
    """An anchor and its alias"""
    wrong_rule(s, RULE.replace("in: Decoder.step", "in: &scope Decoder.step").replace("expect: 1", "note: *scope\n    expect: 1"))


def test_duplicate_key(s):
    """A key twice"""
    wrong_rule(s, RULE + "    expect: 2\n")


def test_unquoted_star(s):
    """A scope that begins with a star must be quoted, and the message says so"""
    wrong_rule(s, RULE.replace("in: Decoder.step", "in: *.step"))


def test_not_utf8(s):
    """A rule file that is not UTF-8"""
    wrong_rule(s, RULE.encode() + b"    note: \xff\n")


def test_empty_file(s):
    """A rule file that is empty"""
    wrong_rule(s, "")


def test_not_yaml(s):
    """A rule file that is no YAML"""
    wrong_rule(s, RULE + "    note: [one, two\n")


def test_huge_file(s):
    """A rule file of 100 MB is refused before it is read"""
    toycache.toy(s)
    s.write("rules/huge.yaml", "")
    os.truncate(s.folder / "rules/huge.yaml", 100_000_000)
    s.run("status", "-t", "site")


def test_unknown_rule(s):
    """A patch that names an unknown rule, with the nearest known one"""
    toycache.toy(s)
    toycache.only_rule(s, RULE, "[only-rulle]")
    s.run("list")


def test_missing_added_file(s):
    """A patch that adds a file which is not beside it"""
    toycache.toy(s)
    (s.folder / "patches/toy-active/active_rows.py").unlink()
    s.run("list")


def test_added_file_with_a_syntax_error(s):
    """A patch that adds a file which Python could not import: said before any tree is looked at"""
    toycache.toy(s)
    s.write("patches/toy-active/active_rows.py", "def unpack_active(rows, kernel, kind:\n    return rows\n")
    with s.unchanged():
        s.run("apply", "toy-active", "-t", "site")


def test_globs_that_are_none(s):
    """A glob that leaves the package, is not closed, or names no Python file"""
    for glob in ("../*.py", "/k/*.py", "k//*.py", "k/[ab.py", "k/a**.py", "k/**", "k/*.txt"):
        wrong_rule(s, RULE.replace("file: decode.py", f'file: "{glob}"'))


def test_imports_by_globs(s):
    """add_import by a glob: a relative one would mean another module in each folder, and one alone has no place to go to"""
    rule = "file: 'k/*.py'\nrules:\n  - {id: only-rule, add_import: from %s import x, expect: 1}\n"
    wrong_rule(s, rule % ".rows")
    wrong_rule(s, rule % "toycache.rows")


def test_added_path_leaves_the_package(s):
    """A patch whose added file would land outside the package"""
    toycache.toy(s)
    s.write("patches/toy-active/patch.yaml", toycache.ACTIVE.replace("path: active_rows.py", "path: ../active_rows.py"))
    s.run("list")


def test_patch_without_package(s):
    """A patch that names no package"""
    toycache.toy(s)
    s.write("patches/toy-prefetch/patch.yaml", toycache.PREFETCH.replace("package: {name: toycache}\n", ""))
    s.run("list")


def test_bad_versions(s):
    """A version range that is none"""
    toycache.toy(s)
    s.write("patches/toy-active/patch.yaml", toycache.ACTIVE.replace(">=1.0,<2", "=>1.0"))
    s.run("list")


def test_example_does_not_hold(s):
    """An example that does not come out as it says"""
    wrong_rule(s, RULE + "    examples:\n      - {before: \"x = r.get_rows(i).unpack(k)\", after: \"x = unpack_active(r, i)\"}\n")


def test_folders(s):
    """Folders that are not there, are files, or hold nothing"""
    toycache.toy(s)
    s.run("list", "--rules-dir", "nowhere")
    s.run("list", "--rules-dir", "rules/toycache.yaml")
    s.run("list", "--rules-dir", "site", "--patches-dir", "site", keep=lambda line: line.startswith("toy"))
    (s.folder / "rules/loop").symlink_to("..")
    s.run("list")


def test_shipped(s):
    """The shipped rules and patches pass every check that is made of files that a person writes, their examples included"""
    shipped = ("--rules-dir", str(driver.SOURCE / "rules"), "--patches-dir", str(driver.SOURCE / "patches"))
    done = s.run_raw("list", *shipped, shown=False)
    assert (done.returncode, done.stderr) == (0, b""), done.stderr.decode()
    assert done.stdout == s.run_raw("list", shown=False).stdout


def test_json(s):
    """The same as JSON: the place as fields"""
    toycache.toy(s)
    toycache.only_rule(s, RULE.replace("    expect: 1\n", ""))
    s.run("status", "-t", "site", "--json")


scenario.main(globals())
