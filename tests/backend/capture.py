"""What stands in for a GPU on the CPU: a CUDA graph that records and replays aten calls, the rule that nobody reads
tensor data on the host meanwhile, and memory that is never clean."""

import contextlib

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

aten = torch.ops.aten

_FRESH = (aten.empty, aten.empty_like, aten.empty_strided, aten.new_empty, aten.new_empty_strided)
_STALE_ID = 2**30  # what a fresh index buffer holds: past every pool


def _packet(func):
    return getattr(func, "_overloadpacket", func)


def _goes_to_host(func, args, kwargs):
    if func is torch.Tensor.cpu:
        return True
    return func is torch.Tensor.to and "cpu" in [str(arg) for arg in (*args[1:], kwargs.get("device"))]


def _poison(tensor):
    if tensor.dtype.is_floating_point and tensor.dtype.itemsize > 1:
        tensor.fill_(float("nan"))
    elif tensor.dtype in (torch.int32, torch.int64):
        tensor.fill_(_STALE_ID)


class FreshMemoryIsDirty(TorchDispatchMode):
    """torch.empty and its kin return NaN, or ids that are past every pool."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        if _packet(func) in _FRESH:
            _poison(out)
        return out


class CudaIsCpu(TorchFunctionMode):
    """device="cuda" means the CPU, and there is no pinned memory: the backend has both written into it. What goes to
    the CPU by name is a copy, as it would be from a GPU."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        if str(kwargs.get("device", "")).startswith("cuda"):
            kwargs["device"] = "cpu"
        if kwargs.get("pin_memory"):
            kwargs["pin_memory"] = False
        out = func(*args, **kwargs)
        if out is not None and _goes_to_host(func, args, kwargs) and out is args[0]:
            return out.clone()
        return out


# --- host reads ------------------------------------------------------------------------------------------------------


class HostRead(RuntimeError):
    """The host read tensor data where a GPU would have to be waited for."""


_READS = (
    aten._local_scalar_dense, aten.item, aten.is_nonzero, aten.equal, aten.nonzero, aten.masked_select,
    aten._unique2, aten.unique_dim, aten.unique_consecutive, aten.bincount,
)  # fmt: skip
_READING_METHODS = {
    getattr(torch.Tensor, name)
    for name in (
        "tolist", "numpy", "item", "__array__", "__bool__", "__int__", "__float__", "__index__", "nonzero",
    )
    if hasattr(torch.Tensor, name)
}  # fmt: skip


class _NoReadingCalls(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func in _READING_METHODS or _goes_to_host(func, args, kwargs or {}):
            raise HostRead(f"Tensor.{func.__name__} reads tensor data on the host")
        return func(*args, **(kwargs or {}))


class _NoReadingOps(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        packet = _packet(func)
        if packet in _READS:
            raise HostRead(f"{func} reads tensor data on the host")
        if packet in (aten.index, aten.index_put, aten.index_put_) and any(
            isinstance(index, torch.Tensor) and index.dtype == torch.bool for index in args[1]
        ):
            raise HostRead(f"{func} with a mask counts it on the host")
        return func(*args, **(kwargs or {}))


@contextlib.contextmanager
def no_host_reads():
    with _NoReadingCalls(), _NoReadingOps():
        yield


# --- a graph ---------------------------------------------------------------------------------------------------------


class _Recorder(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.calls = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        self.calls.append((func, args, kwargs, out))
        return out


def _tensors(tree):
    return [leaf for leaf in tree_flatten(tree)[0] if isinstance(leaf, torch.Tensor)]


def _storages(tree):
    return {tensor.untyped_storage().data_ptr() for tensor in _tensors(tree)}


class Graph:
    """Records the aten calls of one run, and runs them again on the same tensors. No Python of the captured code runs
    at replay. Results that the capture allocated are the graph's own memory: refilled at each replay, dirty before."""

    def __init__(self):
        self.calls = []
        self.out = None

    def capture(self, run):
        recorder = _Recorder()
        with no_host_reads(), recorder:
            self.out = run()
        self.calls = recorder.calls
        return self.out

    def replay(self):
        for func, args, kwargs, out in self.calls:
            if _packet(func) in _FRESH:
                _poison(out)
                continue
            again = func(*args, **kwargs)
            inputs = _storages((args, kwargs))
            for old, new in zip(_tensors(out), _tensors(again)):
                if new.untyped_storage().data_ptr() not in inputs:
                    old.copy_(new)
        return self.out


class WorkLimit(TorchDispatchMode):
    """No data of more rows than the pool has may pass: what is copied for a step never exceeds one pass over it."""

    def __init__(self, rows, columns):
        super().__init__()
        self.rows = rows
        self.columns = columns

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for tensor in _tensors(out):
            if tensor.dim() > 1 and tensor.shape[-1] == self.columns and tensor.shape[0] > self.rows:
                raise AssertionError(f"{func} makes {tensor.shape[0]} rows, the pool has {self.rows}")
        return out
