"""`app.embedded.encoder.pair_reader.PairReader`, as it learns: the model's own matrices stay, low-rank changes of them
and a head are learnt. Needs PyTorch (``pip install torch``)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from app.embedded.encoder.adapter import MATRICES, Adapter
from app.embedded.encoder.weights import Blocks, Weights, rows_in_four_bits

RANK = 16
HIDDEN = 64
DROPPED = 0.1
PRECISION = torch.bfloat16 if torch.cpu._is_avx512_bf16_supported() else torch.float32
"""Half precision is three times as fast where there are instructions for it, and half as fast elsewhere."""

Tensor = torch.Tensor


class Marked(NamedTuple):
    """A pair as tokens."""

    first: list[int]
    second: list[int]
    yes: bool
    weight: float

    @property
    def length(self) -> int:
        """Tokens of both, with those that mark where they begin and end."""
        return len(self.first) + len(self.second) + 4


class _Changed(nn.Module):
    """A matrix of the model, which stays, with its low-rank change, which is learnt."""

    def __init__(self, blocks: Sequence[Blocks], bias: Any) -> None:
        super().__init__()
        matrix = torch.from_numpy(np.concatenate([rows_in_four_bits(one) for one in blocks]))
        self.register_buffer("matrix", matrix.to(PRECISION))
        self.register_buffer("bias", torch.from_numpy(bias).to(PRECISION))
        out, into = matrix.shape
        self.down = nn.Parameter(torch.randn(RANK, into) / into**0.5)
        self.up = nn.Parameter(torch.zeros(out, RANK))

    def forward(self, x: Tensor) -> Tensor:
        change = functional.linear(functional.linear(x, self.down.to(PRECISION)), self.up.to(PRECISION))
        return functional.linear(x, self.matrix, self.bias) + change


class _Norm(nn.Module):
    def __init__(self, norm: tuple[Any, Any], epsilon: float) -> None:
        super().__init__()
        self.register_buffer("weight", torch.from_numpy(norm[0]).to(PRECISION))
        self.register_buffer("bias", torch.from_numpy(norm[1]).to(PRECISION))
        self._epsilon = epsilon

    def forward(self, x: Tensor) -> Tensor:
        return functional.layer_norm(x, self.weight.shape, self.weight, self.bias, self._epsilon)


class Reader(nn.Module):
    """The model with what is learnt on top of it."""

    def __init__(self, weights: Weights) -> None:
        super().__init__()
        self._weights = weights
        self.layers = nn.ModuleList(
            nn.ModuleDict(
                {
                    "qkv": _Changed(layer.qkv, layer.qkv_bias),
                    "attended": _Changed([layer.attended], layer.attended_bias),
                    "inner": _Changed([layer.inner], layer.inner_bias),
                    "outer": _Changed([layer.outer], layer.outer_bias),
                    "norm": _Norm(layer.norm, weights.epsilon),
                    "outer_norm": _Norm(layer.outer_norm, weights.epsilon),
                }
            )
            for layer in weights.layers
        )
        self.norm = _Norm(weights.norm, weights.epsilon)
        width = weights.positions.shape[1]
        self.head = nn.Sequential(nn.Dropout(DROPPED), nn.Linear(4 * width, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, 1))

    def forward(self, ids: Any, part: Tensor) -> Tensor:
        """Log-odds. ``ids`` (pairs, tokens); ``part`` says of each token whether it is of the first text
        (1), of the second one (2), or padding (0)."""
        words = rows_in_four_bits(self._weights.words[ids.ravel()]).reshape(*ids.shape, -1)
        x = self.norm(torch.from_numpy(words + self._weights.positions[: ids.shape[1]]).to(PRECISION))
        mask = torch.where(part > 0, 0.0, -1e9).to(PRECISION)[:, None, None, :]
        for layer in self.layers:
            x = layer["norm"](x + layer["attended"](self._mixed(layer["qkv"](x), mask)))
            x = layer["outer_norm"](x + layer["outer"](functional.gelu(layer["inner"](x), approximate="tanh")))
        first, second = (_mean(x.float(), part == number) for number in (1, 2))
        known = torch.cat([first, second, (first - second).abs(), first * second], dim=-1)
        return self.head(known).squeeze(-1)

    def _mixed(self, qkv: Tensor, mask: Tensor) -> Tensor:
        pairs, length, three = qkv.shape
        heads = self._weights.heads
        query, key, value = qkv.view(pairs, length, 3, heads, -1).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        return mixed.transpose(1, 2).reshape(pairs, length, three // 3)

    def put(self, pairs: Sequence[Marked]) -> Tensor:
        """The log-odds of pairs."""
        begin, end = self._weights.vocabulary.begin, self._weights.vocabulary.end
        longest = max(pair.length for pair in pairs)
        ids = np.full((len(pairs), longest), end, np.int64)
        part = torch.zeros(len(pairs), longest, dtype=torch.long)
        for row, pair in enumerate(pairs):
            first, both = len(pair.first) + 2, pair.length
            ids[row, :both] = [begin, *pair.first, end, end, *pair.second, end]
            part[row, :first], part[row, first:both] = 1, 2
        return self(ids, part)

    @torch.no_grad()
    def begin(self, adapter: Adapter, *, same_task: bool = False) -> None:
        """Begin with the changes of the matrices that were learnt for another task, or, with its head as well, for the
        ``same_task`` before."""
        for number, layer in enumerate(self.layers):
            for name in MATRICES:
                layer[name].down.copy_(torch.from_numpy(adapter.down[name][number]))
                layer[name].up.copy_(torch.from_numpy(adapter.up[name][number]))
        if same_task:
            _, inner, _, outer = self.head
            inner.weight.copy_(torch.from_numpy(adapter.head.inner))
            inner.bias.copy_(torch.from_numpy(adapter.head.inner_bias))
            outer.weight.copy_(torch.from_numpy(adapter.head.outer[None]))
            outer.bias.fill_(adapter.head.bias)

    def learnt(self) -> dict[str, Any]:
        """What `app.embedded.encoder.adapter` reads."""
        found = {
            f"{name}.{side}": torch.stack([getattr(layer[name], side) for layer in self.layers])
            for name in MATRICES
            for side in ("down", "up")
        }
        _, inner, _, outer = self.head
        found |= {"head.inner": inner.weight, "head.inner_bias": inner.bias}
        found |= {"head.outer": outer.weight[0], "head.bias": outer.bias}
        return {name: tensor.detach().numpy().astype(np.float16) for name, tensor in found.items()}


def _mean(x: Tensor, of: Tensor) -> Tensor:
    chosen = of.unsqueeze(-1).float()
    return (x * chosen).sum(1) / chosen.sum(1)
