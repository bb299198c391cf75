"""The KV cast of FlashInfer's MLA backend, done for the rows that a step reads.

Added to SGLang by suture (the patches sglang-cast-active-slots, with or without -fa3, and sglang-gather-then-cast). The
unpatched backend calls ``pool.to(q.dtype)`` in every layer of every step. The edits call one of these instead:

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
else:
    try:
        from triton.knobs import runtime as _hooks  # from Triton 3.4 on
    except ImportError:
        from triton.compiler import CompiledKernel as _hooks

logger = logging.getLogger(__name__)

_OFF = os.environ.get("SUTURE_KV_CAST", "").strip().lower() == "off"

_FP8 = (torch.float8_e4m3fn, torch.float8_e5m2)
_WIDE = (torch.bfloat16, torch.float16)
_MAX_CHUNKS = 2**31 - 2**26  # the kernel counts chunks of 8 columns in int32, one pass beyond the end


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
    if _left_alone():
        return pool.to(dtype)
    shadow = _cast_again(pool, dtype, indices, indptr, page_size)
    if shadow is not None:
        return shadow
    if not page_size or not _castable(pool, dtype) or not _usable(pool, indices, indptr):
        return pool.to(dtype)
    shadow = _shadow_for(pool, dtype)
    if pool.is_cuda:
        launch = _cast_rows_triton(pool, shadow, indices, indptr, page_size)
        kind, _, _ = _kind_of(pool, dtype, indices, indptr, page_size)
        _casts[kind] = _Cast(launch, shadow, shadow.data_ptr(), pool.shape[0])
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
    return indptr.shape[0] > 0 and indices.shape[0] < 2**31


_shadows: Dict[Tuple[torch.device, torch.dtype, torch.Size], torch.Tensor] = {}


def _shadow_for(pool: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The shadow of this pool. Made at the first call, which is before any capture: SGLang runs each forward pass
    twice before it captures it. It is kept for good, since captured graphs hold its address."""
    key = (pool.device, dtype, pool.shape)
    if key not in _shadows:
        shared = _shared_shadow(pool, dtype)
        _shadows[key] = _new_shadow(pool, dtype) if shared is None else shared
    return _shadows[key]


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
    """What the kernel does, in torch, for the CPU."""
    live_pages = indptr[-1]
    in_page = torch.arange(page_size, dtype=torch.int64, device=pool.device)
    row = (indices.to(torch.int64) * page_size)[:, None] + in_page
    live = (torch.arange(indices.shape[0], device=pool.device) < live_pages)[:, None]
    _cast_named_torch(pool, shadow, row, live, live_pages * page_size)


def _cast_named_torch(
    pool: torch.Tensor, shadow: torch.Tensor, row: torch.Tensor, live: torch.Tensor, count: torch.Tensor
) -> None:
    """Casts the rows that ``row`` (int64, any shape) names where ``live`` (of a shape that broadcasts to it) holds; all
    rows, where ``count``, a scalar, says that more are named than there are. All shapes depend on the buffers alone and
    no value is read by the host, so that a recorder of the calls can replay them with other contents."""
    rows = pool.shape[0]
    live = live & (row >= 0) & (row < rows)
    named = torch.zeros(rows + 1, dtype=torch.bool, device=pool.device)  # the last one takes what is skipped
    named.scatter_(0, torch.where(live, row, rows).flatten(), True)
    cast = named[:rows] | (count > rows)
    cast = cast.view([rows] + [1] * (pool.dim() - 1))
    shadow.copy_(torch.where(cast, pool.to(shadow.dtype), shadow))


# --- the kernel ----------------------------------------------------------------------------------------------------


class _Tuning(NamedTuple):
    """How the kernel is laid out: chunks of 8 columns a program and pass, warps, programs a multiprocessor."""

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
        COLUMNS: tl.constexpr,
        BLOCK: tl.constexpr,
        BITS: tl.constexpr,
    ):
        """Chunk c, 8 columns of a live row, goes to program (c / BLOCK) mod (number of programs).

        Of few rows, one pass for all programs, the time is that of three loads that wait for each other: count, id,
        row. So that pass's ids are loaded before the count is known. Of many, it is the time that their bytes need, and
        what is read of the pool need not stay in the cache.
        """
        CHUNKS: tl.constexpr = COLUMNS // 8
        lane = tl.arange(0, BLOCK)
        begin = tl.program_id(0) * BLOCK
        step = tl.num_programs(0) * BLOCK
        first = (begin + lane) // CHUNKS // page_size
        first_page = tl.load(indices + first, mask=first < index_count, other=0).to(tl.int64)
        pages = tl.minimum(tl.load(indptr + last), index_count).to(tl.int64)
        by_id = pages * page_size <= pool_rows  # if not, the ids do not count: row i is row i
        total = tl.minimum(pages * page_size, pool_rows).to(tl.int32) * CHUNKS
        if total <= step:
            if begin < total:
                chunk = begin + lane
                i = chunk // CHUNKS
                row = tl.where(by_id, first_page * page_size + i % page_size, i.to(tl.int64))
                live = (chunk < total) & (row >= 0) & (row < pool_rows)
                _cast_chunks(pool, shadow, row, live, chunk % CHUNKS * 8, pool_stride, COLUMNS, BITS, "")
        else:
            for start in range(begin, total, step):
                chunk = start + lane
                i = chunk // CHUNKS
                inside = chunk < total
                page = tl.load(indices + i // page_size, mask=inside & by_id, other=0).to(tl.int64)
                row = tl.where(by_id, page * page_size + i % page_size, i.to(tl.int64))
                live = inside & (row >= 0) & (row < pool_rows)
                _cast_chunks(pool, shadow, row, live, chunk % CHUNKS * 8, pool_stride, COLUMNS, BITS, "evict_first")

    @triton.jit
    def _cast_chunks(
        pool,
        shadow,
        row,
        live,
        column,
        pool_stride,
        COLUMNS: tl.constexpr,
        BITS: tl.constexpr,  # 0: the hardware converts; 4: e4m3fn, 5: e5m2 by bit arithmetic
        EVICTION: tl.constexpr,
    ):
        """8 columns of each row that is live, from ``column`` on."""
        offset = column[:, None] + tl.arange(0, 8)[None, :]
        source = pool + row[:, None] * pool_stride + offset
        value = tl.load(source, mask=live[:, None], eviction_policy=EVICTION)
        target = shadow + row[:, None] * COLUMNS + offset
        tl.store(target, _widen(value, BITS).to(shadow.dtype.element_ty), mask=live[:, None])

    @triton.jit
    def _widen(value, BITS: tl.constexpr):
        """FP8, or its bytes, to float32."""
        wide = value.to(tl.float32)
        if BITS == 4:
            # s.eeee.mmm under fp16's exponent is 2^-8 of the value, subnormals included; 0x7f is NaN.
            magnitude = value.to(tl.uint16) & 0x7F
            sign = (value.to(tl.uint16) & 0x80) << 8
            half = (sign | (magnitude << 7)).to(tl.float16, bitcast=True)
            wide = tl.where(magnitude == 0x7F, float("nan"), half.to(tl.float32) * 256.0)
        if BITS == 5:
            wide = (value.to(tl.uint16) << 8).to(tl.float16, bitcast=True).to(tl.float32)
        return wide


_devices: Dict[torch.device, Tuple[int, bool]] = {}


def _device_facts(device: torch.device) -> Tuple[int, bool]:
    """(multiprocessors, whether the hardware converts FP8), asked once."""
    if device not in _devices:
        properties = torch.cuda.get_device_properties(device)
        converts = torch.version.hip is None and (properties.major, properties.minor) >= (8, 9)
        _devices[device] = (properties.multi_processor_count, converts)
    return _devices[device]


def _cast_rows_triton(
    pool: torch.Tensor,
    shadow: torch.Tensor,
    indices: torch.Tensor,
    indptr: torch.Tensor,
    page_size: int,
    tuning: _Tuning = _TUNING,
    by_bits: bool = False,
) -> "_Launch":
    """One launch, whose grid depends on the number of multiprocessors alone. ``by_bits`` forces the bit arithmetic
    that GPUs before compute capability 8.9 take (for tests)."""
    multiprocessors, converts = _device_facts(pool.device)
    bits = 0
    source = pool
    if by_bits or not converts:
        bits = 4 if pool.dtype == torch.float8_e4m3fn else 5
        source = pool.view(torch.uint8)
    return _launch(
        _cast_rows_kernel,
        multiprocessors * tuning.programs_per_sm,
        tuning.warps,
        (source, shadow, indices, indptr),
        (indptr.shape[0] - 1, indices.shape[0], pool.shape[0]),
        (pool.stride(0), page_size),
        (pool.shape[-1], tuning.block, bits),
    )


# --- the launch ----------------------------------------------------------------------------------------------------


def _launch(
    kernel: Any, programs: int, warps: int, tensors: Tuple, counts: Tuple, layout: Tuple, constants: Tuple
) -> "_Launch":
    """Launches ``kernel`` by Triton's launcher, on the tensors' device. ``counts`` are the arguments that it does not
    specialize on, each below 2**31; ``layout`` those that it does, ``constants`` its constexpr arguments."""
    with torch.cuda.device(tensors[0].device):
        compiled = kernel[(programs,)](*tensors, *counts, *layout, *constants, num_warps=warps)
    return _Launch(compiled, tensors[0].get_device(), programs, layout, constants)


class _Launch:
    """A launch that can be done again with other addresses and counts, by the compiled kernel that it left behind.

    To find that kernel Triton's launcher takes 20 us of host time and more. Whoever keeps a launch sees to it that all
    else is as it was: the device, the dtypes, which addresses are multiples of 16, layout and constants.
    """

    def __init__(self, compiled: Any, device: int, programs: int, layout: Tuple, constants: Tuple):
        self.compiled = compiled  # None from Triton's interpreter
        # On ROCm Triton specializes on the size of a tensor's storage, too.
        self.run = getattr(compiled, "run", None) if torch.version.hip is None else None
        self.function = getattr(compiled, "function", None)
        self.metadata = getattr(compiled, "packed_metadata", None)
        self.device = device
        self.programs = programs
        self.layout = layout
        self.rest = layout + constants

    def again(self, addresses: Tuple, counts: Tuple) -> bool:
        """Whether it could be done, on the current stream; if not, nothing was launched."""
        if self.run is None or _current_device() != self.device or _watched():
            return False
        try:
            self.run(
                self.programs, 1, 1, _current_stream(self.device), self.function, self.metadata, None, None, None,
                *addresses, *counts, *self.rest,
            )  # fmt: skip
        except TypeError:  # another number of arguments: before Triton 3.3 the constants are not among them
            if self.rest == self.layout:
                self.run = None
            self.rest = self.layout
            return self.again(addresses, counts)
        return True


def _watched() -> bool:
    """Whether a profiler has hooked Triton's launches: it is told of them by Triton's own launcher alone."""
    enter, leave = _hooks.launch_enter_hook, _hooks.launch_exit_hook  # each a function, or a chain of them, or None
    return bool(getattr(enter, "calls", enter) or getattr(leave, "calls", leave))


_current_device = getattr(torch._C, "_cuda_getDevice", torch.cuda.current_device)
_current_stream = getattr(
    torch._C, "_cuda_getCurrentRawStream", lambda device: torch.cuda.current_stream(device).cuda_stream
)


class _Cast(NamedTuple):
    """A cast that was done, kept by its kind to be done again."""

    launch: _Launch
    shadow: torch.Tensor
    shadow_address: int
    pool_rows: int


_casts: Dict[Tuple, _Cast] = {}


def _kind_of(pool: torch.Tensor, dtype: torch.dtype, indices: torch.Tensor, indptr: torch.Tensor, page_size: Any):
    """(all of a call that `_castable`, `_usable`, `_shadow_for` and Triton look at, but for addresses and counts; the
    addresses; the counts)."""
    addresses = pool.data_ptr(), indices.data_ptr(), indptr.data_ptr()
    counts = indptr.numel() - 1, indices.numel()
    kind = (
        dtype, page_size, pool.dtype, pool.shape, pool.stride(), pool.get_device(), addresses[0] % 16,
        indices.dtype, indices.stride(), indices.get_device(), addresses[1] % 16, counts[1] < 2**31,
        indptr.dtype, indptr.stride(), indptr.get_device(), addresses[2] % 16, counts[0] >= 0,
    )  # fmt: skip
    return kind, addresses, counts


def _cast_again(pool: torch.Tensor, dtype: torch.dtype, indices: Any, indptr: Any, page_size: Any):
    """The shadow, if a call of this kind was checked and its kernel compiled before, and is now launched for these
    tensors; else None. It saves what a first call looks up, which is most of its host time."""
    if not isinstance(indices, torch.Tensor) or not isinstance(indptr, torch.Tensor):
        return None
    kind, (source, ids, ends), (last, id_count) = _kind_of(pool, dtype, indices, indptr, page_size)
    cast = _casts.get(kind)
    if cast is None:
        return None
    launched = cast.launch.again((source, cast.shadow_address, ids, ends), (last, id_count, cast.pool_rows))
    return cast.shadow if launched else None


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
