from astq import *
PKG, LINES = "sglang", (4, 0)
FILES = "srt/layers/attention/dsa/dsa_indexer.py", "srt/layers/attention/nsa/nsa_indexer.py"


def methods(t):
    for r in FILES:
        if t.has(r):
            for c in find(t.ast(r), "Indexer"):
                for f in c.body:
                    if isinstance(f, FN):
                        yield r, f


def compiled(f):
    return [d for d in f.decorator_list if "torch.compile" in ast.unparse(d)]


def state(t):
    s = [(r, d) for r, f in methods(t) for d in compiled(f)]
    if any(not isinstance(d, ast.Call) for r, d in s):
        return "compiled by a condition: refuse"
    return "applicable " + " ".join("%s:%d" % (r, d.lineno) for r, d in s) if s else "absent"


def files(o):
    return sorted({r for r, f in methods(o) if compiled(f)})


def check(t):
    for r, f in methods(t):
        if compiled(f):
            yield "%s:%d %s still compiled" % (r, f.lineno, f.name)


def against(o, t):
    def all_of(x):
        return [(f.name, ast.dump(f.args), [ast.dump(s) for s in f.body],
                 [ast.dump(d) for d in f.decorator_list if d not in compiled(f)]) for r, f in methods(x)]
    if all_of(o) != all_of(t):
        yield "methods differ in more than the decorator"
