"""CUDA graphs of the backend, driven as SGLang's runners drive them: static buffers, metadata prepared before the
capture and before each replay by the entry points of the backend (two up to 0.5.12, one from 0.5.13)."""

import inspect

import torch

from stand_ins import EagleDraftInput, ForwardMode

DRAFT_STEPS = 3
LENS = torch.int32  # of the runners' static buffers up to 0.5.13; FlashInfer's plan reads them as that, unchecked
_INPUTS = ("q", "q_rope", "k", "k_rope")


def allocate(backend, batch):
    """The backend's graph buffers; up to 0.4.7 it is not told the number of tokens."""
    with_tokens = "max_num_tokens" in inspect.signature(backend.init_cuda_graph_state).parameters
    backend.init_cuda_graph_state(*[batch] * (2 if with_tokens else 1))


def prepare(backend, batch, capturing):
    """The metadata of one decode or verify graph."""
    if hasattr(backend, "init_forward_metadata_out_graph"):
        backend.init_forward_metadata_out_graph(batch, in_capture=capturing)
    elif capturing:
        backend.init_forward_metadata_capture_cuda_graph(
            batch.batch_size, batch.positions.numel(), batch.req_pool_indices, batch.seq_lens, None,
            batch.forward_mode, batch.spec_info,
        )  # fmt: skip
    else:
        backend.init_forward_metadata_replay_cuda_graph(
            batch.batch_size, batch.req_pool_indices, batch.seq_lens, batch.seq_lens_sum, None,
            batch.forward_mode, batch.spec_info, batch.seq_lens_cpu,
        )  # fmt: skip


def prepare_draft(backend, batch, capturing):
    """The same for the backend of all draft steps, which takes the batch whole."""
    if hasattr(backend, "init_forward_metadata_out_graph"):
        backend.init_forward_metadata_out_graph(batch, in_capture=capturing)
    elif capturing:
        backend.init_forward_metadata_capture_cuda_graph(batch)
    else:
        backend.init_forward_metadata_replay_cuda_graph(batch, batch.batch_size)


def record(server, run):
    """Two runs and then the capture, as SGLang does it."""
    for _ in range(2):
        run()
    server.device.finish()
    graph = server.device.new_graph()
    graph.capture(run)
    return graph


def refill(static, fresh, tokens):
    for old, new in zip(static, fresh):
        for name in _INPUTS:
            getattr(old, name)[:tokens].copy_(getattr(new, name))


class GraphRunner:
    def __init__(self, server, like, backend, save):
        self.server, self.backend, self.save = server, backend, save
        tokens = like.positions.numel()
        self.batch = server.batch(like.forward_mode, [1] * like.batch_size, tokens, spec_info=like.spec_info)
        self.batch.req_pool_indices = torch.zeros_like(like.req_pool_indices)
        self.batch.seq_lens, self.batch.seq_lens_cpu = self.batch.seq_lens.to(LENS), self.batch.seq_lens_cpu.to(LENS)
        self.inputs = server.inputs(tokens)
        if backend not in server.with_graph_buffers:
            allocate(backend, server.sizes.batch)
            server.with_graph_buffers.append(backend)
        prepare(backend, self.batch, capturing=True)
        self.graph = record(server, lambda: server.forward(self.batch, self.inputs, backend, save))

    def replay(self, batch):
        """A batch of at most the captured size: the rest is padding, length 1 of request 0."""
        tokens = self.prepare(batch)
        self.server.dirty_shadows()
        # One row a token (under DCP with its lse beside it); padding's rows are nobody's.
        return [out[:tokens].clone() for out in self.graph.replay()]

    def prepare(self, batch):
        """All but the replay; the number of real tokens."""
        static = self.batch
        real, tokens = batch.batch_size, batch.positions.numel()
        static.seq_lens.fill_(1)
        static.seq_lens[:real].copy_(batch.seq_lens)
        static.req_pool_indices.zero_()
        static.req_pool_indices[:real].copy_(batch.req_pool_indices)
        static.out_cache_loc.zero_()
        static.out_cache_loc[:tokens].copy_(batch.out_cache_loc)
        static.spec_info = batch.spec_info
        padding = static.batch_size - real
        extra = int(batch.seq_lens_cpu[0]) - int(batch.seq_lens[0])  # DFLASH's host lengths count the drafted tokens
        host_lens = torch.cat([batch.seq_lens_cpu, torch.full((padding,), 1 + extra)])
        static.seq_lens_cpu = host_lens.to(LENS)
        static.seq_lens_sum = batch.seq_lens_sum + padding
        refill(self.inputs, self.server.inputs(tokens), tokens)
        prepare(self.backend, static, capturing=False)
        return tokens


class DraftRunner:
    """EAGLE's multi-step draft backend, topk 1: step i of a request reads its tokens and i + 1 drafted ones."""

    def __init__(self, server):
        self.server = server
        self.backend = server.module.FlashInferMLAMultiStepDraftBackend(server.runner, 1, DRAFT_STEPS)
        self.steps = self.backend.attn_backends[: DRAFT_STEPS - 1]

    def _batch(self):
        lens = self.server.lens
        return self.server.batch(ForwardMode.DECODE, lens, len(lens), spec_info=EagleDraftInput())

    def _slots(self, step):
        requests = enumerate(self.server.lens, start=1)
        return torch.cat([self.server.slots_of(r, n + step, n + step + 1) for r, n in requests])

    def eager(self):
        batch, outs = self._batch(), []
        self.backend.init_forward_metadata(batch)
        self.server.dirty_shadows()
        for i, step in enumerate(self.steps):
            batch.out_cache_loc = self._slots(i)
            outs += self.server.forward(batch, self.server.inputs(batch.batch_size), step)
        return outs

    def capture(self):
        size = len(self.server.lens)
        self.static = self.server.batch(ForwardMode.DECODE, [1] * size, size, spec_info=EagleDraftInput())
        self.static.req_pool_indices.zero_()
        self.static.seq_lens, self.static.seq_lens_cpu = self.static.seq_lens.to(LENS), self.static.seq_lens_cpu.to(LENS)
        self.slots = [torch.zeros_like(self.static.out_cache_loc) for _ in self.steps]
        self.inputs = [self.server.inputs(size) for _ in self.steps]
        allocate(self.backend, self.server.sizes.batch)
        prepare_draft(self.backend, self.static, capturing=True)
        self.graph = record(self.server, self._run)

    def _run(self):
        outs = []
        for step, slots, inputs in zip(self.steps, self.slots, self.inputs):
            self.static.out_cache_loc = slots
            outs += self.server.forward(self.static, inputs, step)
        return outs

    def replay(self):
        static, batch = self.static, self._batch()
        static.seq_lens.copy_(batch.seq_lens)
        static.req_pool_indices.copy_(batch.req_pool_indices)
        # The host lengths of a draft count its drafted tokens as far as the scheduler knows them: here, one.
        static.seq_lens_cpu = (batch.seq_lens_cpu + 1).to(LENS)
        static.seq_lens_sum = batch.seq_lens_sum
        for i, (slots, inputs) in enumerate(zip(self.slots, self.inputs)):
            slots.copy_(self._slots(i))
            refill(inputs, self.server.inputs(batch.batch_size), batch.batch_size)
        prepare_draft(self.backend, self.static, capturing=False)
        self.server.dirty_shadows()
        return [out.clone() for out in self.graph.replay()]
