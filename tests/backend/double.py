"""The CPU in the place of the GPU (verify_backend/device.py): doubles of FlashInfer's wrappers and of CUDA graphs, and
guards that a GPU does not need. `suture verify --backend` finds it through SUTURE_BACKEND_DOUBLE, for tests alone."""

import contextlib
import functools
import time
from unittest import mock

import capture
import fa3_double
import wrapper_double
from sizes import Sizes


class Cpu:
    name = "cpu"
    capability = (9, 0)
    stood_in = ("flashinfer",)
    workspace_bytes = 1024

    def __init__(self, heads=2, columns=(32, 16)):
        self.heads, self.columns = heads, columns

    def sizes(self, **more):
        nope, rope = self.columns
        return Sizes(**{**dict(heads=self.heads, nope=nope, rope=rope, scaling=0.125), **more})

    def names(self):
        return {
            "BatchMLAPagedAttentionWrapper": wrapper_double.BatchMLAPagedAttentionWrapper,
            "BatchPrefillWithRaggedKVCacheWrapper": wrapper_double.BatchPrefillWithRaggedKVCacheWrapper,
        }

    def flash_attention(self):
        return fa3_double.flash_attn_with_kvcache

    def guard(self, patch, sizes):
        """What surrounds each call into suture_kv_cast: a limit on the work; but for the cast of slots, no host reads
        ever."""

        def wrap(function):
            @functools.wraps(function)
            def guarded(*args, **kwargs):
                with capture.WorkLimit(sizes.rows, sizes.columns):
                    if patch in ("gather", "pages"):
                        with capture.no_host_reads():
                            return function(*args, **kwargs)
                    return function(*args, **kwargs)

            return guarded

        return wrap

    @contextlib.contextmanager
    def running(self):
        with capture.CudaIsCpu(), capture.FreshMemoryIsDirty(), a_gpu(self.capability):
            yield

    def new_graph(self):
        return capture.Graph()

    def finish(self):
        pass

    def seconds(self, run, times):
        begin = time.perf_counter()
        for _ in range(times):
            run()
        return time.perf_counter() - begin

    host_seconds = seconds

    def peak(self, run):
        run()
        return 0

    def pool_bytes(self, graph):
        return 0

    def free(self):
        pass

    def alive(self):
        return True


@contextlib.contextmanager
def a_gpu(capability):
    """torch says that there is a GPU, and of which compute capability."""
    with (
        mock.patch("torch.cuda.is_available", lambda: True),
        mock.patch("torch.cuda.get_device_capability", lambda device=None: capability),
        mock.patch.object(wrapper_double.BatchMLAPagedAttentionWrapper, "hopper", capability[0] == 9),
    ):
        yield


def device(heads, patch=None):
    """FP8 keys are read at one size alone, as by FlashInfer; the other patches run faster on a smaller one."""
    return Cpu(min(heads, 2), (512, 64) if patch == "native" else (32, 16))
