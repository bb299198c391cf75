from astq import *
PKG, LINES = "uvicorn", (0, 4)
FILES = "protocols/http/h11_impl.py", "protocols/http/httptools_impl.py"


def trial(t, r):
    for f in find(t.ast(r), "RequestResponseCycle.run_asgi"):
        for s in f.body:
            if isinstance(s, ast.Try):
                return s


def state(t):
    return "applicable " + " ".join("%s:%d" % (r, trial(t, r).lineno) for r in FILES)


def files(o):
    return sorted(FILES)


def is_new(h):
    return h.type is not None and dotted(h.type) == "asyncio.CancelledError"


def check(t):
    for r in FILES:
        hs = trial(t, r).handlers
        new = [h for h in hs if is_new(h)]
        if len(new) != 1:
            yield "%s: %d handlers of CancelledError" % (r, len(new))
        elif not same_stmt(new[0].body[0], "self.transport.close()") or len(new[0].body) != 1:
            yield "%s: the handler does something else" % r
        elif hs.index(new[0]) and any(catches(h, "BaseException") for h in hs[:hs.index(new[0])]):
            yield "%s: the handler is never reached" % r
        if not any(isinstance(s, ast.Import) and s.names[0].name == "asyncio" for s in t.ast(r).body):
            yield "%s does not import asyncio" % r


def against(o, t):
    for r in FILES:
        tree = t.ast(r)
        s = trial(t, r)
        s.handlers = [h for h in s.handlers if not is_new(h)]
        if ast.dump(tree) != ast.dump(o.ast(r)):
            yield "%s differs in more than the handler" % r
