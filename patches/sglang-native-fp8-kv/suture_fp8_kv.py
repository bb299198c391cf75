"""FP8 keys read as they are by FlashInfer's MLA kernels, where those can.

Added to SGLang by suture (the patch sglang-native-fp8-kv). The unpatched backend plans every step for keys of the model's
dtype and calls ``pool.to(q.dtype)`` in every layer. The edits call these instead:

``planned_kv_dtype(wrapper, updater, dtype)``
    the dtype of the keys that ``wrapper`` is planned for: FP8 for an FP8 pool that the kernel takes, else ``dtype``.
``kv_for(wrapper, pool, dtype)``
    the keys that ``wrapper`` reads: the pool itself after such a plan, else ``pool.to(dtype)`` as before.
``run_scales(wrapper)``
    what ``run()`` wants beside FP8 keys, as keywords: FlashInfer requires both scales there and forbids them elsewhere.

There is one decision, the plan's, and it is kept where the plan is: on the wrapper. Reads and scales ask the wrapper,
not the pool, so that a wrapper which was planned by a way that is not edited is read as it was planned.

Words
    wrapper  a ``BatchMLAPagedAttentionWrapper``. Read: ``_kv_data_type``, what FlashInfer's own plan() left there
             (0.6.14 and later); ``_backend``; ``device``. Written: ``_suture_kv_dtype``, what the last plan was asked for.
    updater  the backend's FlashInferMLAIndicesUpdaterDecode or -Prefill: ``attn_backend``, ``kv_lora_rank``,
             ``qk_rope_head_dim``. Of its backend: ``suture_kv_pool``, which the patch sets in __init__.
    pool     [slots, 1, 576], what ``get_key_buffer`` returns. SGLang writes it without a scale,
             ``keys.to(float8_e4m3fn)``, so scales of 1.0 read the very numbers that ``pool.to(dtype)`` gives.

What the kernels take (FlashInfer 0.6.14 to 0.7.x): an e4m3fn pool, BF16 queries, 512 + 64 columns, compute capability 9.x.
All else is planned and cast as before, e5m2 and BF16 pools and other GPUs too.

Errors
    TypeError from ``kv_for`` where the keys are not of the dtype that the step is planned for: no kernel would read them
    right. All others are FlashInfer's own.

``SUTURE_KV_CAST=off`` in the server's environment turns it off: the whole cast as before, for an A/B without taking the
patch out. It is read once, when this file is imported, so it takes a restart.
"""

import inspect
import os
from typing import Any, Dict

import torch

try:
    from flashinfer.mla import BatchMLAPagedAttentionWrapper
except ImportError:  # then SGLang serves with another backend
    BatchMLAPagedAttentionWrapper = None

_OFF = os.environ.get("SUTURE_KV_CAST", "").strip().lower() == "off"
_FP8 = torch.float8_e4m3fn
_COLUMNS = (512, 64)  # of the compressed keys and of the rotary ones: what the FP8 kernels are built for
_SCALES = {"ckv_scale": 1.0, "kpe_scale": 1.0}


def planned_kv_dtype(wrapper: Any, updater: Any, dtype: torch.dtype) -> torch.dtype:
    """The ``kv_data_type`` to plan ``wrapper`` with; ``dtype``: that of the queries, and of the keys without the patch.

    Called once a step, and in front of each replay of a CUDA graph, where it comes to what it came to at capture: it
    depends on nothing that changes while a server runs.
    """
    planned = _FP8 if _reads_natively(wrapper, updater, dtype) else dtype
    wrapper._suture_kv_dtype = planned
    return planned


def kv_for(wrapper: Any, pool: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """The keys for ``wrapper.run``. Under decode context parallelism ``pool`` may be the compact buffer of a prefill,
    which has the pool's dtype."""
    if not _planned_for_fp8(wrapper):
        return pool.to(dtype)
    if pool.dtype != _FP8:
        raise TypeError(
            f"suture: the step is planned for {_FP8} keys, and these are {pool.dtype}; "
            "SUTURE_KV_CAST=off in the server's environment plans and casts as without sglang-native-fp8-kv"
        )
    return pool


def run_scales(wrapper: Any) -> Dict[str, float]:
    return _SCALES if _planned_for_fp8(wrapper) else {}


def _planned_for_fp8(wrapper: Any) -> bool:
    """By FlashInfer's word on what the wrapper was planned for, whoever planned it; without one, what we asked for."""
    planned = getattr(wrapper, "_kv_data_type", None)
    if planned is None:
        planned = getattr(wrapper, "_suture_kv_dtype", None)
    return planned == _FP8


def _reads_natively(wrapper: Any, updater: Any, dtype: torch.dtype) -> bool:
    pool = getattr(updater.attn_backend, "suture_kv_pool", None)
    return (
        not _OFF
        and getattr(pool, "dtype", None) == _FP8
        and dtype == torch.bfloat16
        and (updater.kv_lora_rank, updater.qk_rope_head_dim) == _COLUMNS
        # fa2 reads FP8 too, from 0.6.18 on; "auto" is what 0.7 says until it has planned once, and is one of the two.
        and getattr(wrapper, "_backend", None) in ("auto", "fa3")
        and _run_takes_scales()
        and _is_hopper(wrapper.device)
    )


_facts: Dict[Any, bool] = {}


def _run_takes_scales() -> bool:
    """Whether the FlashInfer of this process has FP8 keys at all: suture looked when the patch was applied, and another
    one may have been installed since."""
    if "scales" not in _facts:
        run = getattr(BatchMLAPagedAttentionWrapper, "run", None)
        _facts["scales"] = run is not None and set(_SCALES) <= set(inspect.signature(run).parameters)
    return _facts["scales"]


def _is_hopper(device: torch.device) -> bool:
    if device not in _facts:
        nvidia = torch.version.hip is None and torch.cuda.is_available()
        _facts[device] = nvidia and torch.cuda.get_device_capability(device)[0] == 9
    return _facts[device]
