"""Stand-ins for what the FlashAttention backend imports from the rest of SGLang, beside those of stand_ins.py: index
kernels in plain torch that leave a table as the real ones do (columns behind a row's length keep what was there), and
settings of a server without context parallelism, sliding windows, local attention or unified pools."""

from types import SimpleNamespace

import torch

import stand_ins
from stand_ins import KeysRead


class Spec:
    """What a server with speculative decoding is started with; 0: without."""

    topk = 0
    draft_tokens = 0


class Noted:
    """The attention call, with a note of the keys that it was handed last."""

    keys_read = None

    def __init__(self, run):
        self.run = run

    def __call__(self, **named):
        self.keys_read = KeysRead.of(named["v_cache"])
        return self.run(**named)


class VerifyInput(stand_ins.SpecInput):
    """Verifies `draft_token_num` tokens a request, each of which sees some of the others."""

    spec_input_type = stand_ins.SpecInputType.EAGLE_VERIFY

    def __init__(self, draft_token_num, tokens, custom_mask=None):
        self.draft_token_num = self.num_tokens_per_req = draft_token_num
        self.positions = torch.zeros(tokens, dtype=torch.int64)
        self.custom_mask = custom_mask


# --- index kernels ---------------------------------------------------------------------------------------------------


def _fill_pages(page_table, req_to_token, requests, lens, page_size):
    """The live columns of each row, and no other: as the kernels do that go by the lengths on the device."""
    columns = torch.arange(page_table.shape[1], device=page_table.device)
    live = columns * page_size < lens[:, None]
    token = (columns * page_size).clamp(max=req_to_token.shape[1] - 1)
    pages = req_to_token[requests.to(torch.int64)][:, token] // page_size
    page_table.copy_(torch.where(live, pages.to(page_table.dtype), page_table))


def _normal_decode_set_metadata(
    cache_seqlens, cu_seqlens_k, page_table, req_to_token, req_pool_indices, *rest, **unused
):
    """Up to 0.5.17 `rest` begins with strided_indices and max_seq_pages, later with the width of the table."""
    sized_by_host = isinstance(rest[0], torch.Tensor)
    seq_lens, delta, page_size = rest[2:5] if sized_by_host else rest[1:4]
    cache_seqlens.copy_(seq_lens + delta)
    cu_seqlens_k[1:].copy_(torch.cumsum(cache_seqlens, dim=0, dtype=torch.int32))
    if sized_by_host:
        columns = rest[0][: rest[1]]
        page_table[:, : rest[1]].copy_(req_to_token[req_pool_indices[:, None], columns[None, :]] // page_size)
    else:
        _fill_pages(page_table, req_to_token, req_pool_indices, cache_seqlens, page_size)


def _build_page_table(*, req_to_token, req_pool_indices, cache_seqlens, page_table, page_size, **unused):
    _fill_pages(page_table, req_to_token, req_pool_indices, cache_seqlens, page_size)


def _merge_states(a, lse_a, b, lse_b):
    """Attention over the keys of both, from attention over those of each; lse is [tokens, heads]."""
    lse = torch.logaddexp(lse_a, lse_b)
    weight_a, weight_b = (torch.exp(part - lse)[..., None] for part in (lse_a, lse_b))
    return (a.float() * weight_a + b.float() * weight_b).to(a.dtype), lse


def _paged_view(flat, page_size):
    assert flat.shape[0] % page_size == 0
    stride = flat.stride(0)
    return flat.as_strided(
        (flat.shape[0] // page_size, page_size, *flat.shape[1:]), (stride * page_size, stride, *flat.stride()[1:])
    )


# --- settings --------------------------------------------------------------------------------------------------------


class _ServerArgs:
    kv_cache_dtype = "fp8_e4m3"
    enable_deterministic_inference = False
    disable_cuda_graph = False
    is_embedding = False
    chunked_prefill_size = 8192
    disable_radix_cache = False
    enable_dp_attention = enable_prefill_cp = False
    disable_chunked_prefix_cache = False
    speculative_algorithm = "EAGLE"
    deterministic = SimpleNamespace(enable_deterministic_inference=False)

    @property
    def speculative_eagle_topk(self):
        return Spec.topk

    @property
    def speculative_num_draft_tokens(self):
        return Spec.draft_tokens or None

    def __getitem__(self, name):  # up to 0.4.10 they are a dictionary
        return getattr(self, name)


SERVER_ARGS = _ServerArgs()


class Translator(stand_ins.Translator):
    is_translating = reads_are_translated = needs_read_translate = False

    def build_index_table(self, *, req_pool_indices, seq_lens, into):
        """In 0.5.19; without a unified pool it hands on what it has."""
        return SimpleNamespace(ids=self.req_to_token, row_ids=req_pool_indices)


class _NoPool:
    """A kind of KV pool that is not in use."""


def names(attention):
    """The table of names, over that of stand_ins.py; `attention`: flash_attn_with_kvcache of the device."""
    parallel = SimpleNamespace(
        attn_cp_size=1, attn_tp_size=1, attn_dcp_size=1, dcp_enabled=False, enable_prefill_cp=False, enable_dp_attention=False,
        attn_dp_enabled=False,
    )  # fmt: skip
    return {
        "AttentionArch": SimpleNamespace(MLA="mla"),
        "AttentionType": SimpleNamespace(ENCODER_ONLY="encoder only", DECODER_BIDIRECTIONAL="bidirectional"),
        "CPAttentionBackendKind": SimpleNamespace(FLASH_ATTENTION="fa3"),
        "IdSpaceKind": SimpleNamespace(SLIDING_WINDOW="swa"),
        "KVWriteLoc": _WriteLocation,
        "KVReadTables": SimpleNamespace,
        "LocalAttentionMetadata": SimpleNamespace,
        "LocalAttentionMetadataBuilder": None,
        "SWAKVPool": _NoPool,
        "SpeculativeAlgorithm": SimpleNamespace(from_string=lambda name: name),
        "VerifyMask": SimpleNamespace,
        "_build_pa_page_table": None,
        "build_ragged_target_verify_geometry": None,
        "build_trtllm_mha_page_table": _build_page_table,
        "can_use_fused_suffix_attention_merge": lambda *args, **named: False,
        "cp_allgather_and_save_kv_cache": None,
        "cp_attn_forward_extend": None,
        "cuda_graph_fully_disabled": lambda: False,
        "draft_extend_set_metadata": None,
        "flash_attn_varlen_func": None,
        "flash_attn_with_kvcache": attention,
        "get_compiler_backend": lambda: "eager",
        "get_cp_strategy": lambda: None,
        "get_device_capability": lambda: (9, 0),
        "get_exec": lambda: SERVER_ARGS,
        "get_global_server_args": lambda: SERVER_ARGS,
        "get_kv_shard_pool": lambda pool: None,
        "get_memory": lambda: SERVER_ARGS,
        "get_model": lambda: SERVER_ARGS,
        "get_parallel": lambda: parallel,
        "get_schedule": lambda: SERVER_ARGS,
        "get_scheduler_metadata": lambda **named: None,
        "get_server_args": lambda: SERVER_ARGS,
        "get_spec": lambda: SERVER_ARGS,
        "global_server_args_dict": SERVER_ARGS,
        "is_cp_active": lambda batch: False,
        "is_cp_v2_active": lambda *args: False,
        "maybe_create_verify_mask": lambda **named: None,
        "merge_state_v2": _merge_states,
        "merge_suffix_attention_in_place": None,
        "normal_decode_set_metadata": _normal_decode_set_metadata,
        "paged_kv_view": None,
        "paged_view": _paged_view,
        "per_step_draft_out_cache_loc": None,
        "prepare_kv_shard_forward": None,
        "prepare_swa_spec_page_table_triton": None,
        "resolve_num_tokens_per_req": lambda num_draft_tokens, **named: num_draft_tokens,
        "unified_mla_hooks": lambda allocator: SimpleNamespace(
            enabled=False, translate_kv_loc_dense=None, kernel_page_multiplier=1
        ),
    }  # fmt: skip


class _WriteLocation:
    """SGLang's pair of write locations (from 0.5.15 on): here the slots alone."""

    def __new__(cls, loc, *unused, **named):
        return loc

    @staticmethod
    def for_layer(batch, layer, swa_loc=None):
        return batch.out_cache_loc

    @staticmethod
    def for_batch(batch):
        return batch.out_cache_loc
