from astq import *
PKG, LINES = "sglang", (3, 12)
DIRS = "srt/multimodal/processors", "srt/managers/multimodal_processors", "srt/managers/image_processors"


def imports(t):
    """(file, statement, what it stands in) of each import of decord that runs when a processor is imported."""
    for d in DIRS:
        for r in t.grep("decord", d):
            if t.has(r):
                tree = t.ast(r)
                p = parents(tree)
                for s in shallow(tree):
                    if isinstance(s, ast.ImportFrom) and s.module == "decord" and not any(isinstance(x, ast.If) for x in chain(p, s)):
                        yield r, s, p[s]


def state(t):
    if t.has("srt/utils/video_decoder.py"):
        return "superseded (decord is imported by the decoder)"
    return "applicable " + " ".join("%s:%d" % (r, s.lineno) for r, s, p in imports(t) if isinstance(p, ast.Module))


def files(o):
    return sorted({r for r, s, p in imports(o)})


def check(t):
    for r, s, p in imports(t):
        if not isinstance(p, ast.Try) or p.body != [s] or not any(catches(h) for h in p.handlers):
            yield "%s:%d is not guarded" % (r, s.lineno)
            continue
        bound = {dotted(x) for h in p.handlers for a in h.body if isinstance(a, ast.Assign) for x in a.targets}
        if "VideoReader" not in bound:
            yield "%s: VideoReader is not bound where decord is missing" % r


def against(o, t):
    names = lambda x: sorted((r, a.name) for r, s, p in imports(x) for a in s.names)
    if names(o) != names(t):
        yield "other names are imported"
    for r in files(o):
        # Without the guards the two modules are the same.
        tree = t.ast(r)
        for k, s in enumerate(tree.body):
            if isinstance(s, ast.Try) and any(isinstance(x, ast.ImportFrom) and x.module == "decord" for x in s.body):
                tree.body[k] = s.body[0]
        if ast.dump(tree) != ast.dump(o.ast(r)):
            yield "%s differs in more than the guard" % r
