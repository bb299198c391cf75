from astq import *
PKG, LINES = "sglang", (1, 3)
N = "srt/parser/reasoning_parser_names.py"


def parser(t):
    return t.first("srt/parser/reasoning_parser.py", "srt/reasoning_parser.py")


def table(t):
    for c in find(t.ast(parser(t)), "ReasoningParser"):
        for s in c.body:
            if isinstance(s, ast.AnnAssign) and dotted(s.target) == "DetectorMap":
                return s.value


def names(t):
    for s in t.ast(N).body if t.has(N) else []:
        if isinstance(s, ast.Assign) and dotted(s.targets[0]) == "REASONING_PARSER_NAMES":
            return s.value
    return None


def entries(d):
    return [(ast.unparse(k), ast.unparse(v)) for k, v in zip(d.keys, d.values)]


def state(t):
    return "applicable %s:%d" % (parser(t), table(t).lineno) + (" %s:%d" % (N, names(t).lineno) if names(t) else "")


def files(o):
    return sorted([parser(o)] + ([N] if names(o) else []))


def check(t):
    if entries(table(t)).count(("'acme-r1'", "DeepSeekR1Detector")) != 1:
        yield "the table does not have acme-r1 once"
    if names(t) is not None and [x.value for x in names(t).elts].count("acme-r1") != 1:
        yield "the list does not have acme-r1 once"


def against(o, t):
    if [e for e in entries(table(t)) if e[0] != "'acme-r1'"] != entries(table(o)):
        yield "another entry changed"
    if names(o) is not None and [x.value for x in names(t).elts if x.value != "acme-r1"] != [x.value for x in names(o).elts]:
        yield "another name changed"
