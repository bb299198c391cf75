"""The seeds of the fuzzer of traces: small traces with everything in them that the reader knows, and each way in which one is damaged.

    python3 tests/fuzz/make_corpus.py        writes tests/fuzz/corpus/trace/seed-*
"""

import gzip
import json
import pathlib

OUT = pathlib.Path(__file__).parent / "corpus" / "trace"
COPY = {"External id": 3, "Input Dims": [[5000, 1, 8], [5000, 1, 8], []], "Input type": ["c10::BFloat16", "c10::Float8_e4m3fn", "Scalar"],
        "Input Strides": [[8, 8, 1], [8, 8, 1], []]}
EVENTS = [
    {"ph": "X", "cat": "user_annotation", "name": "step[0]", "pid": 1, "tid": 1, "ts": 1, "dur": 90, "args": {"External id": 1}},
    {"ph": "X", "cat": "user_annotation", "name": "step[1]", "pid": 1, "tid": 1, "ts": 100, "dur": 90},
    {"ph": "X", "cat": "cpu_op", "name": "aten::to", "pid": 1, "tid": 1, "ts": 2.5, "dur": 20.25, "args": {"External id": 2}},
    {"ph": "X", "cat": "cpu_op", "name": "aten::copy_", "pid": 1, "tid": 1, "ts": 3, "dur": 10, "args": COPY},
    {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 4, "dur": 1, "args": {"correlation": 7}},
    {"ph": "X", "cat": "kernel", "name": "direct_copy_kernel_cuda LoadWithCast", "pid": 0, "tid": 7, "ts": 50, "dur": 8.5,
     "args": {"External id": 3, "correlation": 7, "device": 0, "stream": 7, "grid": [10, 1, 1], "block": [128, 1, 1]}},
    {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoD", "pid": 0, "tid": 9, "ts": 55, "dur": 8.5, "args": {"bytes": 1024, "stream": 9}},
    {"ph": "X", "cat": "python_function", "name": "a.py(1): f\n\"\u00e9\"", "pid": 1, "tid": 1, "ts": 0, "dur": 95},
    {"ph": "s", "id": 7, "pid": 1, "tid": 1, "ts": 4, "cat": "ac2g", "name": "ac2g"},
    {"ph": "B", "cat": "cpu_op", "name": "b", "pid": 1, "tid": 2, "ts": 5}, {"ph": "E", "pid": 1, "tid": 2, "ts": 9},
    {"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}},
]


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    lines = '{"schemaVersion": 1, "deviceProperties": [{"id": 0}], "traceEvents": [\n' + ",\n".join(map(json.dumps, EVENTS)) + '\n], "t": "n"}\n'
    flat = json.dumps(EVENTS)
    data = lines.encode()
    seeds = {"lines": data, "flat": flat.encode(), "bom": b"\xef\xbb\xbf" + data, "gzip": gzip.compress(data, mtime=0),
             "members": gzip.compress(data[:200], mtime=0) + gzip.compress(data[200:], mtime=0), "garbage": data + b"{garbage",
             "gzip-short": gzip.compress(data, mtime=0)[:-20], "empty": b"", "no-events": b"{}", "array": b"[]", "comma": b"[{},]",
             "nan": flat.replace("8.5", "NaN").encode(), "latin": data.replace(b"step", b"st\xe9p"), "nul": data.replace(b"step", b"st\0p"),
             "twice": flat.replace('"dur"', '"dur": 1, "dur"').encode(), "deep": b"[" * 200 + b"]" * 200, "numbers": b"[1, -1e400, 18446744073709551616]",
             "two-arrays": b'{"traceEvents": [{}], "traceEvents": [{}]}', "huge-dims": flat.replace("5000", "9223372036854775807").encode()}
    for part in (3, 7, 50, 500):
        seeds[f"cut-{part}"] = data[:len(data) * part // 1000]
    for name, text in (("brace", b"}"), ("bracket", b"]"), ("quote", b'"'), ("colon", b":")):
        at = data.index(text, len(data) // 2)
        seeds[f"lost-{name}"] = data[:at] + data[at + 1:]
    for name, bytes_ in seeds.items():
        (OUT / f"seed-{name}").write_bytes(bytes_)
    print(len(seeds), "seeds")


if __name__ == "__main__":
    main()
