"""Times of the KV cast on a GPU, and the sweep over layouts of its kernel."""

import statistics
import time

from kv_cast_common import COLUMNS, COUNTS, FEW, ORDERS, SLOTS, Wrapper


class Timer:
    """Graphs of layers, each layer with a pool of its own and all with one shadow; medians over replays."""

    def __init__(self, torch, kv, layers, replays):
        self.torch = torch
        self.kv = kv
        self.layers = layers
        self.replays = replays
        raw = torch.randint(0, 120, (SLOTS, 1, COLUMNS), dtype=torch.uint8, device="cuda")
        self.pools = [raw.clone().view(torch.float8_e4m3fn) for _ in range(layers)]
        self.shadow = torch.empty((SLOTS, 1, COLUMNS), dtype=torch.bfloat16, device="cuda")
        self.order = torch.randperm(SLOTS, dtype=torch.int32, device="cuda")
        self.begin, self.end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def layers_for(self, count):
        """More where few slots are cast: a graph's start is in its time."""
        return self.layers * (8 if count < FEW else 1)

    def replays_for(self, count):
        """More where few slots are cast: the noise of the median stays below 0.2 %."""
        return self.replays * (8 if count < FEW else 1)

    def pool(self, layer):
        return self.pools[layer % len(self.pools)]

    def graph(self, one_layer, layers):
        torch = self.torch
        one_layer(0)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for i in range(layers):
                one_layer(i)
        return graph

    def replay_us(self, graph, layers):
        self.begin.record()
        graph.replay()
        self.end.record()
        self.end.synchronize()
        return self.begin.elapsed_time(self.end) * 1000 / layers

    def in_turns(self, count, *one_layers, replays=None, layers=None):
        """Microseconds a layer of each, their replays in turns, so that what the GPU does meanwhile meets all alike."""
        layers = layers or self.layers_for(count)
        graphs = [self.graph(one_layer, layers) for one_layer in one_layers]
        times = [[] for _ in graphs]
        for replay in range(3 + (replays or self.replays_for(count))):
            for graph, taken in zip(graphs, times):
                us = self.replay_us(graph, layers)
                if replay >= 3:
                    taken.append(us)
        return [statistics.median(taken) for taken in times]

    def wrapper(self, count, order="scattered"):
        torch = self.torch
        ids = self.order[:count]
        if order == "slot order":
            ids = ids.sort().values
        if order == "pages of 64":
            pages = torch.randperm(SLOTS // 64, device="cuda")[: -(-count // 64)]
            ids = (pages[:, None] * 64 + torch.arange(64, device="cuda")).flatten()[:count]
        return Wrapper(torch, ids.to(torch.int32).contiguous())

    def cast_us(self, count, order="scattered", tuning=None, by_bits=False, launch=None, replays=None):
        wrapper = self.wrapper(count, order)
        tuning = tuning or self.kv._TUNING
        launch = launch or self.kv._cast_rows_triton
        (us,) = self.in_turns(
            count,
            lambda i: launch(
                self.pool(i), self.shadow, wrapper._kv_indices_buf, wrapper._kv_indptr_buf, 1,
                tuning=tuning, by_bits=by_bits,
            ),
            replays=replays,
        )  # fmt: skip
        return us

    def whole_us(self):
        (us,) = self.in_turns(SLOTS, lambda i: self.pool(i).to(self.torch.bfloat16), layers=min(4, self.layers))
        return us

    def copy_gbs(self):
        """Bytes read and written a second by torch's own copy of the shadow's size."""
        source = self.torch.empty_like(self.shadow)
        (us,) = self.in_turns(SLOTS, lambda i: self.shadow.copy_(source), layers=4)
        return 2 * self.shadow.numel() * 2 / us / 1e3

    def host_us(self, count=500):
        """Host time of an eager call: of ours, and of torch's ``.to`` on so few rows that the GPU keeps up."""
        pool, few, dtype = self.pools[0], self.pools[0][:count], self.torch.bfloat16
        wrapper = self.wrapper(count)
        calls = {
            "cast_active_slots": lambda: self.kv.cast_active_slots(pool, wrapper, dtype),
            "torch's .to": lambda: few.to(dtype),
            "the kernel by Triton's launcher": lambda: self.kv._cast_rows_triton(
                pool, self.shadow, wrapper._kv_indices_buf, wrapper._kv_indptr_buf, 1
            ),
        }
        taken = {name: [] for name in calls}
        for _ in range(21):
            for name, call in calls.items():
                taken[name].append(self.host_us_of(call))
        return {name: statistics.median(times[1:]) for name, times in taken.items()}

    def host_us_of(self, call, calls=200):
        self.torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(calls):
            call()
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
        for order in ORDERS:
            us = timer.cast_us(count, order)
            gbs = bytes_moved(count) / us / 1e3
            rows.append({"slots": count, "order": order, "us": us, "bytes": bytes_moved(count), "gb_s": gbs})
            print(
                f"| {count} | {order} | {us:.2f} | {bytes_moved(count) / 1e6:.1f} | {gbs:.0f} | {gbs / copy:.0%} "
                f"| {whole:.0f} | {whole / us:.1f} |",
                flush=True,
            )
    bits = {count: timer.cast_us(count, by_bits=True) for count in COUNTS}
    print("by bit arithmetic, scattered: " + ", ".join(f"{c}: {us:.1f} us" for c, us in bits.items()))
    capped = capped_us(timer)
    print(f"2,000,000 rows named, one pass over the pool: {capped:.1f} us")
    host = timer.host_us()
    print("host time of one eager call: " + ", ".join(f"{name}: {us:.1f} us" for name, us in host.items()))
    return {
        "whole_cast_us": whole, "copy_gb_s": copy, "casts": rows, "by_bits_us": bits, "capped_us": capped,
        "host_us": host,
    }  # fmt: skip


def capped_us(timer):
    named = Wrapper(timer.torch, timer.torch.zeros(2_000_000, dtype=timer.torch.int32, device="cuda"))
    (us,) = timer.in_turns(
        SLOTS,
        lambda i: timer.kv._cast_rows_triton(
            timer.pool(i), timer.shadow, named._kv_indices_buf, named._kv_indptr_buf, 1
        ),
    )
    return us


def sweep(timer):
    kv = timer.kv
    print("\n| layout | " + " | ".join(str(c) for c in COUNTS) + " |  (us a layer, scattered)")
    print("|---|" + "---|" * len(COUNTS))
    rows = []

    def line(name, **how):
        times = [timer.cast_us(count, replays=7, **how) for count in COUNTS]
        rows.append({"layout": name, "us": times})
        print(f"| {name} | " + " | ".join(f"{us:.2f}" for us in times) + " |", flush=True)

    for block in (128, 256, 512):
        for warps in (4, 8):
            for programs in (4, 8, 16):
                tuning = kv._Tuning(block, warps, programs)
                line(f"{block} chunks a program, {warps} warps, {programs} programs a SM", tuning=tuning)
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
