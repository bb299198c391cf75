#!/usr/bin/env python3
"""Times the patches' Triton cast against the CUDA cast of verify_kernels: one process, one GPU, the same pools, one way
to measure. Needs torch, Triton, and nvcc on the PATH.

    python3 tests/gpu/kv_cast_against_cuda.py                          the table
    python3 tests/gpu/kv_cast_against_cuda.py --within 10 --json FILE  fails where Triton takes over 10 % more

The Triton cast is what ``cast_active_slots`` launches, one layout for all counts. The CUDA cast is in the shape that is
best for each count and order, found by a sweep in this run. Times are medians over replays of CUDA graphs, which take
turns. Exit code: 0, or 1 where --within does not hold or the casts differ, or 77 where there is no GPU, Triton or nvcc.
"""

import argparse
import ctypes
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from kv_cast_common import COUNTS, DEFAULT_MODULE, ORDERS, ROOT, SKIPPED, facts_of_this_run, load
from kv_cast_times import Timer, bytes_moved


def build(library, nvcc):
    """The CUDA cast as a library: cast.cu as verify_kernels has it, compiled for this GPU."""
    kernels = ROOT / "verify_kernels"
    sources = [pathlib.Path(__file__).with_name("cuda_cast.cu"), kernels / "cast.cu", kernels / "gpu_errors.cc"]
    options = ["-O3", "-std=c++20", "-arch=native", "-shared", "-Xcompiler=-fPIC", f"-I{kernels}"]
    subprocess.run([nvcc, *options, "-o", library, *sources], check=True)


class CudaCast:
    def __init__(self, library, torch):
        self.torch = torch
        self.library = library = ctypes.CDLL(str(library))
        library.cast_shape_name.restype = ctypes.c_char_p
        pointer, number = ctypes.c_void_p, ctypes.c_int
        library.cast_launch.argtypes = [number, *[pointer] * 4, *[number] * 3, pointer]
        library.cast_launch.restype = None
        self.shapes = [library.cast_shape_name(i).decode() for i in range(library.cast_shape_count())]
        self.multiprocessors = torch.cuda.get_device_properties(0).multi_processor_count

    def launch(self, shape, pool, shadow, wrapper):
        indices, indptr = wrapper._kv_indices_buf, wrapper._kv_indptr_buf
        self.library.cast_launch(
            shape, pool.data_ptr(), shadow.data_ptr(), indices.data_ptr(), indptr[-1:].data_ptr(), indices.shape[0],
            pool.shape[0], self.multiprocessors, self.torch.cuda.current_stream().cuda_stream,
        )  # fmt: skip


def casts_agree(timer, cuda, wrapper):
    """Whether every shape of the CUDA cast leaves the bits that the Triton cast leaves, in all of the shadow."""
    torch, pool, shadow = timer.torch, timer.pools[0], timer.shadow
    shadow.fill_(-7.0)
    timer.kv._cast_rows_triton(pool, shadow, wrapper._kv_indices_buf, wrapper._kv_indptr_buf, 1)
    wanted = shadow.clone().view(torch.int16)
    for shape in range(len(cuda.shapes)):
        shadow.fill_(-7.0)
        cuda.launch(shape, pool, shadow, wrapper)
        if not torch.equal(wanted, shadow.view(torch.int16)):
            print(f"{cuda.shapes[shape]}: other bits than Triton's")
            return False
    return True


def compare(timer, cuda, count, order):
    torch, kv = timer.torch, timer.kv
    wrapper = timer.wrapper(count, order)
    agree = casts_agree(timer, cuda, wrapper)
    shadow = kv.cast_active_slots(timer.pools[0], wrapper, torch.bfloat16)
    swept = []
    for shape in range(len(cuda.shapes)):
        swept += timer.in_turns(count, lambda i: cuda.launch(shape, timer.pool(i), shadow, wrapper), replays=7)
    best = swept.index(min(swept))
    triton_us, cuda_us = timer.in_turns(
        count,
        lambda i: kv.cast_active_slots(timer.pool(i), wrapper, torch.bfloat16),
        lambda i: cuda.launch(best, timer.pool(i), shadow, wrapper),
    )
    return {
        "slots": count, "order": order, "triton_us": triton_us, "cuda_us": cuda_us, "ratio": triton_us / cuda_us,
        "cuda_shape": cuda.shapes[best], "bytes": bytes_moved(count), "same_bits": agree,
    }  # fmt: skip


def table(timer, cuda):
    print("\n| slots | order | Triton us | CUDA us | ratio | Triton GB/s | best CUDA shape |")
    print("|---|---|---|---|---|---|---|")
    rows = []
    for count in COUNTS:
        for order in ORDERS:
            row = compare(timer, cuda, count, order)
            rows.append(row)
            gb_s = row["bytes"] / row["triton_us"] / 1e3
            print(
                f"| {count} | {order} | {row['triton_us']:.2f} | {row['cuda_us']:.2f} | {row['ratio']:.3f} "
                f"| {gb_s:.0f} | {row['cuda_shape']} |",
                flush=True,
            )
    return rows


def main():
    parser = argparse.ArgumentParser(description="Times the Triton cast against the CUDA cast of verify_kernels.")
    parser.add_argument("--module", default=str(DEFAULT_MODULE), help="suture_kv_cast.py")
    parser.add_argument("--json", metavar="FILE", help="write the results there")
    parser.add_argument("--library", metavar="FILE", help="the CUDA cast; built there if it is not there yet")
    parser.add_argument("--layers", type=int, default=16, help="pools of 285 MB (default 16)")
    parser.add_argument("--replays", type=int, default=50)
    parser.add_argument("--within", type=float, metavar="PERCENT", help="fail where Triton takes so much longer")
    options = parser.parse_args()
    try:
        import torch
        import triton  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error}")
        return SKIPPED
    nvcc = shutil.which("nvcc")
    if not torch.cuda.is_available() or nvcc is None:
        print("skipped: torch sees no GPU" if nvcc else "skipped: there is no nvcc on the PATH")
        return SKIPPED
    facts = facts_of_this_run(options)
    with tempfile.TemporaryDirectory() as folder:
        library = pathlib.Path(options.library or f"{folder}/libcast.so").absolute()
        if not library.exists():
            build(library, nvcc)
        cuda = CudaCast(library, torch)
    kv = load(options.module)
    torch.manual_seed(20)
    facts["tuning"] = kv._TUNING._asdict()
    rows = table(Timer(torch, kv, options.layers, options.replays), cuda)
    worst = max(rows, key=lambda row: row["ratio"])
    same = all(row["same_bits"] for row in rows)
    print(f"\nthe largest ratio is {worst['ratio']:.3f}, at {worst['slots']} slots, {worst['order']}")
    print("the casts agree bit for bit" if same else "the casts DIFFER")
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({"facts": facts, "casts": rows}, indent=1) + "\n")
    late = options.within is not None and worst["ratio"] > 1 + options.within / 100
    return 0 if same and not late else 1


if __name__ == "__main__":
    sys.exit(main())
