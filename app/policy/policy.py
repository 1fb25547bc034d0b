"""The rules, and what they make of a text: allowed, masked, or dropped as a whole."""

import hashlib
import re
import sys
import threading
from bisect import bisect_right
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from app.policy.detector import Detector, Span
from app.policy.detectors import CLASSES, DETECTORS
from app.policy.linear_patterns import NotLinear, Pattern, any_of
from app.policy.unseen import plain

MAX_KEPT, MAX_KEPT_CHARS = 16_384, 8_000_000
"""Outcomes that are kept, and characters of masked text in them: the same memories and messages come up again."""


class Action(StrEnum):
    """What becomes of a text in which a class is found."""

    ALLOW = "allow"
    MASK = "mask"
    DROP = "drop"


@dataclass(frozen=True, slots=True)
class Applied:
    """One line of an answer's ``policy``: how often a class was found, and what was done."""

    kind: str
    action: Action
    count: int


class Outcome(NamedTuple):
    """A text under the policy, with what was found masked. ``dropped``: the rules want none of it kept or shown."""

    text: str
    applied: tuple[Applied, ...] = ()
    dropped: bool = False


class Outcomes:
    """The outcomes of the texts that came last, by a hash of each, within bounds. Any thread may ask."""

    def __init__(self) -> None:
        self._kept: OrderedDict[bytes, Outcome | None] = OrderedDict()
        """The least recently used first; None for a text that stays as it is."""
        self._chars = 0
        self._lock = threading.Lock()

    def of(self, text: str, make: Callable[[str], Outcome]) -> Outcome:
        """What ``make`` says of the text, or said of it before."""
        key = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key] or Outcome(text)
        made = make(text)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = made if made.applied else None
                self._chars += len(made.text) if made.applied else 0
            while len(self._kept) > MAX_KEPT or self._chars > MAX_KEPT_CHARS:
                _, oldest = self._kept.popitem(last=False)
                self._chars -= len(oldest.text) if oldest else 0
        return made


DEFAULTS: Mapping[str, Action] = dict.fromkeys(CLASSES, Action.ALLOW) | {
    "secret": Action.MASK,
    "card": Action.MASK,
}
"""Keys, passwords and cards have no place in a memory; names, mails and telephone numbers are what one is for."""


MAX_PASSES = 8
"""How often a masked text is looked at again: what stands beside a mask may look different without its neighbour."""
_MASK = re.compile(r"\[[a-z0-9_-]{1,40} removed\]")
_NAME = re.compile(r"[a-z0-9_-]{1,40}")


class Guard(NamedTuple):
    """What becomes of the places that a detector finds."""

    detector: Detector
    action: Action


class Screen:
    """Tells which guards may find something in a text, by one look for what tells them all of something to find."""

    def __init__(self, guards: Sequence[Guard]) -> None:
        self._all = tuple(guards)
        self._reading_all = tuple(guard for guard in guards if guard.detector.signs is None)

    def of(self, text: str) -> Sequence[Guard]:
        """The guards that have to read ``text``."""
        return self._all if self._signs is None or self._signs.is_in(text) else self._reading_all

    def prepare(self) -> None:
        """Compile what texts are looked at with."""
        for guard in self._all:
            for sign in guard.detector.signs() if guard.detector.signs else ():
                sign.compiled()
        if self._signs:
            self._signs.is_in("")

    @cached_property
    def _signs(self) -> Pattern | None:
        patterns = [pattern for guard in self._all if guard.detector.signs for pattern in guard.detector.signs()]
        return any_of(tuple(patterns)) if patterns else None


@dataclass(frozen=True, slots=True)
class Policy:
    """Rules by class, and an operator's own patterns. Equal texts have equal outcomes; the latest are kept."""

    guards: tuple[Guard, ...] = ()
    _kept: Outcomes = field(default_factory=Outcomes, compare=False, repr=False)
    _screen: Screen = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_screen", Screen(self.guards))

    @classmethod
    def of(cls, rules: Mapping[str, str], patterns: Mapping[str, tuple[str, str]]) -> "Policy":
        """The policy of the settings: class to action, and name to (expression, action).

        Raises ValueError that names the class, the action or the pattern that is wrong.
        """
        actions = dict(DEFAULTS)
        for kind, action in rules.items():
            if kind not in actions:
                raise ValueError(f"has no class {kind!r}; there are {', '.join(CLASSES)}")
            actions[kind] = _action(kind, action, Action)
        guards = [Guard(detector, actions[detector.kind]) for detector in DETECTORS]
        for name, (expression, action) in patterns.items():
            guards.append(Guard(_custom(name, expression), _action(name, action, (Action.MASK, Action.DROP))))
        return cls(tuple(guard for guard in guards if guard.action is not Action.ALLOW))

    def prepare(self) -> None:
        """Compile what the rules need, so that no text waits for it; it takes a fifth of a second."""
        self._screen.prepare()

    def apply(self, text: str) -> Outcome:
        """What may be stored or shown of ``text``. Linear in its length; a masked text comes out unchanged again."""
        return self._kept.of(text, self._applied) if self.guards else Outcome(text)

    def text(self, text: str) -> str:
        """``text`` with everything masked that is not allowed, what would be dropped as well."""
        return self.apply(text).text

    def _applied(self, text: str) -> Outcome:
        lines: list[Applied] = []
        for _ in range(MAX_PASSES):
            text, applied = self._once(text)
            if not applied:
                break
            lines += applied
        if not lines:
            return Outcome(text)
        return Outcome(text, total(lines), dropped=any(line.action is Action.DROP for line in lines))

    def _once(self, text: str) -> tuple[str, tuple[Applied, ...]]:
        read = plain(text)
        masks = [mask.span() for mask in _MASK.finditer(read.text)] if " removed]" in read.text else []
        found = [
            (*read.original((start, end)), guard)
            for guard in self._screen.of(read.text)
            for start, end in guard.detector.find(read.text)
            if end > start and not _is_inside(masks, start, end)
        ]
        if not found:
            return text, ()
        merged = _merged(found)
        applied = total(Applied(guard.detector.kind, guard.action, 1) for _, _, guard in merged)
        pieces: list[str] = []
        at = 0
        for start, end, guard in merged:
            pieces += (text[at:start], f"[{guard.detector.kind} removed]")
            at = end
        return "".join([*pieces, text[at:]]), applied


def is_masked(text: str) -> bool:
    """Whether a part of the text was masked."""
    return " removed]" in text and _MASK.search(text) is not None


def total(applied: Iterable[Applied]) -> tuple[Applied, ...]:
    """Several outcomes' lines as one list: a line for each class and action."""
    counts: Counter[tuple[str, Action]] = Counter()
    for line in applied:
        counts[line.kind, line.action] += line.count
    return tuple(Applied(kind, action, count) for (kind, action), count in sorted(counts.items()))


def _merged(found: Sequence[tuple[int, int, Guard]]) -> list[tuple[int, int, Guard]]:
    """Places that overlap as one; what drops wins over what masks, and the earlier detector over the later."""
    order = sorted(enumerate(found), key=lambda each: (each[1][0], each[0]))
    merged: list[tuple[int, int, Guard]] = []
    for _, (start, end, guard) in order:
        if merged and start < merged[-1][1]:
            first, last, before = merged[-1]
            winner = guard if guard.action is Action.DROP and before.action is not Action.DROP else before
            merged[-1] = (first, max(last, end), winner)
        else:
            merged.append((start, end, guard))
    return merged


def _is_inside(masks: Sequence[Span], start: int, end: int) -> bool:
    """Whether the place is part of what a mask left: a mask is not masked again."""
    at = bisect_right(masks, (start, sys.maxsize)) - 1
    return at >= 0 and end <= masks[at][1]


def _custom(name: str, expression: str) -> Detector:
    if not _NAME.fullmatch(name) or name in CLASSES:
        raise ValueError(f"has a pattern named {name!r}: a name has 1 to 40 of a-z 0-9 _ - and is no class")
    try:
        pattern = Pattern(expression).compiled()
    except NotLinear as error:
        raise ValueError(f"has a pattern {name!r} that can not be searched for in linear time: {error}") from None
    return Detector(name, name, pattern.spans)


def _action(name: str, action: str, allowed: Iterable[Action]) -> Action:
    if action not in tuple(allowed):
        raise ValueError(f"has the action {action!r} for {name!r}; there are {', '.join(allowed)}")
    return Action(action)
