"""Checks of the second call of a kind, which launches the compiled kernel that the first one left behind: it casts as
the first does, nothing of an earlier call is used again, and where it cannot be, Triton's own launcher does it."""

import contextlib

from kv_cast_checks import Checks
from kv_cast_common import COLUMNS, Wrapper


class SecondCalls(Checks):
    def groups(self):
        return (
            self.all_bytes, self.counts, self.wrong_ids, self.layouts, self.many_rows, self.graphs,
            self.other_tensors, self.other_kinds, self.elsewhere, self.two_gpus, self.not_by_itself,
        )  # fmt: skip

    def guarded(self, group):
        for what, holds in super().guarded(group):
            yield f"second call: {what}", holds

    def cast(self, pool, wrapper, dtype, by_bits=False):
        """The second of two calls, into a shadow that was filled between them."""
        kv = self.kv
        with self.device_that_does_not(pool.device) if by_bits else contextlib.nullcontext():
            shadow = kv.cast_active_slots(pool, wrapper, dtype)
            shadow.fill_(-7.0)
            with self.no_launcher_of_triton():
                return kv.cast_active_slots(pool, wrapper, dtype)

    def other_tensors(self):
        torch, kv = self.torch, self.kv
        pool, other = self.pool(900), self.pool(900, seed=1)
        ids = torch.randperm(900, dtype=torch.int32, device="cuda")
        wrapper = Wrapper(torch, ids[:200])
        shadow = kv.cast_active_slots(pool, wrapper, torch.bfloat16)
        with self.no_launcher_of_triton():
            shadow.fill_(-7.0)
            got = kv.cast_active_slots(other, wrapper, torch.bfloat16)
            yield "another pool", self.same(got, self.expected(other, ids[:200], torch.bfloat16))
            wrapper._kv_indices_buf = ids[400:700].clone()
            wrapper._kv_indptr_buf = torch.tensor([0, 1, 2, 250], dtype=torch.int32, device="cuda")
            shadow.fill_(-7.0)
            got = kv.cast_active_slots(pool, wrapper, torch.bfloat16)
            yield "other index buffers", self.same(got, self.expected(pool, ids[400:650], torch.bfloat16))

    def other_kinds(self):
        """Each needs another compiled kernel, or is not cast by one at all."""
        torch, kv = self.torch, self.kv
        pool = self.pool(97)
        ids = torch.randperm(97, dtype=torch.int32, device="cuda")
        wrapper = Wrapper(torch, ids)
        kv.cast_active_slots(pool, wrapper, torch.bfloat16)
        unaligned = self.pool(98).flatten()[8 : 8 + 97 * COLUMNS].view(97, 1, COLUMNS)
        wide = self.pool(97, 3 * COLUMNS)[:, :, :COLUMNS]
        indptr = wrapper._kv_indptr_buf
        for what, there, indices, indptr, page_size in (
            ("a pool that is not aligned", unaligned, ids, indptr, 1),
            ("a pool of another stride", wide, ids, indptr, 1),
            ("e5m2", pool.view(torch.float8_e5m2), ids, indptr, 1),
            ("indices that are not aligned", pool, ids[1:], indptr - 1, 1),
            ("64-bit indices", pool, ids.long(), indptr, 1),
            ("a 64-bit count", pool, ids, indptr.long(), 1),
            ("pages of 16", pool, ids // 16, indptr // 97 * 5, 16),
        ):
            wrapper._kv_indices_buf, wrapper._kv_indptr_buf, wrapper._page_size = indices, indptr, page_size
            live = indices[: int(indptr[-1])].tolist()
            rows = [page * page_size + k for page in live for k in range(page_size)]
            yield f"{what} is not taken for another", self.refused(there, wrapper)
            got = self.cast(there, wrapper, torch.bfloat16)
            yield what, self.same(got, self.expected(there, rows, torch.bfloat16))
        for what, indices, indptr in (
            ("no count", ids, indptr[:0]),
            ("every other index", ids.repeat(2)[::2], indptr),
            ("indices in two dimensions", ids[None], indptr),
            ("indices on the CPU", ids.cpu(), indptr),
            ("a scalar for the count", ids, indptr[-1]),
        ):
            wrapper._kv_indices_buf, wrapper._kv_indptr_buf, wrapper._page_size = indices, indptr, 1
            got = [kv.cast_active_slots(pool, wrapper, torch.bfloat16) for _ in range(2)][1]
            whole = self.same(got, pool.to(torch.bfloat16))
            yield f"{what}: the whole cast", whole and all(got.data_ptr() != s.data_ptr() for s in kv._shadows.values())

    def elsewhere(self):
        torch, kv = self.torch, self.kv
        pool, other = self.pool(900), self.pool(900, seed=1)
        wrapper = Wrapper(torch, range(100))
        kv.cast_active_slots(pool, wrapper, torch.bfloat16)
        whole = other.to(torch.bfloat16)
        stream = torch.cuda.Stream()
        torch.cuda.synchronize()
        with torch.cuda.stream(stream), self.no_launcher_of_triton():
            torch.cuda._sleep(20_000_000)  # some 10 ms: what is not on this stream comes too early
            pool.view(torch.uint8).copy_(other.view(torch.uint8))
            got = kv.cast_active_slots(pool, wrapper, torch.bfloat16)
        stream.synchronize()
        yield "on another stream, in that stream's order", self.same(got[:100], whole[:100])
        graph = torch.cuda.CUDAGraph()
        with self.no_launcher_of_triton(), torch.cuda.graph(graph):
            got = kv.cast_active_slots(pool, wrapper, torch.bfloat16)
        pool.view(torch.uint8).copy_(self.pool(900, seed=3).view(torch.uint8))
        wrapper.replan(torch, range(60, 90))
        got.fill_(-7.0)
        graph.replay()
        yield "under capture, and replayed", self.same(got, self.expected(pool, range(60, 90), torch.bfloat16))

    def two_gpus(self):
        """One process with a pool on each, whichever of them is the current one."""
        torch, kv = self.torch, self.kv
        if torch.cuda.device_count() < 2:
            print("skipped: second call: two GPUs in one process (this machine has one)")
            return
        ids = (range(100), range(300, 450))
        pools = [self.pool(903, seed=gpu).to(f"cuda:{gpu}") for gpu in range(2)]  # a kind of its own
        wrappers = [Wrapper(torch, ids[gpu], device=f"cuda:{gpu}") for gpu in range(2)]
        for current in range(2):
            with torch.cuda.device(current):
                for gpu in range(2):
                    for call in ("first", "second"):
                        got = kv.cast_active_slots(pools[gpu], wrappers[gpu], torch.bfloat16)
                        rows = list(ids[gpu])
                        same = got.device == pools[gpu].device and self.same(
                            got[rows].cpu(), pools[gpu].to(torch.bfloat16)[rows].cpu()
                        )
                        yield f"GPU {gpu} while GPU {current} is current, {call} of two", same
                        got.fill_(-7.0)

    def not_by_itself(self):
        torch, kv = self.torch, self.kv
        pool, wrapper = self.pool(901), Wrapper(torch, range(100))  # a kind of its own
        kv.cast_active_slots(pool, wrapper, torch.bfloat16)
        seen = []
        with self.launch_hook(seen):
            kv.cast_active_slots(pool, wrapper, torch.bfloat16)
        yield "a profiler's hook is told of the launch", len(seen) == 1
        launch = list(kv._casts.values())[-1].launch  # of the kind that came last
        handed = []

        def older(*arguments):  # before Triton 3.3: no constexpr arguments
            handed.append(len(arguments))
            if len(arguments) != 9 + 4 + 3 + 2:
                raise TypeError(f"function takes exactly 18 arguments ({len(arguments)} given)")

        launch.run = older
        kv.cast_active_slots(pool, wrapper, torch.bfloat16)
        yield "an older Triton is handed no constants", handed[-1] == 18 and launch.run is older

        def unknown(*arguments):
            raise TypeError("function takes exactly 7 arguments")

        launch.run, launch.rest = unknown, launch.layout + (1, 2)
        got = kv.cast_active_slots(pool, wrapper, torch.bfloat16)
        got.fill_(-7.0)
        got = kv.cast_active_slots(pool, wrapper, torch.bfloat16)
        yield "one that takes other arguments: its own launcher", self.same(
            got, self.expected(pool, range(100), torch.bfloat16)
        )

    @contextlib.contextmanager
    def no_launcher_of_triton(self):
        def refuse(*args, **kwargs):
            raise AssertionError("Triton's launcher was taken")

        self.kv._cast_rows_kernel.run = refuse
        try:
            yield
        finally:
            del self.kv._cast_rows_kernel.run

    def refused(self, pool, wrapper):
        try:
            with self.no_launcher_of_triton():
                self.kv.cast_active_slots(pool, wrapper, self.torch.bfloat16)
        except AssertionError:
            return True
        return False

    @contextlib.contextmanager
    def device_that_does_not(self, device):
        """As if its compute capability were below 8.9."""
        kv = self.kv
        facts, casts = kv._device_facts(device), dict(kv._casts)
        kv._devices[device] = (facts[0], False)
        kv._casts.clear()
        try:
            yield
        finally:
            kv._devices[device] = facts
            kv._casts.clear()
            kv._casts.update(casts)

    @contextlib.contextmanager
    def launch_hook(self, seen):
        hooks, before = self.kv._hooks, self.kv._hooks.launch_enter_hook
        if hasattr(before, "add"):
            before.add(seen.append)
        else:
            hooks.launch_enter_hook = seen.append
        try:
            yield
        finally:
            if hasattr(before, "remove"):
                before.remove(seen.append)
            else:
                hooks.launch_enter_hook = before
