"""A profiler trace of a decode-like model, as large as asked for: events, fields and nesting as Kineto writes them.

    python3 bench/make_trace.py OUT [MEGABYTES]      OUT ends in .gz: compressed

Five operators for each kernel, as in a real one, a whole-pool cast a layer, annotations step[i], flow events between launch and kernel. Times advance by
a counter and nothing is random: the same size gives the same file.
"""

import gzip
import json
import sys

LAYERS = 78
CAST = "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)::{lambda()#3}" \
       "::operator()() const::{lambda()#12}::operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul>, 4, " \
       "TrivialOffsetCalculator<1, unsigned int>, at::native::memory::LoadWithCast<1>, at::native::memory::StoreWithCast<1> >(int)"
BF16 = "c10::BFloat16"
POOL = [495552, 1, 576]
# Operators of a layer: (name, dims, types, depth, kernels that it launches: (name, grid, block, us)).
MATMULS = [([1, 6144], [6144, 4608], "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_splitK_NNT", [4, 30, 1], 16.1),
           ([1, 4096], [4096, 6144], "nvjet_sm90_tst_64x8_64x16_4x1_v_bz_NNT", [4, 24, 1], 20.1),
           ([1, 6144], [6144, 12288], "nvjet_sm90_tst_128x8_64x12_4x1_v_bz_NNT", [4, 24, 1], 42.0),
           ([1, 12288], [12288, 6144], "nvjet_sm90_tst_192x8_64x8_2x1_v_bz_splitK_NNT", [2, 64, 1], 36.2)]


def layer_operators():
    operators = []
    for a, b, kernel, grid, us in MATMULS:
        operators.append(("aten::matmul", [a, b], [BF16, BF16], 0, []))
        operators.append(("aten::mm", [a, b], [BF16, BF16], 1, [(kernel, grid, [384, 1, 1], us)]))
        operators.append(("aten::view", [[1, b[1]], []], [BF16, "ScalarList"], 0, []))
    fp8 = "c10::Float8_e4m3fn"
    operators.append(("aten::to", [POOL, [], [], [], []], [fp8, "Scalar", "Scalar", "Scalar", ""], 0, []))
    operators.append(("aten::_to_copy", [POOL, [], [], [], [], [], []], [fp8, "Scalar", "", "", "", "Scalar", ""], 1, []))
    operators.append(("aten::empty_strided", [[]] * 6, ["ScalarList", "ScalarList", "Scalar", "Scalar", "", "Scalar"], 2, []))
    operators.append(("aten::copy_", [POOL, POOL, []], [BF16, fp8, "Scalar"], 2, [(CAST, [557496, 1, 1], [128, 1, 1], 849.5)]))
    small = [("aten::add", [[1, 6144], [1, 6144], []], [BF16, BF16, "Scalar"], "void at::native::vectorized_elementwise_kernel<8, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, 3ul>)", [6, 1, 1], 1.2),
             ("aten::silu", [[1, 12288]], [BF16], "void at::native::vectorized_elementwise_kernel<8, at::native::(anonymous namespace)::silu_kernel(at::TensorIteratorBase&)::{lambda()#1}::operator()() const::{lambda()#6}::operator()() const::{lambda(c10::BFloat16)#1}, std::array<char*, 2ul> >(int)", [12, 1, 1], 1.6),
             ("aten::_softmax", [[1, 8, 500], [], []], [BF16, "Scalar", "Scalar"], "void (anonymous namespace)::softmax_warp_forward<c10::BFloat16, c10::BFloat16, float, 9, false, false>(c10::BFloat16*, c10::BFloat16 const*, int, int, int, bool const*, int, bool)", [2, 1, 1], 8.4),
             ("aten::_fused_rms_norm", [[1, 6144], [], [], []], [BF16, "ScalarList", "", ""], "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float, true>(int, float, c10::BFloat16 const*)", [1, 1, 1], 3.8),
             ("aten::bmm", [[1, 8, 576], [1, 576, 500]], [BF16, BF16], "void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x1_tn_align2>(cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x1_tn_align2::Params)", [8, 2, 3], 3.6)]
    for name, dims, types, kernel, grid, us in small:
        operators.append((name, dims, types, 0, [(kernel, grid, [128, 1, 1], us)]))
    for dims in ([1, 8, 576], [500, 576], [1, 8, 500], [500, 512], [1, 8, 512], [8, 576, 1, 1], [576, 1, 500, 1], [1, 8, 1, 576],
                 [1, 1, 500, 576], [8, 1, 1, 500], [1, 1, 512, 500], [8, 500, 1, 1]):
        operators.append(("aten::permute", [dims, []], [BF16, "ScalarList"], 0, []))
        operators.append(("aten::as_strided", [dims, [], [], []], [BF16, "ScalarList", "ScalarList", ""], 1, []))
        operators.append(("aten::reshape", [dims, []], [BF16, "ScalarList"], 0, []))
    return operators


def write_events(out, target):
    operators = layer_operators()
    state = {"id": 1, "cpu": 5094929536985.0, "gpu": 5094929537985.0, "bytes": 0}

    def put(text):
        state["bytes"] += len(text)
        out.write(text)

    def event(text):
        put(",\n  {\n    " + text + "\n  }")

    # The parts that do not change are made once.
    prepared = []
    for name, dims, types, depth, kernels in operators:
        strides = [[1] * len(each) for each in dims]
        args = (f'"Concrete Inputs": {json.dumps([""] * len(dims))}, "Input type": {json.dumps(types)}, '
                f'"Input Strides": {json.dumps(strides)}, "Input Dims": {json.dumps(dims)}')
        prepared.append((name, args, depth, [(json.dumps(k), json.dumps(g), json.dumps(b), us) for k, g, b, us in kernels]))

    step = 0
    while state["bytes"] < target:
        begin, pending = state["cpu"], []
        gpu_events = []
        for _ in range(LAYERS):
            for name, args, depth, kernels in prepared:
                state["cpu"] += 4.25
                state["id"] += 1
                external = state["id"]
                # An operator that others follow one level deeper lasts until they are done.
                duration = {0: 13.5, 1: 9.125, 2: 3.5}[depth] if name not in ("aten::view", "aten::reshape") else 3.25
                event(f'"ph": "X", "cat": "cpu_op", "name": "{name}", "pid": 413, "tid": 413,\n    "ts": {state["cpu"] - depth:.3f}, '
                      f'"dur": {duration:.3f},\n    "args": {{\n      "External id": {external},"Record function id": 0, {args}, '
                      f'"Ev Idx": {external - 2}\n    }}')
                for kernel, grid, block, us in kernels:
                    correlation = 100000 + external
                    gpu_events.append(
                        f'"ph": "X", "cat": "kernel", "name": {kernel}, "pid": 0, "tid": 7,\n    "ts": {state["gpu"]:.3f}, "dur": {us:.3f},\n'
                        f'    "args": {{\n      "External id": {external},\n      "queued": 0, "device": 0, "context": 1,\n      "stream": 7, '
                        f'"correlation": {correlation},\n      "registers per thread": 32,\n      "shared memory": 0,\n      "blocks per SM": 1.5,\n'
                        f'      "warps per SM": 12.0,\n      "grid": {grid},\n      "block": {block},\n      "est. achieved occupancy %": 18\n    }}')
                    gpu_events.append(f'"ph": "f", "id": {correlation}, "pid": 0, "tid": 7, "ts": {state["gpu"]:.3f},\n'
                                      f'    "cat": "ac2g", "name": "ac2g", "bp": "e"')
                    gpu_events.append(
                        f'"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 413, "tid": 413,\n    "ts": {state["cpu"] + 1:.3f}, '
                        f'"dur": 2.125,\n    "args": {{\n      "External id": {external}, "cbid": 211, "correlation": {correlation}\n    }}')
                    gpu_events.append(f'"ph": "s", "id": {correlation}, "pid": 413, "tid": 413, "ts": {state["cpu"] + 1:.3f},\n'
                                      f'    "cat": "ac2g", "name": "ac2g"')
                    state["gpu"] += us + 1.25
        for text in gpu_events:
            event(text)
        event(f'"ph": "X", "cat": "user_annotation", "name": "step[{step}]", "pid": 413, "tid": 413,\n    "ts": {begin:.3f}, '
              f'"dur": {state["cpu"] - begin:.3f},\n    "args": {{\n      "External id": {state["id"] + 1}\n    }}')
        state["cpu"] += 20
        state["id"] += 1
        step += 1
    return step


def main():
    path = sys.argv[1]
    target = float(sys.argv[2] if len(sys.argv) > 2 else 480) * 1e6
    opened = gzip.open(path, "wt", compresslevel=6) if path.endswith(".gz") else open(path, "w", encoding="utf-8")
    with opened as out:
        out.write('{\n  "schemaVersion": 1,\n  "deviceProperties": [{"id": 0, "name": "none"}],\n  "record_shapes": 1,\n  "traceEvents": [\n'
                  '  {"ph": "M", "name": "process_name", "pid": 413, "tid": 0, "ts": 0, "args": {"name": "python3"}}')
        steps = write_events(out, target)
        out.write('\n  ],\n  "traceName": "generated"\n}\n')
    print(f"{path}: {steps} steps")


if __name__ == "__main__":
    main()
