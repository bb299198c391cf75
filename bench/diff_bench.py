"""Time and memory of `suture diff sglang-cast-active-slots` on SGLang 0.5.22: median of 31 runs, peak of all.

Usage: diff_bench.py SUTURE          SUTURE_CACHE: where the wheel is kept
"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

RELEASE = "0.5.22"
PATCH = "sglang-cast-active-slots"
RUNS = 31
ROOT = pathlib.Path(__file__).resolve().parents[1]


def run(command):
    """(milliseconds, peak resident kilobytes, bytes printed) of one run, from start to exit."""
    with tempfile.TemporaryFile() as out:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        milliseconds = (time.perf_counter() - start) * 1000
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, f"{command}: exit code {process.returncode}"
        return milliseconds, usage.ru_maxrss, out.tell()


def main(suture):
    cache = os.environ.get("SUTURE_CACHE", ROOT / ".cache")
    fetched = subprocess.run([ROOT / "scripts" / "fetch_wheel.sh", cache, RELEASE], capture_output=True, text=True, check=True)
    with tempfile.TemporaryDirectory() as tree:
        subprocess.run([sys.executable, "-m", "zipfile", "-e", fetched.stdout.strip(), tree], check=True)
        command = [suture, "diff", PATCH, "-t", tree]
        run(command)  # the first one pays for the disk
        results = [run(command) for _ in range(RUNS)]
        start_up = [run([suture, "--version"])[0] for _ in range(RUNS)]
    times = [milliseconds for milliseconds, _, _ in results]
    assert results[0][2] > 0, "the diff is empty"
    print(f"suture diff {PATCH}, SGLang {RELEASE}, {RUNS} runs")
    print(f"  wall time    median {statistics.median(times):.1f} ms, from {min(times):.1f} to {max(times):.1f} (goal 12)")
    print(f"  peak memory  {max(kilobytes for _, kilobytes, _ in results) / 1024:.1f} MiB (goal 20)")
    print(f"  of that, a process that does nothing (--version): median {statistics.median(start_up):.1f} ms")


if __name__ == "__main__":
    main(os.path.realpath(sys.argv[1]))
