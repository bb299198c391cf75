"""What suture_fp8_kv.py promises, checked on the file itself: what it plans for, reads and gives, for every pool, model,
GPU and FlashInfer that it must tell apart."""

import sys
from types import SimpleNamespace
from unittest import mock

import torch

import double
import sides
import stand_ins
import wrapper_double

FP8, E5M2, BF16 = torch.float8_e4m3fn, torch.float8_e5m2, torch.bfloat16
SCALES = {"ckv_scale": 1.0, "kpe_scale": 1.0}


class _WithoutScales:
    """FlashInfer up to 0.6.13."""

    def run(self, q_nope, q_pe, ckv_cache, kpe_cache, out=None):
        raise NotImplementedError


def load(path, wrapper=wrapper_double.BatchMLAPagedAttentionWrapper):
    """The file, beside a FlashInfer of that wrapper; None: beside none."""
    device = double.device(2, "native")
    stand_ins.install(device, device.names())
    modules = {"flashinfer.mla": None if wrapper is None else SimpleNamespace(BatchMLAPagedAttentionWrapper=wrapper)}
    with mock.patch.dict(sys.modules, modules):
        return stand_ins.load_module("suture_fp8_kv_alone", path)


def _wrapper(backend="fa3", **more):
    return SimpleNamespace(_backend=backend, device=torch.device("cpu"), **more)


def _updater(pool=FP8, ckv=512, kpe=64, **more):
    backend = SimpleNamespace(**{"suture_kv_pool": SimpleNamespace(dtype=pool), **more})
    return SimpleNamespace(attn_backend=backend, kv_lora_rank=ckv, qk_rope_head_dim=kpe)


def _decides(fp8_kv, wrapper, updater, dtype=BF16, gpu=(9, 0)):
    """(planned dtype, whether the pool itself is read, the scales), which must all say the same."""
    pool = torch.randn(4, 1, 576).to(updater.attn_backend.suture_kv_pool.dtype)
    with double.a_gpu(gpu):
        planned = fp8_kv.planned_kv_dtype(wrapper, updater, dtype)
        again = fp8_kv.planned_kv_dtype(wrapper, updater, dtype)
    keys = fp8_kv.kv_for(wrapper, pool, dtype)
    assert planned == again, "two plans, two answers"
    assert keys.dtype == planned, f"planned for {planned}, and read as {keys.dtype}"
    return planned == FP8, keys is pool, fp8_kv.run_scales(wrapper)


NATIVE, AS_BEFORE = (True, True, SCALES), (False, False, {})


def decisions(path):
    fp8_kv = load(path)
    yield "an FP8 pool on a Hopper is read as it is", _decides(fp8_kv, _wrapper(), _updater()) == NATIVE
    auto = _decides(fp8_kv, _wrapper("auto"), _updater())
    yield "so by a wrapper of FlashInfer 0.7 before its first plan", auto == NATIVE
    for what, wrapper, updater, dtype in (
        ("an e5m2 pool", _wrapper(), _updater(E5M2), BF16),
        ("a float16 pool", _wrapper(), _updater(torch.float16), BF16),
        ("queries in float16", _wrapper(), _updater(), torch.float16),
        ("256 + 32 columns", _wrapper(), _updater(ckv=256, kpe=32), BF16),
        ("512 columns and none beside", _wrapper(), _updater(kpe=0), BF16),
        ("the fa2 kernel", _wrapper("fa2"), _updater(), BF16),
        ("the cutlass kernel", _wrapper("cutlass"), _updater(), BF16),
        ("a wrapper that does not say its kernel", SimpleNamespace(device=torch.device("cpu")), _updater(), BF16),
    ):
        yield f"{what}: as before", _decides(fp8_kv, wrapper, updater, dtype) == AS_BEFORE
    bf16 = torch.randn(4, 1, 576).to(BF16)
    wrapper = _wrapper()
    with double.a_gpu((9, 0)):
        planned = fp8_kv.planned_kv_dtype(wrapper, _updater(BF16), BF16)
    yield "a BF16 pool: the very tensor, no scales", (
        planned == BF16 and fp8_kv.kv_for(wrapper, bf16, BF16) is bf16 and fp8_kv.run_scales(wrapper) == {}
    )
    unknown = SimpleNamespace(attn_backend=SimpleNamespace(), kv_lora_rank=512, qk_rope_head_dim=64)
    with double.a_gpu((9, 0)):
        planned = fp8_kv.planned_kv_dtype(_wrapper(), unknown, BF16)
    yield "a backend that keeps no pool: as before", planned == BF16


def machines(path):
    for gpu in ((8, 0), (8, 9), (10, 0), (12, 0)):
        here = _decides(load(path), _wrapper(), _updater(), gpu=gpu)
        yield f"SM{gpu[0]}{gpu[1]}: as before", here == AS_BEFORE
    fp8_kv = load(path)
    with mock.patch("torch.version.hip", "6.4"):
        yield "an AMD GPU of major version 9: as before", _decides(fp8_kv, _wrapper(), _updater()) == AS_BEFORE
    for what, wrapper in (("without scales", _WithoutScales), ("that is not there", None)):
        here = _decides(load(path, wrapper), _wrapper(), _updater())
        yield f"a FlashInfer {what}: as before", here == AS_BEFORE
    with sides.environment({"SUTURE_KV_CAST": "off"}):
        fp8_kv = load(path)
    yield "switched off: as before", _decides(fp8_kv, _wrapper(), _updater()) == AS_BEFORE


def one_decision(path):
    """The wrapper's own word on its plan goes before ours."""
    fp8_kv = load(path)
    pool = torch.randn(4, 1, 576).to(FP8)
    elsewhere = _wrapper(_suture_kv_dtype=FP8, _kv_data_type=BF16)
    yield "planned elsewhere, for BF16: cast, no scales", (
        fp8_kv.kv_for(elsewhere, pool, BF16).dtype == BF16 and fp8_kv.run_scales(elsewhere) == {}
    )
    elsewhere = _wrapper(_kv_data_type=FP8)
    yield "planned elsewhere, for FP8: read, with scales", (
        fp8_kv.kv_for(elsewhere, pool, BF16) is pool and fp8_kv.run_scales(elsewhere) == SCALES
    )
    yield "never planned: cast, no scales", (
        fp8_kv.kv_for(_wrapper(), pool, BF16).dtype == BF16 and fp8_kv.run_scales(_wrapper()) == {}
    )
    try:
        fp8_kv.kv_for(elsewhere, pool.to(BF16), BF16)
        told = ""
    except TypeError as error:
        told = str(error)
    yield "keys of another dtype than the plan's are refused", "planned for torch.float8_e4m3fn keys" in told
    yield "the values are those of the cast", torch.equal(pool.float(), pool.to(BF16).float())


def check(path):
    """Yields (what, None or why not)."""
    for group in (decisions, machines, one_decision):
        try:
            for what, holds in group(path):
                yield what, None if holds else "does not hold"
        except Exception as error:  # noqa: BLE001
            yield group.__name__, f"{type(error).__name__}: {error}"
