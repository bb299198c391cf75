"""A server in small around the FlashAttention backend (server.py tells what it is), and its multi-step draft backend."""

from types import SimpleNamespace

import torch

import fa3_stand_ins
import graphs
from fa3_stand_ins import Spec, VerifyInput
from server import Server
from stand_ins import EagleDraftInput, ForwardMode

DRAFT_STEPS = 3


class Fa3Server(Server):
    file = "flashattention_backend.py"

    def __init__(self, device, package, patch=None, look_at_keys=True, *, topk=0, draft_tokens=0, attributes=None, **how):
        """`attributes`: of the backend, set on it as if the server had been started so."""
        Spec.topk, Spec.draft_tokens = topk, draft_tokens
        how.setdefault("nope", max(256, device.sizes().nope))  # up to 256 columns the query is cast to FP8, not the pool
        self.attributes = attributes or {}
        super().__init__(device, package, patch, look_at_keys, **how)

    def _names(self):
        import torch._dynamo  # noqa: F401 - the backend uses it; it looks for Triton, and must not find the stand-in

        self.attention = fa3_stand_ins.Noted(self.device.flash_attention())
        return fa3_stand_ins.names(self.attention)

    def _new_backend(self):
        backend = self.module.FlashAttentionBackend(self.runner)
        for name, value in self.attributes.items():
            setattr(backend, name, value)
        return backend

    def _layer(self, index):
        layer = super()._layer(index)
        vars(layer).update(
            is_cross_attention=False, sliding_window_size=None, k_scale=None, v_scale=None, attn_type="decoder",
            use_irope=False,
        )  # fmt: skip
        return layer

    def _model_runner(self):
        runner = super()._model_runner()
        vars(runner.model_config).update(
            attention_arch="mla", is_encoder_decoder=False, is_local_attention_model=False, head_dim=self.sizes.columns,
            hf_text_config=SimpleNamespace(num_attention_heads=self.sizes.heads), get_num_kv_heads=lambda ranks: 1,
        )  # fmt: skip
        vars(runner).update(
            server_args=fa3_stand_ins.SERVER_ARGS, kv_cache_dtype_str="fp8_e4m3", sliding_window_size=None,
            attention_chunk_size=None, is_hybrid=False, is_hybrid_swa=False, attn_cp_size=1, tp_size=1,
            is_draft_worker=False, ps=SimpleNamespace(attn_cp_size=1, tp_size=1),
            kv_index_translator=fa3_stand_ins.Translator(self.requests.req_to_token),
        )  # fmt: skip
        return runner

    def _owned_rows(self):
        """Whole pages: attention may load a request's last page past its length, and multiply it by 0."""
        size = self.page_size
        if size == 1:
            return super()._owned_rows()
        slots = [self.slots_of(r, 0, length + self.room) for r, length in enumerate(self.lens, start=1)]
        pages = torch.cat([*slots, slots[0].new_zeros(1)]).unique() // size
        return (pages[:, None] * size + torch.arange(size, device=pages.device)).flatten().unique()

    def batch(self, mode, lens, tokens, **more):
        batch = super().batch(mode, lens, tokens, **more)
        vars(batch).update(
            encoder_lens=None, attn_cp_metadata=None, global_num_tokens_cpu=None, mha_one_shot=False,
            extend_num_tokens=tokens, extend_seq_lens=None, extend_seq_lens_cpu=None,
        )  # fmt: skip
        return batch

    def extend_batch(self, new):
        batch = super().extend_batch(new)
        batch.extend_seq_lens_cpu = [new] * batch.batch_size
        batch.extend_seq_lens = torch.tensor(batch.extend_seq_lens_cpu, device=self.device.name)
        return batch

    def verify_batch(self, draft_tokens, kind=None):
        """With topk > 1 a drafted token sees the first one, itself, and of the others every second one."""
        tokens = draft_tokens * len(self.lens)
        batch = self.batch(ForwardMode.TARGET_VERIFY, self.lens, tokens)
        batch.out_cache_loc = torch.cat([self.slots_of(r, n, n + draft_tokens) for r, n in enumerate(self.lens, 1)])
        i = torch.arange(draft_tokens)
        sees = (i[None, :] <= i[:, None]) & ((i[None, :] == 0) | ((i[:, None] - i[None, :]) % 2 == 0))
        masks = [torch.cat([torch.ones(draft_tokens, n, dtype=torch.bool), sees], dim=1).flatten() for n in self.lens]
        batch.spec_info = VerifyInput(draft_tokens, tokens, torch.cat(masks).to(self.device.name))
        return batch

    def check_attention(self, expected):
        self.check_keys(self.attention, expected)

    def stale_columns(self, value):
        """Fills the backend's page tables for CUDA graphs, whose live columns each replay writes anew."""
        for backend in self.with_graph_buffers:
            for buffers in vars(backend).values():
                if isinstance(buffers, dict) and isinstance(buffers.get("page_table"), torch.Tensor):
                    for name, buffer in buffers.items():
                        if str(name).startswith("page_table"):
                            buffer.fill_(value)


class Fa3DraftRunner:
    """EAGLE's multi-step draft backend. With topk > 1 each of a request's `topk` branches drafts on in slots of its own;
    where pages are larger than 1, in pages of its own, which begin with what the request's last page holds."""

    def __init__(self, server, topk):
        self.server, self.topk = server, topk
        self.backend = server.module.FlashAttentionMultiStepBackend(server.runner, topk, DRAFT_STEPS)
        self.steps = self.backend.attn_backends[: DRAFT_STEPS - 1]

    def admit(self, lens):
        """Requests of these lengths, and slots for what is drafted behind them, [branches, steps]."""
        server, size = self.server, self.server.page_size
        room = DRAFT_STEPS if self.topk == 1 else self.topk * (DRAFT_STEPS if size == 1 else 2 * size)
        server.admit(lens, room=room if size == 1 or self.topk == 1 else room + size)
        branches = []
        for request, length in enumerate(lens, start=1):
            for branch in range(self.topk):
                begin = length + branch * DRAFT_STEPS
                if size > 1 and self.topk > 1:  # a branch's own pages, behind the request's last one
                    begin = -(-length // size) * size + branch * 2 * size + length % size
                branches.append(server.slots_of(request, begin, begin + DRAFT_STEPS))
        self.slots = torch.stack(branches)
        if size > 1 and self.topk > 1:
            self._copy_last_pages(lens)

    def _copy_last_pages(self, lens):
        size = self.server.page_size
        for pool in self.server.pool.buffers:
            rows = pool.view(torch.uint8)
            for request, length in enumerate(lens, start=1):
                last = self.server.slots_of(request, length - length % size, length)
                for branch in range(self.topk):
                    first = self.slots[(request - 1) * self.topk + branch, 0] - length % size
                    rows[first + torch.arange(len(last), device=first.device)] = rows[last]

    def _batch(self, lens):
        batch = self.server.batch(ForwardMode.DECODE, lens, len(lens) * self.topk, spec_info=EagleDraftInput())
        batch.out_cache_loc = self.slots.flatten()
        return batch

    def eager(self):
        batch, outs = self._batch(self.server.lens), []
        self.backend.init_forward_metadata(batch)
        self.server.dirty_shadows()
        for i, step in enumerate(self.steps):
            batch.out_cache_loc = self.slots[:, i].contiguous()
            outs += self.server.forward(batch, self.server.inputs(len(batch.out_cache_loc)), step)
        return outs

    def capture(self):
        lens, server = self.server.lens, self.server
        self.static = self._batch([1] * len(lens))
        self.static.req_pool_indices.zero_()
        self.static.seq_lens, self.static.seq_lens_cpu = (
            x.to(graphs.LENS) for x in (self.static.seq_lens, self.static.seq_lens_cpu)
        )
        self.all_slots = torch.zeros_like(self.slots)
        self.static.out_cache_loc = self.all_slots.flatten()
        self.step_slots = [torch.zeros_like(self.slots[:, 0]) for _ in self.steps]
        self.inputs = [server.inputs(len(self.slots)) for _ in self.steps]
        self.backend.init_cuda_graph_state(server.sizes.batch, server.sizes.batch * self.topk)
        server.with_graph_buffers += self.steps
        graphs.prepare_draft(self.backend, self.static, capturing=True)
        self.graph = graphs.record(server, self._run)

    def _run(self):
        outs = []
        whole = self.static.out_cache_loc
        for step, slots, inputs in zip(self.steps, self.step_slots, self.inputs):
            self.static.out_cache_loc = slots
            outs += self.server.forward(self.static, inputs, step)
        self.static.out_cache_loc = whole
        return outs

    def replay(self):
        static, batch = self.static, self._batch(self.server.lens)
        static.seq_lens.copy_(batch.seq_lens)
        static.seq_lens_cpu = batch.seq_lens_cpu.to(graphs.LENS)
        static.seq_lens_sum = batch.seq_lens_sum
        static.req_pool_indices.copy_(batch.req_pool_indices)
        static.out_cache_loc.copy_(self.slots.flatten())
        for i, (slots, inputs) in enumerate(zip(self.step_slots, self.inputs)):
            slots.copy_(self.slots[:, i])
            graphs.refill(inputs, self.server.inputs(len(slots)), len(slots))
        graphs.prepare_draft(self.backend, self.static, capturing=False)
        self.server.dirty_shadows()
        return [out.clone() for out in self.graph.replay()]
