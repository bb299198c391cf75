"""The words of verdicts: the nearest candidates and what differs there, code that moved, both readings, what was edited by
hand, one patch explained, many trees in a table.
"""

import json

import scenario
import toycache
from scenario import driver
from toycache import DECODE, PREFETCH, RULES

UNPACK = "self.rows.get_rows(layer.index).unpack(\n            query.kind\n        )"


def rule(s, keys, file="decode.py"):
    """The patch `only` of one rule."""
    toycache.only_rule(s, f"file: {file}\nrules:\n  - id: only-rule\n    expect: 1\n" +
                       "".join(f"    {line}\n" for line in keys.splitlines()))


def diff(s, patch="only", *options):
    with s.unchanged():
        s.run("diff", patch, "-t", "site", *options)


# --- drifted: what is nearest, and what differs ----------------------------------------------------------------------


def test_argument_differs(s):
    """The nearest in the rule's scope; then the same callee elsewhere in the file"""
    toycache.toy(s, DECODE.replace(UNPACK, "self.rows.get_rows(layer.index).unpack(query.kind, copy=False)"))
    diff(s, "toy-active")
    s.say("another argument, a keyword that is missing, another callee")
    rule(s, "in: Decoder.step\nmatch: self.kernel.run($Q, $P, out=$OUT)\nreplace: self.kernel.go($Q, $P, $OUT)")
    diff(s)
    rule(s, "in: Decoder.step\nmatch: self.kernel.run(query, self.packed)\nreplace: self.kernel.go(query)")
    diff(s)
    rule(s, "in: Decoder.prefetch\nmatch: $ROWS.get_rows($LAYER.index, $N)\nreplace: $ROWS.all($LAYER, $N)")
    diff(s)
    rule(s, "in: Decoder.step\nmatch: self.rows.get_rows($LAYER).expand($KIND)\nreplace: self.rows.all($LAYER, $KIND)")
    diff(s)


def test_statement_differs(s):
    """Statements: one more than the rule has, an else branch, an import of one name more"""
    toycache.toy(s, "from os import path, sep\n\n\ndef f(a):\n    if a.ready:\n        a.go()\n    else:\n        a.stop()\n"
                    "    a.one()\n    a.log()\n    a.two()\n")
    rule(s, "in: f\nmatch: |\n  if $A.ready:\n      $A.go()\nreplace: $A.went()")
    diff(s)
    rule(s, "in: f\nmatch: |\n  $A.one()\n  $A.two()\nreplace: $A.both()")
    diff(s)
    rule(s, "match: from os import path\nreplace: from os import path as p")
    diff(s)


def test_narrowing_rejects(s):
    """The pattern matches in full, and a narrowing does not hold: which one"""
    toycache.toy(s, "def f(a):\n    if self.dcp:\n        a.go(a.rank)\n")
    for narrowing in ('not_inside: "if self.dcp: $$$"', 'inside: "with $LOCK: $$$"', "where: {X: {kind: identifier}}",
                      'where: {X: {regex: "^b"}}', "after: a.start()"):
        s.say(narrowing)
        rule(s, f"in: f\nmatch: $A.go($X)\nreplace: $A.went($X)\n{narrowing}")
        diff(s)


def test_every_failing_rule(s):
    """All rules that fail are named; those that fail for one reason together"""
    toycache.toy(s, DECODE.replace(UNPACK, "None"))
    s.write("patches/toy-gather/patch.yaml", "patch: toy-gather\nsummary: Three\npackage: {name: toycache}\n"
                                             "rules: [toy-step-gathers, toy-step-unpacks-active, toy-prefetch-counts]\n")
    s.write("rules/toycache.yaml", RULES.replace("in: Decoder.prefetch", "in: Decoder.prefetch_all"))
    diff(s, "toy-gather")


def test_no_known_shape(s):
    """The rule's own match is there, in no shape that it knows"""
    toycache.toy(s)
    rule(s, "in: Decoder.step\nmatch: self.kernel.run($$$)\nany_of:\n  - {match: self.kernel.run($Q), replace: go($Q)}\n"
            "  - {match: \"self.kernel.run($Q, $P, $R)\", replace: \"go($Q, $P, $R)\"}")
    diff(s)


# --- moved -----------------------------------------------------------------------------------------------------------


def test_moved_file(s):
    """No candidate file is there: the scope in another file; then with another argument; then under another class"""
    toycache.toy(s, None)
    for code in (DECODE, DECODE.replace("query.kind\n", "query.kind, True\n"), DECODE.replace("class Decoder", "class Engine")):
        s.write("site/toycache/layers/steps.py", code)
        diff(s, "toy-active")
    s.say("a verdict alone reads no file more; with -v it does")
    s.run("status", "toy-active", "-t", "site")
    s.run("status", "toy-active", "-t", "site", "-v")


def test_moved_scope(s):
    """The file stands and its scope has gone: a scope of the last name in it, and the very scope elsewhere, which is first"""
    toycache.toy(s, DECODE.replace("class Decoder", "class Engine"), keep="KEPT = 1\n")
    diff(s, "toy-active")
    s.write("site/toycache/zzz/new.py", DECODE)
    diff(s, "toy-active")


def test_same_file_name(s):
    """A file of the same name elsewhere, for a rule that names no scope"""
    toycache.toy(s, None)
    s.write("site/toycache/core/decode.py", "import os\n\nlaunch(os.name)\n")
    rule(s, "match: launch(\"posix\")\nreplace: launch(\"nt\")")
    diff(s)
    s.write("site/toycache/core/decode.py", "import os\n")
    diff(s)


def test_nothing_is_like_it(s):
    """Nowhere in the package: no candidate is made up"""
    toycache.toy(s, None)
    diff(s, "toy-active")


# --- ambiguous -------------------------------------------------------------------------------------------------------


def test_two_readings(s):
    """Both readings of a site: the shape, its match, and what it would write"""
    toycache.toy(s)
    rule(s, "in: Decoder.step\nany_of:\n"
            "  - {match: $ROWS.get_rows($LAYER).unpack($KIND), replace: \"unpack_all($ROWS, $KIND)\"}\n"
            "  - {match: self.rows.get_rows($LAYER).unpack($KIND), insert_before: \"prepare($LAYER)\"}")
    diff(s)


# --- foreign-edit ----------------------------------------------------------------------------------------------------


def test_edited_after_suture(s):
    """The bytes are known where suture wrote the file: the difference near the rule's scopes, and what was left out of it"""
    far = "".join(f"N{i} = {i}\n" for i in range(40))
    toycache.toy(s, DECODE + "\n\n" + far)
    s.run_raw("apply", "toy-prefetch", "-t", "site", shown=False)
    path = "site/toycache/decode.py"
    s.write(path, s.read(path).replace(UNPACK, "None  # mine").replace("N30 = 30", "N30 = 0"))
    diff(s, "toy-active")
    document = json.loads(s.run_raw("diff", "toy-active", "-t", "site", "--json", shown=False).stdout)
    outcome = document["trees"][0]["patches"][0]
    assert outcome["diff_encoding"] == "utf-8", outcome
    assert "+        packed = None  # mine\n" in outcome["diff"] and "N30" not in outcome["diff"], outcome["diff"]


def test_edited_as_shipped(s):
    """Of a file that suture never wrote only the hash is known: how to get the bytes"""
    toycache.toy(s)
    s.write("site/toycache/decode.py", DECODE.replace(UNPACK, "None  # mine"))
    diff(s, "toy-active")


# --- superseded ------------------------------------------------------------------------------------------------------


def test_superseded_by_two(s):
    """`match` and `not_match` of one condition: both are said, the proof is the match"""
    toycache.toy(s)
    s.write("patches/toy-prefetch/patch.yaml", PREFETCH + "superseded:\n  - {file: decode.py, in: Decoder.step, "
                                                          "match: $ROWS.get_rows($$$), not_match: $ROWS.load($$$)}\n")
    diff(s, "toy-prefetch")
    s.write("patches/toy-prefetch/patch.yaml", PREFETCH + "requires:\n  - {file: decode.py, in: Decoder.step, "
                                                          "match: $ROWS.get_rows($$$), not_match: self.kernel.run($$$)}\n")
    diff(s, "toy-prefetch")


# --- explain ---------------------------------------------------------------------------------------------------------


def test_explain_in_words(s):
    """What, when, how much, what it leaves alone; with -t also what it is there; without a page too"""
    toycache.toy(s)
    s.write("patches/toy-active/README.md", "# toy-active\n\nWhen: the cache is large.\n")
    s.run("explain", "toy-active")
    s.run("explain", "toy-active", "-t", "site")
    s.run("explain", "toy-prefetch", "-t", "site", "--assume-version", "0.1")


EVERYTHING = """\
file: [decode.py, old/decode.py]
rules:
  - id: all-shapes
    note: "The kernel reads a few rows."
    in: [Decoder.step, Engine.*]
    where: {KIND: {kind: attribute, not_regex: "^x"}}
    not_inside: "if self.dry: $$$"
    any_of:
      - {match: $ROWS.get_rows($LAYER).unpack($KIND), replace: {ROWS: $ROWS.active}, inside: "with $L: $$$"}
      - match: |
          $A = $ROWS.unpack($KIND)
          $B = $A
        versions: "<2"
        replace: |
          $B = $ROWS.unpack($KIND)
    done_if: $ROWS.unpack_some($$$)
    expect: {min: 1, max: 3}
    examples:
      - {same: "x = rows.view(k)"}
  - id: all-argument
    in: Decoder.step
    match: self.kernel.run($$$)
    argument: {name: rows, position: 1, becomes: "trim($ARG)"}
    select: last
    expect: 2
  - id: all-after
    in: Decoder.step
    match: $X = $Y
    insert_after: check($X)
    expect: {min: 1}
  - id: all-imports
    add_import: from os import sep
    expect: 1
"""


def test_explain_every_edit(s):
    """Each kind of edit, narrowing and condition in words"""
    toycache.toy(s)
    s.write("rules/all.yaml", EVERYTHING)
    s.write("patches/all/patch.yaml", """\
patch: all
summary: Everything that a patch can say
package: {name: toycache}
rules: [all-shapes, all-argument, all-after, all-imports]
requires:
  - {versions: "!=1.1"}
  - {file: [rows.py, old/rows.py], in: Rows, match: "def get_rows($$$): $$$", note: Rows has rows}
superseded:
  - {file: decode.py, literal: "unpack_some", not_match: "$R.unpack($$$)"}
""")
    s.run("explain", "all")


# --- status ----------------------------------------------------------------------------------------------------------


def test_table_of_few_trees(s):
    """Patches are rows, as long as the trees fit; a tree that cannot be read is a column of it"""
    toycache.toy(s, site="one")
    toycache.toy(s, DECODE.replace(".unpack(", ".expand("), site="two", version="1.10.0rc1")
    s.run("status", "-t", "one", "-t", "two", "-t", "nowhere")
    s.run("status", "toy-active", "-t", "one", "-t", "two", "--assume-version", "3")
    document = json.loads(s.run_raw("status", "-t", "one", "--assume-version", "3", "--json", shown=False).stdout)
    assert document["trees"][0]["version"] == "1.0" and document["trees"][0]["assumed_version"] == "3"


def test_table_of_many_trees(s):
    """29 trees in one folder: trees are rows, their common folder is said once"""
    for i in range(29):
        code = DECODE if i % 3 else DECODE.replace(".unpack(", ".expand(")
        toycache.toy(s, code, site=f"releases/toycache-{i // 10}.{i % 10}.0", version=f"{i // 10}.{i % 10}.0")
    trees = [word for i in range(29) for word in ("-t", f"releases/toycache-{i // 10}.{i % 10}.0")]
    s.run("status", *trees)


def test_table_of_many_patches(s):
    """More patches than fit beside many trees: tables below one another"""
    for i in range(6):
        toycache.toy(s, site=f"tree-with-a-long-name-{i}")
    for i in range(6):
        s.write(f"patches/p{i}/patch.yaml", PREFETCH.replace("patch: toy-prefetch", f"patch: a-patch-with-a-long-name-{i}"))
    s.run("status", *(word for i in range(6) for word in ("-t", f"tree-with-a-long-name-{i}")))


def test_places_in_json(s):
    """Candidates and what differs in the document, as the schema has them"""
    toycache.toy(s, DECODE.replace(UNPACK, "self.rows.get_rows(layer.index).unpack(query.kind, copy=False)"))
    document = json.loads(s.run_raw("diff", "toy-active", "-t", "site", "--json", shown=False).stdout)
    rules = document["trees"][0]["patches"][0]["rules"]
    assert [each["detail"] for each in rules[0]["candidates"]] == [
        "has one argument more: copy=False", "has no `.unpack($KIND)` behind it"], rules[0]["candidates"]
    explained = json.loads(s.run_raw("explain", "toy-active", "-t", "site", "--json", shown=False).stdout)
    assert [each["verdict"] for each in explained["trees"][0]["patches"]] == ["drifted"], explained["trees"]
    schema = json.loads((driver.SOURCE / "docs" / "json-schema" / "report.schema.json").read_text())
    try:
        import jsonschema
    except ImportError:
        raise scenario.Skipped("no jsonschema here") from None
    for each in (document, explained):
        jsonschema.Draft202012Validator(schema).validate(each)


scenario.main(globals())
