"""Stand-ins for what the MLA backend imports from the rest of SGLang, all our own, and the loader that brings in a
backend file by its path.

Every `sglang.*` module (and `flashinfer`, where the device has no real one) resolves to one table of names: releases
move names between modules far more often than they change what a name means. A name that is not in the table fails
the import, loudly.
"""

import contextlib
import copy
import importlib
import importlib.abc
import importlib.util
import os
import sys
import types
from types import SimpleNamespace
from typing import NamedTuple

import torch

PACKAGE = "sglang.srt.layers.attention"
ATTENTION = "srt/layers/attention"  # its folder, in the package's
GUARDED = ("cast_active_slots", "gather_then_cast", "planned_kv_indices", "cast_active_pages")


class Settings:
    """What a server would be started with; the getters below read it."""

    dcp_size = 1
    dcp_rank = 0
    workspace_bytes = 1024  # FlashInfer's float workspace
    dcp_ids_stay_widened = False  # from 0.5.22 the translator divides, before it the planner does


# --- forward modes and speculative inputs ----------------------------------------------------------------------------


class _Mode:
    def __init__(self, name):
        self.name = name

    def is_decode_or_idle(self):
        return self.name == "DECODE"

    is_decode = is_decode_or_idle

    def is_extend(self):
        return self.name in ("EXTEND", "TARGET_VERIFY")

    def is_extend_or_draft_extend_or_mixed(self, include_draft_extend_v2=False):
        return self.name == "EXTEND"

    def is_target_verify(self):
        return self.name == "TARGET_VERIFY"

    def is_context_parallel_extend(self):
        return self.name == "EXTEND"

    def is_dllm_extend(self):
        return False

    def is_draft_extend(self, include_v2=False):
        return False

    def is_draft_extend_v2(self):
        return False


class ForwardMode:
    DECODE = _Mode("DECODE")
    EXTEND = _Mode("EXTEND")
    TARGET_VERIFY = _Mode("TARGET_VERIFY")


class SpecInputType:
    EAGLE_VERIFY = "eagle verify"
    DFLASH_VERIFY = "dflash verify"


class SpecInput:
    ragged_verify_layout = None
    custom_mask = None


class EagleDraftInput(SpecInput):
    """Filled by the multi-step draft backend before each step is planned."""

    spec_input_type = "eagle draft"
    kv_indptr = kv_indices = None

    def is_draft_input(self):
        return True


class EagleVerifyInput(SpecInput):
    """Verifies `draft_token_num` tokens a request, behind those that the batch counts."""

    def __init__(self, draft_token_num, spec_input_type=SpecInputType.EAGLE_VERIFY):
        self.draft_token_num = draft_token_num
        self.spec_input_type = spec_input_type

    def generate_attn_arg_prefill(
        self,
        req_pool_indices,
        paged_kernel_lens,
        paged_kernel_lens_sum,
        req_to_token=None,
        translator=None,
        plan=None,
        kv_indices_buf=None,
    ):
        table = translator.req_to_token if req_to_token is None else req_to_token
        lens = (paged_kernel_lens + self.draft_token_num).tolist()
        ids = [table[r, :n] for r, n in zip(req_pool_indices.tolist(), lens)]
        kv_indices = torch.cat(ids).to(torch.int32)
        if kv_indices_buf is not None:
            kv_indices_buf[: kv_indices.shape[0]].copy_(kv_indices)
            kv_indices = kv_indices_buf[: kv_indices.shape[0]]
        kv_indptr = torch.tensor([0] + lens, device=table.device).cumsum(0).to(torch.int32)
        qo_indptr = (torch.arange(len(lens) + 1, device=table.device) * self.draft_token_num).to(torch.int32)
        return kv_indices, kv_indptr, qo_indptr, None


# --- index kernels ---------------------------------------------------------------------------------------------------


class _Kernel:
    """A Triton kernel's calling form: kernel[grid](...)."""

    def __init__(self, run):
        self.run = run

    def __getitem__(self, grid):
        return self.run


def _fill_kv_indices(req_to_token, req_pool_indices, lens, kv_indptr, kv_start, out, stride, page_size=1, **unused):
    for request, length, begin in zip(req_pool_indices.tolist(), lens.tolist(), kv_indptr.tolist()):
        ids = req_to_token[request, :length:page_size] // page_size
        out[begin : begin + ids.shape[0]].copy_(ids)


def _fill_draft_indices(requests, req_to_token, lens, out, kv_indptr, *unused, **more):
    for step in range(out.shape[0]):
        at = 0
        kv_indptr[step, 0] = 0
        for b, (request, length) in enumerate(zip(requests.tolist(), lens.tolist())):
            ids = req_to_token[request, : length + step + 1]
            out[step, at : at + ids.shape[0]].copy_(ids)
            at += ids.shape[0]
            kv_indptr[step, b + 1] = at


class KeysRead(NamedTuple):
    """Of the keys that attention was handed: where they lie and how many rows. The tensor is not held, or its memory
    would be."""

    address: int
    rows: int

    @classmethod
    def of(cls, keys):
        return cls(keys.untyped_storage().data_ptr(), keys.shape[0] * keys.shape[1])


class Translator:
    """SGLang's index translator (0.5.20+) for a static pool: ids are slots."""

    needs_read_translate = True

    def __init__(self, req_to_token):
        self.req_to_token = req_to_token

    def pack_read_stream(self, plan, *, req_pool_indices, seq_lens, indptr, out, kind=None):
        _fill_kv_indices(self.req_to_token, req_pool_indices, seq_lens, indptr, None, out, None)
        return Settings.dcp_size == 1

    def fill_packed_read_stream(self, *, total_tokens, **stream):
        """The same under its name of 0.5.20."""
        return self.pack_read_stream(None, **stream)

    def translate_dcp_read_ids(self, ids):
        return ids // Settings.dcp_size

    def read_source(self, plan, *, req_pool_indices, bs):
        return SimpleNamespace(
            row_ids=req_pool_indices, ids=self.req_to_token, row_stride=0, entry_page_size=1, v2p=None
        )

    def build_index_table(self, *, req_pool_indices, seq_lens, into):
        """The same in 0.5.19, where a graph has tables of its own for pools that are not static."""
        return self.read_source(None, req_pool_indices=req_pool_indices, bs=len(seq_lens))

    def index_table_for_batch(self, batch):
        return self.read_source(None, req_pool_indices=batch.req_pool_indices, bs=batch.batch_size)

    def make_capture_tables(self, *, max_bs, max_context_len):
        return None


# --- decode context parallelism --------------------------------------------------------------------------------------


def update_local_kv_lens_for_dcp(lens):
    """In place: how many of the tokens 0 .. len-1 belong to this rank."""
    if Settings.dcp_size > 1:
        lens.copy_(lens // Settings.dcp_size + (lens % Settings.dcp_size > Settings.dcp_rank).to(lens.dtype))


def plan_dcp_decode_metadata(kv_lens, kv_indptr, kv_indices, init_metadata_replay, fast_decode_kwargs, bs):
    """Keeps this rank's ids, in place; what was behind them stays as a stale tail of the buffer."""
    full = kv_indices[: int(kv_indptr[bs])].clone()
    mine = full[full % Settings.dcp_size == Settings.dcp_rank]
    if not Settings.dcp_ids_stay_widened:
        mine = mine // Settings.dcp_size
    kv_indices[: mine.shape[0]].copy_(mine)
    update_local_kv_lens_for_dcp(kv_lens)
    kv_indptr[1 : bs + 1] = torch.cumsum(kv_lens, dim=0)
    return mine.shape[0]


# --- the table of names ----------------------------------------------------------------------------------------------


_WORKSPACE = "SGLANG_FLASHINFER_WORKSPACE_SIZE"


class _Envs:
    def __getattr__(self, name):
        return SimpleNamespace(get=lambda: Settings.workspace_bytes if name == _WORKSPACE else False)


class _AttentionBackend:
    attn_backend_list = None

    def init_forward_metadata_in_graph(self, forward_batch):
        pass


class _GlobalConfig:
    @property
    def flashinfer_workspace_size(self):
        return Settings.workspace_bytes


_SERVER_ARGS = SimpleNamespace(
    disaggregation_mode="null",
    disable_chunked_prefix_cache=False,
    flashinfer_mla_disable_ragged=False,
    enable_dp_attention=False,
    page_size=1,
    kernel=SimpleNamespace(flashinfer_mla_disable_ragged=False),
)


def _parallel():
    return SimpleNamespace(
        attn_tp_size=1,
        attn_dcp_size=Settings.dcp_size,
        dcp_size=Settings.dcp_size,
        dcp_rank=Settings.dcp_rank,
        dcp_enabled=Settings.dcp_size > 1,
    )


def _inner_view(batch, *, bs, forward_mode, encoder_lens=None):
    view = copy.copy(batch)
    view.batch_size, view.forward_mode = bs, forward_mode
    return view


NAMES = {
    "AttentionBackend": _AttentionBackend,
    "DecodeContextParallelMetadata": SimpleNamespace,
    "EagleDraftInput": EagleDraftInput,
    "EagleVerifyInput": EagleVerifyInput,
    "ForwardBatch": SimpleNamespace,
    "ForwardMode": ForwardMode,
    "KVIndexTable": SimpleNamespace,
    "KVWriteLoc": SimpleNamespace(for_batch=lambda batch: batch.out_cache_loc),
    "SpecInput": SpecInput,
    "SpecInputType": SpecInputType,
    "assert_buffer_fits": lambda used, capacity, what, **more: None,
    "build_inner_fb_view": _inner_view,
    "create_flashinfer_kv_indices_triton": _Kernel(_fill_kv_indices),
    "dcp_enabled": lambda: Settings.dcp_size > 1,
    "draft_kv_indices_buffer_width": lambda bs, topk, context: bs * topk * context,
    "draft_kv_indices_used_len": lambda total, topk, bs, steps: total * topk + bs * steps,
    "envs": _Envs(),
    "generate_draft_decode_kv_indices": _Kernel(_fill_draft_indices),
    "get_attention_dcp_world_size": lambda: Settings.dcp_size,
    "get_attention_tp_size": lambda: 1,
    "get_buffer": lambda name, make: make(),
    "get_cuda_graph_max_batch_size": lambda size: size,
    "get_disagg": lambda: _SERVER_ARGS,
    "get_exec": lambda: _SERVER_ARGS,
    "get_global_server_args": lambda: _SERVER_ARGS,
    "get_parallel": _parallel,
    "get_platform": lambda: SimpleNamespace(is_sm100=False),
    "get_schedule": lambda: _SERVER_ARGS,
    "get_server_args": lambda: _SERVER_ARGS,
    "global_config": _GlobalConfig(),
    "global_server_args_dict": vars(_SERVER_ARGS),
    "is_flashinfer_available": lambda: True,
    "is_in_breakable_cuda_graph": lambda: False,
    "is_in_piecewise_cuda_graph": lambda: False,
    "is_in_tc_piecewise_cuda_graph": lambda: False,
    "is_sm100_supported": lambda: False,
    "jit": lambda kernel: kernel,
    "next_power_of_2": lambda n: 1 << max(0, n - 1).bit_length(),
    "plan_dcp_decode_metadata": plan_dcp_decode_metadata,
    "unified_mla_hooks": lambda allocator: SimpleNamespace(translate_kv_loc_dense=None),
    "update_local_kv_lens_for_dcp": update_local_kv_lens_for_dcp,
}


_missing = set()


def _no_such(name):
    return f"the stand-ins have no {name}: add it to verify_backend/stand_ins.py"


class _Module(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name not in NAMES:
            _missing.add(f"{self.__name__}.{name}")
            raise AttributeError(_no_such(f"{self.__name__}.{name}"))
        return NAMES[name]


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    packages = ()

    def find_spec(self, fullname, path=None, target=None):
        if fullname in _missing:  # Python looks for a module where `from a import b` finds no name
            raise ImportError(_no_such(fullname))
        if fullname.split(".")[0] in self.packages:
            return importlib.util.spec_from_loader(fullname, self, is_package=True)
        return None

    def create_module(self, spec):
        return _Module(spec.name)

    def exec_module(self, module):
        pass


_finder = _Finder()


_OWN = dict(NAMES)


def install(device, names):
    """Makes `sglang` and `sgl_kernel` the stand-ins, and what else this device has no real package for. `names`: what a
    backend imports beside our own; those of another backend are gone."""
    os.environ.setdefault("SGLANG_ENABLE_TORCH_COMPILE", "0")
    Settings.workspace_bytes = device.workspace_bytes
    _finder.packages = ("sglang", "sgl_kernel", *device.stood_in)
    NAMES.clear()
    NAMES.update({**_OWN, **names})
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


def load_module(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def load_backend(package, device, guard, file, names):
    """(backend module, suture_kv_cast or None) of the tree whose package folder is `package`: its backend `file`.

    `names` are the kernels, from the device. `guard` wraps each function that the patch added before the backend
    imports it.
    """
    install(device, names)
    folder = package / ATTENTION
    added = load_added(folder, guard)
    with _stand_in_triton(), _no_compiling():
        backend = load_module(f"{PACKAGE}.{file[:-3]}", folder / file)
    for name, value in names.items():  # also where the module has them from the real package
        setattr(backend, name, value)
    return backend, added.get("suture_kv_cast")


@contextlib.contextmanager
def _no_compiling():
    """Small functions of the backend are compiled: what they do is the same without."""
    real = torch.compile
    torch.compile = lambda *args, **named: lambda function: function
    try:
        yield
    finally:
        torch.compile = real


def load_added(folder, guard=lambda function: function):
    """{name: module}: the files that patches added beside the backend, loaded where it imports them from; those of the
    tree that was loaded before are gone. In the order of their names, which is that of their imports."""
    parent = importlib.import_module(PACKAGE)
    for name in [name for name in sys.modules if name.startswith(f"{PACKAGE}.suture_")]:
        del sys.modules[name]
        vars(parent).pop(name.rpartition(".")[2], None)
    added = {}
    for path in sorted(folder.glob("suture_*.py")):
        module = added[path.stem] = load_module(f"{PACKAGE}.{path.stem}", path)
        setattr(parent, path.stem, module)
        for function in GUARDED:
            if hasattr(module, function):
                setattr(module, function, guard(getattr(module, function)))
    return added


@contextlib.contextmanager
def _stand_in_triton():
    """FlashInfer's backend takes Triton's next_power_of_2 up to 0.4.7, and FlashAttention's has a kernel of its own in
    0.5.6, which is not run here. Only for them: suture_kv_cast must find no stand-in."""
    names = ("triton", "triton.language")
    real = {name: sys.modules.get(name) for name in names}
    for name in names:
        sys.modules[name] = _Module(name)
    sys.modules["triton"].language = sys.modules["triton.language"]
    try:
        yield
    finally:
        for name, module in real.items():
            del sys.modules[name]
            if module is not None:
                sys.modules[name] = module
