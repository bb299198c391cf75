#!/usr/bin/env python3
"""Checks and times the cast of pages (the fa3 patch) on a GPU. Needs torch, Triton and the two files that the patch adds;
no SGLang, no FlashAttention.

    python3 tests/gpu/kv_cast_pages_gpu.py                    checks, then the table of times
    python3 tests/gpu/kv_cast_pages_gpu.py --json out.json    the same, also as JSON
    python3 tests/gpu/kv_cast_pages_gpu.py --sweep            also times other layouts of the kernel

Checks and times are taken as in kv_cast_gpu.py, which says how; so are the exit codes.
"""

import importlib.util
import statistics
import sys
from types import SimpleNamespace

import kv_cast_common as base
import kv_cast_checks
import kv_cast_times

SLOTS, COUNTS = base.SLOTS, base.COUNTS
PACKAGE = "sglang.srt.layers.attention"
SLOT_CAST = f"{PACKAGE}.suture_kv_cast"
CONTEXT = 131_072  # of the tables of CUDA graphs: so many slots wide, whatever a request has
STALE = 2**30  # what stands behind the live columns in the checks


def load(folder):
    """The file that casts pages, and before it the one with the shadow, where it imports that from."""
    for name in (SLOT_CAST, f"{PACKAGE}.suture_kv_cast_pages"):
        spec = importlib.util.spec_from_file_location(name, folder / f"{name.rpartition('.')[2]}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # Triton looks the kernel's module up by name
        spec.loader.exec_module(module)
    return module


def rows_of(count, batch, page_size):
    """Lengths of `batch` requests of `count` tokens together, whose whole pages fit into the pool; [] if there are none."""
    length = count // batch
    if -(-length // page_size) * batch > SLOTS // page_size:
        length = SLOTS // page_size // batch * page_size
    return [length] * batch if 0 < length <= CONTEXT else []


def table_of(torch, rows, width, pages, page_size):
    """A page table [len(rows), width] for requests of these lengths, pages taken from `pages` in order, stale behind."""
    table = torch.full((len(rows), width), STALE, dtype=torch.int32, device="cuda")
    at = 0
    for b, length in enumerate(rows):
        count = min(-(-max(length, 0) // page_size), width)
        table[b, :count] = pages[at : at + count]
        at += count
    return table


# --- checks ----------------------------------------------------------------------------------------------------------


class Checks(kv_cast_checks.Checks):
    def __init__(self, torch, kv, pages):
        super().__init__(torch, kv)
        self.pages = pages

    def lengths(self, rows):
        return self.torch.tensor(rows, dtype=self.torch.int32, device="cuda")

    def cast_pages(self, pool, table, rows, page_size=1, dtype=None, by_bits=False):
        shadow = self.torch.full(pool.shape, -7.0, dtype=dtype or self.torch.bfloat16, device="cuda")
        self.pages._cast_pages_triton(pool, shadow, table, self.lengths(rows), page_size, by_bits=by_bits)
        return shadow

    def wanted(self, pool, table, rows, page_size=1, dtype=None):
        """By a mask in torch: the whole cast where a live page is, -7 elsewhere."""
        torch, count = self.torch, pool.shape[0]
        live = (-(-self.lengths(rows).clamp(min=0) // page_size)).clamp(max=table.shape[1])
        mask = torch.arange(table.shape[1], device="cuda") < live[:, None]
        row = (table[mask].to(torch.int64)[:, None] * page_size + torch.arange(page_size, device="cuda")).flatten()
        named = torch.zeros(count, dtype=torch.bool, device="cuda")
        named[row[(row >= 0) & (row < count)]] = True
        if int(live.sum()) * page_size > count:
            named[:] = True
        want = torch.full(pool.shape, -7.0, dtype=dtype or torch.bfloat16, device="cuda")
        want[named] = pool.to(want.dtype)[named]
        return want

    def all_bytes_of_pages(self):
        torch = self.torch
        table = torch.arange(16, dtype=torch.int32, device="cuda")[None]
        for fp8 in (torch.float8_e4m3fn, torch.float8_e5m2):
            pool = torch.arange(256, dtype=torch.uint8, device="cuda").repeat(3).view(16, 1, 48).view(fp8)
            for dtype in (torch.bfloat16, torch.float16):
                for by_bits in (False, True):
                    got = self.cast_pages(pool, table, [16], dtype=dtype, by_bits=by_bits)
                    how = "by bits" if by_bits else "by the hardware"
                    yield f"all 256 bytes of {fp8} to {dtype}, {how}", self.same(got, pool.to(dtype))

    def shapes(self):
        torch = self.torch
        pool = self.pool(4096)
        for page_size in (1, 4, 64):
            ids = torch.randperm(4096 // page_size, device="cuda", dtype=torch.int32)
            for what, rows in (
                ("one row", [700]), ("one token", [1]), ("nothing", [0, 0, -3]), ("ragged", [7, 1, 0, 300, 20, 64, 65]),
                ("one long and 63 of one", [900] + [1] * 63), ("63 of one and one long", [1] * 63 + [900]),
                ("600 rows", [i % 7 for i in range(600)]), ("more rows than are looked at in one go", [0] * 300 + [33, 2]),
            ):
                total = sum(-(-max(n, 0) // page_size) for n in rows)
                table = table_of(torch, rows, 1024 // page_size, ids.repeat(-(-total // len(ids)) + 1), page_size)
                got = self.cast_pages(pool, table, rows, page_size)
                yield f"pages of {page_size}, {what}", self.same(got, self.wanted(pool, table, rows, page_size))
        table = torch.tensor([[-1, 5, 4096, 2**31 - 1, -(2**31), 4095]], dtype=torch.int32, device="cuda")
        got = self.cast_pages(pool, table, [6])
        yield "ids below 0 and past the pool are skipped", self.same(got, self.wanted(pool, table, [6]))
        got = self.cast_pages(pool, table, [2**31 - 1])
        yield "a length past the table", self.same(got, self.wanted(pool, table, [6]))
        table = ids[:1].repeat(8, 4096 // 64)
        got = self.cast_pages(pool, table, [4096] * 8, 64)
        yield "more rows named than the pool has: one pass over all", self.same(got, pool.to(torch.bfloat16))
        cut = self.pool(64 * 9 + 13)
        table = torch.tensor([[9, 0]], dtype=torch.int32, device="cuda")
        got = self.cast_pages(cut, table, [128], 64)
        yield "a last page that the pool cuts off", self.same(got, self.wanted(cut, table, [128], 64))

    def layouts_of_pages(self):
        torch = self.torch
        for columns in (16, 48, 512, 576, 1040, 8192):
            pool = self.pool(256, columns)
            table = torch.randperm(256, device="cuda", dtype=torch.int32).view(2, 128)
            got = self.cast_pages(pool, table, [100, 3])
            yield f"{columns} columns", self.same(got, self.wanted(pool, table, [100, 3]))
        pool = self.pool(400, 3 * base.COLUMNS, torch.float8_e5m2)[:, :, base.COLUMNS : 2 * base.COLUMNS]
        wide = torch.randperm(400, device="cuda", dtype=torch.int32).view(4, 100)
        table = wide[:3, :90]
        for integer in (torch.int32, torch.int64):
            got = self.cast_pages(pool, table.to(integer) if integer is torch.int64 else table, [50, 90, 1])
            yield f"a strided pool and table, {integer}", self.same(got, self.wanted(pool, table, [50, 90, 1]))

    def real_sizes(self):
        torch = self.torch
        pool = self.pool(SLOTS)
        for page_size in (1, 64):
            ids = torch.randperm(SLOTS // page_size, device="cuda", dtype=torch.int32)
            for count in COUNTS:
                for batch in (1, 8, 64):
                    rows = rows_of(count, batch, page_size)
                    if not rows:
                        continue
                    table = table_of(torch, rows, CONTEXT // page_size, ids, page_size)
                    got = self.cast_pages(pool, table, rows, page_size)
                    name = f"{batch} x {rows[0]} tokens, pages of {page_size}, against torch's whole cast"
                    yield name, self.same(got, self.wanted(pool, table, rows, page_size))
                    del table, got
            rows = [CONTEXT] + [1] * 63
            table = table_of(torch, rows, CONTEXT // page_size, ids, page_size)
            got = self.cast_pages(pool, table, rows, page_size)
            name = f"131072 tokens beside 63 of one, pages of {page_size}"
            yield name, self.same(got, self.wanted(pool, table, rows, page_size))
            rows = [48_000] * 16
            table = table_of(torch, rows, CONTEXT // page_size, ids[:1000].repeat(800), page_size)
            got = self.cast_pages(pool, table, rows, page_size)
            yield f"768000 tokens named, pages of {page_size}: the whole pool", self.same(got, pool.to(torch.bfloat16))

    def graphs_of_pages(self):
        """Captured with length 1 at page 0; before each replay other pages, lengths, and stale columns behind them. A
        second table as with topk > 1."""
        torch, pages = self.torch, self.pages
        for page_size in (1, 64):
            pool = self.pool(64 * 90)
            count = 64 * 90 // page_size
            table = torch.zeros(8, 4096 // page_size, dtype=torch.int32, device="cuda")
            lengths = torch.ones(8, dtype=torch.int32, device="cuda")
            expand = SimpleNamespace(
                page_table=torch.zeros(16, 4, dtype=torch.int32, device="cuda"),
                cache_seqlens_int32=torch.ones(16, dtype=torch.int32, device="cuda"),
            )
            backend = SimpleNamespace(page_size=page_size, forward_metadata_spec_decode_expand=expand)

            def cast():
                return pages.cast_active_pages(pool, backend, table, lengths, True, torch.bfloat16)

            cast()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                got = cast()
            for turn, rows in enumerate(([700, 1, 64, 65, 0, 3, 9, 500], [1] * 8, [0] * 8, [4000] * 8)):
                ids = torch.randperm(count, device="cuda", dtype=torch.int32)
                table.copy_(table_of(torch, rows, table.shape[1], ids.repeat(40), page_size))
                lengths.copy_(self.lengths(rows))
                drafted = [turn + 1] * 16
                expand.page_table.copy_(table_of(torch, drafted, 4, ids.flip(0), page_size))
                expand.cache_seqlens_int32.copy_(self.lengths(drafted))
                got.fill_(-7.0)
                graph.replay()
                want = self.wanted(pool, table, rows, page_size)
                second = self.wanted(pool, expand.page_table, drafted, page_size)
                want = torch.where(second == -7.0, want, second)
                yield f"replay {turn}, pages of {page_size}, lengths {rows[:3]}...", self.same(got, want)

    def contract_of_pages(self):
        torch, pages = self.torch, self.pages
        pool, backend = self.pool(500), SimpleNamespace(page_size=1)
        table = torch.tensor([[1, 2, 3]], dtype=torch.int32, device="cuda")
        bf16 = pool.to(torch.bfloat16)

        def cast(pool, backend=backend):
            return pages.cast_active_pages(pool, backend, table, self.lengths([3]), False, torch.bfloat16)

        yield "a pool of the wanted dtype is returned itself", cast(bf16) is bf16
        got = cast(pool)
        yield "the named rows equal torch's", self.same(got[1:4], bf16[1:4])
        slots = self.kv.cast_active_slots(pool, base.Wrapper(torch, [7]), torch.bfloat16)
        yield "cast_active_slots has the same shadow", slots.data_ptr() == got.data_ptr()
        left = cast(pool, SimpleNamespace(page_size=1, fa_impl_ver=4))
        yield "FlashAttention 4: the whole cast", self.same(left, bf16) and left.data_ptr() != got.data_ptr()

    def second_calls(self):
        """What is launched by the kept kernel is what a first call of the other tensors would have cast."""
        torch, pages = self.torch, self.pages
        pools = [self.pool(4096, seed=seed) for seed in range(3)]
        wholes = [pool.to(torch.bfloat16) for pool in pools]
        for page_size in (1, 64):
            backend = SimpleNamespace(page_size=page_size)
            ids = torch.randperm(4096 // page_size, device="cuda", dtype=torch.int32)
            first = len(pages._casts)
            batches = ([5], [700, 1], [64] * 31, [3] * 32, [9] * 33, [1] * 256, [2] * 257, [1] * 2048, [1] * 2049)
            for turn, rows in enumerate((*batches, *batches[::-1])):
                wide = table_of(torch, rows, 2048 // page_size + turn, ids.repeat(60), page_size)
                table = wide[:, : 1024 // page_size] if turn % 2 else wide
                pool = turn % 3
                shadow = self.kv._shadow_for(pools[pool], torch.bfloat16)
                shadow.fill_(-7.0)
                got = pages.cast_active_pages(pools[pool], backend, table, self.lengths(rows), False, torch.bfloat16)
                right = self.same(got, self.wanted(pools[pool], table, rows, page_size))
                yield f"call {turn}, {len(rows)} rows, pages of {page_size}", right
            made = len(pages._casts) - first
            yield f"pages of {page_size}: a kernel for up to 32, 256, 2048 and more rows is kept ({made})", made == 4
            other = self.pool(4096, 64)
            got = pages.cast_active_pages(other, backend, ids[None, :4], self.lengths([3]), False, torch.bfloat16)
            row = int(ids[0]) * page_size
            yield "other columns are another kind", self.same(got[row : row + 1], other.to(torch.bfloat16)[row : row + 1])
            off = ids[None, 1:5]
            got = pages.cast_active_pages(pools[0], backend, off, self.lengths([3]), False, torch.bfloat16)
            row = int(off[0, 0]) * page_size
            yield "an address that is no multiple of 16 is another kind", self.same(
                got[row : row + 1], wholes[0][row : row + 1]
            )

    def groups(self):
        return (
            self.all_bytes_of_pages, self.shapes, self.layouts_of_pages, self.real_sizes, self.graphs_of_pages,
            self.contract_of_pages, self.second_calls,
        )  # fmt: skip


# --- times -----------------------------------------------------------------------------------------------------------


class Timer(kv_cast_times.Timer):
    def __init__(self, torch, kv, pages, layers, replays):
        super().__init__(torch, kv, layers, replays)
        self.pages = pages
        self.page_order = torch.randperm(SLOTS // 64, dtype=torch.int32, device="cuda")

    def pages_us(self, rows, page_size, tuning=None, width=CONTEXT):
        """(us a layer of the cast of pages, of cast_active_slots over the same slots)."""
        torch = self.torch
        ids = self.order if page_size == 1 else self.page_order
        table = table_of(torch, rows, -(-width // page_size), ids, page_size)
        lengths = torch.tensor(rows, dtype=torch.int32, device="cuda")
        tuning = tuning or self.pages._TUNING
        total = sum(-(-n // page_size) for n in rows)
        indptr = torch.tensor([0, total], dtype=torch.int32, device="cuda")
        return self.in_turns(
            sum(rows),
            lambda i: self.pages._cast_pages_triton(
                self.pool(i), self.shadow, table, lengths, page_size, tuning=tuning
            ),
            lambda i: self.kv._cast_rows_triton(self.pool(i), self.shadow, ids[:total], indptr, page_size),
        )

    def host_times(self):
        """Host time of an eager call, us, beside what Timer.host_us has."""
        table = self.order[:500][None]
        lengths = self.torch.tensor([500], dtype=self.torch.int32, device="cuda")
        backend = SimpleNamespace(page_size=1)

        def cast():
            self.pages.cast_active_pages(self.pools[0], backend, table, lengths, False, self.torch.bfloat16)

        taken = [self.host_us_of(cast) for _ in range(21)]
        return {"cast_active_pages": statistics.median(taken[1:]), **self.host_us()}


def cases(page_size):
    """(what, lengths, width of the table)"""
    for count in COUNTS:
        for batch in (1, 8, 64):
            rows = rows_of(count, batch, page_size)
            if sum(rows) >= count * 0.9:
                yield f"{batch} x {rows[0]}", rows, CONTEXT
    yield "131072 beside 63 of one", [CONTEXT] + [1] * 63, CONTEXT
    yield "160 x 51", [51] * 160, CONTEXT
    yield "160 x 51, a table as wide as they are", [51] * 160, 64
    yield "2,560 rows of 4 (topk > 1)", [4] * 2560, 8


def time_table(timer):
    whole = timer.whole_us()
    print(f"\ntorch's whole cast of {SLOTS} slots: {whole:.1f} us")
    print("| tokens | pages of | cast_active_pages, us a layer | cast_active_slots of the same | whole cast, us | times less |")
    print("|---|---|---|---|---|---|")
    rows = []
    for page_size in (1, 64):
        for what, lengths, width in cases(page_size):
            us, flat = timer.pages_us(lengths, page_size, width=width)
            rows.append({"tokens": what, "page_size": page_size, "pages_us": us, "slots_us": flat})
            print(f"| {what} | {page_size} | {us:.2f} | {flat:.2f} | {whole:.0f} | {whole / us:.1f} |", flush=True)
    host = timer.host_times()
    print("host time of one eager call, us: " + ", ".join(f"{what} {us:.1f}" for what, us in host.items()))
    return {"whole_cast_us": whole, "casts": rows, "host_us": host}


def sweep(timer):
    wanted = (([63] * 8, 1), ([16_384] * 8, 1), ([7_743] * 64, 1), ([63] * 8, 64), ([16_384] * 8, 64))
    print("\n| layout | " + " | ".join(f"{len(r)} x {r[0]}, pages of {p}" for r, p in wanted) + " |  (us a layer)")
    print("|---|" + "---|" * len(wanted))
    found = []
    for vector in (8, 16):
        for block in (128, 256, 512):
            for warps in (2, 4, 8):
                for programs in (4, 8, 16):
                    if block // (32 * warps) < 1 or not 16 <= warps * programs <= 64:
                        continue
                    tuning = timer.pages._Tuning(vector, block, warps, programs)
                    times = [timer.pages_us(rows, page_size, tuning)[0] for rows, page_size in wanted]
                    name = f"chunks of {vector}, {block} a tile, {warps} warps, {programs} programs a SM"
                    found.append({"layout": name, "us": times})
                    print(f"| {name} | " + " | ".join(f"{us:.2f}" for us in times) + " |", flush=True)
    return found


# --- main ------------------------------------------------------------------------------------------------------------


def main():
    options = base.options_of(
        "Checks and times the cast of pages of suture's fa3 patch on a GPU.",
        base.DEFAULT_MODULE.parent,
        "folder of the two files",
    )
    def check(torch, pages):
        return Checks(torch, sys.modules[SLOT_CAST], pages).run()

    def time(torch, pages):
        timer = Timer(torch, sys.modules[SLOT_CAST], pages, options.layers, options.replays)
        times = {"times": time_table(timer)}
        return times | {"sweep": sweep(timer)} if options.sweep else times

    return base.run(options, load, check, time)


if __name__ == "__main__":
    sys.exit(main())
