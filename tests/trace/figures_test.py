"""The figures of real traces, computed a second time with Python's json: `suture trace --json` must say the same.

The cuts in data/ always; the whole traces too where SUTURE_TRACES names a folder with them (their README's figures stand below).
"""

import collections
import gzip
import json
import os
import pathlib
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
import driver  # noqa: E402

NAMES = ["decode_full_cast", "decode_gather_cast", "decode_full_cast_stack", "decode_full_cast_graph"]
# events, cpu_op, kernel, steps, kernel us, casts, median us, us of casts, share: as published with the whole traces.
WHOLE = {
    "decode_full_cast": (355626, 194220, 37440, 30, 2337399.6, 2340, 849.50, 1987993.7, 0.8505),
    "decode_gather_cast": (353504, 194220, 37440, 30, 339776.2, 0, 0.00, 0.0, 0.0000),
    "decode_full_cast_stack": (29321, 12948, 2496, 2, 155784.3, 156, 849.37, 132511.8, 0.8506),
    "decode_full_cast_graph": (25086, 0, 12480, 10, 780518.6, 780, 849.25, 662572.6, 0.8489),
}
POOL = [495552, 1, 576]


def near(a, b, tolerance=0.002):
    """Microseconds: the traces have nanoseconds."""
    return abs(a - b) <= tolerance + 1e-9 * max(abs(a), abs(b))


def key_of(name, args):
    return name, json.dumps(args.get("Input Dims")), json.dumps(args.get("Input type"))


def operators(events):
    """{key: figures} of operators: nesting by time on each thread, kernels by External id."""
    ops = sorted((e for e in events if e.get("cat") == "cpu_op"), key=lambda e: (e["tid"], e["ts"], -e["dur"]))
    gpu = collections.defaultdict(list)
    for e in events:
        if e.get("cat") == "kernel":
            gpu[e["args"].get("External id")].append(e["dur"])
    rows = collections.defaultdict(lambda: {"calls": 0, "self": 0.0, "total": 0.0, "cpu": 0.0, "cpu_self": 0.0, "samples": []})
    stack = []
    for e in ops:
        while stack and (stack[-1]["tid"] != e["tid"] or stack[-1]["ts"] + stack[-1]["dur"] <= e["ts"]):
            stack.pop()
        key = key_of(e["name"], e["args"])
        row = rows[key]
        row["calls"] += 1
        row["cpu"] += e["dur"]
        row["cpu_self"] += e["dur"]
        if stack:
            rows[key_of(stack[-1]["name"], stack[-1]["args"])]["cpu_self"] -= e["dur"]
        stack.append(e)
        launched = gpu.get(e["args"]["External id"])
        if launched:
            row["self"] += sum(launched)
            row["samples"].append(sum(launched))
            for above in {key_of(each["name"], each["args"]) for each in stack}:
                rows[above]["total"] += sum(launched)
    return rows


def union(intervals):
    total, end = 0.0, float("-inf")
    for begin, finish in sorted(intervals):
        total += max(0.0, finish - max(begin, end))
        end = max(end, finish)
    return total


def casts(events):
    pools = {e["args"]["External id"] for e in events
             if e.get("cat") == "cpu_op" and e["name"] == "aten::copy_" and e["args"].get("Input Dims", [])[:2] == [POOL, POOL]
             and e["args"]["Input type"][:2] == ["c10::BFloat16", "c10::Float8_e4m3fn"]}
    kernels = [e for e in events if e.get("cat") == "kernel"]
    if not any("External id" in e["args"] for e in kernels):  # replayed from a graph: by name and launch shape
        return [e["dur"] for e in kernels if "direct_copy_kernel_cuda" in e["name"]
                and e["args"]["grid"][0] * e["args"]["block"][0] * 4 == 495552 * 576]
    return [e["dur"] for e in kernels if e["args"].get("External id") in pools]


def check(path, name, whole):
    with gzip.open(path, "rt") as file:
        events = json.load(file)["traceEvents"]
    out, errors = driver.suture("trace", path, "--json")
    report = json.loads(out)["traces"][0]
    assert report["complete"] and not report["warnings"] and not errors, (report["warnings"], errors)
    kernels = [e for e in events if e.get("cat") == "kernel"]
    cast = casts(events)
    steps = sum(1 for e in events if e.get("cat") == "user_annotation" and e["name"].startswith("step["))
    mine = (len(events), sum(e.get("cat") == "cpu_op" for e in events), len(kernels), steps, sum(e["dur"] for e in kernels), len(cast),
            statistics.median(cast) if cast else 0.0, sum(cast), sum(cast) / sum(e["dur"] for e in kernels))
    found = [f for f in report["findings"] if f["finding"] == "whole-pool-cast"]
    assert len(found) == (1 if cast else 0), found
    times = found[0]["times"] if found else {"calls": 0, "median_us": 0.0, "self_us": 0.0, "share": 0.0}
    told = (report["events"], report["cpu_ops"], report["kernels"], report["steps"]["count"], report["kernel_us"], times["calls"],
            times["median_us"], times["self_us"], times["share"])
    assert mine[:4] == told[:4] and mine[5] == told[5], (name, mine, told)
    for i in (4, 6, 7):
        assert near(mine[i], told[i]), (name, i, mine, told)
    assert abs(mine[8] - told[8]) < 1e-6, (name, mine, told)
    if whole:
        listed = WHOLE[name]
        assert told[:4] == listed[:4] and told[5] == listed[5], (name, told, listed)
        assert round(told[4], 1) == listed[4] and round(told[7], 1) == listed[7], (name, told, listed)
        assert round(told[6], 2) == listed[6] and round(told[8], 4) == listed[8], (name, told, listed)
    if found:
        assert (found[0]["slots"], found[0]["columns"], found[0]["to"]) == (495552, 576, "BFloat16"), found
        assert found[0]["inferred"] == (name == "decode_full_cast_graph")
        assert found[0]["times"]["calls_per_step"] == 78 and found[0]["patches"][0] == "sglang-cast-active-slots"
        assert (found[0]["times"]["bytes"] == 856313856) != found[0]["inferred"]
    if name == "decode_full_cast_stack":
        frames = found[0]["stacks"][0]["frames"]
        assert any(frame.endswith(": forward_decode") for frame in frames) and frames[0].endswith("<module>"), frames
    check_operators(report, events, name)
    check_wall(report, kernels)
    largest = collections.Counter()
    for row in report["operators"]:
        largest[row["operator"]] += row["self_us"]
    assert largest.most_common(1)[0][0] == ("aten::mm" if name == "decode_gather_cast" else "aten::copy_"), largest


def check_operators(report, events, name):
    mine = operators(events)
    told = {(row["operator"], json.dumps(row["inputs"]["dims"]), json.dumps(row["inputs"]["types"])): row
            for row in report["operators"] if not row["inferred"]}
    assert set(mine) == set(told), (name, set(mine) ^ set(told))
    for key, row in mine.items():
        it = told[key]
        assert row["calls"] == it["calls"], (key, row, it)
        for mine_us, field in ((row["self"], "self_us"), (row["total"], "total_us"), (row["cpu"], "cpu_us"), (row["cpu_self"], "cpu_self_us")):
            assert near(mine_us, it[field], 0.02), (key, field, mine_us, it[field])
        if row["samples"]:
            assert near(statistics.median(row["samples"]), it["median_us"]), (key, it)


def check_wall(report, kernels):
    spans = [(round(e["ts"] * 1000), round(e["ts"] * 1000) + round(e["dur"] * 1000)) for e in kernels]
    assert abs(union(spans) / 1000 - report["busy_us"]) < 1, (union(spans) / 1000, report["busy_us"])
    assert abs((max(e for _, e in spans) - min(b for b, _ in spans)) / 1000 - report["wall_us"]) < 0.01
    shares = sum(row["wall_share"] for row in report["kernel_rows"])
    assert abs(shares - report["busy_us"] / report["wall_us"]) < 1e-6, shares
    rows = collections.Counter()
    for e in kernels:
        rows[e["name"], json.dumps(e["args"]["grid"])] += 1
    told = collections.Counter()
    for row in report["kernel_rows"]:
        told[row["kernel"], json.dumps(row["grid"])] += row["calls"]
    assert rows == told


def main():
    for name in NAMES:
        check(HERE / "data" / f"{name}.json.gz", name, whole=False)
        print(f"ok      cut of {name}")
    folder = os.environ.get("SUTURE_TRACES")
    if not folder:
        print("the whole traces are not at hand (SUTURE_TRACES names no folder): the cuts alone were compared")
        return
    for name in NAMES:
        check(pathlib.Path(folder) / f"{name}.json.gz", name, whole=True)
        print(f"ok      {name}")


if __name__ == "__main__":
    main()
