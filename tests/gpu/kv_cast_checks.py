"""Checks of the KV cast on a GPU: bits against torch's own ``pool.to(dtype)``, and what it leaves alone."""

from kv_cast_common import COLUMNS, Wrapper


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
        rows = rows.tolist() if isinstance(rows, torch.Tensor) else rows
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

    def many_rows(self):
        """More than one pass of the kernel."""
        torch = self.torch
        for fp8 in (torch.float8_e4m3fn, torch.float8_e5m2):
            for page_size in (1, 64):
                pool = self.pool(30_000, 2 * 192, fp8)[:, :, 192:]
                ids = torch.randperm(30_000 // page_size)[: 25_000 // page_size].tolist() + [-1, 2**30, 30_000]
                rows = [i * page_size + k for i in ids for k in range(page_size)]
                for by_bits in (False, True):
                    got = self.cast(pool, Wrapper(torch, ids, page_size=page_size), torch.bfloat16, by_bits)
                    name = f"25,000 of 30,000 rows of {fp8}, pages of {page_size}{', by bits' if by_bits else ''}"
                    yield name, self.same(got, self.expected(pool, rows, torch.bfloat16))
        pool = self.pool(30_000)
        got = self.cast(pool, Wrapper(torch, [2] * 30_001), torch.bfloat16)
        yield "30,001 rows named of 30,000: one pass over all", self.same(got, pool.to(torch.bfloat16))

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
            self.all_bytes, self.counts, self.wrong_ids, self.layouts, self.many_rows, self.contract,
            self.graphs, self.capture_without_a_pass_before, self.gather, self.metadata_under_capture,
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
