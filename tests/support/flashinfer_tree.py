"""FlashInfer packages in small, written by us: what patches require of one, true or not, and nothing that could run.

    site = make(folder, version="0.6.18")      a site-packages folder; suture ... --with flashinfer=SITE
"""

import pathlib

_WRAPPER = '''\
"""A stand-in: the signature that a requirement looks at."""

from typing import overload


class BatchMLAPagedAttentionWrapper:
    def plan(self, qo_indptr, kv_indptr, kv_indices, kv_len_arr, sm_scale, q_data_type, kv_data_type):
        raise NotImplementedError

    @overload
    def run(self, q_nope, q_pe, ckv_cache, kpe_cache, out=None{scales}): ...

    def run(
        self,
        q_nope,
        q_pe,
        ckv_cache,
        kpe_cache,
        out=None,
        lse=None,
        return_lse=False{scales},
    ):
        raise NotImplementedError
'''
_SCALES = ", *, ckv_scale: float = None, kpe_scale: float = None"
_HEADER = '// A stand-in.\nstatic_assert(sizeof(DType) == 2, "DType must be 16bit floating data type");\n{repack}'
_REPACK = "template <typename T> void repack_fp8_kv_to_bf16(T* shared);\n"


def make(folder, version="0.6.18", wrapper="mla/_core.py", scales=True, header=True):
    """scales: whether run() takes them; header: whether the Hopper kernel unpacks FP8 keys."""
    site = pathlib.Path(folder)
    package = site / "flashinfer"
    headers = "data/include/flashinfer/attention"
    files = {
        "__init__.py": "",
        wrapper: _WRAPPER.format(scales=_SCALES if scales else ""),
        f"{headers}/mla_hopper.cuh": _HEADER.format(repack=_REPACK if header else ""),
        f"{headers}/mma.cuh": _HEADER.format(repack=""),
    }
    for path, text in files.items():
        (package / path).parent.mkdir(parents=True, exist_ok=True)
        (package / path).write_text(text)
    info = site / f"flashinfer_python-{version}.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: flashinfer-python\nVersion: {version}\n")
    (info / "RECORD").write_text("".join(f"flashinfer/{path},,\n" for path in files))
    return site
