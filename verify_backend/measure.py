"""Decode steps of a real size on both sides: the same bits, the error against float32, the time and the memory.

A step is timed as a server runs it: its plan is made once, outside; its layers, each with a pool of its own, follow each
other. New keys are not written, so that what is timed is the cast and the attention.
"""

import statistics
from typing import NamedTuple

import torch

import graphs
from sides import bits

ROUNDS = 5  # a time is the median of so many
ROUND_SECONDS = 0.05  # what one of them takes, about


class Case(NamedTuple):
    batch: int
    length: int


class Step(NamedTuple):
    """What one side makes of one case, eager or in a graph."""

    outputs: list  # one a layer
    errors: list  # (largest absolute, relative L2) against float32, of the first and the last layer
    microseconds: float  # a layer
    host_microseconds: float  # to issue a layer; 0 in a graph, which is issued at once
    bytes_taken: int  # at the peak beyond what was there; of a graph: its private pool


def cases_for(rows, context, page_size=1):
    """A short step, two of a busy server, and the whole pool, as far as they fit; one page is padding's."""
    whole = (rows // page_size - 1) // 64 * page_size
    wanted = [Case(1, 500), Case(8, 1024), Case(64, 2048), Case(64, whole)]
    fitting = [case for case in wanted if 0 < case.length <= context and case.batch * case.length < rows]
    return sorted(set(fitting), key=lambda case: case.batch * case.length)


def reference(server, inputs, layer):
    """Attention in float32 over the dequantised rows of the pool."""
    s = server.sizes
    q = torch.cat([inputs.q.view(-1, s.heads, s.nope), inputs.q_rope.view(-1, s.heads, s.rope)], dim=-1).float()
    pool = server.pool.buffers[layer]
    outs = []
    for b, length in enumerate(server.lens):
        slots = server.requests.req_to_token[b + 1, :length].to(torch.int64)
        bytes_of = pool.view(torch.uint8) if pool.dtype.itemsize == 1 else pool
        keys = bytes_of.index_select(0, slots).view(pool.dtype).float()[:, 0]
        weights = torch.softmax(q[b] @ keys.T * s.scaling, dim=-1)
        outs.append(weights @ keys[:, : s.nope])
    return torch.stack(outs)


def errors_of(server, inputs, outputs):
    found = []
    for layer in {0, len(outputs) - 1}:
        want = reference(server, inputs[layer], layer)
        off = outputs[layer].view(want.shape).float() - want
        found.append((float(off.abs().max()), float(off.norm() / want.norm())))
    return found


def median_microseconds(device, clock, run, layers):
    """By a clock of the device, which says how long so many runs took."""
    times = max(1, min(100, int(ROUND_SECONDS / max(device.seconds(run, 1), 1e-7))))
    return statistics.median(clock(run, times) / times for _ in range(ROUNDS)) * 1e6 / layers


def _eager(server, batch):
    inputs = server.inputs(batch.batch_size)

    def run():
        return server.forward(batch, inputs, save=False)

    for _ in range(2):  # the gather knows the pool from its second plan on
        server.backend.init_forward_metadata(batch)
        run()
    server.dirty_shadows()
    outputs = [out.clone() for out in run()]
    device, layers = server.device, len(server.layers)
    return Step(
        outputs,
        errors_of(server, inputs, outputs),
        median_microseconds(device, device.seconds, run, layers),
        median_microseconds(device, device.host_seconds, run, layers),
        device.peak(run),
    )


def _graph(server, batch):
    runner = graphs.GraphRunner(server, batch, server.backend, save=False)
    outputs = runner.replay(batch)
    device, layers = server.device, len(server.layers)
    return Step(
        outputs,
        errors_of(server, runner.inputs, outputs),
        median_microseconds(device, device.seconds, runner.graph.replay, layers),
        0.0,
        device.pool_bytes(runner.graph),
    )


def side(device, subject, package, cases, report, **sizes):
    """({(case, "eager" or "graph"): Step}, bytes kept for good) of one tree. `report` is told each step as it begins."""
    steps = {}
    with device.running():
        report(f"making the pools, {sizes or 'small ones'}")
        server = subject.server(device, package, look_at_keys=False, **sizes)
        for case in cases:
            server.admit([case.length] * case.batch)
            batch = server.decode_batch()
            for how, run in (("eager", _eager), ("graph", _graph)):
                report(f"{case.batch} x {case.length:,} tokens, {how}")
                steps[case, how] = run(server, batch)
        shadows = {s.untyped_storage().data_ptr(): s for s in server.shadows()}
        kept = sum(s.untyped_storage().nbytes() for s in shadows.values())
    return steps, kept


def row(case, how, before, after):
    """One line of the table, both sides."""

    def pair(name):
        return [getattr(before, name), getattr(after, name)]

    equal = all(torch.equal(bits(a), bits(b)) for a, b in zip(before.outputs, after.outputs))
    off = max(float((a.float() - b.float()).abs().max()) for a, b in zip(before.outputs, after.outputs))
    return {
        "requests": case.batch,
        "length": case.length,
        "how": how,
        "equal": equal and len(before.outputs) == len(after.outputs),
        "largest_difference": off,
        "max_error": [max(e[0] for e in step.errors) for step in (before, after)],
        "relative_error": [max(e[1] for e in step.errors) for step in (before, after)],
        "microseconds_a_layer": pair("microseconds"),
        "host_microseconds_a_layer": pair("host_microseconds"),
        "bytes_taken": pair("bytes_taken"),
    }
