"""Where OpenViking is to search, for how much, and of which time."""

import re

from app.core.recall.recall_filter import MAX_FILTERED, RecallFilter
from app.ports import Target

_FOLDER_NAME = re.compile(r"[\w-]+")
"""A category whose folder can be named in a search as it is."""


def places(target: Target, actor_peer: str | None, only: RecallFilter) -> str | list[str]:
    """Where to search; of wanted categories their folders and files, so that no other takes their place."""
    match target:
        case Target.EXPERIENCES:  # of the user, never of a peer
            return "viking://~/memories/experiences"
        case Target.RESOURCES:
            return ["viking://resources", "viking://~/resources"]
    own = "viking://~/memories"
    homes = [own, f"viking://~/peers/{actor_peer}/memories"] if actor_peer else [own]
    if only.categories and all(map(_FOLDER_NAME.fullmatch, only.categories)):
        return [f"{home}/{name}{end}" for home in homes for name in sorted(only.categories) for end in ("", ".md")]
    return homes if actor_peer else own


def asked_for(target: Target, limit: int, only: RecallFilter) -> int:
    """How many hits to ask for. Machine records stand among the memories and are dropped, as is what a filter does not
    admit: there must be enough behind them."""
    if target is not Target.MEMORIES:
        return max(1, limit)
    return max(1, limit) * 2 if only.is_open else max(2 * limit, MAX_FILTERED)


def period(only: RecallFilter) -> dict[str, str]:
    """The bounds of a period, which the server keeps by the time at which it first had a memory: an import's is later
    than the memory's own, so that the end of a period can not be left to the server where the ledger knows better."""
    bounds = {"since": only.since, "until": only.until}
    named = {name: bound.isoformat() for name, bound in bounds.items() if bound}
    return {**named, "time_field": "created_at"} if named else {}
