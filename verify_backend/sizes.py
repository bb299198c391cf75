"""How large a server is made: heads, columns, pool. The lengths of paths.py fit any of them."""

from typing import NamedTuple


class Sizes(NamedTuple):
    heads: int
    nope: int  # columns of the compressed keys
    rope: int  # columns behind them
    scaling: float
    rows: int = 160  # KV slots of a layer
    context: int = 64
    requests: int = 15
    batch: int = 8  # of the largest CUDA graph
    layers: int = 2

    @property
    def columns(self):
        return self.nope + self.rope
