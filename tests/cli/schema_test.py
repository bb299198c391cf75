"""The JSON Schemas of rule and patch files against the loader: what the loader takes, the schema takes.

The cases are made from tables: for every key of every kind of map values that load, and for each the same wrong ones; then
what keys demand of each other; then random rules (a fixed seed). Each case goes to both. The loader may refuse more than
the schema, but only for the reasons listed in CONTENT: what a schema cannot know.

    python3 tests/cli/schema_test.py [-v]
"""

import copy
import json
import os
import pathlib
import random
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import driver  # noqa: E402

try:
    import jsonschema
    import yaml
except ImportError as missing:
    SYSTEM = "/usr/bin/python3"  # the packages are the distribution's; another python3 may stand first on PATH
    if os.path.exists(SYSTEM) and os.path.realpath(sys.executable) != os.path.realpath(SYSTEM):
        os.execv(SYSTEM, [SYSTEM, *sys.argv])
    driver.skip(f"no {missing.name} here (Debian: python3-jsonschema, python3-yaml)")

FOLDER = driver.SOURCE / "docs" / "json-schema"
RULES = json.loads((FOLDER / "rules.schema.json").read_text())
PATCH = json.loads((FOLDER / "patch.schema.json").read_text())


def bundled():
    """The patch's schema with the definitions of the rules' in it (what an editor does over the files)."""
    text = json.dumps(PATCH).replace("rules.schema.json#/definitions/", "#/definitions/rules.")
    rules = json.dumps(RULES["definitions"]).replace("#/definitions/", "#/definitions/rules.")
    schema = json.loads(text)
    schema["definitions"].update({f"rules.{name}": value for name, value in json.loads(rules).items()})
    return schema


VALIDATORS = {"rule": jsonschema.Draft7Validator(RULES), "patch": jsonschema.Draft7Validator(bundled())}

# --- The maps, each with a document around it ------------------------------------------------------------------------

RULE = {"id": "ID", "match": "f($X)", "replace": "g($X)", "expect": 1}


def in_file(rule):
    return "rule", {"file": "a.py", "rules": [rule]}


def rule_with(**keys):
    edits = set(EDITS) & set(keys)
    base = {key: value for key, value in RULE.items() if not (edits and key == "replace")}
    return in_file({**base, **keys})


def patch_with(**keys):
    return "patch", {"patch": "ID", "package": "toycache", "rules": ["base-rule"], **keys}


def condition_with(value):
    return patch_with(requires=[value])


# What each kind of map is called, the keys it must have beside the one under test, and how it gets into a file.
MAPS = {
    "rule file": ({"rules": [RULE], "file": "a.py"}, lambda m: ("rule", m)),
    "rule": (RULE, in_file),
    "audit rule": ({"id": "ID", "match": "f($X)", "kind": "call", "message": "A call"}, in_file),
    "shape": ({"match": "f($X)"}, lambda m: in_file({"id": "ID", "expect": 1, "replace": "g($X)", "any_of": [m]})),
    "expect": ({"min": 1}, lambda m: rule_with(expect=m)),
    "where clause": ({}, lambda m: rule_with(where={"X": m})),
    "pattern": ({"match": "k($X)"}, lambda m: rule_with(done_if=m)),
    "argument": ({"name": "k", "becomes": "w($ARG)"}, lambda m: rule_with(argument=m)),
    "example": ({}, lambda m: rule_with(examples=[m])),
    "add_argument": ({"of": "X", "argument": "k=v"}, lambda m: rule_with(match="h(f($$$), $X)", add_argument=m)),
    "add_element": ({"of": "X"}, lambda m: rule_with(match="T = $X", add_element=m)),
    "set_key": ({"of": "X", "key": "'k'", "value": "v"}, lambda m: rule_with(match="T = $X", set_key=m)),
    "add_branch": ({"branch": "else:\n    pass"}, lambda m: rule_with(match="if $X: $$$B", add_branch=m)),
    "add_decorator": ({"decorator": "@d(1)"}, lambda m: rule_with(match="def f($$$A): $$$B", add_decorator=m)),
    "patch": ({"patch": "ID", "package": "toycache", "rules": ["base-rule"]}, lambda m: ("patch", m)),
    "package": ({"name": "toycache"}, lambda m: patch_with(package=m)),
    "added file": ({"path": "x.py", "from": "load.py"}, lambda m: patch_with(adds=[m])),
    "condition": ({"file": "a.py"}, condition_with),
    "package of a condition": ({"name": "othercache"}, lambda m: condition_with({"package": m})),
}

EDITS = ["replace", "argument", "prepend_body", "append_body", "insert_before", "insert_after", "add_import", "delete",
         "wrap", "add_argument", "add_element", "set_key", "add_branch", "add_member", "add_decorator",
         "remove_decorator", "remove_import"]

CODE = ["h($X)"]  # a pattern on which `f($X)` binds
FREE = ["h(1)", ["h(1)", "i(2)"]]
EXAMPLE = [{"before": "f(1)", "after": "g(1)"}]
NARROWING = {
    "where": [{"X": {"kind": "identifier"}}, {"X": {"regex": "a", "one_of": ["a", "b"]}}],
    "inside": FREE, "has": FREE, "after": FREE, "before": FREE,
    "not_inside": FREE, "not_has": FREE, "not_after": FREE, "not_before": FREE,
}
# Values that load, each either a value or (value, the map's other keys). An edit stands in place of `replace`.
EDIT_VALUES = {
    "replace": ["g($X)", {"X": "w($X)"}],
    "argument": [{"name": "k", "becomes": "w($ARG)"}, {"name": "k", "position": 0, "becomes": "w($ARG)"}],
    "prepend_body": [("a()", {"match": "def f($X): $$$B"}), ("a()", {"match": None, "in": "C.f"})],
    "append_body": [("a()", {"match": "def f($X): $$$B"}), ("a()", {"match": None, "in": "C.f"})],
    "insert_before": ["a($X)", ("a()", {"match": None, "in": "C.f"})],
    "insert_after": ["a($X)", ("a()", {"match": None, "in": "C.f"})],
    "add_import": ["from a.b import c", "import a", "import a.b as d", "from . import c as d"],
    "delete": [(True, {"match": "f(1)", "applied": "g()"}), ("X", {"match": "f($X, 1)", "applied": "f(1)"}),
               (["X", "Y"], {"match": "f($X, $Y, 1)", "applied": "f(1)"})],
    "wrap": ["float($MATCH)", ("if ready:\n    $MATCH", {"match": "f($X)\ng($X)"})],
    "add_argument": ["exist_ok=True", {"of": "X", "argument": "exist_ok=True"}],
    "add_element": [("E", {"match": "T = [$$$X]"}), ({"of": "X", "element": "E", "at": "first"}, {"match": "T = $X"}),
                    ({"of": "X", "or": "E"}, {"match": "if $X: $$$B"}), ({"of": "X", "and": "E"}, {"match": "if $X: $$$B"})],
    "set_key": [({"of": "X", "key": '"k"', "value": "V"}, {"match": "T = $X"})],
    "add_branch": [("elif c:\n    pass", {"match": "if $X: $$$B"}),
                   ({"branch": "elif c:\n    pass", "at": "last"}, {"match": "if $X: $$$B"})],
    "add_member": [("def g(self): pass", {"match": None, "in": "C"})],
    "add_decorator": [("@d(1)", {"match": None, "in": "C"}),
                      ({"decorator": "@d(1)", "at": "last"}, {"match": None, "in": "C"})],
    "remove_decorator": [("@d($$$)", {"match": None, "in": "C"}), ("d", {"match": None, "in": "C"})],
    "remove_import": [("from a import b", {"match": None})],
}
VALUES = {
    "rule file": {"rules": [[RULE]], "file": ["a.py", ["a.py", "b/c.py"], "srt/**/a.py", "srt/*/a.py"]},
    "rule": {
        "id": ["a", "a-b-1"], "note": ["Why."], "ok": ["It is so."], "file": ["b.py", ["b.py", "c.py"]],
        "in": ["C.f", "*.f", ["C", "D"], "Größe"], "match": CODE, **NARROWING, **EDIT_VALUES,
        "any_of": [([{"match": "f($X)"}, {"match": "h($X, 1)", "replace": "i($X)"}], {"match": None})],
        "applied": ["g($X)", {"match": "g($X)", "not_inside": "h()"}],
        "done_if": ["k($X)", {"match": "k($X)", "not_has": "h()"}],
        "expect": [1, 20, {"min": 1, "max": 3}, {"min": 2}, {"max": 3, "per_file": True}],
        "per_file": [True, False], "select": [("first", {"applied": "g($X)"}), ("last", {"applied": "g($X)"}),
                                              (0, {"applied": "g($X)"}), (3, {"applied": "g($X)"})],
        "comments": ["keep", "drop", "refuse"], "versions": [">=1.0", ">=1,<2"], "examples": [EXAMPLE, [{"same": "h(1)"}]],
    },
    "shape": {"match": CODE, **NARROWING, **EDIT_VALUES, "applied": ["g($X)"], "versions": [">=1"]},
    "expect": {"min": [1, 2], "max": [1, 3], "per_file": [True, False]},
    "where clause": {"kind": ["identifier"], "regex": ["^a+$"], "not_regex": ["b"], "match": ["h($Z)"], "has": ["h()"],
                     "one_of": ["a", ["a", "b.c"]], "comes_from": FREE, "element_of": FREE, "parameter": ["^a$"],
                     "through": [("$FROM.view()", {"comes_from": "h()"})]},
    "pattern": {"match": ["g($X)"], **NARROWING},
    "argument": {"name": ["k", "größe"], "position": [0, 3], "becomes": ["w($ARG)"]},
    "example": {"before": [("f(1)", {"after": "g(1)"})], "after": [("g(1)", {"before": "f(1)"})], "same": ["h(1)"],
                "exact": [(True, {"same": "h(1)"}), (False, {"same": "h(1)"})], "found": []},
    "audit rule": {
        "kind": ["cast", "my-kind"], "message": ["It is so."], "level": ["note", "warning", "error"],
        "possible": [True, False], "id": ["an-audit-rule"], "note": ["Why."], "file": ["b.py"], "in": ["C.f"], "match": CODE, **NARROWING,
        "any_of": [([{"match": "f($X)"}, {"match": "h($X, 1)", "where": {"X": {"parameter": "a"}}}], {"match": None})],
        "examples": [[{"found": "f(1)"}], [{"same": "h(1)"}]],
    },
    "add_argument": {"of": ["X"], "argument": ["k=v", "v"]},
    "add_element": {"of": [("X", {"element": "E"})], "element": ["E"], "at": [("first", {"element": "E"})],
                    "or": ["E"], "and": ["E"]},
    "set_key": {"of": ["X"], "key": ["'k'"], "value": ["v"]},
    "add_branch": {"branch": ["else:\n    pass"], "at": ["first", "last"]},
    "add_decorator": {"decorator": ["@d(1)"], "at": ["first", "last"]},
    "patch": {
        "patch": ["a", "a-b"], "summary": ["One line"], "note": ["Why."],
        "package": ["toycache", "Toy.Cache", {"name": "toycache"}], "conflicts": ["a", ["a", "b-c"]], "recommend": [0, 1],
        "adds": [[{"path": "x.py", "from": "load.py"}]], "rules": ["base-rule", ["base-rule", "other-rule"]],
        "requires": [[{"file": "a.py", "match": "h()"}]], "superseded": [[{"versions": ">=2"}]],
        "assumes": ["The GPU is new.", ["The GPU is new", "the pool is small"]],
        "examples": [[{"before": "f(1)", "after": "g(1)"}]],
    },
    "package": {"name": ["toycache"], "folder": ["toy"], "versions": [">=1.0,<2", "==1.*"]},
    "added file": {"path": ["x.py", "sub/x.py"], "from": ["load.py"]},
    "condition": {
        "package": ["toycache", "othercache"], "versions": [">=1"], "file": ["a.py", ["a.py", "b.py"], "srt/*.py"],
        "class": [("Engine", {"file": None})], "in": [("C.f", {"match": "h()"})], "match": ["h()"],
        "where": [({"X": {"kind": "identifier"}}, {"match": "h($X)"})], "has": ["h()", ["h()", "i()"]],
        "literal": ["text"], "not_match": ["h()", ["h()", "i()"]], "not_has": ["h()", ["h()", "i()"]], "not_literal": ["text"],
        "note": ["why"], "otherwise": ["the server stops"],
    },
    "package of a condition": {"name": ["toycache", "Other.Cache"], "folder": ["toy"]},
}
# The same for every key: wrong somewhere, right elsewhere.
WRONG = ["", "  ", [], {}, [[]], [{}], [""], ["a", "a"], {"zzzzzzzz": 1}, {"X": ""}, {"X": {}}, True, False, 0, 1, -1, 1.5,
         "a", "A", "$X", "1", "../a.py", "/a.py", "a//b", "a/", "a\\b", "f(", "first", "keep", "from a import b, c", "a b"]

# What the loader refuses and a schema cannot: the meaning of a text, and what one text has to do with another.
CONTENT = [
    r"not valid Python", r"is no regular expression", r"no node kind", r"which no pattern of this rule binds",
    r"does not bind", r"is not a version range", r"is no distribution's name", r"is not one import of (one name|names)",
    r"stands for nothing in particular", r"own pattern", r"leaves nothing to recognise it by", r"names an unknown rule",
    r"has no file", r"example \d+ of", r"defined twice", r"conflicts with itself", r"is more than 'max'",
    r"and replacement are the same", r"one statement or expression", r"is part of the match", r"takes an expression",
    r"takes one clause with its body", r"takes one member of a class", r"is code that holds \$MATCH once",
    r"adds one argument or element", r"are expressions", r"has 'remove_import' and 'match'",
    r"no statement stands inside of an expression", r"an audit rule edits nothing", r"is for rules with a 'kind'",
    r"a value comes from an expression", r"needs \$FROM",
]

# What keys demand of each other: (document, whether it is legal).
RELATIONS = [
    (in_file({"match": "f($X)", "replace": "g($X)", "expect": 1}), False),
    (in_file({"id": "ID", "match": "f($X)", "replace": "g($X)"}), False),
    (in_file({"id": "ID", "match": "f($X)", "expect": 1}), False),
    (in_file({"id": "ID", "replace": "g()", "expect": 1}), False),
    (in_file({"id": "ID", "argument": {"name": "k", "becomes": "w($ARG)"}, "expect": 1}), False),
    (in_file({"id": "ID", "insert_before": "g()", "expect": 1}), False),
    (in_file({"id": "ID", "prepend_body": "g()", "in": "f", "expect": 1}), True),
    (in_file({**RULE, "insert_after": "h()"}), False),
    (in_file({**RULE, "any_of": [{"replace": "i($X)", "insert_after": "h()"}]}), False),
    (in_file({"id": "ID", "match": "f($X)", "expect": 1, "any_of": [{"inside": "h()"}]}), False),
    (in_file({"id": "ID", "match": "f($X)", "expect": 1, "any_of": [{"inside": "h()", "replace": "g($X)"}]}), True),
    (in_file({**RULE, "any_of": [{"id": "b"}]}), False),
    (in_file({**RULE, "any_of": [{"expect": 1}]}), False),
    (in_file({**RULE, "expect": {"per_file": True}}), False),
    (in_file({**RULE, "expect": 0}), False),
    (in_file({**RULE, "expect": {"max": 0}}), False),
    (in_file({**RULE, "zzzzzzzz": 1}), False),
    (in_file({**RULE, "delete": "X"}), False),
    (in_file({"id": "ID", "match": "f($X)", "delete": True, "expect": 1}), False),
    (("rule", {"rules": [RULE]}), False),
    (("rule", {"rules": [{**RULE, "file": "a.py"}]}), True),
    (("rule", {"file": "a.py"}), False),
    (("rule", {"file": "a.py", "rules": []}), False),
    (("rule", {"file": "a.py", "rules": [RULE], "patch": "a"}), False),
    (("rule", [RULE]), False),
    (("rule", "text"), False),
    (rule_with(examples=[{"before": "f(1)"}]), False),
    (rule_with(examples=[{"after": "g(1)"}]), False),
    (rule_with(examples=[{"before": "f(1)", "after": "g(1)", "same": "h(1)"}]), False),
    (rule_with(examples=[{"same": "h(1)", "after": "h(1)"}]), False),
    (rule_with(examples=[{"exact": True}]), False),
    (rule_with(examples=[{"found": "f(1)", "same": "h(1)"}]), False),
    (rule_with(kind="call"), False),
    (rule_with(message="A call"), False),
    (rule_with(possible=True), False),
    (in_file({"id": "ID", "kind": "call", "match": "f($X)"}), False),
    (in_file({"id": "ID", "kind": "call", "message": "A call"}), False),
    (in_file({"id": "ID", "kind": "call", "message": "A call", "match": "f($X)"}), True),
    (("rule", {"rules": [{"id": "ID", "kind": "call", "message": "A call", "match": "f($X)"}]}), True),
    (in_file({"id": "ID", "kind": "call", "message": "A call", "match": "f($X)", "expect": 1}), False),
    (in_file({"id": "ID", "kind": "call", "message": "A call", "any_of": [{"match": "f($X)", "replace": "g($X)"}]}), False),
    (in_file({"id": "ID", "kind": "call", "message": "A call", "any_of": [{"inside": "g()"}]}), False),
    (rule_with(where={"X": {"through": "$FROM.view()"}}), False),
    (rule_with(where={"X": {}}), False),
    (rule_with(where={"$X": {"kind": "call"}}), False),
    (rule_with(where={"_": {"kind": "call"}}), False),
    (rule_with(argument={"name": "k"}), False),
    (rule_with(argument={"becomes": "k"}), False),
    (patch_with(package={"versions": ">=1"}), False),
    (patch_with(adds=[{"path": "x.py"}]), False),
    (patch_with(adds=[{"from": "load.py"}]), False),
    (patch_with(adds=[{"path": ".suture/x.py", "from": "load.py"}]), False),
    (patch_with(rules=["base-rule", "base-rule"]), False),
    (("patch", {"patch": "ID", "rules": ["base-rule"]}), False),
    (("patch", {"patch": "ID", "package": "toycache"}), False),
    (("patch", {"package": "toycache", "rules": ["base-rule"]}), False),
    (condition_with({"match": "h()"}), False),
    (condition_with({"literal": "h()"}), False),
    (condition_with({"note": "nothing"}), False),
    (condition_with({"file": "a.py", "where": {"X": {"kind": "call"}}}), False),
    (condition_with({"file": "a.py", "in": "C", "not_match": "h()"}), True),
    (condition_with({"class": "C", "in": ["C.f", "C"], "not_match": "h()"}), True),
    (condition_with({"class": "C", "file": "a.py"}), False),
    (condition_with({"class": "C.D"}), False),
    (condition_with({"package": {"folder": "toy"}}), False),
    (patch_with(superseded=[{"file": "a.py", "otherwise": "the server stops"}]), False),
]


# --- Cases -----------------------------------------------------------------------------------------------------------

def placed(kind, key, value):
    """A file in which a map of that kind has that key with that value."""
    base, put = MAPS[kind]
    value, others = value if isinstance(value, tuple) else (value, {})
    fields = copy.deepcopy(base)
    if key in EDITS and kind in ("rule", "shape"):
        fields.pop("replace", None)
    fields.update(copy.deepcopy(others))
    fields[key] = copy.deepcopy(value)
    fields = {name: each for name, each in fields.items() if each is not None}
    if kind == "shape" and "match" not in fields and key in EDITS and key != "remove_import":
        fields["match"] = "f($X)"
    where, document = put(fields)
    if kind == "shape" and "in" in fields:  # `in` is the rule's
        scope = fields.pop("in")
        fields.pop("match", None)
        document["rules"][0].update({"in": scope})
    return where, document


def random_rules(count):
    """Rules of several keys at once, right and wrong."""
    source = random.Random(4)
    values = VALUES["rule"]
    for _ in range(count):
        rule = dict(RULE)
        for key in source.sample(sorted(values), source.randint(1, 4)):
            value = source.choice(values[key] + [source.choice(WRONG)] if source.random() < 0.3 else values[key])
            value, others = value if isinstance(value, tuple) else (value, {})
            rule.update(others)
            rule[key] = value
            if key in EDITS and key != "replace" and source.random() < 0.8:
                rule.pop("replace", None)
        for key in source.sample(sorted(RULE), source.choice([0, 0, 0, 1])):
            rule.pop(key, None)
        yield in_file({key: value for key, value in rule.items() if value is not None})


def all_cases():
    """[(name, file kind, document, legal: True, False or None for whatever both say)]"""
    cases = []
    for kind, keys in VALUES.items():
        for key, values in keys.items():
            for number, value in enumerate(values):
                cases.append((f"{kind}.{key} value {number}", *placed(kind, key, value), True))
            others = next((value[1] for value in values if isinstance(value, tuple)), {})
            for wrong in WRONG:
                cases.append((f"{kind}.{key} = {json.dumps(wrong)}", *placed(kind, key, (wrong, others)), None))
    for number, ((kind, document), legal) in enumerate(RELATIONS):
        cases.append((f"relation {number}: {json.dumps(document)}", kind, document, legal))
    for number, (kind, document) in enumerate(random_rules(600)):
        cases.append((f"random {number}: {json.dumps(document)}", kind, document, None))
    return cases


def named(document, name):
    """The document with its own name, so that all cases load in one run."""
    text = json.dumps(document, ensure_ascii=False)
    return text.replace('"ID"', json.dumps(name))


BASE = {"file": "a.py", "rules": [{**RULE, "id": "base-rule"},
                                  {"id": "other-rule", "match": "k($X)", "replace": "l($X)", "expect": 1}]}


def loaded(documents):
    """For each (kind, text) what the loader says against it, "" where it takes it."""
    with tempfile.TemporaryDirectory(prefix="suture-schema-") as scratch:
        folder = pathlib.Path(scratch)
        (folder / "base.yaml").write_text(json.dumps(BASE))
        names = []
        for number, (kind, text) in enumerate(documents):
            path = folder / (f"{number:05}.yaml" if kind == "rule" else f"{number:05}/patch.yaml")
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
            if kind == "patch":
                (path.parent / "load.py").write_text("def load():\n    pass\n")
            names.append(str(path))
        out, errors = driver.suture("test", "--json", folder, exit_code=3)
        report = json.loads(out)
        assert not errors, errors
        told = {}
        for error in report["errors"]:
            told.setdefault(error.get("file", ""), f"{error['message']}\n{error.get('text', '')}\n{error.get('hint', '')}")
        for tested in report["tests"]:
            for example in tested["examples"]:
                if example["verdict"] != "passed":
                    told.setdefault(tested["file"], f"example {example['example']} of it is {example['verdict']}")
        strays = set(told) - set(names)
        assert not strays, {stray: told[stray] for stray in strays}
        return [told.get(name, "") for name in names]


def first_problem(validator, document):
    return next((f"{list(error.absolute_path)}: {error.message[:300]}" for error in validator.iter_errors(document)), "")


# --- The tests -------------------------------------------------------------------------------------------------------

def check_cases(verbose):
    cases = all_cases()
    answers = loaded([(kind, named(document, f"case-{number}")) for number, (_, kind, document, _) in enumerate(cases)])
    failures = []
    for number, ((name, kind, document, legal), answer) in enumerate(zip(cases, answers)):
        problem = first_problem(VALIDATORS[kind], json.loads(named(document, f"case-{number}")))
        if not answer and problem:
            failures.append(f"{name}: the loader takes it, the schema does not: {problem}")
        if answer and not problem and not any(re.search(words, answer) for words in CONTENT):
            failures.append(f"{name}: the schema takes it, the loader does not: {answer.strip()}")
        if legal is not None and legal == bool(answer):
            failures.append(f"{name}: should {'load' if legal else 'be refused'}: {answer.strip() or 'it loads'}")
        if legal is False and not problem and not any(re.search(words, answer) for words in CONTENT):
            failures.append(f"{name}: the schema should refuse it")
        if verbose and answer and not problem:
            print(f"  the loader alone refuses {name}: {answer.splitlines()[0]}")
    for kind, keys in VALUES.items():
        for key in keys:
            prefix = f"{kind}.{key} "
            refused = [name for (name, file, document, _), answer in zip(cases, answers)
                       if name.startswith(prefix) and answer and first_problem(VALIDATORS[file], document)]
            if not refused:
                failures.append(f"{kind}.{key}: no wrong value that both refuse")
    print(f"{len(cases)} cases")
    return failures


def schema_keys(kind):
    """The keys of that kind of map in the schema."""
    definitions, patch = RULES["definitions"], PATCH["definitions"]

    def map_of(schema):
        return next(each for each in schema["anyOf"] if "properties" in each)["properties"]

    return set({
        "rule file": lambda: RULES["properties"],
        "rule": lambda: definitions["rule"]["properties"],
        "audit rule": lambda: definitions["rule"]["properties"],
        "shape": lambda: definitions["shape"]["properties"],
        "expect": lambda: map_of(definitions["expect"]),
        "where clause": lambda: definitions["where_clause"]["properties"],
        "pattern": lambda: map_of(definitions["pattern"]),
        "argument": lambda: definitions["argument"]["properties"],
        "example": lambda: definitions["example"]["properties"],
        "set_key": lambda: definitions["set_key"]["properties"],
        "patch": lambda: PATCH["properties"],
        "package": lambda: map_of(patch["package"]),
        "added file": lambda: patch["added_file"]["properties"],
        "condition": lambda: patch["condition"]["properties"],
        "package of a condition": lambda: map_of(patch["condition"]["properties"]["package"]),
    }.get(kind, lambda: map_of(definitions[kind]))())


def check_keys():
    """Every key of the schema is known to the loader, and the reverse: its own list is in the hint of an unknown key."""
    failures = []
    placings = [placed(kind, "zzzzzzzzzzzz", 1) for kind in MAPS]
    documents = [(where, named(document, f"keys-{number}")) for number, (where, document) in enumerate(placings)]
    for kind, answer in zip(MAPS, loaded(documents)):
        known = schema_keys(kind)
        together = {key for one in ("rule", "audit rule") for key in VALUES[one]}
        if known != (together if kind in ("rule", "audit rule") else set(VALUES[kind])):
            failures.append(f"{kind}: the tables of this test lack {sorted(known ^ set(VALUES[kind]))}")
        hint = re.search(r"^its keys are (.*)$", answer, re.M)
        if not hint:
            failures.append(f"{kind}: no list of keys in: {answer}")
            continue
        loader = set(re.split(r", | and ", hint[1]))
        if loader != known:
            failures.append(f"{kind}: only the schema knows {sorted(known - loader)}, "
                            f"only the loader {sorted(loader - known)}")
    return failures


def check_descriptions():
    """An editor shows a description for every key, and no definition is left over."""
    failures = []
    for file, schema in (("rules", RULES), ("patch", PATCH)):
        text = json.dumps(RULES) + json.dumps(PATCH)
        for name in schema["definitions"]:
            if f'definitions/{name}"' not in text:
                failures.append(f"{file}.schema.json: nothing refers to the definition {name}")

        def walk(node, path):
            if isinstance(node, list):
                for number, each in enumerate(node):
                    walk(each, f"{path}/{number}")
            if not isinstance(node, dict):
                return
            for key, value in node.items():
                if key == "properties":
                    for name, each in value.items():
                        described = each
                        while "$ref" in described:
                            target = described["$ref"]
                            home = RULES if file == "rules" or target.startswith("rules") else PATCH
                            described = home["definitions"][target.rpartition("/")[2]]
                        constrains = path.count("/then") or path.count("/else")  # says more of a key described elsewhere
                        if not described.get("description") and not constrains:
                            failures.append(f"{file}.schema.json: {path}/{name} has no description")
                walk(value, f"{path}/{key}")

        walk(schema, "")
    return failures


def check_shipped():
    """Every rule and patch file of the project fits."""
    failures, count = [], 0
    for folder in ("rules", "patches", "examples", "tests/tasks"):
        for path in sorted((driver.SOURCE / folder).rglob("*.yaml")):
            if "\nsignatures:" in path.read_text():
                continue  # a table of signatures, no rules
            count += 1
            kind = "patch" if path.name == "patch.yaml" else "rule"
            problem = first_problem(VALIDATORS[kind], yaml.safe_load(path.read_text()))
            if problem:
                failures.append(f"{path.relative_to(driver.SOURCE)}: {problem}")
    assert count > 5, count
    print(f"{count} rule and patch files of the project fit")
    return failures


def main():
    for schema in (RULES, bundled()):
        jsonschema.Draft7Validator.check_schema(schema)
    failures = [*check_cases("-v" in sys.argv), *check_keys(), *check_descriptions(), *check_shipped()]
    for failure in failures:
        print(f"FAILED  {failure}")
    print(f"{len(failures)} failed")
    sys.exit(1 if failures else 0)


main()
