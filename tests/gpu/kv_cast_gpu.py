#!/usr/bin/env python3
"""Checks and times the patches' KV cast on a GPU. Needs torch, Triton and suture_kv_cast.py; no SGLang, no FlashInfer.

    python3 tests/gpu/kv_cast_gpu.py                    checks, then the table of times
    python3 tests/gpu/kv_cast_gpu.py --json out.json    the same, also as JSON
    python3 tests/gpu/kv_cast_gpu.py --sweep            also times other layouts of the kernel

Checks compare the bits with torch's own ``pool.to(dtype)``. Times are medians over replays of one CUDA graph that casts
a number of layers, each with a pool of its own and all with one shadow, as a server does. Exit code: 0 all checks
hold, 1 one does not, 77 there is no GPU or no Triton (skipped; a failure with --require).
"""

import argparse
import json
import pathlib
import sys

from kv_cast_checks import Checks
from kv_cast_common import DEFAULT_MODULE, SKIPPED, facts_of_this_run, load
from kv_cast_kept import SecondCalls
from kv_cast_times import Timer, sweep, time_table


def main():
    parser = argparse.ArgumentParser(description="Checks and times the KV cast of suture's patches on a GPU.")
    parser.add_argument("--module", default=str(DEFAULT_MODULE), help="suture_kv_cast.py")
    parser.add_argument("--json", metavar="FILE", help="write the results there")
    parser.add_argument("--sweep", action="store_true", help="time other layouts of the kernel, too")
    parser.add_argument("--no-times", action="store_true", help="checks only")
    parser.add_argument("--layers", type=int, default=16, help="pools of 285 MB (default 16)")
    parser.add_argument("--replays", type=int, default=50)
    parser.add_argument("--require", action="store_true", help="a missing GPU is a failure")
    options = parser.parse_args()

    try:
        import torch
        import triton  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error}")
        return 1 if options.require else SKIPPED
    if not torch.cuda.is_available():
        print("skipped: torch sees no GPU")
        return 1 if options.require else SKIPPED

    facts = facts_of_this_run(options)
    kv = load(options.module)
    torch.manual_seed(20)
    facts["tuning"] = kv._TUNING._asdict()
    print(f"tuning: {facts['tuning']}\n")

    checks = Checks(torch, kv).run() + SecondCalls(torch, kv).run()
    failed = sum(not check["holds"] for check in checks)
    result = {"facts": facts, "checks": checks}
    if not options.no_times:
        timer = Timer(torch, kv, options.layers, options.replays)
        result["times"] = time_table(timer)
        if options.sweep:
            result["sweep"] = sweep(timer)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(result, indent=1) + "\n")
    print(f"\n{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
