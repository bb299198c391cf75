#!/usr/bin/env python3
"""Random rules over a file of ours, with Python's `ast` for a judge.

Each case takes a piece of tests/properties/corpus, makes a pattern of it (sub-expressions become metavariables), gives
it an edit, and lays the file out in some way (CRLF, BOM, tabs, no newline at the end). Where `apply` ends with 0: the
tree of the result is the one computed here by hand, every comment is still there, line ends and BOM are kept, a second
run, with and without a receipt, changes no byte, `git apply` of the diff gives the same file, and revert gives back the
first one. Where it refuses (3 or 4), nothing is written, and the message is one of REFUSALS.

The seed is fixed, so that a failure comes again: `edits_property_test.py --seed N` runs one case and shows its diff.
"""

import argparse
import ast
import collections
import copy
import io
import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import tokenize

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import driver  # noqa: E402

CORPUS = pathlib.Path(__file__).resolve().parent / "corpus" / "orders.py"
CASES = 120
# What a rule made at random may meet: another count by suture's reading than by that of ast (a bare tuple, a name that
# is no expression, an annotation), a result that cannot be told from the old code, a comment in code that goes.
REFUSALS = ("drifted", "call a result", "a comment stands", "syntax error", "is not valid Python", "for its result")
# Faults that are known and not mended yet: they are told, and fail nothing. {fault: whether the case is of that kind}
KNOWN = {
    # `comments: keep` moves a comment with the first half of its CRLF, and writes "\r\r\n".
    "another line end": lambda rule, data: "comments" in rule and b"\r\n" in data,
}
EXPRESSIONS = [
    "float($M)", "-$M", "not $M", "$M.attr", "$M[0]", "$M ** 2", "2 ** $M", "$M if c else d", "a if $M else d",
    "lambda: $M", "f(*$M)", "[$M]", "($M, 1)", "{'k': $M}", "1 - $M", "z and $M", "$M in z", "f(k=$M)", "x[$M:]", "~$M",
    "$M | 1", "[q for q in z if $M]",
]  # fmt: skip
BLOCKS = [
    "if zz:\n    $M", "with zz() as zy:\n    $M", "try:\n    $M\nexcept ZZ:\n    pass", "zz()\n$M\nzy()",
    "for zz in zy:\n    if zz:\n        $M",
]  # fmt: skip
STATEMENTS = ["zz()", "if zz:\n    zz()", "zz = 1\nzy = 2"]


class Skip(Exception):
    """This draw makes no case."""


def parse(source):
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if hasattr(node, "ctx"):
            node.is_target, node.ctx = not isinstance(node.ctx, ast.Load), ast.Load()
    return tree


def fill(template, node):
    """The tree of `template` with `node`, an expression or statements, in the place of $M."""

    class Fill(ast.NodeTransformer):
        def visit_Expr(self, found):
            if isinstance(node, list) and isinstance(found.value, ast.Name) and found.value.id == "hole_M":
                return node
            return self.generic_visit(found)

        def visit_Name(self, found):
            return copy.deepcopy(node) if found.id == "hole_M" else found

    return Fill().visit(parse(template.replace("$M", "hole_M")))


def expression(template, node):
    return fill(f"({template}\n)", node).body[0].value


class File:
    """The text of a case with its tree; spans are byte offsets, as those of ast are."""

    def __init__(self, text):
        self.text, self.bytes, self.tree = text, text.encode(), parse(text)
        self.starts = [0]
        for line in self.bytes.split(b"\n"):
            self.starts.append(self.starts[-1] + len(line) + 1)

    def span(self, node):
        return self.starts[node.lineno - 1] + node.col_offset, self.starts[node.end_lineno - 1] + node.end_col_offset

    def pattern(self, node, draw):
        """(pattern, names): the text of the node, up to three of its sub-expressions as metavariables."""
        first, last = self.span(node)
        holes, names = [], {}
        for part in draw.sample(holdable(node), k=min(len(holdable(node)), draw.randint(0, 3))):
            begin, end = self.span(part)
            if all(end <= other[0] or other[1] <= begin for other in holes):
                holes.append((begin, end, names.setdefault(ast.dump(part), f"$X{len(names)}")))
        text, at = b"", first
        for begin, end, name in sorted(holes):
            text, at = text + self.bytes[at:begin] + name.encode(), end
        lines = (text + self.bytes[at:last]).decode().split("\n")
        indent = node.col_offset
        return "\n".join([lines[0]] + [x[indent:] if not x[:indent].strip() else x.lstrip() for x in lines[1:]])


def inner(node, kinds):
    """The nodes below, none within an f-string: their positions are not to be had in every version of Python."""
    found = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, kinds):
            found.append(child)
        if not isinstance(child, ast.JoinedStr):
            found += inner(child, kinds)
    return found


def holdable(node):
    """The expressions that may become metavariables: none that is written without a node of its own in the grammar."""
    bad = {id(x) for n in ast.walk(node) for x in ast.walk(getattr(n, "annotation", None) or ast.Pass())}
    bad |= {id(x) for n in ast.walk(node) if isinstance(n, (ast.pattern, ast.withitem, ast.ExceptHandler, ast.arguments))
            for x in ast.walk(n)}  # fmt: skip
    found = [x for x in inner(node, ast.expr) if id(x) not in bad and not x.__dict__.get("is_target")]
    return [x for x in found if not isinstance(x, (ast.Starred, ast.Slice, ast.Tuple, ast.GeneratorExp, ast.JoinedStr))]


def matches(pattern, node, bound):
    """Whether the tree of a pattern fits the node, metavariables (names hole_...) as suture takes them."""
    if isinstance(pattern, ast.Name) and pattern.id.startswith("hole_") and isinstance(node, ast.expr):
        return bound.setdefault(pattern.id, ast.dump(node)) == ast.dump(node)
    if isinstance(pattern, list):
        same = isinstance(node, list) and len(node) == len(pattern)
        return same and all(matches(a, b, bound) for a, b in zip(pattern, node))
    if not isinstance(pattern, ast.AST):
        return pattern == node and type(pattern) is type(node)
    return type(pattern) is type(node) and all(
        matches(getattr(pattern, x, None), getattr(node, x, None), bound) for x in pattern._fields if x != "kind"
    )


def unique(file, node, pattern, kind):
    """Holds the draw to patterns that ast finds exactly once in the file, so that the edit is the one meant."""
    try:
        tree = parse(re.sub(r"\$(\w+)", r"hole_\1", f"({pattern}\n)" if kind is ast.expr else pattern)).body[0]
    except SyntaxError:
        raise Skip from None
    wanted = tree.value if kind is ast.expr or isinstance(tree, ast.Expr) else tree
    if isinstance(wanted, (ast.Name, ast.Tuple)):
        raise Skip
    if sum(matches(wanted, x, {}) for x in ast.walk(file.tree)) != 1:
        raise Skip


def change(tree, node, edit):
    """The tree with edit(node), a node or statements, in the place of the node."""

    class Change(ast.NodeTransformer):
        def visit(self, found):
            return edit(found) if found is node else self.generic_visit(found)

    return Change().visit(tree)


def expression_case(draw, file):
    node = draw.choice(inner(file.tree, (ast.Call, ast.BinOp, ast.Attribute, ast.Subscript, ast.Compare)))
    pattern = file.pattern(node, draw)
    unique(file, node, pattern, ast.expr)
    if getattr(node, "is_target", False):
        raise Skip
    if isinstance(node, ast.Call) and draw.random() < 0.3:
        new = draw.choice(["zz=True", "zz=a if b else c"])
        keyword = ast.parse(f"f({new})").body[0].value.keywords[0]

        def add(found):
            found.keywords.append(keyword)
            return found

        return {"match": pattern, "add_argument": new}, change(file.tree, node, add)
    around = draw.choice(EXPRESSIONS)
    if any(ast.dump(x) == ast.dump(expression(around, node)) for x in ast.walk(file.tree)):
        raise Skip  # the file has such a result already
    rule = {"match": pattern, "wrap": around.replace("$M", "$MATCH")}
    return rule, change(file.tree, node, lambda found: expression(around, found))


def statement_case(draw, file):
    kinds = (ast.Expr, ast.Assign, ast.AugAssign, ast.If, ast.For, ast.Try, ast.Raise, ast.Return, ast.With)
    node = draw.choice(inner(file.tree, kinds))
    if file.bytes[file.starts[node.lineno - 1] : file.span(node)[0]].strip() or b"'''" in file.bytes[slice(*file.span(node))]:
        raise Skip
    pattern = file.pattern(node, draw)
    unique(file, node, pattern, ast.stmt)
    kind = draw.choice(["wrap", "insert_before", "insert_after", "replace"])
    if kind == "wrap":
        around = draw.choice(BLOCKS)
        rule = {"match": pattern, "wrap": around.replace("$M", "$MATCH")}
        return rule, change(file.tree, node, lambda found: fill(around, [found]).body)
    if kind == "replace":
        around = draw.choice(BLOCKS[:2])
        rule = {"match": pattern, "replace": around.replace("$M", textwrap.indent(pattern, "    ").lstrip()), "comments": "keep"}
        return rule, change(file.tree, node, lambda found: fill(around, [found]).body)
    new = draw.choice(STATEMENTS)
    both = (lambda found: [*parse(new).body, found]) if kind == "insert_before" else (lambda found: [found, *parse(new).body])
    return {"match": pattern, kind: new}, change(file.tree, node, both)


def definitions(tree, path=()):
    for node in ast.iter_child_nodes(tree):
        named = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        inside = (*path, node.name) if named else path
        if named:
            yield ".".join(inside), node
        yield from definitions(node, inside)


def definition_case(draw, file):
    name, node = draw.choice(list(definitions(file.tree)))
    kind = draw.choice(["prepend_body", "append_body", "add_decorator", "add_member", "insert_before", "insert_after"])
    new = {"add_decorator": "@zz(1)", "add_member": "def zz(self):\n    return 1"}.get(kind, draw.choice(STATEMENTS))
    if kind == "add_member" and not isinstance(node, ast.ClassDef):
        raise Skip
    added = [] if kind == "add_decorator" else parse(new).body

    def edit(found):
        if kind == "insert_before":
            return [*added, found]
        if kind == "insert_after":
            return [found, *added]
        if kind == "add_decorator":
            found.decorator_list.insert(0, parse("zz(1)").body[0].value)
        at = int(ast.get_docstring(found) is not None) if kind == "prepend_body" else len(found.body)
        found.body[at:at] = added
        return found

    return {"in": name, kind: new}, change(file.tree, node, edit)


def layout(draw, text):
    """(bytes, the text that has their positions): one of the ways in which the same code may be written down."""
    kind = draw.choice(["plain", "plain", "crlf", "bom", "tabs", "no newline", "crlf, bom"])
    if kind == "tabs":
        text = re.sub(r"(?m)^(?:    )+", lambda found: "\t" * (len(found.group()) // 4), text)
    if kind == "no newline":
        text = text.rstrip("\n")
    data = text.replace("\n", "\r\n") if "crlf" in kind else text
    return (b"\xef\xbb\xbf" if "bom" in kind else b"") + data.encode(), text


def comments(data):
    tokens = tokenize.tokenize(io.BytesIO(data).readline)
    return collections.Counter(x.string.rstrip() for x in tokens if x.type == tokenize.COMMENT)


class Tree:
    """A package of one file with the rule of a case beside it."""

    def __init__(self, folder, data, rule):
        self.folder, self.site, self.module = folder, folder / "site", folder / "site" / "toypkg" / "m.py"
        shutil.rmtree(folder, ignore_errors=True)
        for path, content in {
            "site/toypkg/__init__.py": "",
            "site/toypkg-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: toypkg\nVersion: 1.0\n",
            "rules/rules.yaml": json.dumps({"file": "m.py", "rules": [{"id": "only", "expect": 1, **rule}]}),
            "rules/patch.yaml": json.dumps({"patch": "p", "package": "toypkg", "rules": ["only"]}),
        }.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(content)
        self.module.write_bytes(data)

    def run(self, command):
        words = [driver.SUTURE, command, "p", "--rules-dir", self.folder / "rules", "--patches-dir", self.folder / "rules"]
        return subprocess.run([*words, "-t", self.site], capture_output=True, check=False)


def judge(before, after, wanted):
    """What is wrong with the result, but for what a second run would say."""
    try:
        if ast.dump(parse(after)) != ast.dump(parse(ast.unparse(ast.fix_missing_locations(wanted)))):
            yield "the code is not what the rule says"
    except SyntaxError as error:
        yield f"no Python: {error}"
        return
    if comments(before) - comments(after):
        yield f"lost comments: {dict(comments(before) - comments(after))}"
    if b"\r\n" in before and re.search(rb"(?<!\r)\n|\r\r", after) or b"\r" not in before and b"\r" in after:
        yield "another line end"
    if before.startswith(b"\xef\xbb\xbf") != after.startswith(b"\xef\xbb\xbf"):
        yield "another byte order mark"
    if before.endswith(b"\n") != after.endswith(b"\n"):
        yield "another end of the file"


def again(tree, before, after, diff):
    """What is wrong with the runs behind the first one."""
    for what in ("with its receipt", "without a receipt"):
        if tree.run("apply").returncode or tree.module.read_bytes() != after:
            yield f"a second apply {what} is not nothing to do"
        if what == "with its receipt":
            shutil.copytree(tree.module.parent / ".suture", tree.folder / "receipt")
            shutil.rmtree(tree.module.parent / ".suture")
    shutil.copytree(tree.folder / "receipt", tree.module.parent / ".suture")
    if tree.run("revert").returncode or tree.module.read_bytes() != before:
        yield "revert does not give the file back"
    words = ["git", "apply", "--whitespace=nowarn", "-p1", "-"]
    git = subprocess.run(words, input=diff, cwd=tree.site, capture_output=True, check=False) if shutil.which("git") else None
    if git and (git.returncode or tree.module.read_bytes() != after):
        yield f"git apply does something else: {git.stderr.decode()}"


def case(seed, folder, show):
    """(outcome, faults) of one case."""
    draw = random.Random(seed)
    data, text = layout(draw, CORPUS.read_text(encoding="utf-8"))
    make = draw.choice([expression_case] * 3 + [statement_case] * 3 + [definition_case])
    rule, wanted = make(draw, File(text))
    tree = Tree(folder, data, rule)
    diff = tree.run("diff").stdout
    run = tree.run("apply")
    after, message = tree.module.read_bytes(), run.stderr.decode(errors="replace")
    if show:
        print(json.dumps(rule, indent=2), message, diff.decode(errors="replace"), sep="\n")
    if run.returncode == 0 and after == data:
        return "nothing", ["exit 0 and nothing was written: " + message]
    if run.returncode == 0:
        faults = [*judge(data, after, wanted)] or [*again(tree, data, after, diff)]
        known = [x for x in faults if x in KNOWN and KNOWN[x](rule, data)]
        return "known" if known else "edited", [x for x in faults if x not in known]
    faults = [] if after == data else ["refused, and written"]
    if run.returncode not in (3, 4) or not any(x in message for x in REFUSALS):
        faults.append(f"exit {run.returncode}: {message}")
    return "refused", faults


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--seed", type=int, help="run this case alone")
    options.add_argument("--first", type=int, default=0, help="begin with this seed")
    options.add_argument("--cases", type=int, default=CASES)
    chosen = options.parse_args()
    seeds = [chosen.seed] if chosen.seed is not None else range(chosen.first, sys.maxsize)
    tally, failed = collections.Counter(), 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            try:
                outcome, faults = case(seed, pathlib.Path(folder) / "case", chosen.seed is not None)
            except Skip:
                continue
            tally[outcome] += 1
            for fault in faults:
                failed += 1
                print(f"FAILED: seed {seed}: {fault}")
            if sum(tally.values()) >= chosen.cases:
                break
    print(", ".join(f"{count} {what}" for what, count in sorted(tally.items())), f"{failed} faults", sep=": ")
    assert chosen.seed is not None or tally["edited"] >= chosen.cases // 2, "most cases must edit something"
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
