"""What suture_kv_cast_pages.py promises, checked on the file itself: no backend, no graph."""

import importlib.util
import sys
from types import SimpleNamespace

import torch

import capture
from contract import COLUMNS, FP8, ROWS, _only, _pool, _same

_PACKAGE = "sglang.srt.layers.attention"


def load(kv_cast, pages):
    """Both files, the second one with the first where it imports it from."""
    for name, path in (("suture_kv_cast", kv_cast), ("suture_kv_cast_pages", pages)):
        spec = importlib.util.spec_from_file_location(f"{_PACKAGE}.{name}", path)
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    return module


def _backend(page_size=1, **more):
    return SimpleNamespace(page_size=page_size, **more)


def _table(*rows):
    return torch.tensor(rows, dtype=torch.int32)


def _lengths(*lengths):
    return torch.tensor(lengths, dtype=torch.int32)


def casts(kv_cast, pages):
    pool = _pool()
    whole = pool.to(torch.bfloat16)
    stale = 2**30
    for what, page_size, table, lengths, rows in (
        ("no row of the table", 1, torch.zeros(0, 3, dtype=torch.int32), _lengths(), []),
        ("lengths 0 and below", 1, _table([3, 4], [5, 6]), _lengths(0, -7), []),
        ("two rows, one longer", 1, _table([3, 4, 9], [5, stale, 7]), _lengths(3, 1), [3, 4, 9, 5]),
        ("columns behind the length", 1, _table([3, 4, 9], [5, 6, 7]), _lengths(2, 1), [3, 4, 5]),
        ("a length past the table", 1, _table([3, 4]), _lengths(9), [3, 4]),
        ("ids below 0 and past the pool", 1, _table([-1, 5, ROWS, 2**31 - 1]), _lengths(4), [5]),
        ("pages of 4, the last one whole", 4, _table([2, 0], [9, stale]), _lengths(5, 1), [*range(8, 12), *range(4), *range(36, 40)]),
        ("pages of 4, a length of whole pages", 4, _table([2, 0], [9, 1]), _lengths(4, 4), [*range(8, 12), *range(36, 40)]),
        ("more rows named than the pool has", 1, _table([3] * ROWS, [4] * ROWS), _lengths(ROWS, 1), range(ROWS)),
        ("as many rows as the pool has", 1, _table([3] * ROWS, [4] * ROWS), _lengths(ROWS - 1, 1), [3, 4]),
    ):
        for integer in (torch.int32, torch.int64):
            arguments = (pool, _backend(page_size), table.to(integer), lengths.to(integer), False, torch.bfloat16)
            with capture.no_host_reads():
                cast = load(kv_cast, pages).cast_active_pages(*arguments)
            yield f"cast of {what}, {integer}", _only(cast, whole, rows)
    strided = torch.full((2, 5), stale, dtype=torch.int32)
    strided[:, :2] = _table([3, 4], [5, 6])
    cast = load(kv_cast, pages).cast_active_pages(pool, _backend(), strided[:, :2], _lengths(2, 1), False, torch.bfloat16)
    yield "a table with a row stride", _only(cast, whole, [3, 4, 5])
    expand = SimpleNamespace(page_table=_table([7], [8]), cache_seqlens_int32=_lengths(1, 0))
    for cascade, rows in ((False, [3]), (True, [3, 7])):
        backend = _backend(forward_metadata_spec_decode_expand=expand)
        cast = load(kv_cast, pages).cast_active_pages(pool, backend, _table([3]), _lengths(1), cascade, torch.bfloat16)
        yield f"the second table, cascade {cascade}", _only(cast, whole, rows)


def left_as_it_was(kv_cast, pages):
    module = load(kv_cast, pages)
    pool, table, lengths = _pool(), _table([1, 2]), _lengths(2)
    whole = pool.to(torch.bfloat16)

    def cast(pool=pool, backend=_backend(), table=table, lengths=lengths, dtype=torch.bfloat16):
        return module.cast_active_pages(pool, backend, table, lengths, False, dtype)

    bf16 = _pool(torch.bfloat16)
    yield "equal dtype is the very object", cast(bf16) is bf16
    for what, arguments in (
        ("no page size", dict(backend=SimpleNamespace())),
        ("context parallelism", dict(backend=_backend(attn_cp_size=2))),
        ("FlashAttention 4", dict(backend=_backend(fa_impl_ver=4))),
        ("no table", dict(table=None)),
        ("no lengths", dict(lengths=None)),
        ("a table of one dimension", dict(table=table[0])),
        ("fewer lengths than rows", dict(table=_table([1], [2]))),
        ("lengths that are no integers", dict(lengths=lengths.float())),
        ("a transposed table", dict(table=torch.zeros(5, 2, dtype=torch.int32).T, lengths=_lengths(1, 1))),
    ):
        yield f"{what}: the whole cast", _same(cast(**arguments), whole)
    odd = torch.randn(8, 1, 24).to(FP8[0])
    yield "24 columns: the whole cast", _same(cast(odd), odd.to(torch.bfloat16))
    sys.modules["sglang.srt.multiplex.pdmux_context"] = SimpleNamespace(STREAM_GROUPS=[("prefill", "decode")])
    try:
        yield "two streams (pdmux): the whole cast", _same(cast(), whole)
    finally:
        del sys.modules["sglang.srt.multiplex.pdmux_context"]
    shadows = sys.modules[f"{_PACKAGE}.suture_kv_cast"]._shadows
    yield "and no shadow was made by any of these", not shadows
    cast()
    yield "one is made where pages are cast, in the file of the other patches", len(shadows) == 1 and COLUMNS == 32


def check(kv_cast, pages):
    """Yields (what, None or why not)."""
    for group in (casts, left_as_it_was):
        try:
            with capture.FreshMemoryIsDirty():
                for what, holds in group(kv_cast, pages):
                    yield what, None if holds else "does not hold"
        except Exception as error:  # noqa: BLE001
            yield group.__name__, f"{type(error).__name__}: {error}"
