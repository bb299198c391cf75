"""What the shipped patches say where upstream has removed the waste itself: superseded, and not drifted. The upstream fixes are
our own, in the two shapes that such a fix has: a shadow by pages, and FP8 keys by dtype; the backend is one of ours too, with
the structure that the rules name and nothing else. And what must not pass for a fix: half of one, a comment, our own edits.
"""

import shutil
import sys

import scenario
from scenario import driver

sys.path.insert(0, str(driver.SOURCE / "tests" / "support"))
import flashinfer_tree  # noqa: E402

PATCHES = ("sglang-cast-active-slots", "sglang-gather-then-cast", "sglang-native-fp8-kv")

BACKEND = '''\
import torch


class FlashInferMLAAttnBackend:
    def __init__(self, model_runner, skip_prefill=False):
        super().__init__()
        self.pool = model_runner.token_to_kv_pool

    def forward_extend(self, q, layer, batch):
        prefill_wrapper_paged = self.metadata.prefill_wrapper
        o = q.new_empty(q.shape)
        keys = self.pool.get_key_buffer(layer.layer_id).to(q.dtype)
        return prefill_wrapper_paged.run(q, q, keys[:, :, :512], keys[:, :, 512:], out=o)

    def forward_decode(self, q, layer, batch):
        decode_wrapper = self.metadata.decode_wrapper
        o = q.new_empty(q.shape)
        keys = self.pool.get_key_buffer(layer.layer_id).to(q.dtype)
        return decode_wrapper.run(q, q, keys[:, :, :512], keys[:, :, 512:], out=o)


class FlashInferMLAIndicesUpdaterDecode:
    def call_begin_forward(self, wrapper, kv_indptr, kv_indices, replay=False, **fast_decode_kwargs):
        if not replay:
            wrapper.plan(self.qo, kv_indptr, kv_indices, self.lens, 16, 512, 64, 1, False, 0.1, self.dtype, self.dtype)
        else:
            wrapper.plan(
                fast_decode_kwargs["qo"], fast_decode_kwargs["kv"], kv_indices, self.lens,
                16, 512, 64, 1, False, 0.1, self.dtype, self.dtype,
            )


class FlashInferMLAIndicesUpdaterPrefill:
    def call_begin_forward(self, wrapper_paged, kv_indptr, kv_indices):
        wrapper_paged.plan(self.qo, kv_indptr, kv_indices, self.lens, 16, 512, 64, 1, True, 0.1, self.q_dtype, self.dtype)


def fast_mla_decode_plan(self, qo_indptr_cpu, kv_indptr_cpu, kv_indices):
    self._page_size = 1
'''

CAST = "keys = self.pool.get_key_buffer(layer.layer_id).to(q.dtype)"
RUN = ", out=o)"


def in_both(old, new):
    assert BACKEND.count(old) == 2
    return BACKEND.replace(old, new)


# The pool goes to something that converts the pages that the step reads.
SHADOW = in_both(CAST, "keys = self.shadow.pages_of(self.pool.get_key_buffer(layer.layer_id), self.metadata.pages)")
SHADOW_OF_A_NAME = in_both(
    CAST, "pool = self.pool.get_key_buffer(layer.layer_id)\n        keys = dequantize_pages(self.metadata, pool, q.dtype)"
)
# The plan takes the pool's dtype, and run() the scales; what the kernels do not take is cast.
NATIVE_CAST = "keys = self.pool.get_key_buffer(layer.layer_id)\n        if not self.native:\n            keys = keys.to(q.dtype)"
NATIVE = in_both(CAST, NATIVE_CAST).replace(RUN, ", out=o, ckv_scale=self.scale, kpe_scale=self.scale)")
NATIVE_BY_A_DICT = in_both(CAST, NATIVE_CAST).replace(
    RUN, ', out=o, **({"ckv_scale": 1.0, "kpe_scale": 1.0} if self.native else {}))'
)
# The whole cast stays in one branch: the casts' patches have something to do there, the native one has not.
NATIVE_OR_CAST = NATIVE.replace(
    NATIVE_CAST,
    "if self.native:\n            keys = self.pool.get_key_buffer(layer.layer_id)\n        else:\n            " + CAST,
)
HALF = BACKEND.replace(CAST, "keys = self.shadow.pages_of(self.pool.get_key_buffer(layer.layer_id), self.metadata.pages)", 1)
COMMENT = BACKEND.replace("import torch\n", "import torch\n\n# FlashInfer has a ckv_scale: later\n", 1)

TREES = {
    "as it was": (BACKEND, ("applicable",) * 3),
    "a shadow by pages": (SHADOW, ("superseded",) * 3),
    "a shadow by pages, of a name": (SHADOW_OF_A_NAME, ("superseded",) * 3),
    "FP8 by dtype": (NATIVE, ("superseded",) * 3),
    "FP8 by dtype, the scales in a dictionary": (NATIVE_BY_A_DICT, ("superseded",) * 3),
    "FP8 by dtype, else the whole cast": (NATIVE_OR_CAST, ("applicable", "applicable", "superseded")),
    "half of a fix": (HALF, ("drifted",) * 3),
    "a comment": (COMMENT, ("applicable",) * 3),
}


def sglang(s, backend):
    shutil.rmtree(s.folder / "site", ignore_errors=True)
    s.install({"__init__.py": "", "srt/layers/attention/flashinfer_mla_backend.py": backend}, name="sglang", version="0.6.0")
    flashinfer_tree.make(s.folder / "site")


def test_upstream_fixes(s):
    """superseded where upstream does it, and only there"""
    for what, (backend, expected) in TREES.items():
        sglang(s, backend)
        s.say(what)
        s.run("status", *PATCHES, "-t", "site")
        found = driver.verdicts(s.folder / "site")
        assert tuple(found[patch] for patch in PATCHES) == expected, (what, found)


def test_our_own_edits_are_no_upstream_fix(s):
    """A patched tree without its receipt: applied, not superseded"""
    for patch in PATCHES:
        sglang(s, BACKEND)
        driver.suture("apply", patch, "-q", "-t", s.folder / "site")
        shutil.rmtree(s.folder / "site/sglang/.suture")
        s.run("status", patch, "-t", "site")
        assert driver.verdicts(s.folder / "site")[patch] == "applied"


def test_what_native_fp8_requires(s):
    """sglang-native-fp8-kv is blocked by a FlashInfer without the scales or without the kernel, and says what would follow"""
    for version, made in {
        "0.6.13": {"scales": False, "header": False},
        "0.6.3": {"scales": False, "wrapper": "mla.py"},
        "0.6.18": {"header": False},
        "0.7.2": {"wrapper": "mla/_batch_mla/_wrapper.py"},
    }.items():
        sglang(s, BACKEND)
        shutil.rmtree(s.folder / "site/flashinfer")
        shutil.rmtree(s.folder / "site/flashinfer_python-0.6.18.dist-info")
        flashinfer_tree.make(s.folder / "site", version=version, **made)
        s.run("status", "sglang-native-fp8-kv", "-t", "site")
    shutil.rmtree(s.folder / "site/flashinfer")
    shutil.rmtree(s.folder / "site/flashinfer_python-0.7.2.dist-info")
    with s.unchanged():
        s.run("apply", "sglang-native-fp8-kv", "-t", "site")
    flashinfer_tree.make(s.folder / "elsewhere")
    s.run("status", "sglang-native-fp8-kv", "-t", "site", "--with", "flashinfer=elsewhere")


scenario.main(globals())
