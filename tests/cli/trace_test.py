"""suture trace: what it prints of small traces whose figures can be told by hand. Figures of real ones: tests/trace.

Also held here: the JSON documents fit docs/json-schema/trace.schema.json.
"""

import fcntl
import json
import os
import pty
import struct
import subprocess
import termios

import scenario
from scenario import driver

FOLDER = driver.SOURCE / "docs" / "json-schema"
POOL = [495552, 1, 576]
CAST = "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda(x)::{lambda(c10::BFloat16)#1}, 4, LoadWithCast<1>>(int)"
# An invented backend with the three places that the rules of sglang-cast-active-slots speak of.
BACKEND = '''\
import torch


def fast_mla_decode_plan(self, qo_indptr_cpu, kv_indptr_cpu, kv_indices, kv_len_arr_cpu):
    self._page_size = 1


class FlashInferMLAAttnBackend:
    def forward_decode(self, q, layer, decode_wrapper):
        pool = self.pool.get_key_buffer(layer.layer_id).to(q.dtype)
        return decode_wrapper.run(q, pool)

    def forward_extend(self, q, layer, prefill_wrapper_paged):
        pool = self.pool.get_key_buffer(layer.layer_id).to(q.dtype)
        return prefill_wrapper_paged.run(q, pool)
'''


def x(cat, name, ts, dur, **args):
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur, "args": args}


def decode(steps=3, layers=2, casts=True, stacks=False, annotated=True):
    """A decode-like run: in each layer a matrix product and, with casts, a whole-pool cast."""
    events, number, gpu = [], 0, 5000.0
    for i in range(steps):
        begin = 1000.0 * i
        if annotated:
            events.append(x("user_annotation", f"step[{i}]", begin, 900))
        if stacks:
            events.append(x("python_function", "server.py(10): step", begin, 890))
            events.append(x("python_function", "sglang/srt/layers/attention/flashinfer_mla_backend.py(9): forward_decode", begin + 1, 880))
        work = []
        for _ in range(layers):
            if casts:
                work.append(("aten::copy_", CAST, 850.0, {"Input Dims": [POOL, POOL, []], "Input Strides": [[576, 576, 1]] * 2 + [[]],
                                                          "Input type": ["c10::BFloat16", "c10::Float8_e4m3fn", "Scalar"]},
                             {"grid": [557496, 1, 1], "block": [128, 1, 1]}))
            work.append(("aten::mm", "gemm", 150.0, {"Input Dims": [[1, 4096], [4096, 4096]], "Input type": ["c10::BFloat16"] * 2},
                         {"grid": [64, 1, 1], "block": [128, 1, 1]}))
        for k, (op, kernel, us, inputs, shape) in enumerate(work):
            number += 1
            events.append(x("cpu_op", op, begin + 10 * k + 2, 8, **{"External id": number}, **inputs))
            events.append(x("cuda_runtime", "cudaLaunchKernel", begin + 10 * k + 4, 2, correlation=number))
            events.append(x("kernel", kernel, gpu, us, **{"External id": number}, correlation=number, device=0, stream=7, **shape))
            gpu += us + 10
    return events


def text(events):
    return json.dumps({"traceEvents": events})


def test_findings(s):
    """A whole-pool cast, with the call stack, the patch, and with -t the place in an installed tree"""
    s.write("t.json", text(decode(stacks=True)))
    s.install({"__init__.py": "", "srt/layers/attention/flashinfer_mla_backend.py": BACKEND}, name="sglang", version="0.5.9")
    s.run("trace", "t.json")
    s.run("trace", "t.json", "-t", "site", "--top", "1")
    s.write("bare/readme", "")
    none = s.run_raw("trace", "t.json", "-t", "bare", shown=False).stderr
    assert b"looked in" in none and b"absent: no package sglang here" in none, none
    s.write("casts_nothing.json", text(decode(casts=False)))
    assert b"tree was not looked at" in s.run_raw("trace", "casts_nothing.json", "-t", "site", shown=False).stderr
    s.write("other/sglang/__init__.py", "")
    assert b"note: other: sglang-cast-active-slots: absent" in s.run_raw("trace", "t.json", "-t", "other", shown=False).stderr


def test_nothing_found(s):
    """No finding, a threshold, steps as told, steps by pattern"""
    s.write("t.json", text(decode(casts=False)))
    s.write("plain.json", text(decode(annotated=False)))
    s.run("trace", "t.json", "--top", "2")
    s.run("trace", "plain.json", "--steps", "3", "--threshold", "2000", "--top", "1")
    s.run("trace", "plain.json", "--top", "1")
    s.run("trace", "plain.json", "--steps", "prefill")


def test_against(s):
    """Two traces: what became faster and slower"""
    s.write("before.json", text(decode()))
    s.write("after.json", text(decode(casts=False)))
    s.run("trace", "after.json", "--against", "before.json")


def test_graph(s):
    """Kernels of a CUDA graph: no operators, so they are inferred"""
    events = []
    for i in range(3):
        events.append(x("cuda_runtime", "cudaGraphLaunch", i * 100.0, 50, correlation=i + 1))
        for k in range(20):
            cast = k % 2 == 0
            events.append(x("kernel", CAST if cast else "nvjet_x", 1000.0 + i * 20000 + k * 1000, 850.0 if cast else 40.0, correlation=i + 1,
                            device=0, stream=7, grid=[557496 if cast else 8, 1, 1], block=[128, 1, 1]))
    s.write("t.json", text(events))
    s.run("trace", "t.json")


def test_damaged(s):
    """What is damaged is said, and what came before is reported; several files"""
    whole = text(decode())
    s.write("short.json", whole[: len(whole) // 2])
    s.write("odd.json", whole.replace('"dur": 150.0', '"dur": NaN', 1) + " x")
    s.write("empty.json", "")
    s.run("trace", "short.json", "--top", "1")
    s.run("trace", "odd.json", "--top", "1")
    s.run("trace", "empty.json", "odd.json", "missing.json", "--top", "1", "-q")


def test_cpu_only(s):
    """Nothing ran on a GPU"""
    s.write("t.json", text([x("cpu_op", "aten::linear", 0, 100, **{"External id": 1}), x("cpu_op", "aten::addmm", 10, 80, **{"External id": 2})]))
    s.run("trace", "t.json")


def test_progress(s):
    """Progress is for a terminal alone, and is gone when the file is read"""
    s.write("t.json", text(decode(steps=6000)))
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    done = subprocess.run([str(s.binary), "trace", "t.json"], cwd=s.folder, stdout=subprocess.PIPE, stderr=slave, check=True)
    os.close(slave)
    try:
        shown = os.read(master, 1 << 16)
    except OSError:  # nothing was shown: it was read too soon
        shown = b""
    assert b"whole-pool-cast" in done.stdout
    assert shown == b"" or (b"reading t.json: " in shown and shown.endswith(b"\r\x1b[K")), shown
    assert not s.run_raw("trace", "t.json", shown=False).stderr


def test_usage(s):
    """Options that do not fit"""
    s.write("t.json", text(decode()))
    s.run("trace")
    s.run("trace", "t.json", "t.json", "--against", "t.json")
    s.run("trace", "t.json", "--top", "0")
    s.run("trace", "t.json", "--threshold", "much")
    s.run("trace", "t.json", "--html", "nowhere/page.html", "--top", "1", "-q")


def test_json_document(s):
    """The documents fit the schema; what they hold of numbers is the text's"""
    s.write("before.json", text(decode(stacks=True)))
    s.write("after.json", text(decode(casts=False))[:-1])
    documents = []
    for arguments, code in ((("before.json",), 0), (("after.json", "--against", "before.json"), 6), (("before.json", "missing.json"), 6)):
        done = s.run_raw("trace", *arguments, "--json", shown=False)
        assert done.returncode == code and not done.stderr, done
        documents.append(json.loads(done.stdout))
    costs = [json.loads(s.run_raw("cost", *arguments, "--json", shown=False).stdout)
             for arguments in (("--slots", "4096", "--columns", "576", "--layers", "2"), ("--from-trace", "before.json", "--memory", "1"))]
    assert costs[1]["cost"]["layers"] == 2 and costs[1]["cost"]["cast_us"] == 850, costs[1]
    trace = documents[0]["traces"][0]
    finding = trace["findings"][0]
    assert (finding["times"]["calls"], finding["times"]["self_us"], finding["times"]["median_us"]) == (6, 5100, 850)
    assert finding["stacks"] == [{"frames": ["server.py(10): step", "sglang/srt/layers/attention/flashinfer_mla_backend.py(9): forward_decode"],
                                  "calls": 6}], finding["stacks"]
    assert documents[1]["comparison"]["rows"][0]["change_us"] == -1700 and not documents[1]["traces"][0]["complete"]
    try:
        import jsonschema
    except ImportError:
        print("        (not held to the schema: no jsonschema here)")
        return
    schema = json.loads((FOLDER / "trace.schema.json").read_text())
    report = json.loads((FOLDER / "report.schema.json").read_text())
    for document in documents + costs:
        jsonschema.Draft202012Validator(report).validate(document)
        parts = {key: document[key] for key in ("traces", "comparison", "cost") if key in document}
        jsonschema.Draft202012Validator(schema).validate(parts)
    wrong = json.loads(json.dumps(documents[0]["traces"]))
    del wrong[0]["findings"]
    assert not jsonschema.Draft202012Validator(schema).is_valid({"traces": wrong})


scenario.main(globals())
