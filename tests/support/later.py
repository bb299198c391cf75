"""What the schema and docs/rules.md speak of, and the loader of this version does not take yet. THE ONE PLACE: a branch
that teaches the loader one of these removes its line here. A case that meets one of these errors is listed as pending,
not run; once the loader takes it, it runs by itself, and the line that is left over here fails the schema test.

{what: (the words by which the loader refuses it, a rule or patch that shows it)}
"""

import re


def _edit(name, value, **more):
    rule = {"id": "probe", "match": "f($X)", "expect": 1, name: value, **more}
    rule = {key: each for key, each in rule.items() if each is not None}
    return rf"does not know the edit '{name}' yet", {"file": "a.py", "rules": [rule]}


def _condition(condition):
    return {"patch": "probe", "package": "toycache", "rules": ["base-rule"], "requires": [condition]}


LATER = {
    "delete": _edit("delete", True, applied="g()"),
    "wrap": _edit("wrap", "float($MATCH)"),
    "add_argument": _edit("add_argument", "exist_ok=True"),
    "add_element": _edit("add_element", "E", match="X = [$$$A]"),
    "set_key": _edit("set_key", {"key": "'k'", "value": "v"}),
    "add_branch": _edit("add_branch", "else:\n    pass"),
    "add_member": _edit("add_member", "def g(self): pass"),
    "add_decorator": _edit("add_decorator", "@d"),
    "remove_decorator": _edit("remove_decorator", "@d"),
    "remove_import": _edit("remove_import", "from a import b", match=None),
    "globs in file": (r"globs in '\w+' are not in this version yet", {"file": "srt/**/a.py", "rules": [
        {"id": "probe", "match": "f($X)", "replace": "g($X)", "expect": 1}]}),
    "class of a condition": ("finding a file by its 'class' is not in this version yet", _condition({"class": "C"})),
    "conditions on another package": ("conditions on another package are not in this version",
                                      _condition({"package": "othercache", "versions": ">=1"})),
    "runs of entries in a dict pattern": (
        r"the pattern is not valid Python\n[^\n]*\{\$\$\$", {"file": "a.py", "rules": [
            {"id": "probe", "match": "T = {$$$A, 'k': $V}", "replace": {"V": "w($V)"}, "expect": 1}]}),
}


def pending(error):
    """The name of what this error of the loader is about, if it is one of the above."""
    return next((name for name, (words, _) in LATER.items() if re.search(words, error)), None)
