import copy
from astq import *
PKG, LINES = "sglang", (2, 2)
FILES = tuple("srt/model_executor/" + f for f in ("cuda_graph_runner.py", "piecewise_cuda_graph_runner.py", "runner/base_cuda_graph_runner.py"))


def helpers(t):
    return [(r, f) for r in FILES if t.has(r) for f in find(t.ast(r), "freeze_gc")]


def freezes(node):
    return [c for c in calls(node, "gc.freeze")]


def state(t):
    s = [(r, c.lineno) for r, f in helpers(t) for c in freezes(f)]
    return "applicable " + " ".join("%s:%d" % x for x in s) if s else "absent"


def files(o):
    return sorted({r for r, f in helpers(o) if freezes(f)})


def check(t):
    if not helpers(t):
        yield "no freeze_gc"
    for r, f in helpers(t):
        if freezes(f):
            yield "%s:%d still freezes" % (r, f.lineno)
        if not calls(f, "gc.collect") or not calls(f, "gc.unfreeze"):
            yield "%s: another call is lost" % r


class Without(ast.NodeTransformer):
    def visit_Expr(self, node):
        return ast.Pass() if freezes(node) else node


def against(o, t):
    for (r, f), (_, g) in zip(helpers(o), helpers(t)):
        if ast.dump(Without().visit(copy.deepcopy(f))) != ast.dump(g):
            yield "%s: freeze_gc differs in more than the call" % r
    for r in o.grep("gc.freeze()", "srt/utils"):
        if o.text(r) != t.text(r):
            yield "%s changed" % r
