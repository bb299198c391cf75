"""suture audit: what it lists, where names come from, formats, rules of one's own, files that cannot be read."""

import json
import os

import scenario
from scenario import driver

BACKEND = '''"""A backend of an invented server."""
from functools import partial

from flashinfer import BatchMLAPagedAttentionWrapper
from flashinfer.prefill import BatchPrefillWithRaggedKVCacheWrapper as Ragged
from flashinfer.decode import fast_plan
from toyserve.planner import Planner


class Updater:
    def __init__(self, runner):
        self.data_type = runner.dtype
        self.planner = Planner()
        self.chunks = []
        self.chunks.append(Ragged(runner.workspace))

    def update(self, wrapper: BatchMLAPagedAttentionWrapper, indptr, kv_indices, lens):
        wrapper.plan(
            indptr,  # of the queries
            indptr,
            kv_indices,
            lens,
            4, 512, 64, 1, False, 1.0,
            self.data_type,
            self.data_type,
        )
        self.chunks[0].begin_forward(indptr, indptr, 4, 4, 192, causal=True)
        self.planner.plan(lens)
        self.elsewhere.plan(lens)

    def wrong(self, wrapper: "BatchMLAPagedAttentionWrapper"):
        wrapper.plan(1, 2, kv_lens=3)


class Graphs:
    def capture(self, other):
        ragged = Ragged(None)
        ragged.begin_forward = partial(fast_plan, ragged)
        ragged.begin_forward(1, 2, unknown=3)


class Backend:
    def forward_decode(self, q, layer, wrapper):
        k = self.pool.get_key_buffer(layer).to(q.dtype)
        return wrapper.run(q, k)

    def forward_extend(self, q, layer, slots):
        k, v = self.pool.get_kv_buffer(layer)
        if self.fp8:
            k = k.to(q.dtype)
            v = v.view(-1, 8).float()
        rows = self.pool.get_key_buffer(layer)[slots].to(q.dtype)
        return self.run(q, k, v, rows)
'''

# Invented, but for the names that a caller passes.
WRAPPERS = '''class BatchMLAPagedAttentionWrapper:
    def __init__(self, buffer): pass

    def plan(self, qo_indptr, kv_indptr, kv_indices, kv_len_arr, heads, ckv, kpe, page_size, causal, sm_scale,
             q_data_type, kv_data_type, use_profiler=False):
        """Plans."""


class BatchPrefillWithRaggedKVCacheWrapper:
    def plan(self, qo_indptr, kv_indptr, num_qo_heads, num_kv_heads, head_dim_qk, head_dim_vo=None, *, causal=False): pass

    begin_forward = plan
'''


def package(s, **files):
    s.write("site/toyserve/__init__.py", "")
    s.write("site/toyserve/backend.py", BACKEND)
    for name, text in files.items():
        s.write(f"site/toyserve/{name}.py", text)


def flashinfer(s):
    s.write("site/flashinfer/__init__.py", "")
    s.write("site/flashinfer/wrappers.py", WRAPPERS)
    s.write("site/flashinfer_python-9.1.dist-info/METADATA", "Name: flashinfer-python\nVersion: 9.1\n")
    s.write("site/flashinfer_python-9.1.dist-info/RECORD", "flashinfer/__init__.py,,\nflashinfer/wrappers.py,,\n")


def audit(s, *options):
    with s.unchanged():
        s.run("audit", "-q", "-t", "site/toyserve", *options)


def document(s, *options):
    return json.loads(s.run_raw("audit", "-t", "site/toyserve", "--json", *options, shown=False).stdout)


def test_sites(s):
    """Plans with their arguments by name, casts, what is wasted; without FlashInfer suture's own table names them"""
    package(s)
    audit(s)
    s.say("one kind alone")
    audit(s, "--kind", "cast")
    assert "suture's own table" in document(s)["trees"][0]["audit"]["signatures"]


def test_installed_signature(s):
    """The installed FlashInfer's signature is read; a call that it does not take is named, unless the method is replaced"""
    package(s)
    flashinfer(s)
    audit(s, "--kind", "plan")
    assert document(s)["trees"][0]["audit"]["signatures"] == "flashinfer-python 9.1, installed here"
    s.say("it may lie elsewhere")
    os.rename(s.folder / "site" / "flashinfer", s.folder / "flashinfer")
    audit(s, "--kind", "plan", "--flashinfer", "flashinfer")


def test_own_rules(s):
    """Rules of one's own, with a kind or with an edit; a rule that is wrong; a kind that no rule finds"""
    package(s)
    s.write("own.yaml", "rules:\n  - id: runs\n    kind: run\n    level: warning\n    message: It runs\n    match: $W.run($$$)\n"
                        "  - id: extends\n    file: backend.py\n    in: Backend.forward_extend\n    expect: 1\n"
                        "    match: $X.float()\n    replace: $X.half()\n")
    audit(s, "--rules", "own.yaml")
    audit(s, "--rules", "own.yaml", "--kind", "rum")
    s.write("wrong.yaml", "rules:\n  - id: runs\n    kind: run\n    message: It runs\n    match: $W.run($$$\n")
    audit(s, "--rules", "wrong.yaml")
    s.write("wrong.yaml", "rules:\n  - id: runs\n    kind: run\n    match: f()\n")
    audit(s, "--rules", "wrong.yaml")
    audit(s, "--rules", "absent.yaml")


def test_unreadable(s):
    """What cannot be read or parsed is named, and the exit code says so"""
    package(s, latin="x = '\u00e4'\nx.plan()\n".encode("latin-1"), broken="def f(:\n    w.plan(1)\n")
    audit(s)
    s.write("site/toyserve/loop.py", "")
    (s.folder / "site/toyserve/loop.py").unlink()
    (s.folder / "site/toyserve/loop.py").symlink_to("nowhere.py")
    audit(s, "--kind", "cast")
    s.run("audit", "-q", "-t", "absent")


def test_usage(s):
    """Formats"""
    package(s)
    s.run("audit", "-t", "site/toyserve", "--format", "xml")
    s.run("audit", "-t", "site/toyserve", "--format", "sarif", "--json")
    same = s.run_raw("audit", "-t", "site/toyserve", "--format", "json", shown=False).stdout
    assert json.loads(same)["command"] == "audit"


def test_documents(s):
    """The JSON document fits its schema; every site has its place in characters and in bytes"""
    package(s, wide="# \u00e4\nx = '\u00e4\u00e4'; x.plan(1)\n")
    found = document(s)
    site = next(site for site in found["trees"][0]["audit"]["sites"] if site["path"] == "wide.py")
    assert (site["line"], site["column"], site["byte_column"], site["end_column"]) == (2, 11, 12, 20), site
    schema = json.loads((driver.SOURCE / "docs" / "json-schema" / "report.schema.json").read_text())
    try:
        import jsonschema
    except ImportError:
        raise scenario.Skipped("no jsonschema here") from None
    jsonschema.Draft202012Validator(schema).validate(found)


scenario.main(globals())
