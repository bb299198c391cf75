#!/usr/bin/env python3
"""Checks and times the patches' KV cast on a GPU. Needs torch, Triton and suture_kv_cast.py; no SGLang, no FlashInfer.

    python3 tests/gpu/kv_cast_gpu.py                    checks, then the table of times
    python3 tests/gpu/kv_cast_gpu.py --json out.json    the same, also as JSON
    python3 tests/gpu/kv_cast_gpu.py --sweep            also times other layouts of the kernel

Checks compare the bits with torch's own ``pool.to(dtype)``. Times are medians over replays of one CUDA graph that casts
a number of layers, each with a pool of its own and all with one shadow, as a server does. Exit code: 0 all checks
hold, 1 one does not, 77 there is no GPU or no Triton (skipped; a failure with --require).
"""

import sys

from kv_cast_checks import Checks
from kv_cast_common import DEFAULT_MODULE, load, options_of, run
from kv_cast_kept import SecondCalls
from kv_cast_times import Timer, sweep, time_table


def main():
    options = options_of("Checks and times the KV cast of suture's patches on a GPU.", DEFAULT_MODULE, "suture_kv_cast.py")

    def check(torch, kv):
        return Checks(torch, kv).run() + SecondCalls(torch, kv).run()

    def time(torch, kv):
        timer = Timer(torch, kv, options.layers, options.replays)
        times = {"times": time_table(timer)}
        return times | {"sweep": sweep(timer)} if options.sweep else times

    return run(options, load, check, time)


if __name__ == "__main__":
    sys.exit(main())
