#!/usr/bin/env python3
"""What `suture audit` is held to: call sites found with Python's own `ast`. Read-only; standard library only (Python >= 3.8).

  audit_oracle.py TREE            (TREE is the package folder, .../sglang) every call whose callee's last name is
                                  `plan` or `begin_forward`
  audit_oracle.py --casts TREE    every call  X.get_*_buffer(...).to(...)
                                  (the receiver of .to is *directly* such a call)

Output: TSV on stdout, one call a line, sorted by (relpath, line, col):
  relpath:line:col  end_line  class.function  callee  nargs  kwarg-names
* line and end_line are 1-based (end_line is the last line of the call
  expression); col is the 0-based UTF-8 byte column of the
  call expression's first character, which is what tree-sitter's start_point
  gives.  A UTF-8 BOM counts for nothing (it is stripped before parsing).
* class.function is the dotted path of the enclosing classes and functions
  (methods, nested functions); lambdas and comprehensions do not add a
  component; "<module>" at top level.  A call in a decorator or a default
  value belongs to the scope that encloses the definition.
* callee is ast.unparse of the callee expression with white space folded
  (fallback for 3.8: the source text folded).
* nargs counts positional arguments; a starred one is counted and makes the
  field "N*".  kwarg-names: comma separated, in source order; "**" for **x.
Summary (files, calls, files that do not parse) goes to stderr.
"""
import ast
import io
import os
import re
import sys
import tokenize

NAMES = {"plan", "begin_forward"}
GETTER = re.compile(r"get_\w*_?buffer\Z")


def last_name(func):
    if isinstance(func, ast.Attribute):
        return func.attr
    if isinstance(func, ast.Name):
        return func.id
    return None


def fold(s):
    return re.sub(r"\s+", " ", s).strip()


def text(node, src):
    try:
        return fold(ast.unparse(node))
    except AttributeError:  # Python 3.8
        return fold(ast.get_source_segment(src, node) or "?")


class Finder(ast.NodeVisitor):
    def __init__(self, want, src):
        self.want, self.src, self.stack, self.out = want, src, [], []

    def _scoped(self, node, outer):
        for n in outer:  # evaluated outside the new scope
            self.visit(n)
        self.stack.append(node.name)
        for n in node.body:
            self.visit(n)
        self.stack.pop()

    def _func(self, node):
        a = node.args
        outer = list(node.decorator_list)
        outer += [d for d in list(a.defaults) + list(a.kw_defaults) if d is not None]
        allargs = list(getattr(a, "posonlyargs", [])) + list(a.args) + list(a.kwonlyargs)
        allargs += [x for x in (a.vararg, a.kwarg) if x is not None]
        outer += [x.annotation for x in allargs if x.annotation is not None]
        if node.returns is not None:
            outer.append(node.returns)
        self._scoped(node, outer)

    visit_FunctionDef = _func
    visit_AsyncFunctionDef = _func

    def visit_ClassDef(self, node):
        self._scoped(node, list(node.decorator_list) + list(node.bases) + [k.value for k in node.keywords])

    def visit_Call(self, node):
        if self.want(node):
            nargs = len(node.args)
            star = "*" if any(isinstance(x, ast.Starred) for x in node.args) else ""
            kws = ",".join("**" if k.arg is None else k.arg for k in node.keywords)
            self.out.append(
                (
                    node.lineno,
                    node.col_offset,
                    node.end_lineno,
                    ".".join(self.stack) or "<module>",
                    text(node.func, self.src),
                    "%d%s" % (nargs, star),
                    kws,
                )
            )
        self.generic_visit(node)


def is_plan(call):
    return last_name(call.func) in NAMES


def is_cast(call):
    f = call.func
    if not (isinstance(f, ast.Attribute) and f.attr == "to"):
        return False
    inner = f.value
    return isinstance(inner, ast.Call) and GETTER.match(last_name(inner.func) or "") is not None


def read_source(path):
    with open(path, "rb") as fh:
        raw = fh.read()
    enc, _ = tokenize.detect_encoding(io.BytesIO(raw).readline)
    return raw.decode(enc)  # "utf-8-sig" for a BOM file


def may_hold(path):
    """Whether a name that is looked for can stand in the file: parsing the others takes most of the time. (Text that is not ASCII is
    always parsed: Python folds some of its letters to others.)"""
    with open(path, "rb") as fh:
        raw = fh.read()
    return not raw.isascii() or any(word in raw for word in (b"plan", b"begin_forward", b"buffer"))


def main(argv):
    casts = "--casts" in argv
    rest = [a for a in argv if a != "--casts"]
    if len(rest) != 1 or not os.path.isdir(rest[0]):
        sys.stderr.write(__doc__)
        return 2
    tree = os.path.abspath(rest[0])
    want = is_cast if casts else is_plan
    rows, nfiles, bad = [], 0, []
    for dirpath, dirs, files in os.walk(tree):
        dirs[:] = sorted(d for d in dirs if d != "__pycache__")
        for name in sorted(files):
            if not name.endswith(".py"):
                continue
            path = os.path.join(dirpath, name)
            rel = os.path.relpath(path, tree).replace(os.sep, "/")
            nfiles += 1
            try:
                if not may_hold(path):
                    continue
                src = read_source(path)
                mod = ast.parse(src, filename=rel)
            except (SyntaxError, UnicodeDecodeError, ValueError) as e:
                bad.append((rel, str(e)))
                continue
            f = Finder(want, src)
            f.visit(mod)
            rows += [(rel,) + r for r in f.out]
    rows.sort(key=lambda r: (r[0], r[1], r[2], r[3]))
    for rel, line, col, end, scope, callee, nargs, kws in rows:
        sys.stdout.write("%s:%d:%d\t%d\t%s\t%s\t%s\t%s\n" % (rel, line, col, end, scope, callee, nargs, kws))
    sys.stderr.write("files\t%d\ncalls\t%d\nunparsable\t%d\n" % (nfiles, len(rows), len(bad)))
    for rel, e in bad:
        sys.stderr.write("  %s\t%s\n" % (rel, e))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
