"""A double of flash_attn_with_kvcache for the CPU, that keeps its contract where the patch touches it:

- row b reads the first cache_seqlens[b] tokens, by the pages of its row of the table, when it runs: a page past the
  cache is a fault, and what stands behind the live columns is not looked at;
- pages larger than 1 are loaded whole, the last one past the row's length, and what is masked is multiplied by 0: so
  a NaN there reaches the output.

Attention copies the pages that it reads into a fresh contiguous float32 tensor, so that equal keys give equal bits.
"""

import torch
from torch.utils._python_dispatch import _disable_current_modes


@torch.library.custom_op("suture_backend_test::fa3", mutates_args=("out", "lse"))
def _fa3(
    q: torch.Tensor,
    qv: torch.Tensor,
    k_cache: torch.Tensor,
    v_cache: torch.Tensor,
    page_table: torch.Tensor,
    cache_seqlens: torch.Tensor,
    cu_seqlens_q: torch.Tensor,
    out: torch.Tensor,
    lse: torch.Tensor,
    softmax_scale: float,
    causal: bool,
) -> None:
    """One call to the recorder, as a kernel launch is one node of a graph. What it calls itself is nobody's concern."""
    with torch._C.DisableTorchFunction(), _disable_current_modes():
        begins = cu_seqlens_q.tolist()
        for b, length in enumerate(cache_seqlens.tolist()):
            tokens = slice(begins[b], begins[b + 1])
            keys, values = _read_pages(k_cache, v_cache, page_table[b], length)
            out[tokens], lse[:, tokens] = _attend(q[tokens], qv[tokens], keys, values, length, softmax_scale, causal)


def _read_pages(k_cache, v_cache, row, length):
    page_size = v_cache.shape[1]
    pages = row[: -(-length // page_size)].to(torch.int64)
    assert len(pages) * page_size >= length, "a table that is too narrow for the row's length"
    if len(pages) and (int(pages.min()) < 0 or int(pages.max()) >= v_cache.shape[0]):
        raise IndexError(f"attention reads pages {pages.tolist()} of a cache of {v_cache.shape[0]}")
    return (cache.index_select(0, pages)[:, :, 0].flatten(0, 1).float().contiguous() for cache in (k_cache, v_cache))


def _attend(q, qv, keys, values, length, softmax_scale, causal):
    """(outputs, [heads, tokens] of lse). A token that sees nothing: 0, -inf."""
    count = q.shape[0]
    seen = torch.full((count,), length)
    if causal:
        seen -= torch.arange(count).flip(0)
    scores = (q.float() @ keys.T + qv.float() @ values.T) * softmax_scale
    masked = torch.arange(keys.shape[0]) >= seen[:, None]
    scores.masked_fill_(masked[:, None], float("-inf"))
    blind = (seen <= 0)[:, None, None]
    weights = torch.softmax(scores, dim=-1).masked_fill(blind, 0.0)
    return (weights @ values).masked_fill(blind, 0.0).to(q.dtype), torch.logsumexp(scores, dim=-1).T


def flash_attn_with_kvcache(
    *,
    q,
    k_cache,
    v_cache,
    qv,
    page_table,
    cache_seqlens,
    cu_seqlens_q,
    cu_seqlens_k_new,
    max_seqlen_q,
    softmax_scale,
    causal,
    softcap,
    k_descale,
    v_descale,
    return_softmax_lse,
    window_size=(-1, -1),
    num_splits=0,
    ver=3,
    **unknown,
):
    assert not unknown, f"the double knows no {sorted(unknown)}"
    assert window_size == (-1, -1) and not softcap and k_descale is None and v_descale is None
    assert k_cache.dtype == v_cache.dtype == q.dtype, f"a {q.dtype} kernel on {v_cache.dtype} keys"
    assert page_table.dtype == cache_seqlens.dtype == cu_seqlens_q.dtype == torch.int32
    assert page_table.shape[0] == cache_seqlens.shape[0] == cu_seqlens_q.shape[0] - 1
    tokens, heads = qv.shape[:2]
    out = torch.empty_like(qv)
    lse = qv.new_empty(heads, tokens, dtype=torch.float32)
    torch.ops.suture_backend_test.fa3(
        q, qv, k_cache, v_cache, page_table, cache_seqlens, cu_seqlens_q, out, lse, float(softmax_scale), causal
    )
    return (out, lse) if return_softmax_lse else out
