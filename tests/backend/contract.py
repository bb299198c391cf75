"""What suture_kv_cast.py promises, checked on the file itself: no backend, no graph."""

import importlib.util
import logging
import sys
from types import SimpleNamespace

import torch

import capture

FP8 = (torch.float8_e4m3fn, torch.float8_e5m2)
ROWS, COLUMNS = 40, 32


def load(path):
    spec = importlib.util.spec_from_file_location("suture_kv_cast_alone", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _pool(dtype=FP8[0], rows=ROWS):
    generator = torch.Generator().manual_seed(7)
    return torch.randn(rows, 1, COLUMNS, generator=generator).to(dtype)


def _wrapper(ids, live=None, page_size=1, graph=True):
    live = len(ids) if live is None else live
    return SimpleNamespace(
        _use_cuda_graph=graph,
        _page_size=page_size,
        _kv_indices_buf=torch.tensor(ids, dtype=torch.int32),
        _kv_indptr_buf=torch.tensor([0, live // 2, live], dtype=torch.int32),
    )


def _same(a, b):
    return a.shape == b.shape and a.dtype == b.dtype and torch.equal(a.view(torch.int16), b.view(torch.int16))


def _only(cast, whole, rows):
    """Exactly these rows were cast; the others hold the NaN of a fresh shadow."""
    rows = sorted(set(rows))
    rest = [r for r in range(whole.shape[0]) if r not in rows]
    return _same(cast[rows], whole[rows]) and bool(torch.isnan(cast[rest]).all())


def casts(path):
    for dtype in FP8:
        for target in (torch.bfloat16, torch.float16):
            pool = torch.arange(256, dtype=torch.uint8).view(16, 1, 16).view(dtype)
            cast = load(path).cast_active_slots(pool, _wrapper(list(range(16))), target)
            whole = pool.to(target)
            number = ~torch.isnan(whole)
            yield f"all bytes of {dtype} to {target}", torch.equal(cast[number], whole[number]) and bool(
                torch.isnan(cast[~number]).all()
            )
    pool = _pool()
    whole = pool.to(torch.bfloat16)
    for what, ids, live, rows in (
        ("no slot", [3, 4], 0, []),
        ("one slot", [3, 4], 1, [3]),
        ("slots with repeats", [3, 9, 3, 39, 0], 5, [0, 3, 9, 39]),
        ("a tail past the count", [3, 2**30, 8], 1, [3]),
        ("ids below 0 and past the pool", [-1, 5, ROWS, 2**31 - 1, -(2**31)], 5, [5]),
        ("more rows named than the pool has", [3] * (ROWS + 1), ROWS + 1, range(ROWS)),
    ):
        cast = load(path).cast_active_slots(pool, _wrapper(ids, live), torch.bfloat16)
        yield f"cast of {what}", _only(cast, whole, rows)
    cast = load(path).cast_active_slots(pool, _wrapper([9, 0, -1, 77], page_size=4), torch.bfloat16)
    yield "page ids of pages of 4", _only(cast, whole, [36, 37, 38, 39, 0, 1, 2, 3])
    wide = torch.cat([_pool(), _pool(), _pool()], dim=-1)[:, :, COLUMNS : 2 * COLUMNS]
    cast = load(path).cast_active_slots(wide, _wrapper([5, 6]), torch.bfloat16)
    yield "a strided pool, a contiguous shadow", _only(cast, wide.to(torch.bfloat16), [5, 6]) and cast.is_contiguous()


def left_as_it_was(path):
    kv = load(path)
    pool, wrapper = _pool(), _wrapper([1, 2])
    whole = pool.to(torch.bfloat16)
    bf16 = _pool(torch.bfloat16)
    for call in (kv.cast_active_slots, kv.gather_then_cast):
        yield f"{call.__name__}: equal dtype is the very object", call(bf16, wrapper, torch.bfloat16) is bf16
        for missing in ("_kv_indices_buf", "_kv_indptr_buf", "_page_size"):
            partial = _wrapper([1, 2])
            delattr(partial, missing)
            yield f"{call.__name__}: no {missing}: the whole cast", _same(call(pool, partial, torch.bfloat16), whole)
            partial = _wrapper([1, 2])
            setattr(partial, missing, None)
            yield f"{call.__name__}: {missing} None: the whole cast", _same(call(pool, partial, torch.bfloat16), whole)
    odd = torch.randn(8, 1, 24).to(FP8[0])
    cast = kv.cast_active_slots(odd, wrapper, torch.bfloat16)
    yield "24 columns: the whole cast", _same(cast, odd.to(torch.bfloat16))
    to32 = kv.cast_active_slots(pool, wrapper, torch.float32)
    yield "to float32: the whole cast", torch.equal(to32, pool.to(torch.float32))
    sys.modules["sglang.srt.multiplex.pdmux_context"] = SimpleNamespace(STREAM_GROUPS=[("prefill", "decode")])
    try:
        yield "two streams (pdmux): the whole cast", _same(kv.cast_active_slots(pool, wrapper, torch.bfloat16), whole)
    finally:
        del sys.modules["sglang.srt.multiplex.pdmux_context"]
    yield "and no shadow was made by any of these", not kv._shadows


def shadow(path):
    kv = load(path)
    records = []
    handler = logging.Handler()
    handler.emit = lambda record: records.append(record.getMessage())
    kv.logger.addHandler(handler)
    level = kv.logger.level
    kv.logger.setLevel(logging.INFO)
    first = kv.cast_active_slots(_pool(), _wrapper([1]), torch.bfloat16)
    second = kv.cast_active_slots(_pool(), _wrapper([2]), torch.bfloat16)
    smaller = kv.cast_active_slots(_pool(rows=24), _wrapper([2]), torch.bfloat16)
    kv.logger.removeHandler(handler)
    kv.logger.setLevel(level)
    yield "layers share one shadow", first.data_ptr() == second.data_ptr()
    yield "so does a smaller pool", smaller.data_ptr() == first.data_ptr() and smaller.shape[0] == 24
    yield "its size is logged once", len(records) == 1 and "40 x 32" in records[0] and "0.0 MB" in records[0]


def plans(path):
    kv = load(path)
    pool = _pool()
    whole = pool.to(torch.bfloat16)
    wrapper = _wrapper([0], graph=False)

    def step(ids, dcp=None):
        ids = torch.tensor(ids, dtype=torch.int32)
        wrapper._kv_indices_buf = kv.planned_kv_indices(ids, wrapper, dcp)
        wrapper._kv_indptr_buf = torch.tensor([0, len(ids)], dtype=torch.int32)
        keys = kv.gather_then_cast(pool, wrapper, torch.bfloat16)
        right = _same(keys[wrapper._kv_indices_buf.long().clamp(0, ROWS - 1)], whole[ids.long().clamp(0, ROWS - 1)])
        return ("gathered" if keys.shape[0] != ROWS else "shadow") if right else "wrong"

    yield "the first plan keeps the slots", step([5, 6]) == "shadow"
    yield "the next reads gathered rows", step([9, 8, 30]) == "gathered"
    yield "a stale id is clamped", step([9, 2**30, -1]) == "gathered"
    yield "more rows than the pool keep the slots", step([4] * (ROWS + 1)) == "shadow"
    yield "no rows keep the slots", kv.planned_kv_indices(torch.empty(0, dtype=torch.int32), wrapper).numel() == 0
    yield "metadata of DCP keeps the slots", step([3, 4], SimpleNamespace(dcp_kv_indices=None)) == "shadow"
    wrapper._use_cuda_graph = True
    yield "a graph wrapper keeps the slots", step([3, 4]) == "shadow"
    wrapper._use_cuda_graph = False
    step([3, 4])
    multiplex = "sglang.srt.multiplex.pdmux_context"
    sys.modules[multiplex] = SimpleNamespace(STREAM_GROUPS=[1])
    try:
        keys = kv.gather_then_cast(pool, wrapper, torch.bfloat16)
        yield "a plan of gathered rows is kept to, whatever changed", _same(keys, whole[[3, 4]])
    finally:
        del sys.modules[multiplex]
    smaller = kv.gather_then_cast(pool[:4], wrapper, torch.bfloat16)
    yield "also with a smaller pool than the plan was made for", _same(smaller, whole[[3, 3]])


def check(path):
    """Yields (what, None or why not)."""
    for group in (casts, left_as_it_was, shadow, plans):
        try:
            with capture.FreshMemoryIsDirty():
                for what, holds in group(path):
                    yield what, None if holds else "does not hold"
        except Exception as error:  # noqa: BLE001
            yield group.__name__, f"{type(error).__name__}: {error}"
