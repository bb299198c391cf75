"""The ways through the FlashAttention backend that are run, unpatched and patched (paths.py tells what a path is).

The pages of a request are numbers, whole; all other rows of the pool are NaN, and before each replay so is what the
graphs' page tables name behind the live columns of a row.
"""

import torch

from fa3_server import Fa3DraftRunner
from paths import RAGGED, _named, two_graphs
from server import DTYPE

LONG = dict(rows=64 * 24, context=640, layers=1)  # of a server whose pages are 64 slots
RAGGED_64 = [7, 65, 130, 1, 64]


def _pages(page_size):
    return dict(page_size=page_size, **(LONG if page_size > 1 else {}))


def _lens(page_size):
    return RAGGED_64 if page_size > 1 else RAGGED


def eager_decode(make, page_size=1):
    server, results = make(**_pages(page_size)), []
    ragged = _lens(page_size)
    for turn, lens in enumerate(([9], ragged, ragged, [1], [16, 2, 40])):
        server.admit(lens)
        results += _named(f"step {turn}", server.eager(server.decode_batch()))
        server.check_attention("shadow")
    return results


def graph_decode(make, page_size=1):
    """Captured with length 1 at slot 0, replayed with other slots and lengths, with an eager step in between."""
    server, results = make(**_pages(page_size)), []
    ragged = _lens(page_size)
    server.admit(ragged)
    replay = server.capture(server.decode_batch())
    server.check_attention("shadow")
    for turn, lens in enumerate((ragged, [1] * 5, [63, 2, 9] if page_size > 1 else [30, 2, 9], ragged[::-1])):
        server.admit(lens)
        server.stale_columns(_unowned(server))
        results += _named(f"replay {turn}", replay(server.decode_batch()))
        server.admit([6, 25])
        results += _named(f"eager step after replay {turn}", server.eager(server.decode_batch()))
        server.admit(lens)
        server.stale_columns(_unowned(server))
        results += _named(f"replay {turn} again", replay(server.decode_batch()))
    return results


def _unowned(server):
    """A page that nobody owns: NaN."""
    owned = set((server._owned_rows() // server.page_size).tolist())
    return next(page for page in range(server.sizes.rows // server.page_size) if page not in owned)


def shared_prefix(make):
    """Requests that share a prefix name more rows than the pool has."""
    server, results = make(), []
    lens = [48] * 8
    assert sum(lens) > server.sizes.rows
    for turn in range(2):
        server.admit(lens, shared=40)
        results += _named(f"eager {turn}", server.eager(server.decode_batch()))
        server.admit([10, 11], shared=5)
        results += _named(f"few rows {turn}", server.eager(server.decode_batch()))
    server.admit(lens, shared=40)
    replay = server.capture(server.decode_batch())
    for turn in range(2):
        server.admit([48 - turn] * 8, shared=40)
        results += _named(f"replay {turn}", replay(server.decode_batch()))
    return results


def paged_extend(make, page_size=1):
    server, results = make(**_pages(page_size)), []
    ragged = [9, 33, 12, 20] if page_size == 1 else [9, 65, 130, 64]
    for turn, lens in enumerate(([9, 30], ragged, [16, 16])):
        server.admit(lens)
        results += _named(f"prefill {turn}", server.eager(server.extend_batch(4)))
        server.check_attention("shadow")
        results += _named(f"decode after prefill {turn}", server.eager(server.decode_batch()))
    return results


def equal_dtype(make):
    """A pool of the query's dtype: the very tensor, eager and in a graph."""
    server, results = make(kv_dtype=DTYPE), []
    for turn in range(2):
        server.admit(RAGGED)
        results += _named(f"step {turn}", server.eager(server.decode_batch()))
        server.check_attention("pool")
        results += _named(f"prefill {turn}", server.eager(server.extend_batch(1)))
        server.check_attention("pool")
    replay = server.capture(server.decode_batch())
    server.admit([8, 8, 3])
    results += _named("replay", replay(server.decode_batch()))
    server.check_attention("pool")
    return results


def e5m2(make):
    server, results = make(kv_dtype=torch.float8_e5m2), []
    server.admit(RAGGED)
    results += _named("step", server.eager(server.decode_batch()))
    replay = server.capture(server.decode_batch())
    server.admit([8, 8, 3])
    results += _named("replay", replay(server.decode_batch()))
    return results


# --- speculative decoding --------------------------------------------------------------------------------------------


def verify(make, page_size=1, topk=1):
    drafted = 4
    server, results = make(topk=topk, draft_tokens=drafted, **_pages(page_size)), []
    far = [60, 61, 130] if page_size > 1 else [20, 1, 7]
    for turn, lens in enumerate(([9, 4], far, [3, 3])):
        server.admit(lens, room=drafted)
        results += _named(f"eager verify {turn}", server.eager(server.verify_batch(drafted)))
        server.check_attention("shadow")
    server.admit([5, 5, 5, 5], room=drafted)
    replay = server.capture(server.verify_batch(drafted))
    for turn, lens in enumerate((far + [8], [1, 1, 1, 1], [17, 6, 2, 2])):
        server.admit(lens, room=drafted)
        server.stale_columns(_unowned(server))
        results += _named(f"replayed verify {turn}", replay(server.verify_batch(drafted)))
        results += _named(f"decode after verify {turn}", server.eager(server.decode_batch()))
    return results


def tree_verify(make):
    return verify(make, topk=2)


def draft(make, page_size=1, topk=1):
    server, results = make(topk=topk, draft_tokens=4, **_pages(page_size)), []
    runner = Fa3DraftRunner(server, topk)
    far = [66, 64, 7] if page_size > 1 else [20, 1, 7]
    for turn, lens in enumerate(([9, 4], far, [3, 3])):
        runner.admit(lens)
        results += _named(f"eager draft {turn}", runner.eager())
        server.check_attention("shadow")
    runner.admit([5, 5, 5])
    runner.capture()
    for turn, lens in enumerate((far, [1, 1, 1], [17, 6, 2])):
        runner.admit(lens)
        server.stale_columns(_unowned(server))
        results += _named(f"replayed draft {turn}", runner.replay())
    return results


def tree_draft(make, page_size=1):
    return draft(make, page_size, topk=2)


# --- left as it was --------------------------------------------------------------------------------------------------


def _left_alone(make, **how):
    server, results = make(**how), []
    for turn in range(2):
        server.admit(RAGGED)
        results += _named(f"step {turn}", server.eager(server.decode_batch()))
        server.check_attention(server.sizes.rows)
        results += _named(f"prefill {turn}", server.eager(server.extend_batch(1)))
        server.check_attention(server.sizes.rows)
    if server.patch and server.kv_cast._shadows:
        raise AssertionError("a shadow was made though the cast is left as it was")
    return results


def switched_off(make):
    """SUTURE_KV_CAST=off: the whole cast as before."""
    return _left_alone(make, environment={"SUTURE_KV_CAST": "off"})


def context_parallel(make):
    """A server with context parallelism: the whole cast as before."""
    return _left_alone(make, attributes={"attn_cp_size": 2})


def flash_attention_4(make):
    """FlashAttention 4: the whole cast as before. Extend asserts version 3 in some releases: decode alone."""
    server, results = make(attributes={"fa_impl_ver": 4}), []
    server.admit(RAGGED)
    results += _named("step", server.eager(server.decode_batch()))
    server.check_attention(server.sizes.rows)
    return results


PATHS = {
    "eager decode": eager_decode,
    "graph decode, eager steps between": graph_decode,
    "two graphs, three layers": two_graphs,
    "more rows named than the pool has": shared_prefix,
    "paged extend": paged_extend,
    "pool of the query's dtype": equal_dtype,
    "e5m2 pool": e5m2,
    "target verify": verify,
    "draft": draft,
    "target verify, topk 2": tree_verify,
    "draft, topk 2": tree_draft,
    "pages of 64, eager decode": lambda make: eager_decode(make, 64),
    "pages of 64, graph decode": lambda make: graph_decode(make, 64),
    "pages of 64, paged extend": lambda make: paged_extend(make, 64),
    "pages of 64, target verify": lambda make: verify(make, 64),
    "pages of 64, draft": lambda make: draft(make, 64),
    "pages of 64, draft, topk 2": lambda make: tree_draft(make, 64),
    "switched off": switched_off,
    "context parallelism": context_parallel,
    "FlashAttention 4": flash_attention_4,
}


def runnable(source):
    """The paths that the backend file with this text has."""
    names = list(PATHS)
    if "last_page_lens" not in source:
        names.remove("pages of 64, draft, topk 2")
    if "fa_impl_ver" not in source or "Only FA3 support decoding" in source:
        names.remove("FlashAttention 4")
    return names
