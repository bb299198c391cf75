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
import datetime
import importlib.util
import json
import pathlib
import platform
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DEFAULT_MODULE = ROOT / "patches" / "shared" / "suture_kv_cast.py"
SLOTS = 495_552  # the pool that the patch was first measured on
COLUMNS = 576
COUNTS = (500, 8_192, 131_072, 495_552)
SKIPPED = 77


def load(path):
    spec = importlib.util.spec_from_file_location("suture_kv_cast", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # Triton looks the kernel's module up by name
    spec.loader.exec_module(module)
    return module


class Wrapper:
    """What the cast reads of FlashInfer's wrapper."""

    def __init__(self, torch, ids, live=None, page_size=1, device="cuda"):
        self._use_cuda_graph = True
        self._page_size = page_size
        self._kv_indices_buf = torch.as_tensor(ids, dtype=torch.int32, device=device)
        count = self._kv_indices_buf.shape[0] if live is None else live
        self._kv_indptr_buf = torch.tensor([0, count // 2, count], dtype=torch.int32, device=device)

    def replan(self, torch, ids):
        self._kv_indices_buf[: len(ids)].copy_(torch.as_tensor(ids, dtype=torch.int32))
        self._kv_indptr_buf.copy_(torch.tensor([0, 0, len(ids)], dtype=torch.int32))


# --- checks --------------------------------------------------------------------------------------------------------


class Checks:
    """Every check is a method that yields (what, holds)."""

    def __init__(self, torch, kv):
        self.torch = torch
        self.kv = kv

    def same(self, got, want):
        """Equal bits, where a NaN equals any NaN."""
        torch = self.torch
        nan = torch.isnan(want)
        bits = torch.int16
        return bool((torch.isnan(got) == nan).all()) and bool(
            (got.view(bits)[~nan] == want.view(bits)[~nan]).all()
        )

    def pool(self, rows, columns=COLUMNS, fp8=None, seed=0):
        torch = self.torch
        generator = torch.Generator(device="cuda").manual_seed(seed)
        raw = torch.randint(0, 256, (rows, 1, columns), dtype=torch.uint8, device="cuda", generator=generator)
        return raw.view(fp8 or torch.float8_e4m3fn)

    def cast(self, pool, wrapper, dtype, by_bits=False):
        """A cast into a shadow full of a value that no cast leaves there, so that untouched rows show."""
        shadow = self.torch.full(pool.shape, -7.0, dtype=dtype, device="cuda")
        self.kv._cast_rows_triton(
            pool, shadow, wrapper._kv_indices_buf, wrapper._kv_indptr_buf, wrapper._page_size, by_bits=by_bits
        )
        return shadow

    def expected(self, pool, rows, dtype):
        torch = self.torch
        want = torch.full(pool.shape, -7.0, dtype=dtype, device="cuda")
        rows = torch.as_tensor(sorted({r for r in rows if 0 <= r < pool.shape[0]}), dtype=torch.int64, device="cuda")
        want[rows] = pool.to(dtype)[rows]
        return want

    def all_bytes(self):
        torch = self.torch
        for fp8 in (torch.float8_e4m3fn, torch.float8_e5m2):
            pool = torch.arange(256, dtype=torch.uint8, device="cuda").repeat(3).view(16, 1, 48).view(fp8)
            for dtype in (torch.bfloat16, torch.float16):
                for by_bits in (False, True):
                    got = self.cast(pool, Wrapper(torch, range(16)), dtype, by_bits)
                    how = "by bits" if by_bits else "by the hardware"
                    yield f"all 256 bytes of {fp8} to {dtype}, {how}", self.same(got, pool.to(dtype))

    def counts(self):
        torch = self.torch
        pool = self.pool(1000)
        for count in (0, 1, 2, 36, 999, 1000):
            ids = torch.randperm(1000)[:count].tolist()
            got = self.cast(pool, Wrapper(torch, ids + [5] * 7, live=count), torch.bfloat16)
            yield f"{count} of 1000 slots, no other touched", self.same(got, self.expected(pool, ids, torch.bfloat16))
        for count in (1001, 5000):
            ids = [3] * count
            got = self.cast(pool, Wrapper(torch, ids), torch.bfloat16)
            yield f"{count} rows named of 1000: one pass over all", self.same(got, pool.to(torch.bfloat16))
        got = self.cast(pool, Wrapper(torch, [7, 8], live=600), torch.bfloat16)
        want = self.expected(pool, [7, 8], torch.bfloat16)
        yield "a count past the index buffer reads no further than the buffer", self.same(got, want)

    def wrong_ids(self):
        torch = self.torch
        pool = self.pool(100)
        ids = [-1, 4, 100, 2**30, -(2**31), 99, 2**31 - 1, 0]
        for page_size in (1, 4):
            rows = [i * page_size + k for i in ids for k in range(page_size)]
            got = self.cast(pool, Wrapper(torch, ids, page_size=page_size), torch.float16)
            name = f"ids -1 and past the end are skipped, page size {page_size}"
            yield name, self.same(got, self.expected(pool, rows, torch.float16))
        stale = Wrapper(torch, [3, 50] + [2**30] * 100, live=2)
        got = self.cast(pool, stale, torch.float16)
        yield "the tail past the count is not read", self.same(got, self.expected(pool, [3, 50], torch.float16))

    def layouts(self):
        torch = self.torch
        for columns in (16, 48, 64, 512, 576, 1040):
            pool = self.pool(300, columns)
            ids = torch.randperm(300)[:123].tolist()
            got = self.cast(pool, Wrapper(torch, ids), torch.bfloat16)
            yield f"{columns} columns", self.same(got, self.expected(pool, ids, torch.bfloat16))
        flat = self.pool(400, 3 * COLUMNS, torch.float8_e5m2)
        for layer in range(3):
            pool = flat[:, :, layer * COLUMNS : (layer + 1) * COLUMNS]
            ids = torch.randperm(400)[:77].tolist()
            for by_bits in (False, True):
                got = self.cast(pool, Wrapper(torch, ids), torch.bfloat16, by_bits)
                name = f"a strided pool (layer {layer} of 3 interleaved){', by bits' if by_bits else ''}"
                yield name, self.same(got, self.expected(pool, ids, torch.bfloat16))
        pool = self.pool(64 * 40)
        pages = torch.randperm(40)[:11].tolist()
        rows = [p * 64 + k for p in pages for k in range(64)]
        got = self.cast(pool, Wrapper(torch, pages, page_size=64), torch.bfloat16)
        yield "page size 64", self.same(got, self.expected(pool, rows, torch.bfloat16))
        pool = self.pool(64 * 40 + 13)
        got = self.cast(pool, Wrapper(torch, [40, 0], page_size=64), torch.bfloat16)
        rows = list(range(64 * 40, 64 * 40 + 13)) + list(range(64))
        yield "a last page that the pool cuts off", self.same(got, self.expected(pool, rows, torch.bfloat16))

    def contract(self):
        torch, kv = self.torch, self.kv
        pool = self.pool(500)
        wrapper = Wrapper(torch, [1, 2, 3])
        bf16 = pool.to(torch.bfloat16)
        yield "a pool of the wanted dtype is returned itself", kv.cast_active_slots(bf16, wrapper, bf16.dtype) is bf16
        first = kv.cast_active_slots(pool, wrapper, torch.bfloat16)
        other = kv.cast_active_slots(self.pool(500, seed=1), wrapper, torch.bfloat16)
        yield "two layers share one shadow", first.data_ptr() == other.data_ptr()
        yield "a smaller pool shares it too", (
            kv.cast_active_slots(self.pool(300), wrapper, torch.bfloat16).data_ptr() == first.data_ptr()
        )
        got = kv.cast_active_slots(pool, wrapper, torch.bfloat16)
        yield "its named rows equal torch's", self.same(got[1:4], bf16[1:4])
        del wrapper._kv_indptr_buf
        got = kv.cast_active_slots(pool, wrapper, torch.bfloat16)
        yield "a wrapper without buffers: the whole cast", self.same(got, bf16)

    def graphs(self):
        torch, kv = self.torch, self.kv
        pool = self.pool(5000)
        wrapper = Wrapper(torch, [0] * 9000, live=8)
        kv.cast_active_slots(pool, wrapper, torch.bfloat16)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            got = kv.cast_active_slots(pool, wrapper, torch.bfloat16)
        for count in (1, 700, 3, 0, 4999, 9000):
            ids = torch.randint(0, 5000, (count,)).tolist()
            wrapper.replan(torch, ids)
            got.fill_(-7.0)
            graph.replay()
            rows = range(5000) if count > 5000 else ids
            yield f"captured with 8 rows, replayed with {count}", self.same(
                got, self.expected(pool, rows, torch.bfloat16)
            )

    def capture_without_a_pass_before(self):
        torch, kv = self.torch, self.kv
        pool = self.pool(61_000)
        wrapper = Wrapper(torch, range(50))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            got = kv.cast_active_slots(pool, wrapper, torch.bfloat16)
        graph.replay()
        yield "a shadow that is made while capturing holds the rows", self.same(
            got[:50], pool[:50].to(torch.bfloat16)
        )
        address = got.data_ptr()
        del graph, got
        torch.cuda.empty_cache()
        later = kv.cast_active_slots(pool, Wrapper(torch, range(100, 300)), torch.bfloat16)
        taken = torch.full((pool.numel(),), float("nan"), dtype=torch.bfloat16, device="cuda")
        yield "and outlives its graph", later.data_ptr() == address and self.same(
            later[100:300], pool[100:300].to(torch.bfloat16)
        )
        del taken

    def gather(self):
        torch, kv = self.torch, self.kv
        pool = self.pool(700)
        whole = pool.to(torch.bfloat16)
        wrapper = Wrapper(torch, [0])
        wrapper._use_cuda_graph = False

        def step(ids, dcp=None):
            ids = torch.as_tensor(ids, dtype=torch.int32, device="cuda")
            wrapper._kv_indices_buf = kv.planned_kv_indices(ids, wrapper, dcp)
            wrapper._kv_indptr_buf = torch.tensor([0, len(ids)], dtype=torch.int32, device="cuda")
            keys = kv.gather_then_cast(pool, wrapper, torch.bfloat16)
            valid = ids.clamp(0, 699).long()
            return keys.shape[0], self.same(keys[wrapper._kv_indices_buf.long().clamp(0, 699)], whole[valid])

        yield "gather: the first step keeps the slots", step([5, 6, 600]) == (700, True)
        yield "gather: the next one reads gathered rows", step([9, 8, 600, 2]) == (4, True)
        yield "gather: a stale id is clamped", step([9, 8, 2**30, -1]) == (4, True)
        yield "gather: more rows than the pool: slots", step([4] * 701) == (700, True)
        yield "gather: with dcp metadata: slots", step([4, 2], object()) == (700, True)
        wrapper._use_cuda_graph = True
        yield "gather: a graph wrapper: slots", step([4, 2]) == (700, True)

    def metadata_under_capture(self):
        torch = self.torch
        target = torch.zeros(4, dtype=torch.int32, device="cuda")
        source = torch.arange(4, dtype=torch.int32)
        try:
            with torch.cuda.graph(torch.cuda.CUDAGraph()):
                target.copy_(source, non_blocking=True)
            refused = ""
        except RuntimeError as error:
            refused = str(error).splitlines()[0]
        torch.cuda.synchronize()
        yield f"a capture of the indptr refresh is refused by torch, not frozen ({refused[:70]})", bool(refused)

    def groups(self):
        return (
            self.all_bytes, self.counts, self.wrong_ids, self.layouts, self.contract, self.graphs,
            self.capture_without_a_pass_before, self.gather, self.metadata_under_capture,
        )  # fmt: skip

    def run(self):
        results = []
        for group in self.groups():
            for what, holds in self.guarded(group):
                results.append({"check": what, "holds": bool(holds)})
                print(f"{'PASS' if holds else 'FAIL'}  {what}", flush=True)
        return results

    @staticmethod
    def guarded(group):
        """An exception is a check that does not hold, and does not hide the groups after it."""
        try:
            yield from group()
        except Exception as error:  # noqa: BLE001
            yield f"{group.__name__}: {type(error).__name__}: {error}", False


# --- times -----------------------------------------------------------------------------------------------------------


class Timer:
    def __init__(self, torch, kv, layers, replays):
        self.torch = torch
        self.kv = kv
        self.layers = layers
        self.replays = replays
        raw = torch.randint(0, 120, (SLOTS, 1, COLUMNS), dtype=torch.uint8, device="cuda")
        self.pools = [raw.clone().view(torch.float8_e4m3fn) for _ in range(layers)]
        self.shadow = torch.empty((SLOTS, 1, COLUMNS), dtype=torch.bfloat16, device="cuda")
        self.order = torch.randperm(SLOTS, dtype=torch.int32, device="cuda")

    def graph_us(self, one_layer, layers=None):
        """Microseconds a layer: median over replays of a graph that does `one_layer(i)` for each layer."""
        torch = self.torch
        layers = layers or self.layers
        one_layer(0)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for i in range(layers):
                one_layer(i)
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        times = []
        for _ in range(3):
            graph.replay()
        for _ in range(self.replays):
            begin.record()
            graph.replay()
            end.record()
            end.synchronize()
            times.append(begin.elapsed_time(end) * 1000 / layers)
        del graph
        return statistics.median(times)

    def ids(self, count, order):
        scattered = self.order[:count]
        if order == "slot order":
            return scattered.sort().values.contiguous()
        if order == "pages of 64":
            pages = self.torch.randperm(SLOTS // 64, device="cuda")[: -(-count // 64)]
            rows = (pages[:, None] * 64 + self.torch.arange(64, device="cuda")).flatten()
            return rows[:count].to(self.torch.int32)
        return scattered.contiguous()

    def cast_us(self, count, order="scattered", tuning=None, by_bits=False, launch=None):
        torch, kv = self.torch, self.kv
        indices = self.ids(count, order)
        indptr = torch.tensor([0, count], dtype=torch.int32, device="cuda")
        tuning = tuning or kv._TUNING
        launch = launch or kv._cast_rows_triton
        return self.graph_us(
            lambda i: launch(self.pools[i], self.shadow, indices, indptr, 1, tuning=tuning, by_bits=by_bits)
        )

    def whole_us(self):
        return self.graph_us(lambda i: self.pools[i].to(self.torch.bfloat16), layers=min(4, self.layers))

    def copy_gbs(self):
        """Bytes read and written a second by torch's own copy of the shadow's size."""
        source = self.torch.empty_like(self.shadow)
        us = self.graph_us(lambda i: self.shadow.copy_(source), layers=4)
        return 2 * self.shadow.numel() * 2 / us / 1e3

    def host_us(self, count=500):
        """Host time of one eager call."""
        import time

        wrapper = Wrapper(self.torch, self.order[:count])
        for _ in range(20):
            self.kv.cast_active_slots(self.pools[0], wrapper, self.torch.bfloat16)
        self.torch.cuda.synchronize()
        calls = 200
        begin = time.perf_counter()
        for _ in range(calls):
            self.kv.cast_active_slots(self.pools[0], wrapper, self.torch.bfloat16)
        taken = time.perf_counter() - begin
        self.torch.cuda.synchronize()
        return taken / calls * 1e6


def bytes_moved(count):
    return count * (COLUMNS + 2 * COLUMNS + 4)


def time_table(timer):
    whole = timer.whole_us()
    copy = timer.copy_gbs()
    whole_gbs = SLOTS * 3 * COLUMNS / whole / 1e3
    print(f"\ntorch's copy (571 MB to 571 MB): {copy:.0f} GB/s")
    print(f"torch's whole cast of {SLOTS} slots: {whole:.1f} us, {whole_gbs:.0f} GB/s")
    print("| slots | order | us a layer | MB moved | GB/s | of the copy | whole cast, us | times less |")
    print("|---|---|---|---|---|---|---|---|")
    rows = []
    for count in COUNTS:
        for order in ("slot order", "scattered", "pages of 64"):
            us = timer.cast_us(count, order)
            gbs = bytes_moved(count) / us / 1e3
            rows.append({"slots": count, "order": order, "us": us, "bytes": bytes_moved(count), "gb_s": gbs})
            print(
                f"| {count} | {order} | {us:.1f} | {bytes_moved(count) / 1e6:.1f} | {gbs:.0f} | {gbs / copy:.0%} "
                f"| {whole:.0f} | {whole / us:.1f} |",
                flush=True,
            )
    bits = {count: timer.cast_us(count, by_bits=True) for count in COUNTS}
    print("by bit arithmetic, scattered: " + ", ".join(f"{c}: {us:.1f} us" for c, us in bits.items()))
    named = timer.torch.zeros(2_000_000, dtype=timer.torch.int32, device="cuda")
    indptr = timer.torch.tensor([0, 2_000_000], dtype=timer.torch.int32, device="cuda")
    capped = timer.graph_us(lambda i: timer.kv._cast_rows_triton(timer.pools[i], timer.shadow, named, indptr, 1))
    print(f"2,000,000 rows named, one pass over the pool: {capped:.1f} us")
    host = timer.host_us()
    print(f"host time of one eager call: {host:.1f} us")
    return {
        "whole_cast_us": whole, "copy_gb_s": copy, "casts": rows, "by_bits_us": bits, "capped_us": capped,
        "host_us": host,
    }  # fmt: skip


def sweep(timer):
    kv = timer.kv
    print("\n| layout | " + " | ".join(str(c) for c in COUNTS) + " |  (us a layer, scattered)")
    print("|---|" + "---|" * len(COUNTS))
    rows = []

    def line(name, **how):
        times = [timer.cast_us(count, **how) for count in COUNTS]
        rows.append({"layout": name, "us": times})
        print(f"| {name} | " + " | ".join(f"{us:.2f}" for us in times) + " |", flush=True)

    for vector in (8, 16):
        for warps in (4, 8, 16):
            for chunks_a_thread in (1, 2, 4, 8):
                block = 32 * warps * chunks_a_thread
                if block * vector > 32768:
                    continue
                for programs in (2, 4, 8, 16):
                    if programs * warps > 64 and chunks_a_thread == 1:
                        continue
                    tuning = kv._Tuning(vector, block, warps, programs)
                    name = f"chunks of {vector}, {block} a program, {warps} warps, {programs} programs a SM"
                    line(name, tuning=tuning)
    import kv_cast_variants

    for rows_a_program in (1, 2, 4, 8, 16):
        for warps in (1, 2, 4, 8):
            for programs in (8, 16, 32):
                if warps * programs > 128 or warps * programs < 32:
                    continue
                tuning = kv_cast_variants.Tile(rows_a_program, warps, programs)
                line(
                    f"tile of {rows_a_program} rows x 1024, {warps} warps, {programs} programs a SM",
                    tuning=tuning,
                    launch=kv_cast_variants.cast_tiles,
                )
    for index, count in enumerate(COUNTS):
        best = sorted(rows, key=lambda row: row["us"][index])[:4]
        print(f"best at {count}: " + "; ".join(f"{row['layout']}: {row['us'][index]:.2f}" for row in best))
    floor = [min(row["us"][k] for row in rows) for k in range(len(COUNTS))]
    ranked = sorted(rows, key=lambda row: max(us / best for us, best in zip(row["us"], floor)))
    print("best over all counts (smallest worst ratio to the best of each count):")
    for row in ranked[:8]:
        ratios = ", ".join(f"{us / best:.2f}" for us, best in zip(row["us"], floor))
        print(f"  {row['layout']}: " + ", ".join(f"{us:.2f}" for us in row["us"]) + f"  ({ratios})")
    return rows


# --- main ------------------------------------------------------------------------------------------------------------


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
        import triton
    except ImportError as error:
        print(f"skipped: {error}")
        return 1 if options.require else SKIPPED
    if not torch.cuda.is_available():
        print("skipped: torch sees no GPU")
        return 1 if options.require else SKIPPED

    facts = {
        "date": datetime.date.today().isoformat(),
        "gpu": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "triton": triton.__version__,
        "cuda": torch.version.cuda,
        "python": platform.python_version(),
        "command": " ".join(sys.argv),
        "layers": options.layers,
        "replays": options.replays,
    }
    print("\n".join(f"{key}: {value}" for key, value in facts.items()))
    kv = load(options.module)
    torch.manual_seed(20)
    facts["tuning"] = kv._TUNING._asdict()
    print(f"tuning: {facts['tuning']}\n")

    checks = Checks(torch, kv).run()
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
