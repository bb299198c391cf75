"""A server in small: pools, requests, the backend of one tree, and the calls that a model runner makes on it.

Everything that is random comes from seeds, so that two servers (unpatched and patched) see the same bytes.
"""

from types import SimpleNamespace

import torch

import graphs
import stand_ins
from stand_ins import EagleVerifyInput, ForwardMode, Settings

NAN_BYTE = 0x7F  # NaN in e4m3fn and in e5m2
DTYPE = torch.bfloat16


class Pool:
    """The KV pool of one layer's backend: get_key_buffer and the two setters."""

    def __init__(self, sizes, dtype, device):
        self.sizes, self.dtype = sizes, dtype
        shape = (sizes.rows, 1, sizes.columns)
        self.buffers = [torch.zeros(shape, dtype=dtype, device=device) for _ in range(sizes.layers)]

    def get_key_buffer(self, layer_id):
        return self.buffers[layer_id]

    def set_mla_kv_buffer(self, layer, slots, k_nope, k_rope):
        buffer = self.buffers[layer.layer_id]
        rows = torch.cat([k_nope, k_rope], dim=-1).view(-1, 1, self.sizes.columns).to(buffer.dtype)
        bits = torch.uint8 if buffer.dtype.itemsize == 1 else torch.int16
        buffer.view(bits).index_copy_(0, slots, rows.view(bits))

    def set_kv_buffer(self, layer, slots, k, v):
        self.set_mla_kv_buffer(layer, slots, k[..., : self.sizes.nope], k[..., self.sizes.nope :])


class Server:
    file = "flashinfer_mla_backend.py"

    def __init__(
        self, device, package, patch=None, look_at_keys=True, *, page_size=1, kv_dtype=torch.float8_e4m3fn, dcp=1, **sizes
    ):
        self.device = device
        self.sizes = device.sizes(**sizes)
        self.patch = patch
        self.look_at_keys = look_at_keys
        self.page_size = page_size
        Settings.dcp_size, Settings.dcp_rank = dcp, dcp - 1
        self.source = (package / stand_ins.ATTENTION / self.file).read_text()
        Settings.dcp_ids_stay_widened = "translate_dcp_read_ids" in self.source
        guard = device.guard(patch, self.sizes)
        self.module, self.kv_cast = stand_ins.load_backend(package, device, guard, self.file, self._names())
        self.pool = Pool(self.sizes, kv_dtype, device.name)
        self.layers = [self._layer(i) for i in range(self.sizes.layers)]
        table = torch.zeros(self.sizes.requests + 1, self.sizes.context, dtype=torch.int32, device=device.name)
        self.requests = SimpleNamespace(size=self.sizes.requests, req_to_token=table)
        self.runner = self._model_runner()
        self.backend = self._new_backend()
        self.with_graph_buffers = []  # backends whose buffers for CUDA graphs are allocated
        self.seed = 0
        self.lens, self.room = [], 0

    def _names(self):
        """What the backend imports that the device has: kernels."""
        return self.device.names()

    def _new_backend(self):
        return self.module.FlashInferMLAAttnBackend(self.runner)

    def _layer(self, index):
        sizes = self.sizes
        return SimpleNamespace(
            layer_id=index, tp_q_head_num=sizes.heads, tp_k_head_num=1, tp_v_head_num=1, head_dim=sizes.columns,
            v_head_dim=sizes.nope, logit_cap=0.0, scaling=sizes.scaling,
        )  # fmt: skip

    def _model_runner(self):
        sizes = self.sizes
        config = SimpleNamespace(
            num_attention_heads=sizes.heads, qk_nope_head_dim=sizes.nope, qk_rope_head_dim=sizes.rope,
            v_head_dim=sizes.nope, kv_lora_rank=sizes.nope, context_len=sizes.context, scaling=sizes.scaling,
        )  # fmt: skip
        return SimpleNamespace(
            model_config=config, device=self.device.name, dtype=DTYPE, kv_cache_dtype=self.pool.buffers[0].dtype,
            page_size=self.page_size, req_to_token_pool=self.requests, token_to_kv_pool=self.pool,
            token_to_kv_pool_allocator=SimpleNamespace(), server_args=stand_ins._SERVER_ARGS,
            kv_index_translator=stand_ins.Translator(self.requests.req_to_token),
        )  # fmt: skip

    # --- requests ------------------------------------------------------------------------------------------------

    def random(self, *shape):
        self.seed += 1
        generator = torch.Generator(self.device.name).manual_seed(self.seed)
        return torch.randn(*shape, generator=generator, device=self.device.name).to(DTYPE)

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
            table[request, : len(slots)] = torch.tensor(slots, dtype=torch.int32, device=table.device)
        self.lens, self.room = list(lens), room
        self._fill_pool()

    def _units(self):
        return self.sizes.rows if Settings.dcp_size > 1 else self.sizes.rows // self.page_size

    def _slots(self, order, count):
        """`count` token slots out of whole units: pages, or under DCP the slots of all ranks at one local slot."""
        size = Settings.dcp_size if Settings.dcp_size > 1 else self.page_size
        slots = []
        while len(slots) < count:
            unit = order.pop()
            slots += [unit * size + k for k in range(size)]
        return slots[:count]

    def _owned_rows(self):
        """The rows of the pool that hold values; all others hold NaN."""
        table = self.requests.req_to_token
        slots = torch.cat([table[r, :length] for r, length in enumerate(self.lens, start=1)]).to(torch.int64)
        if Settings.dcp_size > 1:
            slots = slots[slots % Settings.dcp_size == Settings.dcp_rank] // Settings.dcp_size
        return torch.cat([slots, slots.new_zeros(1)]).unique()

    def _fill_pool(self):
        rows = self._owned_rows()
        for buffer in self.pool.buffers:
            values = self.random(len(rows), 1, self.sizes.columns).to(buffer.dtype)
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
        device = self.device.name
        return SimpleNamespace(
            **{
                **dict(
                    forward_mode=mode, batch_size=len(lens),
                    req_pool_indices=torch.arange(1, len(lens) + 1, device=device),
                    seq_lens=seq_lens.to(device), seq_lens_sum=sum(lens), seq_lens_cpu=seq_lens.clone(), spec_info=None,
                    positions=torch.zeros(tokens, dtype=torch.int64, device=device), kv_loc_plan=None, attn_dcp_metadata=None,
                    attn_attend_prefix_cache=None, mha_return_lse=False, extend_prefix_lens=None,
                    extend_prefix_lens_cpu=[], out_cache_loc=torch.zeros(tokens, dtype=torch.int64, device=device),
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
        batch.extend_prefix_lens = torch.tensor(prefix, device=self.device.name)
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
        s = self.sizes
        return [
            SimpleNamespace(
                q=self.random(tokens, s.heads * s.nope), q_rope=self.random(tokens, s.heads * s.rope),
                k=self.random(tokens, 1, s.nope), k_rope=self.random(tokens, 1, s.rope),
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

    def dirty_shadows(self):
        """Rows that the next pass does not cast hold NaN, as if nothing had been cast before."""
        for shadow in self.shadows():
            shadow.fill_(float("nan"))

    def shadows(self):
        return list(getattr(self.kv_cast, "_shadows", {}).values())

    def eager(self, batch, save=True):
        self.backend.init_forward_metadata(batch)
        self.dirty_shadows()
        return self.forward(batch, self.inputs(batch.positions.numel()), save=save)

    # --- CUDA graphs ---------------------------------------------------------------------------------------------

    def capture(self, batch, backend=None, save=True):
        """Captures a forward pass at the shapes of `batch`, with the values that SGLang captures with: length 1,
        request and slot 0. As SGLang does, the pass runs twice before. Returns a function: batch -> outputs of a
        replay."""
        return graphs.GraphRunner(self, batch, backend or self.backend, save).replay

    # --- checks on the patched side ------------------------------------------------------------------------------

    def check_keys(self, wrapper, expected):
        """What the last run was handed: "shadow", "pool" (the very tensor), or a number of rows, gathered or, where the
        patch does nothing, the whole pool's."""
        if self.patch is None or not self.look_at_keys:
            return
        if self.patch == "native" and expected != self.sizes.rows:
            expected = "pool"
        keys = wrapper.keys_read
        shadows = {s.untyped_storage().data_ptr() for s in self.shadows()}
        pools = {b.untyped_storage().data_ptr() for b in self.pool.buffers}
        found = "shadow" if keys.address in shadows else "pool" if keys.address in pools else keys.rows
        if found != expected:
            raise AssertionError(f"attention read {found!r}, expected {expected!r}")

    def gathers(self, rows):
        """What an eager pass reads once its wrapper knows the pool."""
        return rows if self.patch == "gather" and rows <= self.sizes.rows else "shadow"
