"""The case files (*.cases): a kind of fault in one sentence, then cases of it, as plain text.

    What goes wrong, in words.

    == the name of a case
    match: from a import b          a rule's keys (YAML); id, file (mod.py) and expect (1) may be left out.
    replace: from a import z        A text that begins with `- ` is a list of whole rules.
    -- before                       a file of the package; its path where it is not mod.py
    from a import b
    -- after                        what apply must write, byte for byte; a file without one must stay as it is
    from a import z

Instead of `-- after`: a verdict (`-- drifted`), or `-- error` for a rule file that must be refused (exit 3). The lines below
are words that the message must hold. Nothing of the tree may change then.

More sections: `-- patch` (keys of patch.yaml, YAML), `-- version 1.5rc1` (of the package),
`-- known what is wrong`: a fault that is still there; the case is run, and must fail.
Behind a path may stand: crlf (lines end so), latin-1, bom, bare (no newline at the end), escapes (\\t, \\x0c ... are read).
"""

import dataclasses
import pathlib
import re

VERDICTS = ("absent", "outdated", "applied", "partial", "out-of-range", "conflicting", "superseded", "blocked", "ambiguous",
            "foreign-edit", "drifted")
FLAGS = ("crlf", "latin-1", "bom", "bare", "escapes")


@dataclasses.dataclass
class Case:
    kind: str  # the file's stem
    name: str
    rule: str = ""
    patch: str = ""
    version: str = "1.0"
    before: dict = dataclasses.field(default_factory=dict)  # path -> bytes
    after: dict = dataclasses.field(default_factory=dict)
    verdict: str = ""  # of a refusal; "error": the rule file is wrong
    says: list = dataclasses.field(default_factory=list)
    known: str = ""

    @property
    def edits(self):
        return not self.verdict

    def rules_file(self):
        """The text of the rule file."""
        if self.rule.startswith("- "):
            return "file: mod.py\nrules:\n" + _indented(self.rule, "  ")
        keys = self.rule
        defaults = {"id": "the-rule", "file": "mod.py", "expect": "1"}
        for key, value in defaults.items():
            if not re.search(rf"^{key}:", keys, re.MULTILINE):
                keys = f"{key}: {value}\n{keys}"
        return "rules:\n  - " + _indented(keys, "    ").lstrip()

    def patch_file(self):
        ids = re.findall(r"^(?:- )?(?:  )?id: (\S+)", self.rule, re.MULTILINE) or ["the-rule"]
        keys = "" if re.search("^package:", self.patch, re.MULTILINE) else "package: {name: toypack}\n"
        return f"patch: the-patch\nsummary: A case\n{keys}{self.patch}rules: [{', '.join(ids)}]\n"


def _indented(text, blanks):
    return "".join(blanks + line if line.strip() else line for line in text.splitlines(keepends=True))


def _bytes(lines, flags):
    text = "".join(line + "\n" for line in lines)
    if "bare" in flags:
        text = text.removesuffix("\n")
    if "escapes" in flags:
        text = re.sub(r"\\(?:[tnrf\\]|x[0-9a-f]{2}|u[0-9a-f]{4})",
                      lambda m: m.group().encode().decode("unicode_escape"), text)
    if "crlf" in flags:
        text = text.replace("\n", "\r\n")
    return (b"\xef\xbb\xbf" if "bom" in flags else b"") + text.encode("latin-1" if "latin-1" in flags else "utf-8")


def _take(case, word, rest, lines):
    """One section of a case."""
    if word in ("before", "after"):
        flags = [flag for flag in rest if flag in FLAGS]
        path = next((name for name in rest if name not in FLAGS), "mod.py")
        while lines and not lines[-1]:
            lines = lines[:-1]  # an empty line in front of the next case is no part of the file
        getattr(case, word)[path] = _bytes(lines, flags)
    elif word == "patch":
        case.patch = "".join(line + "\n" for line in lines if line)
    elif word == "version":
        case.version = rest[0]
    elif word == "known":
        case.known = " ".join(rest)
    elif word == "error" or word in VERDICTS:
        case.verdict = word
        case.says = [line for line in lines if line]
    else:
        raise ValueError(f"{case.kind}: {case.name}: no section is called {word!r}")


def _case(kind, lines):
    case = Case(kind, lines[0].removeprefix("== ").strip())
    section, body = None, []
    for line in [*lines[1:], "-- end"]:
        if not line.startswith("-- "):
            body.append(line)
            continue
        if section is None:
            case.rule = "".join(text + "\n" for text in body if text)
        else:
            _take(case, section[0], section[1:], body)
        section, body = line[3:].split(), []
    wrong = not case.rule or (not case.before and case.verdict != "error") or bool(case.after) == bool(case.verdict)
    if wrong:
        raise ValueError(f"{kind}: {case.name}: needs a rule, a `before`, and `after` or a verdict")
    return case


def read(path):
    """(the kind in a sentence, its cases)"""
    lines = pathlib.Path(path).read_text().split("\n")
    starts = [i for i, line in enumerate(lines) if line.startswith("== ")]
    kind = " ".join(" ".join(lines[:starts[0]]).split())
    stem = pathlib.Path(path).stem
    cases = [_case(stem, lines[begin:end]) for begin, end in zip(starts, [*starts[1:], len(lines)])]
    names = [case.name for case in cases]
    twice = {name for name in names if names.count(name) > 1}
    if twice:
        raise ValueError(f"{stem}: cases of one name: {', '.join(twice)}")
    return kind, cases


def read_all(folder=pathlib.Path(__file__).resolve().parent):
    """{stem: (kind, cases)} in order."""
    return {path.stem: read(path) for path in sorted(folder.glob("*.cases"))}
