"""Another layout of the cast, timed beside the one in use by `kv_cast_gpu.py --sweep`: a program takes tiles of whole
rows, padded with masked lanes to a power of two. Not part of any patch."""

from typing import NamedTuple

import torch
import triton
import triton.language as tl


class Tile(NamedTuple):
    rows: int
    warps: int
    programs_per_sm: int


@triton.jit(do_not_specialize=["last", "pool_rows"])
def _cast_tiles_kernel(
    pool,
    shadow,
    indices,
    indptr,
    last,
    pool_rows,
    pool_stride,
    COLUMNS: tl.constexpr,
    WIDTH: tl.constexpr,
    ROWS: tl.constexpr,
):
    named = tl.load(indptr + last)
    by_id = named <= pool_rows
    total = tl.minimum(named, pool_rows)
    column = tl.arange(0, WIDTH)
    for start in range(tl.program_id(0) * ROWS, total, tl.num_programs(0) * ROWS):
        i = start + tl.arange(0, ROWS)
        inside = i < total
        row = tl.where(by_id, tl.load(indices + i, mask=inside & by_id, other=0), i).to(tl.int64)
        live = (inside & (row >= 0) & (row < pool_rows))[:, None] & (column < COLUMNS)[None, :]
        value = tl.load(pool + row[:, None] * pool_stride + column[None, :], mask=live)
        wide = value.to(tl.float32).to(shadow.dtype.element_ty)
        tl.store(shadow + row[:, None] * COLUMNS + column[None, :], wide, mask=live)


def cast_tiles(pool, shadow, indices, indptr, page_size, tuning, by_bits=False):
    assert page_size == 1 and not by_bits
    columns = pool.shape[-1]
    grid = torch.cuda.get_device_properties(pool.device).multi_processor_count * tuning.programs_per_sm
    _cast_tiles_kernel[(grid,)](
        pool,
        shadow,
        indices,
        indptr,
        indptr.shape[0] - 1,
        pool.shape[0],
        pool.stride(0),
        COLUMNS=columns,
        WIDTH=triton.next_power_of_2(columns),
        ROWS=tuning.rows,
        num_warps=tuning.warps,
    )
