from astq import *
PKG, LINES = "sglang", (1, 1)
F = "srt/model_loader/weight_utils.py"


def loops(t):
    return [(f.name, s) for f in t.ast(F).body if isinstance(f, FN) for s in ast.walk(f)
            if isinstance(s, ast.For) and isinstance(s.iter, ast.Call) and dotted(s.iter.func) == "tqdm"]


def state(t):
    return "applicable " + " ".join("%s:%d" % (F, s.lineno) for n, s in loops(t) if n == "safetensors_weights_iterator")


def files(o):
    return [F]


def check(t):
    mine = [s for n, s in loops(t) if n == "safetensors_weights_iterator"]
    if len(mine) != 1:
        yield "%d loops" % len(mine)
    for s in mine:
        if not same(s.iter.args[0], "sorted(hf_weights_files)"):
            yield "loops over " + ast.unparse(s.iter.args[0])


def against(o, t):
    for (n, a), (_, b) in zip(loops(o), loops(t)):
        if n != "safetensors_weights_iterator" and ast.dump(a) != ast.dump(b):
            yield "the loop of %s changed" % n
        if n == "safetensors_weights_iterator":
            if [ast.dump(x) for x in a.body] != [ast.dump(x) for x in b.body] or ast.dump(a.target) != ast.dump(b.target):
                yield "the loop's body changed"
            if [ast.dump(k) for k in a.iter.keywords] != [ast.dump(k) for k in b.iter.keywords]:
                yield "the keywords changed"
