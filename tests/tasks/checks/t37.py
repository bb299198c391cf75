from astq import *
PKG, LINES = "outlines", (2, 1)
F = "models/__init__.py"
GONE = {"ExLlamaV2Model", "exl2"}


def state(t):
    return "applicable " + F if b".exllamav2" in t.text(F) else "superseded"


def files(o):
    return [F]


def check(t):
    tree = t.ast(F)
    for n in ast.walk(tree):
        if isinstance(n, ast.ImportFrom) and n.module == "exllamav2":
            yield "line %d imports it" % n.lineno
        if isinstance(n, ast.Name) and n.id in GONE:
            yield "line %d names %s" % (n.lineno, n.id)


def against(o, t):
    def rest(x):
        imports = [ast.dump(s) for s in x.ast(F).body if isinstance(s, ast.ImportFrom) and s.module != "exllamav2"]
        union = [n.id for s in x.ast(F).body if isinstance(s, ast.Assign) for n in ast.walk(s.value) if isinstance(n, ast.Name)]
        return imports, [n for n in union if n not in GONE]
    if rest(o) != rest(t):
        yield "something else changed"
