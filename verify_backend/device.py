"""The GPU that a server runs on: FlashInfer's real wrappers, the real FlashAttention 3, CUDA graphs, clocks and memory.

What stands in for it on the CPU, in tests, has the same members (tests/backend/double.py).
"""

import contextlib
import functools
import importlib
import importlib.metadata
import sys
import time

import torch

from sizes import Sizes
from stand_ins import KeysRead

WORKSPACE = 384 << 20  # bytes: what SGLang gives FlashInfer for this backend


@functools.lru_cache(maxsize=None)
def flash_attention_3():
    """SGLang's own kernel, which outlives its module: the backend is to find the stand-ins below that name."""
    ours = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "sgl_kernel"}
    try:
        return importlib.import_module("sgl_kernel.flash_attn").flash_attn_with_kvcache
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "sgl_kernel"]:
            del sys.modules[name]
        sys.modules.update(ours)


def sgl_kernel_version():
    for name in ("sglang-kernel", "sgl-kernel"):  # the first since 0.4.0 of it
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            return importlib.metadata.version(name)
    return ""


class Cuda:
    name = "cuda"
    stood_in = ()  # packages beside sglang that are not there
    workspace_bytes = WORKSPACE

    def __init__(self, heads, mla_kernel=""):
        self.heads, self.mla_kernel = heads, mla_kernel

    def sizes(self, **more):
        return Sizes(**{**dict(heads=self.heads, nope=512, rope=64, scaling=192**-0.5), **more})

    def names(self):
        """Of FlashInfer: the wrappers, the paged one with a note of the keys that it was handed, and with the kernel that is
        asked for. SGLang says "auto"."""
        import flashinfer

        mla_kernel = self.mla_kernel

        class BatchMLAPagedAttentionWrapper(flashinfer.mla.BatchMLAPagedAttentionWrapper):
            keys_read = None

            def __init__(self, *buffers, backend="auto", **named):
                super().__init__(*buffers, backend=mla_kernel or backend, **named)

            def run(self, q_nope, q_pe, ckv_cache, kpe_cache, *more, **named):
                self.keys_read = KeysRead.of(ckv_cache)
                return super().run(q_nope, q_pe, ckv_cache, kpe_cache, *more, **named)

        return {
            "BatchMLAPagedAttentionWrapper": BatchMLAPagedAttentionWrapper,
            "BatchPrefillWithRaggedKVCacheWrapper": flashinfer.BatchPrefillWithRaggedKVCacheWrapper,
        }

    def flash_attention(self):
        return flash_attention_3()

    def guard(self, patch, sizes):
        return lambda function: function

    def running(self):
        return contextlib.nullcontext()

    def new_graph(self):
        return _CudaGraph()

    # --- what is measured --------------------------------------------------------------------------------------------

    def finish(self):
        torch.cuda.synchronize()

    def seconds(self, run, times):
        """Of `times` runs in a row, by the GPU's clock; the host's is in it where the host is the slower."""
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        self.finish()
        begin.record()
        for _ in range(times):
            run()
        end.record()
        self.finish()
        return begin.elapsed_time(end) / 1000

    def host_seconds(self, run, times):
        """To issue `times` runs, without waiting for them."""
        self.finish()
        begin = time.perf_counter()
        for _ in range(times):
            run()
        spent = time.perf_counter() - begin
        self.finish()
        return spent

    def peak(self, run):
        """Bytes that `run` took beyond what was there before."""
        self.finish()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        run()
        self.finish()
        return torch.cuda.max_memory_allocated() - before

    def pool_bytes(self, graph):
        """Of the graph's private pool."""
        pool = tuple(graph.graph.pool())
        return sum(s["total_size"] for s in torch.cuda.memory_snapshot() if tuple(s["segment_pool_id"]) == pool)

    def free(self):
        torch.cuda.empty_cache()

    def alive(self):
        """False: a fault has ended the CUDA context, and nothing runs any more in this process."""
        try:
            self.finish()
            return True
        except Exception:  # noqa: BLE001
            return False


class _CudaGraph:
    def __init__(self):
        self.graph = torch.cuda.CUDAGraph()
        self.out = None

    def capture(self, run):
        with torch.cuda.graph(self.graph):
            self.out = run()
        return self.out

    def replay(self):
        self.graph.replay()
        return self.out
