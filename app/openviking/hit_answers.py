"""What OpenViking's searches and files answer: each function gives what the port promises or raises `Garbage`."""

import math
import re
from functools import lru_cache
from typing import Any, NamedTuple

from app.core.recall.hits import MACHINE_RECORDS, Hit
from app.openviking.answer_fields import list_in, name_in, object_of
from app.openviking.call_errors import Garbage
from app.openviking.passage_files import remote_passage
from app.openviking.prose import without_speaker
from app.ports import Target

LEAF = 2
"""The level of files in find; 0 and 1 are the abstracts and overviews of folders."""
_DATED = re.compile(r"events/([0-9]{4})/([0-9]{2})/([0-9]{2})/")


class _Place(NamedTuple):
    owner: str | None
    peer: str | None
    category: str


def hits(result: Any, target: Target, user: str | None, peer: str | None) -> list[Hit]:
    """The leaf hits of a find, best first, without those of another user or of another peer than ``peer``."""
    kind = "resources" if target is Target.RESOURCES else "memories"
    found = [_shown(item, target) for item in list_in(object_of(result, "result"), kind)]
    mine = [
        _unlabelled(hit, peer)
        for hit in found
        if hit.level == LEAF
        and not name_in(hit.uri).startswith(".")
        and _may_see(hit, user, peer)
        and hit.category not in MACHINE_RECORDS
    ]
    return sorted(mine, key=lambda hit: -hit.score)


def files_found(result: Any) -> list[Hit]:
    """The files of memories that a find has, best first, whosever they are."""
    found = [_hit(item, Target.MEMORIES) for item in list_in(object_of(result, "result"), "memories")]
    return sorted((hit for hit in found if hit.level == LEAF), key=lambda hit: -hit.score)


def documents_found(result: Any, kind: str) -> list[Hit]:
    """What a find has of ``resources`` or ``skills``, best first, with the whole text where that was asked for."""
    found = [_with_content(item, _hit(item, Target.RESOURCES)) for item in list_in(object_of(result, "result"), kind)]
    return sorted(found, key=lambda hit: -hit.score)


def _with_content(item: Any, hit: Hit) -> Hit:
    content = object_of(item, "hit").get("content")
    return hit._replace(text=content) if isinstance(content, str) else hit


@lru_cache(maxsize=4096)
def dated(uri: str) -> str:
    """``YYYY-MM-DD`` of an event, from the folders that it stands in; empty for anything else."""
    found = _DATED.search(uri)
    return "-".join(found.groups()) if found else ""


def text(result: Any) -> str:
    """The content of a file."""
    if not isinstance(result, str):
        raise Garbage("the content is not text")
    return result.strip()


def _hit(item: Any, target: Target) -> Hit:
    item = object_of(item, "hit")
    uri, score, level, text = item.get("uri"), item.get("score"), item.get("level", LEAF), item.get("abstract")
    if not isinstance(uri, str) or isinstance(score, bool) or not isinstance(score, (int, float)):
        raise Garbage("a hit without URI and score")
    place = _place(uri)
    return Hit(
        uri=uri,
        text=text if isinstance(text, str) else "",
        score=float(score) if math.isfinite(score) else 0.0,
        level=level if isinstance(level, int) else LEAF,
        category="resource" if target is Target.RESOURCES else place.category or _tagged(item.get("tags")),
        peer=place.peer,
        updated_at=dated(uri) or None,
    )


def _shown(item: Any, target: Target) -> Hit:
    """A hit; a passage of an import with what it says, anything else with its summary."""
    hit = _hit(item, target)
    return _with_content(item, hit) if target is Target.RESOURCES and remote_passage(hit.uri) else hit


def _unlabelled(hit: Hit, peer: str | None) -> Hit:
    text = without_speaker(hit.text, peer)
    return hit if text == hit.text else hit._replace(text=text)


def _tagged(tags: Any) -> str:
    texts = (tag for tag in tags if isinstance(tag, str)) if isinstance(tags, list) else ()
    return next((tag.partition("=")[2] for tag in texts if tag.startswith("memory_type=")), "")


def _may_see(hit: Hit, user: str | None, peer: str | None) -> bool:
    owner = _place(hit.uri).owner
    return (hit.peer is None or hit.peer == peer) and (owner is None or user is None or owner == user)


@lru_cache(maxsize=4096)
def _place(uri: str) -> _Place:
    """``viking://user/<owner>[/peers/<peer>]/memories/<category>/...``, as far as ``uri`` goes along with it.

    The owner may be left out, and ``~`` is the caller's home: then they are the caller's own memories, or a peer's.
    """
    match uri.removeprefix("viking://").split("/"):
        case ["user", owner, "peers" | "memories", _, *_] as parts:
            return _in_home(owner, parts[2:])
        case ["user" | "~", "peers" | "memories", *_] as parts:
            return _in_home(None, parts[1:])
        case ["user", owner, *_]:
            return _Place(owner, None, "")
    return _Place(None, None, "")


def _in_home(owner: str | None, parts: list[str]) -> _Place:
    match parts:
        case ["peers", peer, "memories", category, *_]:
            return _Place(owner, peer, category.removesuffix(".md"))
        case ["peers", peer, *_]:
            return _Place(owner, peer, "")
        case ["memories", category, *_]:
            return _Place(owner, None, category.removesuffix(".md"))
    return _Place(owner, None, "")
