"""The cuts in tests/trace/data, from whole traces: some steps of each, every event as it was written.

    python3 tests/trace/make_cuts.py FOLDER        FOLDER: the four whole traces, decode_*.json.gz

A cut keeps the events that belong to the first steps: operators and launches by the time of the step's annotation on the CPU, the GPU's by
the correlation of the launch. Only spaces between tokens are left out. The traces are of a decode-like model of our own, profiled on one H200.
"""

import gzip
import json
import pathlib
import sys

STEPS = {"decode_full_cast": 2, "decode_gather_cast": 2, "decode_full_cast_stack": 2, "decode_full_cast_graph": 2}


def cut(trace, steps):
    events = trace["traceEvents"]
    spans = sorted((e["ts"], e["ts"] + e["dur"]) for e in events if e.get("cat") == "user_annotation" and e["name"].startswith("step["))
    begin, end = spans[0][0], spans[steps - 1][1]
    on_cpu = {"cpu_op", "user_annotation", "cuda_runtime", "cuda_driver", "python_function"}
    launched = {e["args"]["correlation"] for e in events
                if e.get("cat") in ("cuda_runtime", "cuda_driver") and begin <= e["ts"] < end and "correlation" in e.get("args", {})}
    kept = []
    for e in events:
        cat = e.get("cat")
        if cat in on_cpu:
            # A Python function that the steps run in began before them.
            inside = begin <= e["ts"] < end or (cat == "python_function" and e["ts"] < end and e["ts"] + e["dur"] > begin)
        elif cat == "ac2g":
            inside = e["id"] in launched
        elif cat in ("kernel", "gpu_memcpy", "gpu_memset"):
            inside = e["args"].get("correlation") in launched
        else:
            inside = e.get("ph") in ("M", "i") or cat == "Trace"
        if inside:
            kept.append(e)
    return {**trace, "traceEvents": kept}


def main():
    out = pathlib.Path(__file__).parent / "data"
    out.mkdir(exist_ok=True)
    for name, steps in STEPS.items():
        source = pathlib.Path(sys.argv[1]) / f"{name}.json.gz"
        with gzip.open(source, "rt") as file:
            trace = json.load(file)
        small = cut(trace, steps)
        small["traceName"] = name + ".json"
        # An event a line: what a person can read.
        head = {key: value for key, value in small.items() if key not in ("traceEvents", "traceName")}
        text = json.dumps(head, separators=(",", ":"))[:-1] + ',"traceEvents":[\n'
        text += ",\n".join(json.dumps(e, separators=(",", ":")) for e in small["traceEvents"])
        text += '\n],"traceName":' + json.dumps(small["traceName"]) + "}\n"
        target = out / f"{name}.json.gz"
        with open(target, "wb") as file, gzip.GzipFile(fileobj=file, mode="wb", filename="", mtime=0, compresslevel=9) as packed:
            packed.write(text.encode())
        print(target.name, len(small["traceEvents"]), "events", target.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
