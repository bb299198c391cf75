"""The KV cast of the FlashAttention backend (fa3), done for the pages that a step reads.

Added to SGLang by suture (the patch sglang-cast-active-slots-fa3), beside suture_kv_cast.py, whose shadow, switch and
exceptions it shares. The unpatched absorbed-MLA branch calls ``pool.to(q.dtype)`` in every layer of every step. The
edits call this instead:

``cast_active_pages(pool, backend, page_table, seq_lens, cascade, dtype)``
    casts the pages that the attention call behind it reads into the shadow of the pool, at the same rows.

Words and shapes, beside those of suture_kv_cast.py
    page_table  int32 or int64 [batch, columns], page ids; the row stride is free. What attention is called with.
    seq_lens    int32 or int64 [batch], in tokens: row b reads the first ceil(seq_lens[b] / page_size) columns of its
                table. What stands behind them is never read: graph tables keep columns of earlier replays there.
    backend     the ``FlashAttentionBackend``. Read: ``page_size``, in rows (1: page ids are slots); ``fa_impl_ver``,
                ``attn_cp_size`` (not in all releases); with ``cascade`` also
                ``forward_metadata_spec_decode_expand.page_table`` and ``.cache_seqlens_int32``.
    cascade     whether a second attention call reads that second table (speculative decoding with topk > 1).

Pages are cast whole: with pages of its tile's size, FlashAttention loads the last one past the row's length, and
multiplies what it finds there by 0. It must find there what it found before.
"""

from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import torch

from sglang.srt.layers.attention.suture_kv_cast import (
    _FP8,
    _Cast,
    _cast_named_torch,
    _castable,
    _device_facts,
    _launch,
    _Launch,
    _left_alone,
    _shadow_for,
)

try:
    import triton
    import triton.language as tl

    from sglang.srt.layers.attention.suture_kv_cast import _widen
except ImportError:  # a CPU-only machine
    triton = None

_Table = Tuple[torch.Tensor, torch.Tensor]  # (page table, lengths)
_MAX_ROWS = 2**30  # that a table can name, dead columns and all


def cast_active_pages(
    pool: torch.Tensor,
    backend: Any,
    page_table: torch.Tensor,
    seq_lens: torch.Tensor,
    cascade: bool,
    dtype: torch.dtype,
) -> torch.Tensor:
    """A tensor of the pool's shape whose pages, where attention reads them, equal ``pool.to(dtype)``.

    A pool that has this dtype is returned as it is, the very object. Nothing is read by the host: table and lengths lie
    on the device, so a captured call follows them at each replay, as the captured attention does. Page ids below 0 or
    past the pool are skipped. If a table names more rows than the pool has (requests that share a prefix name it
    each), all rows are cast once.
    """
    if pool.dtype == dtype:
        return pool
    page_size = getattr(backend, "page_size", None)
    if not page_size or _left_alone() or _reads_otherwise(backend):
        return pool.to(dtype)
    for table, lengths in _tables(backend, page_table, seq_lens, cascade):
        shadow = _cast_again(pool, dtype, table, lengths, page_size)
        if shadow is None:
            shadow = _cast_anew(pool, dtype, table, lengths, page_size)
        if shadow is None:
            return pool.to(dtype)
    return shadow


def _reads_otherwise(backend: Any) -> bool:
    """Whether attention may read rows that the table and the lengths do not name.

    Under context parallelism each rank reads by lengths of its own, which may be padded past the request's.
    FlashAttention 4 is another kernel: what it loads behind a row's length has not been looked at.
    """
    return getattr(backend, "attn_cp_size", 1) != 1 or getattr(backend, "fa_impl_ver", 3) != 3


def _tables(backend: Any, page_table: torch.Tensor, seq_lens: torch.Tensor, cascade: bool) -> List[_Table]:
    """What the attention calls behind the cast read: one table, or two."""
    tables = [(page_table, seq_lens)]
    if cascade:
        expand = backend.forward_metadata_spec_decode_expand
        tables.append((expand.page_table, expand.cache_seqlens_int32))
    return tables


def _cast_anew(
    pool: torch.Tensor, dtype: torch.dtype, table: Any, lengths: Any, page_size: int
) -> Optional[torch.Tensor]:
    """The shadow, with the pages of one table in it; None where that cannot be done."""
    if not _castable(pool, dtype) or not _readable(pool, page_size, table, lengths):
        return None
    shadow = _shadow_for(pool, dtype)
    if pool.is_cuda:
        launch = _cast_pages_triton(pool, shadow, table, lengths, page_size)
        kind, _, _ = _kind_of(pool, dtype, table, lengths, page_size)
        _casts[kind] = _Cast(launch, shadow, shadow.data_ptr(), pool.shape[0])
    else:
        _cast_pages_torch(pool, shadow, table, lengths, page_size)
    return shadow


def _readable(pool: torch.Tensor, page_size: int, table: Any, lengths: Any) -> bool:
    """Whether they are tensors of this form, on the pool's device. The kernel counts named rows in int32."""
    for tensor, dimensions in ((table, 2), (lengths, 1)):
        if not isinstance(tensor, torch.Tensor) or tensor.device != pool.device or tensor.dim() != dimensions:
            return False
        if tensor.dtype not in (torch.int32, torch.int64) or (tensor.numel() > 0 and tensor.stride(-1) != 1):
            return False
    return table.shape[0] == lengths.shape[0] and _countable(table, page_size)


def _countable(table: torch.Tensor, page_size: int) -> bool:
    return table.numel() * page_size <= _MAX_ROWS and table.stride(0) < 2**31


def _cast_pages_torch(
    pool: torch.Tensor, shadow: torch.Tensor, table: torch.Tensor, lengths: torch.Tensor, page_size: int
) -> None:
    """What the kernel does, in torch, for the CPU."""
    pages = ((lengths.to(torch.int64).clamp(min=0) + page_size - 1) // page_size).clamp(max=table.shape[1])
    in_page = torch.arange(page_size, dtype=torch.int64, device=pool.device)
    row = (table.to(torch.int64) * page_size)[:, :, None] + in_page
    live = (torch.arange(table.shape[1], device=pool.device) < pages[:, None])[:, :, None]
    _cast_named_torch(pool, shadow, row, live, pages.sum() * page_size)


# --- the kernel ----------------------------------------------------------------------------------------------------


class _Tuning(NamedTuple):
    """How the kernel is laid out: columns a chunk, chunks a tile (at most), warps, programs a multiprocessor."""

    vector: int = 16
    block: int = 256
    warps: int = 4
    programs_per_sm: int = 8


_TUNING = _Tuning()
# How many lengths a program looks at in one go, to find its share: each size is a kernel of its own. Up to 32 need no
# exchange between warps.
_LENGTHS = (32, 256, 2048)

if triton is not None:

    @triton.jit
    def _live_pages(length, columns, PAGE: tl.constexpr):
        """Pages that a row of this length reads; the table has no more columns than these."""
        bounded = tl.minimum(tl.maximum(length, 0), columns * PAGE).to(tl.int32)
        return (bounded + PAGE - 1) // PAGE

    @triton.jit
    def _tiles(pages, PAGE: tl.constexpr, ROWS: tl.constexpr):
        """Tiles of ROWS rows of the pool that hold so many pages. A tile never spans two rows of the table."""
        return (pages * PAGE + ROWS - 1) // ROWS

    @triton.jit
    def _cast_tile(
        pool,
        shadow,
        entries,  # of one row of the table
        tile,
        count,  # rows of the pool that those entries stand for
        pool_rows,
        pool_stride,
        BY_ID: tl.constexpr,  # False: row i is row i
        PAGE: tl.constexpr,
        CHUNKS: tl.constexpr,
        VECTOR: tl.constexpr,
        BLOCK: tl.constexpr,
        BITS: tl.constexpr,
    ):
        ROWS: tl.constexpr = BLOCK // CHUNKS
        lane = tl.arange(0, BLOCK)
        column = tl.arange(0, VECTOR)
        i = tile * ROWS + lane // CHUNKS
        live = (lane < ROWS * CHUNKS) & (i < count)
        if BY_ID:
            page = tl.load(entries + i // PAGE, mask=live, other=0).to(tl.int64)
            row = page * PAGE + i % PAGE
            live = live & (row >= 0) & (row < pool_rows)
        else:
            row = i.to(tl.int64)
        offset = ((lane % CHUNKS) * VECTOR)[:, None] + column[None, :]
        value = tl.load(pool + row[:, None] * pool_stride + offset, mask=live[:, None])
        target = shadow + row[:, None] * (CHUNKS * VECTOR) + offset
        tl.store(target, _widen(value, BITS).to(shadow.dtype.element_ty), mask=live[:, None])

    @triton.jit(do_not_specialize=["batch", "columns", "table_stride", "pool_rows"])
    def _cast_pages_kernel(
        pool,  # fp8, or its bytes where BITS is not 0
        shadow,
        table,
        lengths,
        batch,
        columns,
        table_stride,
        pool_rows,
        pool_stride,
        PAGE: tl.constexpr,
        CHUNKS: tl.constexpr,  # a row is CHUNKS chunks of VECTOR columns
        VECTOR: tl.constexpr,
        BLOCK: tl.constexpr,  # a tile is as many whole rows of the pool as fit into BLOCK chunks
        LENGTHS: tl.constexpr,
        IN_ONE_GO: tl.constexpr,  # batch <= LENGTHS
        BITS: tl.constexpr,  # 0: the hardware converts; 4: e4m3fn, 5: e5m2 by bit arithmetic
    ):
        """The tiles of all rows of the table, one row after the other, are dealt out in equal shares: one run of tiles
        a program. So a row of 131,072 tokens beside 63 of one is shared by all, and dead columns cost nothing."""
        ROWS: tl.constexpr = BLOCK // CHUNKS
        some = tl.arange(0, LENGTHS)
        length = tl.load(lengths + some, mask=some < batch, other=0)
        pages = _live_pages(length, columns, PAGE)
        up_to = tl.cumsum(_tiles(pages, PAGE, ROWS), 0)  # tiles of a row and of those before it
        named = tl.sum(pages) * PAGE
        tiles = tl.max(up_to)
        if not IN_ONE_GO:
            for first in range(LENGTHS, batch, LENGTHS):
                length = tl.load(lengths + first + some, mask=first + some < batch, other=0)
                pages = _live_pages(length, columns, PAGE)
                named += tl.sum(pages) * PAGE
                tiles += tl.sum(_tiles(pages, PAGE, ROWS))
        by_id = named <= pool_rows  # if not, the table is not read: row i is row i
        if not by_id:
            tiles = (pool_rows + ROWS - 1) // ROWS
        program = tl.program_id(0)
        share = tiles // tl.num_programs(0)
        rest = tiles - share * tl.num_programs(0)
        begin = program * share + tl.minimum(program, rest)
        end = begin + share + (program < rest).to(tl.int32)
        if not by_id:
            for tile in range(begin, end):
                _cast_tile(
                    pool, shadow, table, tile, pool_rows, pool_rows, pool_stride,
                    False, PAGE, CHUNKS, VECTOR, BLOCK, BITS,
                )  # fmt: skip
        elif begin < end:
            # The row of the table that tile `begin` lies in, and how many tiles lie before that row.
            passed = (some < batch) & (up_to <= begin)
            b = tl.sum(passed.to(tl.int32))
            before = tl.max(tl.where(passed, up_to, 0))
            if not IN_ONE_GO:
                sum_so_far = tl.max(up_to)
                for first in range(LENGTHS, batch, LENGTHS):
                    length = tl.load(lengths + first + some, mask=first + some < batch, other=0)
                    up_to = sum_so_far + tl.cumsum(_tiles(_live_pages(length, columns, PAGE), PAGE, ROWS), 0)
                    passed = (first + some < batch) & (up_to <= begin)
                    b += tl.sum(passed.to(tl.int32))
                    before = tl.maximum(before, tl.max(tl.where(passed, up_to, 0)))
                    sum_so_far = tl.max(up_to)
            done = begin
            while done < end:
                live = _live_pages(tl.load(lengths + b), columns, PAGE)
                of_row = _tiles(live, PAGE, ROWS)
                stop = tl.minimum(end, before + of_row)
                entries = table + b.to(tl.int64) * table_stride
                for tile in range(done - before, stop - before):
                    _cast_tile(
                        pool, shadow, entries, tile, live * PAGE, pool_rows, pool_stride,
                        True, PAGE, CHUNKS, VECTOR, BLOCK, BITS,
                    )  # fmt: skip
                before += of_row
                done = stop
                b += 1


def _cast_pages_triton(
    pool: torch.Tensor,
    shadow: torch.Tensor,
    table: torch.Tensor,
    lengths: torch.Tensor,
    page_size: int,
    tuning: _Tuning = _TUNING,
    by_bits: bool = False,
) -> _Launch:
    """One launch, whose grid depends on the number of multiprocessors alone. ``by_bits`` forces the bit arithmetic
    that GPUs before compute capability 8.9 take (for tests)."""
    multiprocessors, converts = _device_facts(pool.device)
    bits = 0
    source = pool
    if by_bits or not converts:
        bits = 4 if pool.dtype == _FP8[0] else 5
        source = pool.view(torch.uint8)
    chunks = pool.shape[-1] // tuning.vector
    return _launch(
        _cast_pages_kernel,
        multiprocessors * tuning.programs_per_sm,
        tuning.warps,
        (source, shadow, table, lengths),
        (*table.shape, table.stride(0), pool.shape[0]),
        (pool.stride(0),),
        (
            page_size,
            chunks,
            tuning.vector,
            max(tuning.block, triton.next_power_of_2(chunks)),  # a tile holds one row at least
            *_looked_at(table.shape[0]),
            bits,
        ),
    )


def _looked_at(batch: int) -> Tuple[int, bool]:
    """(how many lengths a program looks at in one go, whether that is all of them)."""
    for count in _LENGTHS:
        if batch <= count:
            return count, True
    return _LENGTHS[-1], False


# --- the launch, again -----------------------------------------------------------------------------------------------

_casts: Dict[Tuple, _Cast] = {}


def _kind_of(pool: torch.Tensor, dtype: torch.dtype, table: torch.Tensor, lengths: torch.Tensor, page_size: int):
    """(all of a call that `_castable`, `_readable`, `_shadow_for` and Triton look at, but for addresses and counts; the
    addresses; the counts)."""
    addresses = pool.data_ptr(), table.data_ptr(), lengths.data_ptr()
    batch, columns = table.shape
    kind = (
        dtype, page_size, pool.dtype, pool.shape, pool.stride(), pool.get_device(), addresses[0] % 16,
        table.dtype, table.stride(1), table.get_device(), addresses[1] % 16, _countable(table, page_size),
        lengths.dtype, lengths.stride(), lengths.get_device(), addresses[2] % 16, lengths.shape[0] == batch,
        _looked_at(batch), batch * columns > 0,
    )  # fmt: skip
    return kind, addresses, (batch, columns, table.stride(0))


def _cast_again(
    pool: torch.Tensor, dtype: torch.dtype, table: Any, lengths: Any, page_size: int
) -> Optional[torch.Tensor]:
    """The shadow, if a call of this kind was checked and its kernel compiled before, and is now launched for these
    tensors; else None. It saves what a first call looks up, which is most of its host time."""
    if not isinstance(table, torch.Tensor) or not isinstance(lengths, torch.Tensor):
        return None
    if table.dim() != 2 or lengths.dim() != 1:
        return None
    kind, (source, ids, ends), counts = _kind_of(pool, dtype, table, lengths, page_size)
    cast = _casts.get(kind)
    if cast is None:
        return None
    launched = cast.launch.again((source, cast.shadow_address, ids, ends), (*counts, cast.pool_rows))
    return cast.shadow if launched else None
