"""A server in small: pools, requests, the backend of one tree, and the calls that a model runner makes on it.

Everything that is random comes from seeds, so that two servers (unpatched and patched) see the same bytes.
"""

import functools
from types import SimpleNamespace

import torch

import capture
import graphs
import stand_ins
from stand_ins import EagleVerifyInput, ForwardMode, Settings

NOPE, ROPE, HEADS = 32, 16, 2
COLUMNS = NOPE + ROPE
ROWS = 160  # KV slots of a layer
CONTEXT = 64
MAX_REQUESTS = 15
NAN_BYTE = 0x7F  # NaN in e4m3fn and in e5m2
DTYPE = torch.bfloat16


class Pool:
    """The KV pool of one layer's backend: get_key_buffer and the two setters."""

    def __init__(self, layers, dtype):
        self.buffers = [torch.zeros(ROWS, 1, COLUMNS, dtype=dtype) for _ in range(layers)]

    def get_key_buffer(self, layer_id):
        return self.buffers[layer_id]

    def set_mla_kv_buffer(self, layer, slots, k_nope, k_rope):
        buffer = self.buffers[layer.layer_id]
        rows = torch.cat([k_nope, k_rope], dim=-1).view(-1, 1, COLUMNS).to(buffer.dtype)
        bits = torch.uint8 if buffer.dtype.itemsize == 1 else torch.int16
        buffer.view(bits).index_copy_(0, slots, rows.view(bits))

    def set_kv_buffer(self, layer, slots, k, v):
        self.set_mla_kv_buffer(layer, slots, k[..., :NOPE], k[..., NOPE:])


def guard_of(patch):
    """What surrounds each call into suture_kv_cast: a limit on the work; for the gather, no host reads ever."""

    def wrap(function):
        @functools.wraps(function)
        def guarded(*args, **kwargs):
            with capture.WorkLimit(ROWS, COLUMNS):
                if patch == "gather":
                    with capture.no_host_reads():
                        return function(*args, **kwargs)
                return function(*args, **kwargs)

        return guarded

    return wrap


class Server:
    def __init__(
        self, package, patch=None, look_at_keys=True, *, page_size=1, layers=2, kv_dtype=torch.float8_e4m3fn, dcp=1
    ):
        self.patch = patch
        self.look_at_keys = look_at_keys
        self.page_size = page_size
        Settings.dcp_size, Settings.dcp_rank = dcp, dcp - 1
        source = package / "srt" / "layers" / "attention" / "flashinfer_mla_backend.py"
        Settings.dcp_ids_stay_widened = "translate_dcp_read_ids" in source.read_text()
        self.module, self.kv_cast = stand_ins.load_backend(package, guard_of(patch))
        self.pool = Pool(layers, kv_dtype)
        self.layers = [
            SimpleNamespace(
                layer_id=i, tp_q_head_num=HEADS, tp_k_head_num=1, tp_v_head_num=1, head_dim=COLUMNS, v_head_dim=NOPE,
                logit_cap=0.0, scaling=0.125,
            )  # fmt: skip
            for i in range(layers)
        ]
        self.requests = SimpleNamespace(
            size=MAX_REQUESTS, req_to_token=torch.zeros(MAX_REQUESTS + 1, CONTEXT, dtype=torch.int32)
        )
        self.runner = self._model_runner()
        self.backend = self.module.FlashInferMLAAttnBackend(self.runner)
        self.seed = 0
        self.lens = []

    def _model_runner(self):
        config = SimpleNamespace(
            num_attention_heads=HEADS, qk_nope_head_dim=NOPE, qk_rope_head_dim=ROPE, v_head_dim=NOPE,
            kv_lora_rank=NOPE, context_len=CONTEXT, scaling=0.125,
        )  # fmt: skip
        return SimpleNamespace(
            model_config=config, device="cpu", dtype=DTYPE, kv_cache_dtype=self.pool.buffers[0].dtype,
            page_size=self.page_size, req_to_token_pool=self.requests, token_to_kv_pool=self.pool,
            token_to_kv_pool_allocator=SimpleNamespace(), server_args=stand_ins._SERVER_ARGS,
            kv_index_translator=stand_ins.Translator(self.requests.req_to_token),
        )  # fmt: skip

    # --- requests ------------------------------------------------------------------------------------------------

    def random(self, *shape):
        self.seed += 1
        generator = torch.Generator().manual_seed(self.seed)
        return torch.randn(*shape, generator=generator).to(DTYPE)

    def admit(self, lens, shared=0, room=0):
        """New requests of these lengths at new slots; the first `shared` tokens are the same slots for all. `room`
        more tokens a request have slots, without values yet. All other slots hold NaN."""
        self.seed += 1
        order = torch.randperm(self._units(), generator=torch.Generator().manual_seed(self.seed)).tolist()
        order = [unit for unit in order if unit != 0]  # slot 0 is what padding writes to and reads
        table = self.requests.req_to_token
        table.zero_()
        prefix = self._slots(order, shared)
        for request, length in enumerate(lens, start=1):
            slots = prefix + self._slots(order, length + room - shared)
            table[request, : len(slots)] = torch.tensor(slots, dtype=torch.int32)
        self.lens = list(lens)
        self._fill_pool()

    def _units(self):
        return ROWS if Settings.dcp_size > 1 else ROWS // self.page_size

    def _slots(self, order, count):
        """`count` token slots out of whole units: pages, or under DCP the slots of all ranks at one local slot."""
        size = Settings.dcp_size if Settings.dcp_size > 1 else self.page_size
        slots = []
        while len(slots) < count:
            unit = order.pop()
            slots += [unit * size + k for k in range(size)]
        return slots[:count]

    def _fill_pool(self):
        owned = {0}
        for request, length in enumerate(self.lens, start=1):
            owned |= set(self.requests.req_to_token[request, :length].tolist())
        if Settings.dcp_size > 1:
            owned = {s // Settings.dcp_size for s in owned if s % Settings.dcp_size == Settings.dcp_rank} | {0}
        rows = torch.tensor(sorted(owned))
        for buffer in self.pool.buffers:
            values = self.random(len(rows), 1, COLUMNS).to(buffer.dtype)
            if buffer.dtype.itemsize == 1:
                buffer.view(torch.uint8).fill_(NAN_BYTE)
                buffer.view(torch.uint8)[rows] = values.view(torch.uint8)
            else:
                buffer.fill_(float("nan"))
                buffer[rows] = values

    # --- batches -------------------------------------------------------------------------------------------------

    def batch(self, mode, lens, tokens, **more):
        """A ForwardBatch over the requests 1 .. len(lens)."""
        seq_lens = torch.tensor(lens, dtype=torch.int64)
        return SimpleNamespace(
            **{
                **dict(
                    forward_mode=mode, batch_size=len(lens), req_pool_indices=torch.arange(1, len(lens) + 1),
                    seq_lens=seq_lens, seq_lens_sum=sum(lens), seq_lens_cpu=seq_lens.clone(), spec_info=None,
                    positions=torch.zeros(tokens, dtype=torch.int64), kv_loc_plan=None, attn_dcp_metadata=None,
                    attn_attend_prefix_cache=None, mha_return_lse=False, extend_prefix_lens=None,
                    extend_prefix_lens_cpu=[], out_cache_loc=torch.zeros(tokens, dtype=torch.int64),
                    token_to_kv_pool=self.pool, req_to_token_pool=self.requests,
                ),
                **more,
            }
        )  # fmt: skip

    def slots_of(self, request, begin, end):
        return self.requests.req_to_token[request, begin:end].to(torch.int64)

    def decode_batch(self):
        batch = self.batch(ForwardMode.DECODE, self.lens, len(self.lens))
        batch.out_cache_loc = torch.cat([self.slots_of(r, n - 1, n) for r, n in enumerate(self.lens, start=1)])
        return batch

    def extend_batch(self, new):
        """Each request extends by `new` tokens, behind what it had."""
        prefix = [n - new for n in self.lens]
        batch = self.batch(ForwardMode.EXTEND, self.lens, new * len(self.lens))
        batch.extend_prefix_lens = torch.tensor(prefix)
        batch.extend_prefix_lens_cpu = prefix
        batch.out_cache_loc = torch.cat([self.slots_of(r, n - new, n) for r, n in enumerate(self.lens, start=1)])
        return batch

    def verify_batch(self, draft_tokens, kind):
        """The target verifies `draft_tokens` a request; the batch's lengths do not count them, but DFLASH's host
        lengths do."""
        batch = self.batch(ForwardMode.TARGET_VERIFY, self.lens, draft_tokens * len(self.lens))
        batch.spec_info = EagleVerifyInput(draft_tokens, kind)
        batch.out_cache_loc = torch.cat([self.slots_of(r, n, n + draft_tokens) for r, n in enumerate(self.lens, 1)])
        if kind == stand_ins.SpecInputType.DFLASH_VERIFY:
            batch.seq_lens_cpu = batch.seq_lens_cpu + draft_tokens
        return batch

    # --- forward passes ------------------------------------------------------------------------------------------

    def inputs(self, tokens):
        return [
            SimpleNamespace(
                q=self.random(tokens, HEADS * NOPE), q_rope=self.random(tokens, HEADS * ROPE),
                k=self.random(tokens, 1, NOPE), k_rope=self.random(tokens, 1, ROPE),
            )  # fmt: skip
            for _ in self.layers
        ]

    def forward(self, batch, inputs, backend=None, save=True):
        """All layers, one after the other; the outputs of each, flat."""
        backend = backend or self.backend
        run = backend.forward_decode if batch.forward_mode.is_decode() else backend.forward_extend
        outs = []
        for layer, x in zip(self.layers, inputs):
            k = x.k if save else None
            out = run(x.q, k, k, layer, batch, q_rope=x.q_rope, k_rope=x.k_rope if save else None)
            outs += list(out) if isinstance(out, tuple) else [out]
        return outs

    def eager(self, batch, save=True):
        self.backend.init_forward_metadata(batch)
        return self.forward(batch, self.inputs(batch.positions.numel()), save=save)

    # --- CUDA graphs ---------------------------------------------------------------------------------------------

    def capture(self, batch, backend=None, save=True):
        """Captures a forward pass at the shapes of `batch`, with the values that SGLang captures with: length 1,
        request and slot 0. As SGLang does, the pass runs twice before. Returns a function: batch -> outputs of a
        replay."""
        return graphs.GraphRunner(self, batch, backend or self.backend, save).replay

    # --- checks on the patched side ------------------------------------------------------------------------------

    def check_keys(self, wrapper, expected):
        """What the last run was handed: "shadow", "pool" (the very tensor), or a number of gathered rows."""
        if self.patch is None or not self.look_at_keys:
            return
        keys = wrapper.keys_read
        address = keys.untyped_storage().data_ptr()
        shadows = {s.untyped_storage().data_ptr() for s in self.kv_cast._shadows.values()}
        pools = {b.untyped_storage().data_ptr() for b in self.pool.buffers}
        found = "shadow" if address in shadows else "pool" if address in pools else keys.shape[0] * keys.shape[1]
        if found != expected:
            raise AssertionError(f"attention read {found!r}, expected {expected!r}")

    def gathers(self, rows):
        """What an eager pass reads once its wrapper knows the pool."""
        return rows if self.patch == "gather" and rows <= ROWS else "shadow"
