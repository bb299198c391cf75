"""The KV cast of FlashInfer's MLA backend, done for the rows that a step reads.

Added to SGLang by suture (the patches sglang-cast-active-slots and sglang-gather-then-cast). The unpatched backend
calls ``pool.to(q.dtype)`` in every layer of every step. The edits call one of these instead:

``cast_active_slots(pool, wrapper, dtype)``
    casts the rows that the wrapper's own index buffer names into a *shadow* of the pool, at the same rows. Plans
    and indices stay as they are. Right in eager mode and inside CUDA graphs.

``planned_kv_indices(kv_indices, wrapper, dcp_metadata=None)`` and ``gather_then_cast(pool, wrapper, dtype)``
    eager plans read a compact buffer, row 0, 1, 2, ..., and the forward pass fills it with the rows that
    were named. Where that cannot be right or cannot pay, both fall back to the first.

Words and shapes
    pool     [rows, 1, columns] (or [rows, columns]), what ``get_key_buffer`` returns; rows = KV slots of the layer.
             The row stride is free (a unified pool interleaves its layers); one row is contiguous. Cast by the kernel:
             float8_e4m3fn or float8_e5m2 to bfloat16 or float16, columns a multiple of 16. Anything else is cast whole.
    wrapper  a ``BatchMLAPagedAttentionWrapper``, planned. Read: ``_kv_indices_buf`` int32 [n], page ids;
             ``_kv_indptr_buf`` int32 [batch + 1], its last entry is the number of live page ids; ``_page_size``, in
             rows (1: page ids are slots); ``_use_cuda_graph``. Written: ``_suture_plan``, ``_suture_rows``.
    shadow   [rows, 1, columns] of ``dtype``, contiguous, one per device, dtype and row shape, shared by all layers: a
             layer's cast and its attention follow each other on one stream. Only the rows just cast hold values; the
             others hold whatever was there. It takes rows x columns x 2 bytes for good (0.57 GB at 495,552 x 576),
             about what the whole cast takes from the CUDA graphs' pool.

Errors
    None of its own. What it cannot do better it does as before: ``pool.to(dtype)``. What torch or Triton raise (out
    of memory for the shadow, say) goes up.

``SUTURE_KV_CAST=off`` in the server's environment turns all of it off: the whole cast as before, for an A/B without
taking the patch out. It is read once, when this file is imported, so it takes a restart.
"""

import logging
import os
import sys
from typing import Any, Dict, NamedTuple, Optional, Tuple

import torch

try:
    import triton
    import triton.language as tl
except ImportError:  # a CPU-only machine
    triton = None

logger = logging.getLogger(__name__)

_OFF = os.environ.get("SUTURE_KV_CAST", "").strip().lower() == "off"

_FP8 = (torch.float8_e4m3fn, torch.float8_e5m2)
_WIDE = (torch.bfloat16, torch.float16)
_MAX_CHUNKS = 2**31 - 2**26  # the kernel counts chunks of 8 or 16 columns in int32, one pass beyond the end


# --- cast-active-slots -------------------------------------------------------------------------------------------


def cast_active_slots(pool: torch.Tensor, wrapper: Any, dtype: torch.dtype) -> torch.Tensor:
    """A tensor of the pool's shape whose rows, where ``wrapper`` reads them, equal ``pool.to(dtype)``.

    A pool that has this dtype is returned as it is, the very object. Nothing is read by the host: the row count lies in
    ``_kv_indptr_buf[-1]`` on the device, so a captured call follows the buffers at each replay. Page ids below 0 or
    past the pool are skipped. If more rows are named than the pool has (requests that share a prefix name it each),
    all rows are cast once.
    """
    if pool.dtype == dtype:
        return pool
    indices = getattr(wrapper, "_kv_indices_buf", None)
    indptr = getattr(wrapper, "_kv_indptr_buf", None)
    page_size = getattr(wrapper, "_page_size", None)
    if _left_alone() or not page_size or not _castable(pool, dtype) or not _usable(pool, indices, indptr):
        return pool.to(dtype)
    shadow = _shadow_for(pool, dtype)
    if pool.is_cuda:
        _cast_rows_triton(pool, shadow, indices, indptr, page_size)
    else:
        _cast_rows_torch(pool, shadow, indices, indptr, page_size)
    return shadow


def _left_alone() -> bool:
    """The cases that stay exactly as they were: switched off, two streams at once, or inside torch.compile.

    Under --enable-pdmux a prefill and a decode run at the same time on two streams and would share one shadow. SGLang
    fills STREAM_GROUPS before the first forward pass; the module is looked up and never imported, for it is not in all
    releases.
    """
    multiplex = sys.modules.get("sglang.srt.multiplex.pdmux_context")
    if multiplex is not None and getattr(multiplex, "STREAM_GROUPS", None):
        return True
    return _OFF or torch.compiler.is_compiling()


def _castable(pool: torch.Tensor, dtype: torch.dtype) -> bool:
    """Whether the kernel knows these dtypes and this layout."""
    if pool.dtype not in _FP8 or dtype not in _WIDE or pool.dim() < 2 or pool.shape[0] == 0:
        return False
    if pool.is_cuda and triton is None:
        return False
    if pool.numel() // 8 > _MAX_CHUNKS:
        return False
    columns = pool.shape[-1]
    one_head = pool.dim() == 2 or (pool.dim() == 3 and pool.shape[1] == 1)
    return one_head and columns > 0 and columns % 16 == 0 and pool.stride(-1) == 1


def _usable(pool: torch.Tensor, indices: Any, indptr: Any) -> bool:
    """Whether the wrapper's buffers are there, on the pool's device, and of the form that a plan leaves."""
    for buffer in (indices, indptr):
        if not isinstance(buffer, torch.Tensor) or buffer.device != pool.device:
            return False
        if buffer.dtype not in (torch.int32, torch.int64) or buffer.dim() != 1 or not buffer.is_contiguous():
            return False
    return indptr.shape[0] > 0


_shadows: Dict[Tuple[torch.device, torch.dtype, torch.Size], torch.Tensor] = {}


def _shadow_for(pool: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The shadow of this pool. Made at the first call, which is before any capture: SGLang runs each forward pass
    twice before it captures it. It is kept for good, since captured graphs hold its address."""
    key = (pool.device, dtype, pool.shape)
    shadow = _shadows.get(key)
    if shadow is None:
        shadow = _shared_shadow(pool, dtype)
        if shadow is None:
            shadow = _new_shadow(pool, dtype)
        _shadows[key] = shadow
    return shadow


def _shared_shadow(pool: torch.Tensor, dtype: torch.dtype) -> Optional[torch.Tensor]:
    """The head of a shadow that is there already and has rows enough (a draft model with a smaller pool)."""
    for (device, held_dtype, shape), shadow in _shadows.items():
        if device == pool.device and held_dtype == dtype and shape[1:] == pool.shape[1:] and shape[0] > pool.shape[0]:
            return shadow[: pool.shape[0]]
    return None


def _new_shadow(pool: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """Allocates a shadow and logs its size, once for each.

    Where there was no pass before the capture, the block comes from the graph's private pool (torch lets no other
    allocation happen while capturing) and stays taken as long as the shadow is held here, also when that graph is
    gone. Left uninitialised: the attention kernels never read a row that their plan does not name.
    """
    shadow_bytes = pool.numel() * dtype.itemsize
    logger.info(
        "suture: KV cast of active slots, shadow of %d x %d %s on %s: %.1f MB, shared by all layers",
        pool.shape[0], pool.shape[-1], dtype, pool.device, shadow_bytes / 1e6,
    )  # fmt: skip
    with torch.inference_mode(False):
        return torch.empty(pool.shape, dtype=dtype, device=pool.device)


def _cast_rows_torch(
    pool: torch.Tensor, shadow: torch.Tensor, indices: torch.Tensor, indptr: torch.Tensor, page_size: int
) -> None:
    """What the kernel does, in torch, for the CPU. All shapes depend on the buffers alone and no value is read by the
    host, so that a recorder of the calls can replay them with other contents."""
    rows = pool.shape[0]
    live_pages = indptr[-1]
    in_page = torch.arange(page_size, dtype=torch.int64, device=pool.device)
    row = (indices.to(torch.int64) * page_size)[:, None] + in_page
    live = (torch.arange(indices.shape[0], device=pool.device) < live_pages)[:, None] & (row >= 0) & (row < rows)
    named = torch.zeros(rows + 1, dtype=torch.bool, device=pool.device)  # the last one takes what is skipped
    named.scatter_(0, torch.where(live, row, rows).flatten(), True)
    cast = named[:rows] | (live_pages * page_size > rows)
    cast = cast.view([rows] + [1] * (pool.dim() - 1))
    shadow.copy_(torch.where(cast, pool.to(shadow.dtype), shadow))


# --- the kernel ----------------------------------------------------------------------------------------------------


class _Tuning(NamedTuple):
    """How the kernel is laid out: columns a chunk, chunks a program and pass, warps, programs a multiprocessor."""

    vector: int = 8
    block: int = 256
    warps: int = 8
    programs_per_sm: int = 8


_TUNING = _Tuning()

if triton is not None:

    @triton.jit(do_not_specialize=["last", "index_count", "pool_rows"])
    def _cast_rows_kernel(
        pool,  # fp8, or its bytes where BITS is not 0
        shadow,
        indices,
        indptr,
        last,
        index_count,
        pool_rows,
        pool_stride,
        page_size,
        CHUNKS: tl.constexpr,  # a row is CHUNKS chunks of VECTOR columns
        VECTOR: tl.constexpr,
        BLOCK: tl.constexpr,
        BITS: tl.constexpr,  # 0: the hardware converts; 4: e4m3fn, 5: e5m2 by bit arithmetic
    ):
        """Chunk c of the live rows goes to program (c / BLOCK) mod (number of programs)."""
        pages = tl.minimum(tl.load(indptr + last), index_count).to(tl.int64)
        by_id = pages * page_size <= pool_rows  # if not, the ids are not read: row i is row i
        total = tl.minimum(pages * page_size, pool_rows).to(tl.int32) * CHUNKS
        lane = tl.arange(0, BLOCK)
        column = tl.arange(0, VECTOR)
        for start in range(tl.program_id(0) * BLOCK, total, tl.num_programs(0) * BLOCK):
            chunk = start + lane
            i = chunk // CHUNKS
            inside = chunk < total
            page = tl.load(indices + i // page_size, mask=inside & by_id, other=0).to(tl.int64)
            row = tl.where(by_id, page * page_size + i % page_size, i.to(tl.int64))
            live = (inside & (row >= 0) & (row < pool_rows))[:, None]
            offset = ((chunk % CHUNKS) * VECTOR)[:, None] + column[None, :]
            value = tl.load(pool + row[:, None] * pool_stride + offset, mask=live)
            if BITS == 4:
                # s.eeee.mmm under fp16's exponent is 2^-8 of the value, subnormals included; 0x7f is NaN.
                magnitude = value.to(tl.uint16) & 0x7F
                sign = (value.to(tl.uint16) & 0x80) << 8
                half = (sign | (magnitude << 7)).to(tl.float16, bitcast=True)
                wide = tl.where(magnitude == 0x7F, float("nan"), half.to(tl.float32) * 256.0)
            elif BITS == 5:
                wide = (value.to(tl.uint16) << 8).to(tl.float16, bitcast=True).to(tl.float32)
            else:
                wide = value.to(tl.float32)
            target = shadow + row[:, None] * (CHUNKS * VECTOR) + offset
            tl.store(target, wide.to(shadow.dtype.element_ty), mask=live)


_devices: Dict[torch.device, Tuple[int, bool]] = {}


def _device_facts(device: torch.device) -> Tuple[int, bool]:
    """(multiprocessors, whether the hardware converts FP8), asked once."""
    facts = _devices.get(device)
    if facts is None:
        properties = torch.cuda.get_device_properties(device)
        converts = torch.version.hip is None and (properties.major, properties.minor) >= (8, 9)
        facts = _devices[device] = (properties.multi_processor_count, converts)
    return facts


def _cast_rows_triton(
    pool: torch.Tensor,
    shadow: torch.Tensor,
    indices: torch.Tensor,
    indptr: torch.Tensor,
    page_size: int,
    tuning: _Tuning = _TUNING,
    by_bits: bool = False,
) -> None:
    """One launch, whose grid depends on the number of multiprocessors alone. ``by_bits`` forces the bit arithmetic
    that GPUs before compute capability 8.9 take (for tests)."""
    multiprocessors, converts = _device_facts(pool.device)
    bits = 0
    source = pool
    if by_bits or not converts:
        bits = 4 if pool.dtype == torch.float8_e4m3fn else 5
        source = pool.view(torch.uint8)
    _cast_rows_kernel[(multiprocessors * tuning.programs_per_sm,)](
        source,
        shadow,
        indices,
        indptr,
        indptr.shape[0] - 1,
        indices.shape[0],
        pool.shape[0],
        pool.stride(0),
        page_size,
        CHUNKS=pool.shape[-1] // tuning.vector,
        VECTOR=tuning.vector,
        BLOCK=tuning.block,
        BITS=bits,
        num_warps=tuning.warps,
    )


# --- gather-then-cast ----------------------------------------------------------------------------------------------


class _Plan(NamedTuple):
    """What the last plan of a wrapper was given, kept on the wrapper."""

    given: torch.Tensor  # the tensor handed to plan(): the real indices, or 0, 1, 2, ...
    rows: Optional[torch.Tensor]  # the pool's rows to gather, in order; None: the plan has real indices
    pool_rows: int  # how many rows the pool had that `rows` was clamped to


def planned_kv_indices(kv_indices: torch.Tensor, wrapper: Any, dcp_metadata: Any = None) -> torch.Tensor:
    """The indices that ``wrapper`` is to be planned with: ``kv_indices``, or 0, 1, 2, ... of the same length if
    ``gather_then_cast`` will hand the kernel a gathered buffer.

    kv_indices: int32 [n], page ids; entries past the plan's ``kv_indptr[-1]`` may hold anything.
    dcp_metadata: under decode context parallelism a prefill plan may be rebound to the indices of a compact buffer,
    which the backend reads itself: with metadata the indices stay.

    They stay, too, for a CUDA graph's wrapper (the captured kernel reads a buffer that each replay refills with real
    slots), until the wrapper has met its pool (the updater cannot see it in every release), if the pool needs no
    cast, if nothing is read, and if the gathered rows would outnumber the pool's.
    """
    wrapper._suture_plan = None  # whatever an earlier plan left is void from here on
    seen = getattr(wrapper, "_suture_rows", None)
    if seen is None or dcp_metadata is not None or _left_alone() or not _gatherable(kv_indices, wrapper, *seen):
        wrapper._suture_plan = _Plan(kv_indices, None, 0)
        return kv_indices
    pool_rows, page_size = seen
    rows = _rows_of(kv_indices, pool_rows, page_size)
    in_order = torch.arange(kv_indices.shape[0], dtype=kv_indices.dtype, device=kv_indices.device)
    wrapper._suture_plan = _Plan(in_order, rows, pool_rows)
    return in_order


def _gatherable(kv_indices: Any, wrapper: Any, pool_rows: int, page_size: int) -> bool:
    if getattr(wrapper, "_use_cuda_graph", True):
        return False
    if not isinstance(kv_indices, torch.Tensor) or kv_indices.dtype != torch.int32 or kv_indices.dim() != 1:
        return False
    return 0 < kv_indices.shape[0] * page_size <= pool_rows


def _rows_of(kv_indices: torch.Tensor, pool_rows: int, page_size: int) -> torch.Tensor:
    """The pool's rows behind these page ids, in order, clamped to the pool: what is out of range is never read,
    but the gather must not fault on it."""
    if page_size == 1:
        return kv_indices.clamp(0, pool_rows - 1)
    in_page = torch.arange(page_size, dtype=torch.int64, device=kv_indices.device)
    rows = (kv_indices.to(torch.int64) * page_size)[:, None] + in_page
    return rows.flatten().clamp_(0, pool_rows - 1)


def gather_then_cast(pool: torch.Tensor, wrapper: Any, dtype: torch.dtype) -> torch.Tensor:
    """The keys that ``wrapper`` reads with the indices it was planned with: the gathered rows [n, 1, columns] for a
    plan that reads 0, 1, 2, ..., else what ``cast_active_slots`` returns. Never reads a value on the host.

    The plan decides and nothing else: once it reads gathered rows, the rows are gathered, whatever has changed since.
    """
    plan = _plan_in_force(wrapper)
    if plan is None:
        return cast_active_slots(pool, wrapper, dtype)
    if plan.rows is None:
        # From the next plan on: the pool is known, and so is that this plan() keeps the tensor that it is given.
        wrapper._suture_rows = None if pool.dtype == dtype else (pool.shape[0], getattr(wrapper, "_page_size", 1))
        return cast_active_slots(pool, wrapper, dtype)
    rows = plan.rows if plan.pool_rows <= pool.shape[0] else plan.rows.clamp(max=pool.shape[0] - 1)
    if pool.dtype in _FP8:  # gathered as bytes: indexing of FP8 is not in every torch
        return pool.view(torch.uint8).index_select(0, rows).view(pool.dtype).to(dtype)
    return pool.index_select(0, rows).to(dtype)


def _plan_in_force(wrapper: Any) -> Optional[_Plan]:
    """The plan made by ``planned_kv_indices``, if the wrapper still reads the very tensor that it was given.

    False for CUDA graph wrappers (they copy into their own buffers) and for a wrapper that was planned again by a
    way that was not edited: a saved plan is never used for another one's indices. A FlashInfer whose plan() copies the
    indices never passes, so it never gathers.
    """
    plan = getattr(wrapper, "_suture_plan", None)
    if plan is not None and getattr(wrapper, "_kv_indices_buf", None) is plan.given:
        return plan
    return None
