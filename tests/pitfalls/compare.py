"""The cases of pitfalls, run by suture and by ast-grep: writes docs/comparison.md. `make compare` calls it; CI does not.

    SUTURE=build/suture .cache/compare/bin/python tests/pitfalls/compare.py docs/comparison.md

Needs PyYAML and ast-grep-cli beside the Python that runs it. Rules are translated by `Translation` below, and by nothing else.
"""

import concurrent.futures
import dataclasses
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import pitfalls_test  # noqa: E402

AST_GREP = pathlib.Path(sys.executable).parent / "ast-grep"
CLAUSES = {"except": ("try:\n  pass\n", "except_clause"), "finally": ("try:\n  pass\n", "finally_clause"),
           "elif": ("if x:\n  pass\n", "elif_clause"), "else": ("if x:\n  pass\n", "else_clause")}
# Keys of a rule that say what to search and what to write. Other keys either have no counterpart or are about trees.
KNOWN = {"id", "file", "expect", "ok", "note", "match", "replace", "where", "inside", "has", "not_inside", "not_has", "in",
         "applied", "comments"}


class NotExpressible(Exception):
    """ast-grep has no words for it; says what for."""


class Translation:
    """One rule of suture as one of ast-grep: match -> pattern, replace -> fix, where -> constraints, in -> inside."""

    def __init__(self, rule):
        self.rule = rule
        unknown = set(rule) - KNOWN
        if unknown:
            raise NotExpressible(sorted(unknown)[0])
        if "match" not in rule or "replace" not in rule:
            raise NotExpressible("no match and replace")
        if isinstance(rule.get("file", ""), list):
            raise NotExpressible("a list of files")

    @staticmethod
    def pattern(text):
        text = str(text).strip("\n")
        word = re.match(r"\w+", text)
        if word and word.group() in CLAUSES and not text.startswith("else ="):
            context, selector = CLAUSES[word.group()]
            return {"pattern": {"context": context + text, "selector": selector}}
        if text.startswith("@") and "\n" not in text:
            return {"pattern": {"context": text + "\ndef f():\n  pass", "selector": "decorator"}}
        if word and word.group() == "case" and text.rstrip().split("\n")[0].rstrip(":") != text.rstrip():
            return {"pattern": {"context": "match x:\n  " + text.replace("\n", "\n  "), "selector": "case_clause"}}
        return {"pattern": text}

    def search(self):
        every = [self.pattern(self.rule["match"])]
        for key in ("inside", "has", "not_inside", "not_has"):
            texts = self.rule.get(key, [])
            for text in texts if isinstance(texts, list) else [texts]:
                inner = {key.removeprefix("not_"): {**self.pattern(text), "stopBy": "end"}}
                every.append({"not": inner} if key.startswith("not_") else inner)
        if "in" in self.rule:
            every.append(self.scope(str(self.rule["in"]).split(".")))
        return every[0] if len(every) == 1 else {"all": every}

    @staticmethod
    def scope(names):
        """Inside of a definition of the last name, itself inside of the others."""
        if "*" in names:
            raise NotExpressible("* in a scope")
        kinds = [{"kind": "function_definition"}, {"kind": "class_definition"}]
        out = {"any": kinds, "has": {"field": "name", "regex": f"^{names[-1]}$"}, "stopBy": "end"}
        if len(names) > 1:
            out["inside"] = Translation.scope(names[:-1])["inside"]
        return {"inside": out}

    def fix(self):
        becomes = self.rule["replace"]
        if not isinstance(becomes, dict):
            return str(becomes).strip("\n")
        out = str(self.rule["match"]).strip("\n")
        for name, text in becomes.items():
            out = out.replace(f"${name}", str(text))
        return out

    def constraints(self):
        out = {}
        for name, keys in (self.rule.get("where") or {}).items():
            unknown = set(keys) - {"regex", "kind", "not_regex"}
            if unknown:
                raise NotExpressible(f"where: {sorted(unknown)[0]}")
            every = [{key: keys[key]} for key in ("regex", "kind") if key in keys]
            every += [{"not": {"regex": keys["not_regex"]}}] if "not_regex" in keys else []
            out[name] = every[0] if len(every) == 1 else {"all": every}
        return out

    def text(self, number):
        out = {"id": f"rule-{number}", "language": "python", "rule": self.search(), "fix": self.fix()}
        constraints = self.constraints()
        if constraints:
            out["constraints"] = constraints
        return json.dumps(out)  # JSON is YAML


def translated(case):
    if isinstance(case, pitfalls_test.Steps):
        raise NotExpressible("several steps")
    if case.patch or case.version != "1.0":
        raise NotExpressible("versions and conditions")
    try:
        rules = yaml.safe_load(case.rules_file())["rules"]
    except yaml.YAMLError as problem:
        raise NotExpressible("no YAML") from problem
    files = {str(rule.get("file", "mod.py")) for rule in rules}
    if len(files) > 1:
        raise NotExpressible("several files")
    return "\n---\n".join(Translation(rule).text(i) for i, rule in enumerate(rules))


def scan(folder):
    done = subprocess.run([AST_GREP, "scan", "-r", "rule.yml", "--update-all", "code"], cwd=folder, capture_output=True,
                          timeout=60, check=False)
    files = {str(path.relative_to(folder / "code")): path.read_bytes() for path in (folder / "code").rglob("*.py")}
    return done.returncode, files


def by_ast_grep(case):
    """What it does: right, wrong edit, nothing, grows."""
    text = translated(case)
    with tempfile.TemporaryDirectory(prefix="compare-") as scratch:
        folder = pathlib.Path(scratch)
        (folder / "rule.yml").write_text(text)
        before = case.before or {"mod.py": b"x = 1\n"}
        for path, data in before.items():
            (folder / "code" / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / "code" / path).write_bytes(data)
        code, after = scan(folder)
        wanted = {**before, **case.after} if case.edits else before
        if case.verdict == "error" and not case.before:
            return "right" if code != 0 and after == before else "accepted"
        if after != wanted:
            return "wrong edit" if after != before else "rejects" if code != 0 else "nothing"
        return "right" if scan(folder)[1] == wanted else "grows"


@dataclasses.dataclass
class Row:
    kind: str
    cases: int = 0
    suture: int = 0
    said: int = 0
    right: int = 0
    wrong_edit: int = 0
    nothing: int = 0
    rejects: int = 0
    grows: int = 0
    accepted: int = 0


def measured(kind, cases):
    row = Row(kind, cases=len(cases))
    for case in cases:
        row.suture += pitfalls_test.run(case) is None
        try:
            outcome = by_ast_grep(case)
        except NotExpressible:
            continue
        row.said += 1
        name = {"right": "right", "wrong edit": "wrong_edit"}.get(outcome, outcome)
        setattr(row, name, getattr(row, name) + 1)
    return row


HEAD = """\
# Beside ast-grep

Written by `make compare` ({date}), by running both on the cases of `tests/pitfalls`: suture {suture}, ast-grep {ast_grep}. No
cell is written by hand.

How the cases were translated, all of them by `tests/pitfalls/compare.py`: `match` is `pattern` (a clause with a context and a
selector), `replace` is `fix`, `where` is `constraints`, `inside`, `has` and their `not_` forms are relational rules with
`stopBy: end`, `in` is `inside` a definition of that name. Then `ast-grep scan --update-all`, twice. A rule that uses anything
else (insertions, conditions on versions and files, several steps) has no counterpart and is *not expressible*: it is left out
of the columns behind that. ast-grep is not told how many places to expect, for it has no words for that; it is right where the
files come out byte for byte as they should, edited or untouched. Its messages and exit codes are not looked at, but for rules
that are wrong, where any failure is right.

- *edits wrongly*: other bytes than it should, or an edit where there should be none
- *nothing*: leaves a file as it is that should be edited, and says nothing
- *rejects*: fails, with a message, where a file should be edited
- *grows*: a second run changes more
- *accepts*: a rule that is wrong is taken

| kind | cases | suture right | expressible | ast-grep right | edits wrongly | nothing | rejects | grows | accepts |
|---|---|---|---|---|---|---|---|---|---|
"""


def main(path):
    kinds = pitfalls_test.all_kinds()
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool:
        rows = list(pool.map(lambda item: measured(item[0], item[1][1]), kinds.items()))
    total = Row("all")
    for row in rows:
        for field in dataclasses.fields(Row)[1:]:
            setattr(total, field.name, getattr(total, field.name) + getattr(row, field.name))
    version = lambda command: subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1]  # noqa: E731
    text = HEAD.format(date=datetime.date.today().isoformat(), ast_grep=version([AST_GREP, "--version"]),
                       suture=version([pitfalls_test.driver.SUTURE, "--version"]))
    for row in [*rows, total]:
        cells = [getattr(row, field.name) for field in dataclasses.fields(Row)]
        text += "| " + " | ".join(str(cell) for cell in cells) + " |\n"
    text += "\n## The kinds\n\n"
    for stem, (sentence, _) in kinds.items():
        text += f"- `{stem}`: {sentence}\n"
    pathlib.Path(path).write_text(text)
    print(f"{path}: {total.cases} cases; suture right in {total.suture}; {total.said} can be said to ast-grep, right in {total.right}")


if __name__ == "__main__":
    main(sys.argv[1])
