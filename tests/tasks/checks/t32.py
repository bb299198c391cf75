from astq import *
PKG, LINES = "sglang", (0, 14)
F = "srt/models/jet_nemotron.py"
CLASSES = "JetNemotronAttention", "JetNemotronDecoderLayer"


def match_of(t, name):
    for f in find(t.ast(F), name + ".__init__"):
        for s in ast.walk(f):
            if isinstance(s, ast.Match):
                return s


def values(case):
    return [n.value.value for n in ast.walk(case.pattern) if isinstance(n, ast.MatchValue) and isinstance(n.value, ast.Constant)]


def state(t):
    if not t.has(F):
        return "absent"
    return "applicable " + " ".join("%s:%d" % (F, match_of(t, c).lineno) for c in CLASSES)


def files(o):
    return [F]


def check(t):
    for c, first in (("JetNemotronAttention", "attn"), ("JetNemotronDecoderLayer", "attn")):
        m = match_of(t, c)
        full = [k for k in m.cases if "full" in values(k)]
        if len(full) != 1:
            yield "%s has %d cases of \"full\"" % (c, len(full))
            continue
        attn = [k for k in m.cases if first in values(k)][0]
        if [ast.dump(s) for s in full[0].body][:1] != [ast.dump(s) for s in attn.body][:1]:
            yield "%s: \"full\" is not done as \"attn\" is" % c
        if m.cases.index(full[0]) == len(m.cases) - 1:
            yield "%s: \"full\" stands behind the wildcard" % c


def against(o, t):
    for c in CLASSES:
        left = [k for k in match_of(t, c).cases if "full" not in values(k)]
        if [ast.dump(k) for k in left] != [ast.dump(k) for k in match_of(o, c).cases]:
            yield "%s: another case changed" % c
    if b'\n            case "full":\n' not in t.text(F) and b'\n        case "full":\n' not in t.text(F):
        yield "the case is not indented as its siblings"
    for k, line in enumerate(t.text(F).split(b"\n")):
        if line.strip() == b'case "full":' and t.text(F).split(b"\n")[k - 1].strip():
            yield "no blank line above the case, as its siblings have"
