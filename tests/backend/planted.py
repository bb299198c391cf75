"""Errors planted on purpose: each is a substitution of text in a patched tree, and a path that must fail with it. A
text that is not there fails the harness: a plant that changes nothing proves nothing."""

from typing import List, NamedTuple, Tuple


class Plant(NamedTuple):
    name: str
    patch: str  # "cast", "gather", "native" or "pages"
    release: str
    path: str  # the path that must catch it, or "contract"
    file: str  # "kv_cast", "kv_cast_pages", "fp8_kv" or "backend"
    edits: List[Tuple[str, str]]  # (text, instead): the first place where the text stands
    by_keys: bool = False  # caught by what attention is handed; if not, the outputs alone must show it


_PLANNED = '    planned = getattr(wrapper, "_kv_data_type", None)\n'
_DCP_READ = "suture_fp8_kv.kv_for(prefill_wrapper_paged, forward_batch.attn_dcp_metadata.dcp_kv_buffer, q.dtype)"
_REFRESH = "    self._kv_indptr_buf.copy_(kv_indptr_cpu, non_blocking=True)\n"
_DO_NOT_REFRESH = [(_REFRESH, "    pass\n")]
_LIVE_PAGES = "    live_pages = indptr[-1]\n"
_LIVE_COLUMNS = (
    "    live = (torch.arange(table.shape[1], device=pool.device) < pages[:, None])[:, :, None]\n"
)
_PLAIN_TRANSCRIPTION = [
    (
        "    wrapper._suture_plan = None  # whatever an earlier plan left is void from here on\n",
        "    wrapper.last_kv_indices = kv_indices\n"
        "    return torch.arange(len(kv_indices), dtype=torch.int32, device=kv_indices.device)\n",
    ),
    (
        "    plan = _plan_in_force(wrapper)\n    if plan is None:\n",
        "    return pool.view(torch.uint8)[wrapper.last_kv_indices.long()].view(pool.dtype).to(dtype)\n"
        "    plan = _plan_in_force(wrapper)\n    if plan is None:\n",
    ),
]
_PAGE_SIZE_1 = [('    page_size = getattr(wrapper, "_page_size", None)\n', "    page_size = 1\n")]

PLANTS = [
    Plant(
        "gather off by one", "gather", "0.5.6", "eager decode", "kv_cast",
        [("return kv_indices.clamp(0, pool_rows - 1)", "return (kv_indices + 1).clamp(0, pool_rows - 1)")],
    ),
    Plant(
        "the plain transcription under graphs", "gather", "0.5.6", "graph decode, eager steps between", "kv_cast",
        _PLAIN_TRANSCRIPTION,
    ),
    Plant(
        "the plain transcription under graphs, metadata prepared twice", "gather", "0.5.22",
        "graph decode, eager steps between", "kv_cast", _PLAIN_TRANSCRIPTION,
    ),
    Plant(
        "no indptr refresh, decode", "cast", "0.5.6", "graph decode, eager steps between", "backend", _DO_NOT_REFRESH,
    ),
    Plant(
        "no indptr refresh, gather's graphs", "gather", "0.5.13", "graph decode, eager steps between", "backend",
        _DO_NOT_REFRESH,
    ),
    Plant("no indptr refresh, DFLASH", "cast", "0.5.22", "DFLASH verify", "backend", _DO_NOT_REFRESH),
    Plant("no indptr refresh, draft", "cast", "0.5.18", "EAGLE draft", "backend", _DO_NOT_REFRESH),
    Plant(
        "arange under DCP", "gather", "0.5.22", "DCP extend", "kv_cast", [("or dcp_metadata is not None ", "")],
    ),
    Plant("page ids read as slots", "cast", "0.5.1", "pages of 4, eager decode", "kv_cast", _PAGE_SIZE_1),
    Plant("page ids read as slots, in a graph", "cast", "0.5.1", "pages of 4, graph decode", "kv_cast", _PAGE_SIZE_1),
    Plant(
        "page ids gathered as slots", "gather", "0.5.1", "pages of 4, paged extend", "kv_cast",
        [('(pool.shape[0], getattr(wrapper, "_page_size", 1))', "(pool.shape[0], 1)")],
    ),
    Plant(
        "a stale tail id past the pool is gathered", "gather", "0.5.22", "DCP decode", "kv_cast",
        [("return kv_indices.clamp(0, pool_rows - 1)", "return kv_indices")],
    ),
    Plant(
        "a stale tail id past the pool is cast", "cast", "0.5.22", "DCP decode", "kv_cast",
        [("torch.where(live, row, rows).flatten()", "row.flatten()")],
    ),
    Plant(
        "no cap on the gather", "gather", "0.5.15", "more rows named than the pool has", "kv_cast",
        [("return 0 < kv_indices.shape[0] * page_size <= pool_rows", "return 0 < kv_indices.shape[0]")],
    ),
    Plant(
        "no cap on the cast", "cast", "0.5.6", "contract", "kv_cast",
        [("named[:rows] | (count > rows)", "named[:rows]")],
    ),
    Plant(
        "equal dtype returns another object", "cast", "0.5.13", "pool of the query's dtype", "kv_cast",
        [("pool.dtype == dtype:\n        return pool\n", "pool.dtype == dtype:\n        return pool.clone()\n")], True,
    ),
    Plant(
        "equal dtype is gathered", "gather", "0.5.13", "pool of the query's dtype", "kv_cast",
        [("None if pool.dtype == dtype else (pool.shape[0]", "(pool.shape[0]")], True,
    ),
    Plant(
        ".item() on the row count", "cast", "0.5.6", "graph decode, eager steps between", "kv_cast",
        [(_LIVE_PAGES, "    live_pages = indptr[-1].item()\n")],
    ),
    Plant(
        ".tolist() on the row count", "cast", "0.5.18", "EAGLE verify", "kv_cast",
        [(_LIVE_PAGES, "    live_pages = indptr.tolist()[-1]\n")],
    ),
    Plant(
        "the gather reads an index on the host", "gather", "0.5.15", "eager decode", "kv_cast",
        [
            (
                "    pool_rows, page_size = seen\n",
                "    pool_rows, page_size = seen\n    assert kv_indices.max() < pool_rows\n",
            )
        ],
    ),
    Plant(
        "the row count of capture is kept", "cast", "0.5.13", "graph decode, eager steps between", "kv_cast",
        [(_LIVE_PAGES, "    live_pages = wrapper_count.setdefault(id(indptr), indptr[-1].clone())\n"),
         ("_shadows: Dict", "wrapper_count = {}\n_shadows: Dict")],
    ),
    Plant(
        "a saved plan outlives a plan made elsewhere", "gather", "0.5.18", "planned elsewhere", "kv_cast",
        [('if plan is not None and getattr(wrapper, "_kv_indices_buf", None) is plan.given:', "if plan is not None:")],
    ),
    Plant(
        "the whole pool is cast after all", "cast", "0.5.22", "eager decode", "kv_cast",
        [("    return _OFF or torch.compiler.is_compiling()", "    return True")], True,
    ),
    Plant(
        "nothing is ever gathered", "gather", "0.5.6", "eager decode", "kv_cast",
        [("    return 0 < kv_indices.shape[0] * page_size <= pool_rows", "    return False")], True,
    ),
    Plant(
        "the switch does nothing", "cast", "0.5.15", "switched off", "kv_cast",
        [("    return _OFF or torch.compiler.is_compiling()", "    return torch.compiler.is_compiling()")], True,
    ),
    # --- the fa3 backend ---
    Plant(
        "the last page is left out", "pages", "0.5.22", "pages of 64, eager decode", "kv_cast_pages",
        [("+ page_size - 1) // page_size)", ") // page_size)")],
    ),
    Plant(
        "one token too few", "pages", "0.5.6", "graph decode, eager steps between", "kv_cast_pages",
        [("lengths.to(torch.int64).clamp(min=0)", "(lengths.to(torch.int64) - 1).clamp(min=0)")],
    ),
    Plant(
        "the last page up to the length alone", "pages", "0.5.13", "pages of 64, target verify", "kv_cast_pages",
        [(_LIVE_COLUMNS, "    live = torch.arange(table.shape[1])[:, None] * page_size + in_page < lengths[:, None, None]\n")],
    ),
    Plant(
        "page ids read as slots", "pages", "0.5.18", "pages of 64, graph decode", "kv_cast_pages",
        [("row = (table.to(torch.int64) * page_size)", "row = (table.to(torch.int64))")],
    ),
    Plant(
        "the page size is taken for 1", "pages", "0.4.9.post2", "pages of 64, paged extend", "kv_cast_pages",
        [('    page_size = getattr(backend, "page_size", None)', "    page_size = 1")],
    ),
    Plant(
        "columns behind the length are cast", "pages", "0.5.22", "contract", "kv_cast_pages",
        [(_LIVE_COLUMNS, "    live = torch.ones((), dtype=torch.bool)\n")],
    ),
    Plant(
        "the second table is not read, verify", "pages", "0.5.6", "target verify, topk 2", "kv_cast_pages",
        [("    if cascade:\n", "    if False:\n")],
    ),
    Plant(
        "the second table is not read, draft", "pages", "0.5.22", "draft, topk 2", "kv_cast_pages",
        [("    if cascade:\n", "    if False:\n")],
    ),
    Plant(
        "the second table's lengths are the first's", "pages", "0.5.18", "pages of 64, draft, topk 2", "kv_cast_pages",
        [("expand.cache_seqlens_int32))", "seq_lens.repeat_interleave(2)))")],
    ),
    Plant(
        "extend casts by the lengths without the drafted tokens", "pages", "0.5.13", "target verify", "backend",
        [("                    page_table,\n                    cache_seqlens,\n", "                    page_table,\n                    cache_seqlens - 4,\n")],
    ),
    Plant(
        "the lengths of capture are kept", "pages", "0.5.18", "graph decode, eager steps between", "kv_cast_pages",
        [("_Table = Tuple", "_first = {}\n_Table = Tuple"),
         ("    pages = ((lengths", "    lengths = _first.setdefault(lengths.data_ptr(), lengths.clone())\n    pages = ((lengths")],
    ),
    Plant(
        ".tolist() on the lengths", "pages", "0.5.13", "eager decode", "kv_cast_pages",
        [("    in_page = torch.arange(", "    assert min(lengths.tolist()) >= 0\n    in_page = torch.arange(")],
    ),
    Plant(
        "equal dtype returns another object", "pages", "0.5.22", "pool of the query's dtype", "kv_cast_pages",
        [("pool.dtype == dtype:\n        return pool\n", "pool.dtype == dtype:\n        return pool.clone()\n")], True,
    ),
    Plant(
        "the whole pool is cast after all", "pages", "0.5.6", "paged extend", "kv_cast_pages",
        [("    if not page_size or _left_alone()", "    if True or _left_alone()")], True,
    ),
    Plant(
        "context parallelism is not looked at", "pages", "0.5.18", "context parallelism", "kv_cast_pages",
        [('getattr(backend, "attn_cp_size", 1) != 1 or ', "")], True,
    ),
    Plant(
        "FlashAttention 4 is not looked at", "pages", "0.5.22", "FlashAttention 4", "kv_cast_pages",
        [(' or getattr(backend, "fa_impl_ver", 3) != 3', "")], True,
    ),
    Plant(
        "no cap on the cast", "pages", "0.5.6", "contract", "kv_cast_pages",
        [("live, pages.sum() * page_size)", "live, 0)")],
    ),
    # ---
    Plant(
        "a slot too few is cast", "cast", "0.5.15", "EAGLE verify", "kv_cast",
        [(_LIVE_PAGES, "    live_pages = indptr[-1] - 1\n")],
    ),
    # --- native FP8
    Plant(
        "no scales in decode", "native", "0.5.16", "eager decode", "backend",
        [("            **suture_fp8_kv.run_scales(decode_wrapper),\n", "")],
    ),
    Plant(
        "no scales in extend", "native", "0.5.18", "EAGLE verify", "backend",
        [("                **suture_fp8_kv.run_scales(prefill_wrapper_paged),\n", "")],
    ),
    Plant(
        "scales for a BF16 pool", "native", "0.5.19", "pool of the query's dtype", "fp8_kv",
        [("return _SCALES if _planned_for_fp8(wrapper) else {}", "return _SCALES")],
    ),
    Plant(
        "a scale of its own", "native", "0.5.22", "eager decode", "fp8_kv", [('"ckv_scale": 1.0', '"ckv_scale": 0.5')],
    ),
    Plant(
        "planned in the model's dtype, and not cast", "native", "0.5.20", "graph decode, eager steps between", "fp8_kv",
        [("    return planned\n", "    return dtype\n"), (_PLANNED, "    planned = None\n")],
    ),
    Plant(
        "planned for FP8, and cast", "native", "0.5.16", "paged extend", "fp8_kv",
        [("    if not _planned_for_fp8(wrapper):\n", "    if True:\n")],
    ),
    Plant(
        "FP8 whatever the pool is", "native", "0.5.22", "pool of the query's dtype", "fp8_kv",
        [("planned = _FP8 if _reads_natively(wrapper, updater, dtype) else dtype", "planned = _FP8")],
    ),
    Plant(
        "e5m2 taken for e4m3fn", "native", "0.5.18", "e5m2 pool", "fp8_kv",
        [('getattr(pool, "dtype", None) == _FP8', 'getattr(pool, "dtype", None).itemsize == 1')],
    ),
    Plant(
        "the prefill is planned as before", "native", "0.5.20", "EAGLE verify", "backend",
        [("suture_fp8_kv.planned_kv_dtype(wrapper_paged, self, self.data_type)", "self.data_type")] * 2, True,
    ),
    Plant(
        "the compact buffer of DCP is cast", "native", "0.5.22", "DCP extend", "backend",
        [(_DCP_READ, "forward_batch.attn_dcp_metadata.dcp_kv_buffer.to(q.dtype)")],
    ),
    Plant(
        "our word on a plan that another made", "native", "0.5.18", "planned elsewhere", "fp8_kv", [(_PLANNED, "    planned = None\n")],
    ),
    Plant(
        "the pool is cast after all", "native", "0.5.22", "eager decode", "fp8_kv", [("        not _OFF\n", "        False\n")], True,
    ),
    Plant(
        "the switch does nothing", "native", "0.5.16", "switched off", "fp8_kv", [("        not _OFF\n", "        True\n")], True,
    ),
    Plant(
        "any GPU will do", "native", "0.5.22", "contract", "fp8_kv", [("get_device_capability(device)[0] == 9", "is_available()")],
    ),
    Plant(
        "any FlashInfer will do", "native", "0.5.22", "contract", "fp8_kv", [("        and _run_takes_scales()\n", "")],
    ),
]  # fmt: skip


def plant(text, plant):
    """The text with the error in it; raises if there is nothing to plant it on."""
    for old, new in plant.edits:
        if old not in text:
            raise LookupError(f"the text to plant it on is gone: {old.strip()!r}")
        text = text.replace(old, new, 1)
    return text
