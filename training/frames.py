"""Pairs made of frames (``examples/replaces.frames.jsonl``): statements with a place for a value, and words around it.

They teach that any value may stand in its place. One thing has one value at a time (``one``), so that another value
said with any of the ``changes`` replaces it; of some there are many (``many``), and another value only ``adds``.
Nothing is replaced by what is said with one of the ``keeps``, nor by what is said of another thing. ``{s}`` stands for
the statement with the new value, ``{p}`` for the one with the old value, ``{o}`` for the old value.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, permutations
from typing import Any, NamedTuple

CHANGES, KEEPS, OTHERS, ADDS = 9, 8, 6, 6
"""Pairs made of each statement."""
LIKELY_PLAIN = 0.25
"""Share of the changed values that are said without any word of change."""


class Made(NamedTuple):
    """A pair; ``about`` is the statement that it was made of."""

    earlier: str
    later: str
    replaces: bool
    about: str


def pairs_of(frames: Mapping[str, Any], seed: int = 0) -> Iterator[Made]:
    """The pairs of one language's frames; the same for the same ``seed``."""
    choose = random.Random(seed)
    for stated in frames["one"]:
        for _ in range(CHANGES):
            plain = choose.random() < LIKELY_PLAIN
            frame = frames["changes"][-1] if plain else choose.choice(frames["changes"])
            yield _made(stated, stated, frame, choose, replaces=True)
        for frame in _some(frames["keeps"], KEEPS, choose):
            yield _made(stated, stated, frame, choose, replaces=False)
        others = [other for other in frames["one"] if _differ(stated, other)]
        for other in _some(others, OTHERS, choose):
            yield _made(stated, other, choose.choice(frames["changes"]), choose, replaces=False)
    for stated in frames["many"]:
        for _ in range(ADDS):
            frame = choose.choice([*frames["adds"], *frames["keeps"]])
            yield _made(stated, stated, frame, choose, replaces=False)


def _made(stated: Any, later: Any, frame: str, choose: random.Random, *, replaces: bool) -> Made:
    old, _ = choose.choice(list(islice(permutations(stated["values"], 2), 40)))
    new = choose.choice([value for value in later["values"] if value != old])
    before, after = stated["said"].replace("{v}", old), later["said"].replace("{v}", new)
    end = frame[-1] if frame[-1] in ".。।" else "."
    filled = frame.replace("{o}", old)
    for mark, text in (("{s}", after), ("{p}", before)):
        filled = filled.replace(mark, text if filled.startswith(mark) else _inside(text))
    return Made(before + end, filled[0].upper() + filled[1:], replaces, stated["said"])


def _inside(text: str) -> str:
    """``text`` as it stands within a sentence."""
    return text if text.startswith(("I ", "I'", "Puffin")) else text[0].lower() + text[1:]


def _differ(stated: Any, other: Any) -> bool:
    """Whether two statements are about different things: those of the same values that begin alike are not."""
    return stated is not other and not (stated["values"] == other["values"] and stated["said"][:2] == other["said"][:2])


def _some(items: Sequence[Any], most: int, choose: random.Random) -> list[Any]:
    return choose.sample(list(items), min(most, len(items)))
