"""Time and memory of `suture audit` over a whole SGLang release, beside ast-grep with the same patterns and `grep -rlF` for the
same words: medians of 11 runs that take turns, on warm files.

Usage: audit_bench.py SUTURE [RUNS]          SUTURE_CACHE: where the wheel is kept; ast-grep is that of `make compare`
"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

RELEASE = "0.5.23"
ROOT = pathlib.Path(__file__).resolve().parents[1]
CACHE = pathlib.Path(os.environ.get("SUTURE_CACHE", ROOT / ".cache"))
AST_GREP = CACHE / "compare" / "bin" / "ast-grep"

PLANS = ["$R.plan($$$)", "$R.begin_forward($$$)", "plan($$$)", "begin_forward($$$)"]
CASTS = ["$B.to($$$)", "$B.type($D)", "$B.float()", "$B.half()", "$B.bfloat16()", "$Q.$D($B, $$$)"]


def run(command):
    """(milliseconds, peak resident kilobytes) of one run, from start to exit."""
    with open(os.devnull, "wb") as null:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=null, stderr=null)
        _, status, usage = os.wait4(process.pid, 0)
        milliseconds = (time.perf_counter() - start) * 1000
    assert os.waitstatus_to_exitcode(status) in (0, 1), f"{command}: {status}"
    return milliseconds, usage.ru_maxrss


def scan_rules(folder, name, patterns):
    """ast-grep with these patterns as one rule: one scan."""
    lines = [f"id: {name}", "language: python", "rule:", "  any:", *(f"    - pattern: {each}" for each in patterns)]
    path = pathlib.Path(folder) / f"{name}.yml"
    path.write_text("\n".join(lines) + "\n")
    return [AST_GREP, "scan", "--rule", path]


def commands(suture, tree, folder):
    words = ["-e", "plan(", "-e", "begin_forward("]
    buffers = [*words, "-e", "buffer(", "-e", "dequantize", "-e", "k_buffer[", "-e", "v_buffer["]
    yield "plan", "suture", [suture, "audit", "--kind", "plan", "-t", tree]
    yield "plan", "grep", ["grep", "-rlF", "--include=*.py", *words, tree]
    yield "plan and cast", "suture", [suture, "audit", "-t", tree]
    yield "plan and cast", "grep", ["grep", "-rlF", "--include=*.py", *buffers, tree]
    if AST_GREP.exists():
        yield "plan", "ast-grep", [*scan_rules(folder, "plans", PLANS), tree]
        yield "plan and cast", "ast-grep", [*scan_rules(folder, "all", PLANS + CASTS), tree]


def main(suture, runs=11):
    fetched = subprocess.run([ROOT / "scripts" / "fetch_wheel.sh", CACHE, RELEASE], capture_output=True, text=True, check=True)
    with tempfile.TemporaryDirectory() as site, tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "zipfile", "-e", fetched.stdout.strip(), site], check=True)
        tree = pathlib.Path(site) / "sglang"
        all_commands = list(commands(suture, tree, folder))
        results = {(what, tool): [] for what, tool, _ in all_commands}
        for _, _, command in all_commands:
            run(command)  # the first one pays for the disk
        for _ in range(int(runs)):
            for what, tool, command in all_commands:
                results[what, tool].append(run(command))
    print(f"SGLang {RELEASE}, {os.cpu_count()} cores, medians of {runs} runs")
    for what in dict.fromkeys(what for what, _ in results):
        ours = statistics.median(ms for ms, _ in results[what, "suture"])
        for (kind, tool), times in results.items():
            if kind != what:
                continue
            median, peak = statistics.median(ms for ms, _ in times), max(kb for _, kb in times)
            print(f"  {what:14} {tool:9} {median:8.1f} ms  {median / ours:6.2f} x suture  peak {peak / 1024:.1f} MiB")
    if not AST_GREP.exists():
        print(f"  (no {AST_GREP}: `make compare` installs it)")


if __name__ == "__main__":
    main(os.path.realpath(sys.argv[1]), *sys.argv[2:])
