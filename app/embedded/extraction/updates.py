"""Which known records a new statement replaces, where the rules for statements say nothing. Pure.

The rules (`rules.py`) know what a statement is about by its key, and `records.merge` decides among those of one key. Of
others a learnt judge decides (`app.classify.replaces`): the new statement is compared with the few records of the same
owner that share most with it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from app.classify.changes import words_of
from app.classify.replaces import Judge, weight_of
from app.embedded.storage.record_versions import merge
from app.embedded.storage.records import Record

NEAREST = 6
"""Records that one statement is compared with."""
LEAST_SHARED = 1.0
"""What the words that both share must weigh at least (`app.classify.replaces.weight_of`)."""


def replaced_by(new: Record, known: Sequence[Record], judge: Judge) -> Record | None:
    """The record among ``known`` that ``new`` replaces; the likeliest where there are several."""
    near = _nearest(new, (old for old in known if _may_replace(new, old)))
    judged = judge.replaces([(old.value, new.value) for old in near])
    likely = max(zip(judged, range(len(near)), strict=True), default=(0.0, 0))
    return near[likely[1]] if likely[0] >= judge.sure else None


def replacement(old: Record, new: Record, now: str, session: str) -> Record:
    """What becomes of the record that ``new`` replaces: it is over, or goes on with the words of a mention."""
    if new.key:
        return replace(old, superseded_at=new.source.observed_at, updated_at=now)
    source = replace(new.source, session=session)
    return merge([old], replace(new, type=old.type, key=old.key, source=source, updated_at=now))[0]


def _nearest(new: Record, known: Iterable[Record]) -> list[Record]:
    said = words_of(new.value).bag
    shared = [(weight_of(said & words_of(old.value).bag), n, old) for n, old in enumerate(known)]
    best = sorted((one for one in shared if one[0] >= LEAST_SHARED), key=lambda one: (-one[0], -one[1]))
    return [old for _, _, old in best[:NEAREST]]


def _may_replace(new: Record, old: Record) -> bool:
    """Whether the judge is asked at all: the rules have decided about records of one key, and a pinned one stays."""
    return (
        old.holds
        and not old.pinned
        and old.source.observed_at <= new.source.observed_at
        and old.source.ref != new.source.ref
        and (not new.key or _base(old.key) != _base(new.key))
    )


def _base(key: str) -> str:
    return key.partition("+")[0]
