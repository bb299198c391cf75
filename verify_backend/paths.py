"""The ways through the backend that are run, unpatched and patched. Each path is a function of a server maker that
returns a list of (what, tensor); the two sides must give the same bits. `check_keys` looks, on the patched side only,
at what attention was handed, so that a patch that quietly casts the whole pool does not pass."""

import torch

import stand_ins
from graphs import DraftRunner
from server import DTYPE
from stand_ins import SpecInputType

RAGGED = [7, 1, 33, 12, 20]


def _named(what, outs):
    return [(f"{what}, output {i}", out) for i, out in enumerate(outs)]


def eager_decode(make, **how):
    server, results = make(**how), []
    for turn, lens in enumerate(([9], RAGGED, RAGGED, [1], [16, 2, 40])):
        server.admit(lens)
        results += _named(f"step {turn}", server.eager(server.decode_batch()))
        pages = sum(-(-n // server.page_size) for n in lens)
        wanted = "shadow" if turn == 0 else server.gathers(pages * server.page_size)
        server.check_keys(server.backend.decode_wrapper, wanted)
    return results


def pages_of_4(make):
    return eager_decode(make, page_size=4)


def graph_decode(make, page_size=1):
    """Captured with length 1 at slot 0, replayed with other slots and lengths, with an eager step in between."""
    server, results = make(page_size=page_size), []
    server.admit(RAGGED)
    replay = server.capture(server.decode_batch())
    wrapper = server.backend.decode_cuda_graph_metadata[len(RAGGED)]
    server.check_keys(wrapper, "shadow")
    for turn, lens in enumerate((RAGGED, [1] * 5, [30, 2, 9], [40, 20, 3, 1, 11])):
        server.admit(lens)
        results += _named(f"replay {turn}", replay(server.decode_batch()))
        server.admit([6, 25])
        results += _named(f"eager step after replay {turn}", server.eager(server.decode_batch()))
        server.admit(lens)
        results += _named(f"replay {turn} again", replay(server.decode_batch()))
    return results


def graph_pages_of_4(make):
    return graph_decode(make, page_size=4)


def two_graphs(make):
    """Graphs of two batch sizes share the backend's index buffers or tables, and the layers of both share the shadow."""
    server, results = make(layers=3), []
    server.admit([5, 6, 7])
    small = server.capture(server.decode_batch())
    server.admit([3] * 8)
    large = server.capture(server.decode_batch())
    for turn, lens in enumerate(([12, 30, 1], [20] * 7, [2, 2], [1, 19, 3, 8, 31, 2, 17, 9])):
        server.admit(lens)
        run = small if len(lens) <= 3 else large
        results += _named(f"replay {turn}", run(server.decode_batch()))
    return results


def shared_prefix(make):
    """Requests that share a prefix name more rows than the pool has."""
    server, results = make(), []
    lens = [48] * 8
    assert sum(lens) > server.sizes.rows
    server.admit([4, 4])
    server.eager(server.decode_batch())
    for turn in range(2):
        server.admit(lens, shared=40)
        results += _named(f"eager {turn}", server.eager(server.decode_batch()))
        server.check_keys(server.backend.decode_wrapper, "shadow")
        server.admit([10, 11], shared=5)
        results += _named(f"few rows {turn}", server.eager(server.decode_batch()))
    server.admit(lens, shared=40)
    replay = server.capture(server.decode_batch())
    for turn in range(2):
        server.admit([48 - turn] * 8, shared=40)
        results += _named(f"replay {turn}", replay(server.decode_batch()))
    return results


def paged_extend(make, page_size=1):
    server, results = make(page_size=page_size), []
    for turn, lens in enumerate(([9, 30], RAGGED[2:], [16, 16], [44] * 5)):
        server.admit(lens, shared=40 if sum(lens) > server.sizes.rows else 0)
        results += _named(f"prefill {turn}", server.eager(server.extend_batch(4)))
        pages = sum(-(-n // page_size) for n in lens)
        wanted = "shadow" if turn == 0 else server.gathers(pages * page_size)
        server.check_keys(server.backend.prefill_wrapper_paged, wanted)
        results += _named(f"decode after prefill {turn}", server.eager(server.decode_batch()))
    return results


def extend_pages_of_4(make):
    return paged_extend(make, page_size=4)


def equal_dtype(make):
    """A pool of the query's dtype: the very tensor, eager and in a graph."""
    server, results = make(kv_dtype=DTYPE), []
    for turn in range(3):
        server.admit(RAGGED)
        results += _named(f"step {turn}", server.eager(server.decode_batch()))
        server.check_keys(server.backend.decode_wrapper, "pool")
        results += _named(f"prefill {turn}", server.eager(server.extend_batch(1)))
        server.check_keys(server.backend.prefill_wrapper_paged, "pool")
    replay = server.capture(server.decode_batch())
    server.admit([8, 8, 3])
    results += _named("replay", replay(server.decode_batch()))
    server.check_keys(server.backend.decode_cuda_graph_metadata[len(RAGGED)], "pool")
    return results


def e5m2(make):
    server, results = make(kv_dtype=torch.float8_e5m2), []
    for turn in range(3):
        server.admit(RAGGED)
        results += _named(f"step {turn}", server.eager(server.decode_batch()))
    replay = server.capture(server.decode_batch())
    server.admit([8, 8, 3])
    results += _named("replay", replay(server.decode_batch()))
    return results


# --- speculative decoding --------------------------------------------------------------------------------------------


def _verify(make, kind):
    server, results, drafted = make(), [], 3
    for turn, lens in enumerate(([9, 4], [20, 1, 7], [3, 3])):
        server.admit(lens, room=drafted)
        results += _named(f"eager verify {turn}", server.eager(server.verify_batch(drafted, kind)))
    server.check_keys(server.backend.prefill_wrapper_verify, server.gathers(sum(lens) + drafted * len(lens)))
    server.admit([5, 5, 5, 5], room=drafted)
    replay = server.capture(server.verify_batch(drafted, kind))
    for turn, lens in enumerate(([11, 2, 30, 8], [1, 1, 1, 1], [17, 6])):
        server.admit(lens, room=drafted)
        results += _named(f"replayed verify {turn}", replay(server.verify_batch(drafted, kind)))
        results += _named(f"decode after verify {turn}", server.eager(server.decode_batch()))
    return results


def eagle_verify(make):
    return _verify(make, SpecInputType.EAGLE_VERIFY)


def dflash_verify(make):
    return _verify(make, SpecInputType.DFLASH_VERIFY)


def draft(make):
    server, results = make(), []
    runner = DraftRunner(server)
    for turn, lens in enumerate(([9, 4], [20, 1, 7], [3, 3])):
        server.admit(lens, room=3)
        results += _named(f"eager draft {turn}", runner.eager())
    server.admit([5, 5, 5], room=3)
    runner.capture()
    for turn, lens in enumerate(([11, 2, 30], [1, 1, 1], [17, 6, 2])):
        server.admit(lens, room=3)
        results += _named(f"replayed draft {turn}", runner.replay())
    return results


# --- decode context parallelism --------------------------------------------------------------------------------------


def dcp_decode(make):
    """The indices are compacted in place: behind the rank's own ids the buffer keeps ids of the widened space, past
    the pool of one rank."""
    server, results = make(dcp=2), []
    for turn, lens in enumerate(([9], RAGGED, [1, 2], [30, 31, 8])):
        server.admit(lens)
        results += _named(f"step {turn}", server.eager(server.decode_batch(), save=False))
        server.check_keys(server.backend.decode_wrapper, server.gathers(sum(lens)) if turn else "shadow")
    replay = server.capture(server.decode_batch(), save=False)
    for turn, lens in enumerate(([30, 31, 8], [2, 1, 5], [50, 3, 3])):
        server.admit(lens)
        results += _named(f"replay {turn}", replay(server.decode_batch()))
    return results


def dcp_extend(make):
    """A prefill whose plan is rebound to the permuted indices of a compact buffer, among prefills that are not."""
    server, results = make(), []
    for turn in range(5):
        lens = [9, 12 + turn]
        server.admit(lens)
        batch = server.extend_batch(4)
        if turn in (2, 3):
            batch.attn_dcp_metadata = _compact(server, lens)
        results += _named(f"prefill {turn}", server.eager(batch))
    return results


def _compact(server, lens):
    total = sum(lens)
    order = torch.randperm(total, generator=torch.Generator().manual_seed(total)).to(torch.int32)
    order = order.to(server.device.name)
    values = server.random(total, 1, server.pool.buffers[0].shape[-1]).to(server.pool.buffers[0].dtype)
    return stand_ins.NAMES["DecodeContextParallelMetadata"](
        dcp_kv_indptr=torch.tensor([0] + lens, device=server.device.name).cumsum(0).to(torch.int32),
        dcp_kv_indices=order,
        dcp_kv_buffer=values,
    )


# --- state that must not outlive its plan ----------------------------------------------------------------------------


def planned_elsewhere(make):
    """The wrapper is planned by a way that the patch did not edit, after plans that it did."""
    server, results = make(), []
    for turn in range(3):
        server.admit([7, 9])
        results += _named(f"step {turn}", server.eager(server.decode_batch()))
    server.admit([6, 10])
    server.backend.init_forward_metadata(server.decode_batch())
    table, sizes = server.requests.req_to_token, server.sizes
    server.backend.decode_wrapper.plan(
        torch.tensor([0, 1, 2], dtype=torch.int32, device=table.device),
        torch.tensor([0, 10, 16], dtype=torch.int32, device=table.device),
        torch.cat([table[2, :10], table[1, :6]]).contiguous(),
        torch.tensor([10, 6], dtype=torch.int32, device=table.device),
        sizes.heads, sizes.nope, sizes.rope, 1, False, sizes.scaling, DTYPE, DTYPE,
    )  # fmt: skip
    batch = server.decode_batch()
    results += _named("planned by hand", server.forward(batch, server.inputs(2)))
    return results


def switched_off(make):
    """SUTURE_KV_CAST=off: the whole cast as before, eager and in a graph."""
    server, results = make(environment={"SUTURE_KV_CAST": "off"}), []
    for turn in range(3):
        server.admit(RAGGED)
        results += _named(f"step {turn}", server.eager(server.decode_batch()))
        server.check_keys(server.backend.decode_wrapper, server.sizes.rows)
    replay = server.capture(server.decode_batch())
    server.admit([8, 8, 3])
    results += _named("replay", replay(server.decode_batch()))
    if server.patch and server.shadows():
        raise AssertionError("a shadow was made though the cast is off")
    return results


PATHS = {
    "eager decode": eager_decode,
    "graph decode, eager steps between": graph_decode,
    "two graphs, three layers": two_graphs,
    "more rows named than the pool has": shared_prefix,
    "paged extend": paged_extend,
    "pool of the query's dtype": equal_dtype,
    "e5m2 pool": e5m2,
    "EAGLE verify": eagle_verify,
    "EAGLE draft": draft,
    "planned elsewhere": planned_elsewhere,
    "switched off": switched_off,
    "pages of 4, eager decode": pages_of_4,
    "pages of 4, graph decode": graph_pages_of_4,
    "pages of 4, paged extend": extend_pages_of_4,
    "DCP decode": dcp_decode,
    "DCP extend": dcp_extend,
    "DFLASH verify": dflash_verify,
}


def runnable(source):
    """The paths that the backend file with this text has."""
    names = list(PATHS)
    if "self.page_size + self.page_size" not in source and "num_pages_per_req" not in source:
        names = [n for n in names if not n.startswith("pages of 4")]
    if "attn_dcp_metadata" not in source:
        names = [n for n in names if not n.startswith("DCP")]
    if "DFLASH_VERIFY" not in source:
        names = [n for n in names if n != "DFLASH verify"]
    return names
