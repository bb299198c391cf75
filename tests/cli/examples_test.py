"""suture test: the examples that rules and patches carry. A planted wrong example fails with its own name."""

import json

import scenario
import toycache
from scenario import driver

# The five ways to be wrong. The pattern of each rule is the same; each example is wrong in one way.
WAYS = {
    "missing": '{before: "rows.pack(kind)", after: "load(rows, kind)"}',
    "noisy": '{same: "x = rows.unpack(kind)"}',
    "wrong": '{before: "x = rows.unpack(kind)", after: "x = load(kind, rows)"}',
    "unstable": '{before: "x = rows.unpack(kind)", after: "x = load(rows, kind)"}',
    "broken": '{before: "x = rows.unpack(", after: "x = load(rows)"}',
}
GOOD = '{before: "x = rows.unpack(kind)", after: "x = load(rows, kind)"}'


def rule(name, example, more=""):
    return f"""\
file: decode.py
rules:
  - id: {name}
    match: $ROWS.unpack($KIND)
    replace: load($ROWS, $KIND)
    {more}expect: 1
    examples:
      - {GOOD if name != "unstable" else '{same: "x = 1"}'}
      - {example}
"""


def plant_rules(s):
    for way, example in WAYS.items():
        s.write(f"planted/{way}.yaml", rule(way, example, "applied: stored($ROWS)\n    " if way == "unstable" else ""))


def plant_patches(s):
    """Two rules and an import in each patch, so that no rule alone makes the example's `after`."""
    s.write("planted/two.yaml", """\
file: decode.py
rules:
  - id: two-loads
    match: $ROWS.unpack($KIND)
    replace: load($ROWS, $KIND)
    expect: 1
  - id: two-imports
    add_import: from toycache.rows import load
    expect: 1
  - id: two-renames
    match: prefetch($ROWS)
    replace: warm($ROWS)
    expect: {min: 0, max: 2}
  - id: two-again
    match: $F(rows, $KIND)
    replace: $F(rows, $KIND, 0)
    expect: {min: 0, max: 9}
""")
    after = "|\n          from toycache.rows import load\n          warm(rows)\n          x = load(rows, kind)\n"
    before = "|\n          prefetch(rows)\n          x = rows.unpack(kind)\n"
    ways = {
        "missing": f"before: prefech(rows)\n        after: {after}",
        "noisy": f"same: {before}",
        "wrong": f"before: {before}        after: {after.replace('kind', 'sort')}",
        "unstable": f"before: {before}        after: {after}",
        "broken": f"before: prefetch(rows\n        after: {after}",
    }
    for way, example in ways.items():
        more = ", two-again" if way == "unstable" else ""
        s.write(f"planted/{way}/patch.yaml", f"""\
patch: two-{way}
summary: Load the rows of a step
package: toycache
rules: [two-loads, two-imports, two-renames{more}]
examples:
      - same: y = rows.pack(kind)
      - {example}
""")


def test_planted_rules(s):
    """Each planted example of a rule fails by its name, and none hides another; exit 3"""
    plant_rules(s)
    s.run("test", "planted")
    for way in WAYS:
        s.say(way)
        done = s.run("test", f"planted/{way}.yaml")
        assert f": {way}: ".encode() in done.stdout, way


def test_planted_patches(s):
    """The same of patches: the whole patch on the text, imports included"""
    plant_patches(s)
    s.run("test", "planted")
    for way in WAYS:
        done = s.run_raw("test", f"planted/{way}/patch.yaml", "--rules-dir", "planted", shown=False)
        assert f": {way}: ".encode() in done.stdout and done.returncode == 3, (way, done.stdout)


def test_good_files(s):
    """A rule file outside of any patch, a patch.yaml, a folder, all that there is; -v names rules without examples"""
    s.write("alone.yaml", rule("alone", '{same: "x = rows.unpack"}'))
    s.run("test", "alone.yaml")
    toycache.toy(s)
    s.run("test", "patches/toy-active/patch.yaml")
    s.run("test", "rules", "patches", "rules/toycache.yaml", "-v")
    everything = s.run_raw("test", shown=False)
    lines = everything.stdout.decode().splitlines()
    assert everything.returncode == 0 and not everything.stderr
    assert "ok  toy-step-unpacks-active (2 examples)" in lines
    assert "ok  mla-decode-casts-active (4 examples)" in lines, "the shipped ones run too"


def test_patch_examples(s):
    """A patch's example is a fragment, or a module in which `in` counts; an import alone is no edit"""
    toycache.add_rules(s)
    s.write("patches/toy-active/patch.yaml", toycache.ACTIVE + '''\
examples:
  - before: x = a.get_rows(i).unpack(k)
    after: |
      from toycache.active_rows import unpack_active
      x = unpack_active(a.get_rows(i), self.kernel, k)
  - same: x = a.get_rows(i)
  - before: |
      class Decoder:
          def step(self):
              return a.get_rows(i).unpack(k)

          def dump(self):
              return a.get_rows(i).unpack(k)
    after: |
      from toycache.active_rows import unpack_active

      class Decoder:
          def step(self):
              return unpack_active(a.get_rows(i), self.kernel, k)

          def dump(self):
              return a.get_rows(i).unpack(k)
''')
    s.run("test", "patches")
    s.say("every command checks them when it loads")
    s.write("patches/toy-active/patch.yaml", toycache.ACTIVE + "examples:\n  - same: x = a.get_rows(i).unpack(k)\n")
    s.run("list")


def test_files_that_do_not_load(s):
    """What does not load costs its own file, or its own rule; the others run"""
    s.write("more/a.yaml", rule("a", GOOD).replace("expect: 1", "expct: 1"))
    s.write("more/b.yaml", rule("b", GOOD).replace("$ROWS.unpack(", "$ROWS.unpack(("))
    s.write("more/c.yaml", rule("c", '{same: "x = 1"}'))
    s.write("more/d.yaml", rule("c", GOOD))
    s.write("more/p/patch.yaml", "patch: p\npackage: toycache\nrules: [d]\n")
    s.run("test", "more")
    s.write("empty/notes.txt", "nothing\n")
    s.run("test", "nowhere", "empty", "more/c.yaml")


def test_added_files_of_a_patch(s):
    """A patch.yaml is read with the files beside it, and with those that several patches share"""
    s.write("mine/rules.yaml", rule("loads", GOOD))
    patch = "patch: {0}\npackage: toycache\nadds: [{{path: load.py, from: load.py}}]\nrules: [loads]\n"
    s.write("mine/one/patch.yaml", patch.format("one"))
    s.write("mine/one/load.py", "def load(rows, kind):\n    return rows\n")
    s.write("mine/two/patch.yaml", patch.format("two"))
    s.write("mine/shared/load.py", "def load(rows, kind:\n")
    s.run("test", "mine/rules.yaml", "mine/one/patch.yaml")
    s.run("test", "mine/rules.yaml", "mine/two")


def test_json(s):
    """One document a run, which fits the schema"""
    plant_rules(s)
    plant_patches(s)
    done = s.run_raw("test", "planted", "--json", shown=False)
    document = json.loads(done.stdout)
    assert document["exit"] == done.returncode == 3 and not done.stderr
    verdicts = {(tested.get("rule", tested.get("patch")), example["verdict"])
                for tested in document["tests"] for example in tested["examples"] if example["verdict"] != "passed"}
    assert verdicts == {(way, way) for way in WAYS} | {(f"two-{way}", way) for way in WAYS}, verdicts
    wrong = [example for tested in document["tests"] for example in tested["examples"] if example["verdict"] == "wrong"]
    assert all("@@" in example["diff"] for example in wrong)
    s.run("test", "planted/wrong.yaml", "planted/broken/patch.yaml", "planted/two.yaml", "--json")
    try:
        import jsonschema
    except ImportError:
        print("        (not held to the schema: no jsonschema here)")
    else:
        schema = json.loads((driver.SOURCE / "docs" / "json-schema" / "report.schema.json").read_text())
        jsonschema.Draft202012Validator(schema).validate(document)


scenario.main(globals())
