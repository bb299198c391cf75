"""A double of FlashInfer's wrappers for the CPU, that keeps their contract where the patches touch it:

- eager plan() keeps the tensors that it is given; with CUDA graphs it copies them into the buffers of the constructor;
- the kernel goes by the host arrays of the last plan (in the workspace, refreshed by ``_cached_module.plan``) and
  by the index buffer, which it reads when it runs;
- an id past the pool is a fault; a row that the plan does not name is not read;
- a plan is for one dtype of keys, e4m3fn only on a Hopper, with BF16 queries and 512 + 64 columns; run() takes that dtype and
  no other, with both scales for FP8 keys and with none for others.

Attention copies the rows that it reads into a fresh contiguous float32 tensor, so that equal keys give equal bits.
"""

import math

import torch

from stand_ins import KeysRead

_WORKSPACE_INTS = 1024


@torch.library.custom_op("suture_backend_test::mla", mutates_args=("out", "lse"))
def _mla(
    q_nope: torch.Tensor,
    q_pe: torch.Tensor,
    ckv: torch.Tensor,
    kpe: torch.Tensor,
    indices: torch.Tensor,
    workspace: torch.Tensor,
    out: torch.Tensor,
    lse: torch.Tensor,
    page_size: int,
    causal: bool,
    sm_scale: float,
) -> None:
    """One call to the recorder, as a kernel launch is one node of a graph."""
    plan = workspace.tolist()
    batch = plan[0]
    qo, kv, lens = plan[1 : batch + 2], plan[batch + 2 : 2 * batch + 3], plan[2 * batch + 3 : 3 * batch + 3]
    for b in range(batch):
        keys_c, keys_r = _rows(ckv, kpe, indices[kv[b] : kv[b] + math.ceil(lens[b] / page_size)], lens[b], page_size)
        for t in range(qo[b], qo[b + 1]):
            seen = lens[b] - (qo[b + 1] - 1 - t) if causal else lens[b]
            if seen <= 0:
                out[t].zero_()
                lse[t].fill_(float("-inf"))
                continue
            c, r = keys_c[:seen], keys_r[:seen]
            scores = (q_nope[t].float() @ c.T + q_pe[t].float() @ r.T) * sm_scale
            out[t].copy_(torch.softmax(scores, dim=-1) @ c)
            lse[t].copy_(torch.logsumexp(scores, dim=-1))


def _rows(ckv, kpe, pages, length, page_size):
    """The first `length` rows of these pages, as fresh contiguous float32."""
    ids = pages.to(torch.int64)
    if ids.numel() and (int(ids.min()) < 0 or int(ids.max()) >= ckv.shape[0]):
        raise IndexError(f"attention reads page {ids.tolist()} of a cache of {ckv.shape[0]} pages")
    c, r = _select(ckv, ids)[:length], _select(kpe, ids)[:length]
    assert c.shape[0] == length
    return c.float().clone(), r.float().clone()


def _select(cache, ids):
    bits = cache.view(torch.uint8) if cache.dtype.itemsize == 1 else cache  # FP8 cannot be indexed in every torch
    return bits.index_select(0, ids).view(cache.dtype).reshape(-1, cache.shape[-1])


class _Module:
    """The compiled kernels' plan: writes host arrays into the workspace that the kernel reads."""

    def __init__(self):
        class Plan:
            def __call__(self, *args):
                _write_plan(*args)

            default = staticmethod(lambda *args: _write_plan(*args))

        self.plan = Plan()


def _write_plan(float_workspace, workspace, pinned, qo_indptr, kv_indptr, kv_len, heads, head_dim, causal, *more):
    for array in (qo_indptr, kv_indptr, kv_len):
        assert array.dtype == torch.int32, f"the kernel's plan reads int32, and is given {array.dtype}"
    batch = qo_indptr.shape[0] - 1
    assert kv_indptr.shape[0] == batch + 1 and kv_len.shape[0] == batch, "plan arrays of different batches"
    values = torch.cat([torch.tensor([batch]), qo_indptr.long(), kv_indptr.long(), kv_len.long()])
    workspace[: values.shape[0]].copy_(values)


class BatchMLAPagedAttentionWrapper:
    hopper = True  # whether the GPU that this stands for is one
    fp8 = torch.float8_e4m3fn
    wide = (torch.float16, torch.bfloat16)

    def __init__(
        self,
        float_workspace_buffer,
        use_cuda_graph=False,
        qo_indptr=None,
        kv_indptr=None,
        kv_indices=None,
        kv_len_arr=None,
        backend="auto",
    ):
        self._float_workspace_buffer = float_workspace_buffer
        self._int_workspace_buffer = torch.zeros(_WORKSPACE_INTS, dtype=torch.int64)
        self._pin_memory_int_workspace_buffer = torch.zeros(_WORKSPACE_INTS, dtype=torch.int64)
        self._use_cuda_graph = use_cuda_graph
        self._qo_indptr_buf = qo_indptr
        self._kv_indptr_buf = kv_indptr
        self._kv_indices_buf = kv_indices
        self._kv_len_arr_buf = kv_len_arr
        self.device = torch.device("cpu")
        self._backend = "fa3" if self.hopper else "fa2"
        self.keys_read = None  # what the last run was given, for the checks

    def plan(
        self,
        qo_indptr,
        kv_indptr,
        kv_indices,
        kv_len_arr,
        num_heads,
        head_dim_ckv,
        head_dim_kpe,
        page_size,
        causal,
        sm_scale,
        q_data_type,
        kv_data_type,
        use_profiler=False,
    ):
        if kv_data_type not in (*self.wide, self.fp8):
            raise ValueError(f"no kernel reads keys of {kv_data_type}")
        if kv_data_type == self.fp8:
            if self._backend != "fa3":
                raise ValueError(f"FP8 keys are read by fa3 on SM90 alone, and this is {self._backend}")
            if q_data_type != torch.bfloat16 or (head_dim_ckv, head_dim_kpe) != (512, 64):
                raise ValueError(f"no FP8 kernel for {q_data_type} queries and {head_dim_ckv} + {head_dim_kpe} columns")
        self._q_data_type, self._kv_data_type = q_data_type, kv_data_type
        assert kv_indices.dtype == torch.int32 and kv_indices.is_contiguous()
        assert kv_indices.shape[0] >= int(kv_indptr[-1]), "fewer indices than the indptr says"
        self._cached_module = _Module()
        self._causal, self._page_size, self._sm_scale = causal, page_size, sm_scale
        if self._use_cuda_graph:
            self._qo_indptr_buf.copy_(qo_indptr)
            self._kv_indptr_buf.copy_(kv_indptr)
            self._kv_indices_buf[: kv_indices.shape[0]].copy_(kv_indices)
            self._kv_len_arr_buf.copy_(kv_len_arr)
        else:
            self._qo_indptr_buf = qo_indptr
            self._kv_indptr_buf = kv_indptr
            self._kv_indices_buf = kv_indices
            self._kv_len_arr_buf = kv_len_arr
        self._cached_module.plan(
            self._float_workspace_buffer,
            self._int_workspace_buffer,
            self._pin_memory_int_workspace_buffer,
            qo_indptr,
            kv_indptr,
            kv_len_arr,
            num_heads,
            head_dim_ckv,
            causal,
        )

    def run(
        self,
        q_nope,
        q_pe,
        ckv_cache,
        kpe_cache,
        out=None,
        lse=None,
        return_lse=False,
        *,
        ckv_scale=None,
        kpe_scale=None,
    ):
        self.keys_read = KeysRead.of(ckv_cache)
        self._check(q_nope, q_pe, ckv_cache, kpe_cache, ckv_scale, kpe_scale)
        assert ckv_cache.shape[1] == self._page_size, "a cache of another page size than the plan's"
        out = torch.empty_like(q_nope) if out is None else out
        lse = q_nope.new_empty(q_nope.shape[:2], dtype=torch.float32) if lse is None else lse
        torch.ops.suture_backend_test.mla(
            q_nope,
            q_pe,
            ckv_cache,
            kpe_cache,
            self._kv_indices_buf,
            self._int_workspace_buffer,
            out,
            lse,
            self._page_size,
            self._causal,
            float(self._sm_scale),
        )
        return (out, lse) if return_lse else out

    def _check(self, q_nope, q_pe, ckv_cache, kpe_cache, *scales):
        for tensor, planned in (
            (q_nope, self._q_data_type), (q_pe, self._q_data_type), (ckv_cache, self._kv_data_type), (kpe_cache, self._kv_data_type),
        ):  # fmt: skip
            if tensor.dtype != planned:
                raise ValueError(f"planned for {planned}, and given {tensor.dtype}")
        if self._kv_data_type != self.fp8 and scales != (None, None):
            raise ValueError(f"scales for keys of {self._kv_data_type}")
        if self._kv_data_type == self.fp8 and scales != (1.0, 1.0):  # others would be right too; SGLang's pool has none
            raise ValueError(f"FP8 keys want both scales, and SGLang writes them without any: 1.0, not {scales}")


class BatchPrefillWithRaggedKVCacheWrapper:
    """Planned by the backend, never run here: ragged prefill reads no pool."""

    def __init__(self, *args, **kwargs):
        pass

    def begin_forward(self, *args, **kwargs):
        pass
