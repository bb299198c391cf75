"""`suture trace` on a generated trace of 480 MB, plain and gzip, beside Python: json.load and one loop over the events.

    python3 bench/trace_bench.py SUTURE... [--megabytes N] [--runs N] [--folder DIR [--generate]]

Prints seconds (best of the runs), peak memory and the ratios, all of one run on one machine. Both sides are run in turn. On a machine
that does other work the wall clock says little: CPU seconds (of both of suture's threads) are given too. Several SUTURE: builds
to compare, such as one with zlib and one with ISA-L. --folder keeps the traces, so that a second run need not generate them;
--generate does that alone.
"""

import argparse
import gzip
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
PYTHON = """
import collections, gzip, json, sys
opened = gzip.open if sys.argv[1].endswith(".gz") else open
with opened(sys.argv[1], "rb") as file:
    trace = json.load(file)
times = collections.defaultdict(float)
for event in trace["traceEvents"]:
    if event.get("ph") == "X":
        times[event.get("cat"), event["name"]] += event.get("dur", 0)
print(len(trace["traceEvents"]))
"""


def run(command):
    """(wall seconds, CPU seconds, peak resident MB, what it printed)"""
    with tempfile.TemporaryFile() as out:
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, f"{command}: exit code {process.returncode}"
        out.seek(0)
        return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6, out.read()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("suture", nargs="+")
    parser.add_argument("--megabytes", type=float, default=480)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--generate", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="suture-bench-") as made:
        plain, packed = generate(options.folder or pathlib.Path(made), options.megabytes)
        if not options.generate:
            compare(plain, packed, options)


def generate(folder, megabytes):
    """The paths of the trace, plain and gzip; made where they are not there."""
    folder.mkdir(parents=True, exist_ok=True)
    plain, packed = folder / f"trace-{megabytes:g}.json", folder / f"trace-{megabytes:g}.json.gz"
    if not plain.exists():
        subprocess.run([sys.executable, HERE / "make_trace.py", plain, str(megabytes)], check=True)
    if not packed.exists():
        with open(plain, "rb") as source, gzip.open(packed, "wb", compresslevel=6) as target:
            shutil.copyfileobj(source, target, 1 << 20)
    return plain, packed


def compare(plain, packed, options):
    print(f"{plain.stat().st_size / 1e6:.0f} MB plain, {packed.stat().st_size / 1e6:.1f} MB gzip; best of {options.runs} runs; Python once")
    print(f"{'':34}{'wall s':>9}{'CPU s':>9}{'peak MB':>10}{'wall':>8}{'CPU':>8}")
    for path in (plain, packed):
        # In turn, so that what else the machine does meets both.
        measured = [[run([suture, "trace", path, "--json"]) for suture in options.suture]]
        python = run([sys.executable, "-c", PYTHON, path])
        for _ in range(options.runs - 1):
            measured.append([run([suture, "trace", path, "--json"]) for suture in options.suture])
        print(f"{'python, ' + path.suffix[1:]:34}{python[0]:9.2f}{python[1]:9.2f}{python[2]:10.0f}")
        for i, suture in enumerate(options.suture):
            wall, cpu = min(each[i][0] for each in measured), min(each[i][1] for each in measured)
            peak = max(each[i][2] for each in measured)
            name = f"{suture}, {path.suffix[1:]}"
            print(f"{name[-33:]:34}{wall:9.3f}{cpu:9.3f}{peak:10.1f}{python[0] / wall:7.1f}x{python[1] / cpu:7.1f}x")


if __name__ == "__main__":
    main()
