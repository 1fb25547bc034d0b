"""OpenViking's answers, read without trust: each function gives what the port promises or raises `Garbage`."""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from app.core.capture.captured_message import CapturedMessage
from app.core.recall.hits import MACHINE_RECORDS, Hit
from app.openviking.call_errors import Garbage
from app.openviking.passage_files import remote_passage
from app.openviking.prose import without_hints, without_speaker
from app.openviking.session_messages import from_jsonl, from_wire, once
from app.ports import Appended, CommitReceipt, CommitState, CommitStatus, SessionHistory, Target

LEAF = 2
"""The level of files in find; 0 and 1 are the abstracts and overviews of folders."""

_STATES = {
    "pending": CommitState.RUNNING,
    "running": CommitState.RUNNING,
    "cancelling": CommitState.RUNNING,
    "completed": CommitState.COMPLETED,
    "failed": CommitState.FAILED,
    "cancelled": CommitState.FAILED,
}
_ARCHIVE = re.compile(r"archive_[0-9]{1,9}")
_DATED = re.compile(r"events/([0-9]{4})/([0-9]{2})/([0-9]{2})/")


@dataclass(frozen=True, slots=True)
class Archives:
    """The archives of a session since its last reset, oldest first, by how they ended."""

    completed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()


class _Place(NamedTuple):
    owner: str | None
    peer: str | None
    category: str


def hits(result: Any, target: Target, user: str | None, peer: str | None) -> list[Hit]:
    """The leaf hits of a find, best first, without those of another user or of another peer than ``peer``."""
    kind = "resources" if target is Target.RESOURCES else "memories"
    found = [_shown(item, target) for item in _list(_object(result, "result"), kind)]
    mine = [
        _unlabelled(hit, peer)
        for hit in found
        if hit.level == LEAF
        and not _name(hit.uri).startswith(".")
        and _may_see(hit, user, peer)
        and hit.category not in MACHINE_RECORDS
    ]
    return sorted(mine, key=lambda hit: -hit.score)


def files_found(result: Any) -> list[Hit]:
    """The files of memories that a find has, best first, whosever they are."""
    found = [_hit(item, Target.MEMORIES) for item in _list(_object(result, "result"), "memories")]
    return sorted((hit for hit in found if hit.level == LEAF), key=lambda hit: -hit.score)


def documents_found(result: Any, kind: str) -> list[Hit]:
    """What a find has of ``resources`` or ``skills``, best first, with the whole text where that was asked for."""
    found = [_with_content(item, _hit(item, Target.RESOURCES)) for item in _list(_object(result, "result"), kind)]
    return sorted(found, key=lambda hit: -hit.score)


def _with_content(item: Any, hit: Hit) -> Hit:
    content = _object(item, "hit").get("content")
    return replace(hit, text=content) if isinstance(content, str) else hit


def taken_in(result: Any) -> CommitStatus:
    """How far the taking in of documents is; one that left out any of them has failed."""
    status = commit_status(result)
    told = _object(result, "result").get("result")
    meta = told.get("meta") if isinstance(told, dict) else None
    left = (
        [meta.get(key) for key in ("failed_files", "unsupported_files", "skipped_files")]
        if isinstance(meta, dict)
        else []
    )
    first = next((files[0] for files in left if isinstance(files, list) and files), None)
    if status.state is not CommitState.COMPLETED or first is None:
        return status
    return CommitStatus(CommitState.FAILED, f"left out {str(first)[:200]}")


def dated(uri: str) -> str:
    """``YYYY-MM-DD`` of an event, from the folders that it stands in; empty for anything else."""
    found = _DATED.search(uri)
    return "-".join(found.groups()) if found else ""


def text(result: Any) -> str:
    """The content of a file."""
    if not isinstance(result, str):
        raise Garbage("the content is not text")
    return result.strip()


def appended(result: Any) -> Appended:
    """The answer to a batch of messages."""
    answer = _object(result, "result")
    return Appended(_count(answer, "message_count"), _count(answer, "pending_tokens"))


def source_ids(result: Any, turn_id: str) -> frozenset[str]:
    """The source ids with ``turn_id`` in the message lines that a grep found.

    Only what stands in ``source_message_ids`` counts: a text that merely mentions an id must not pass for its delivery.
    """
    return frozenset(source for source, _ in _lines_of(result, turn_id))


def copies(result: Any, turn_id: str) -> int:
    """How many of the message lines that a grep found hold what another message of the turn holds already.

    A message keeps its own id when it is archived, so that one found on its way is no second one.
    """
    found: dict[tuple[str, str], set[str]] = {}
    for source, message in _lines_of(result, turn_id):
        same = source, json.dumps(message.get("parts"), sort_keys=True)
        found.setdefault(same, set()).add(str(message.get("id")))
    return sum(len(ids) - 1 for ids in found.values())


def _lines_of(result: Any, turn_id: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    own = re.compile(re.escape(turn_id) + r"\.[0-9]+")
    for match in _list(_object(result, "result"), "matches"):
        line = _object(match, "match").get("content")
        if isinstance(line, str) and turn_id in line:
            message = _message(line)
            yield from ((source, message) for source in _sources(message) if own.fullmatch(source))


def receipt(result: Any) -> CommitReceipt:
    """The answer to a commit."""
    answer = _object(result, "result")
    task, uri, status = answer.get("task_id"), answer.get("archive_uri"), answer.get("status")
    if isinstance(task, str) and task:
        return CommitReceipt(task, _name(uri) if isinstance(uri, str) else None)
    if status != "skipped":
        raise Garbage("a commit without a task that was not skipped")
    reason = answer.get("reason")
    return CommitReceipt(None, None, skipped=reason if isinstance(reason, str) else "skipped")


def commit_status(result: Any) -> CommitStatus:
    """The state of a task; one that OpenViking may add later counts as running."""
    answer = _object(result, "result")
    status, error = answer.get("status"), answer.get("error")
    if not isinstance(status, str):
        raise Garbage("a task without a status")
    return CommitStatus(_STATES.get(status, CommitState.RUNNING), error if isinstance(error, str) else "")


def memory_types(result: Any) -> frozenset[str] | None:
    """The types of memories that a session may become; None where all may."""
    policy = _object(result, "result").get("memory_policy")
    types = policy.get("memory_types") if isinstance(policy, dict) else None
    return frozenset(one for one in types if isinstance(one, str)) if isinstance(types, list) else None


def agent_evolution(result: Any) -> bool | None:
    """Whether agent evolution was on for the newest task in a list of them; None where they do not say."""
    if not isinstance(result, list):
        raise Garbage("the tasks are not a list")
    told = (_object(task, "task").get("result") for task in result)
    flags = (one.get("agent_evolution_enabled") for one in told if isinstance(one, dict))
    return next((flag for flag in flags if isinstance(flag, bool)), None)


def newest_task(result: Any) -> str | None:
    """The newest task in a list of tasks, which has the newest first."""
    if not isinstance(result, list):
        raise Garbage("the tasks are not a list")
    ids = [_object(task, "task").get("task_id") for task in result]
    return next((task_id for task_id in ids if isinstance(task_id, str) and task_id), None)


def history(result: Any) -> SessionHistory:
    """A session's context."""
    answer = _object(result, "result")
    stats = _object(answer.get("stats"), "stats")
    overview = answer.get("latest_archive_overview")
    if not isinstance(overview, str):
        raise Garbage("the overview is not text")
    return SessionHistory(
        overview=without_hints(overview),
        abstracts=tuple(_abstract(item) for item in _list(answer, "pre_archive_abstracts")),
        messages=tuple(once(m for item in _list(answer, "messages") if (m := from_wire(item)))),
        archives=_count(stats, "totalArchives"),
        failed_archives=_count(stats, "failedArchives"),
    )


def total_messages(result: Any) -> int:
    """How many messages a session ever got, archived ones included."""
    return _count(_object(result, "result"), "total_message_count")


def overview(result: Any) -> str:
    """The overview of an archive."""
    text = _object(result, "result").get("overview")
    if not isinstance(text, str):
        raise Garbage("the overview is not text")
    return without_hints(text)


def stored_messages(result: Any) -> list[CapturedMessage]:
    """The messages of a ``messages.jsonl`` that was read, each once."""
    if not isinstance(result, str):
        raise Garbage("a file's content is not text")
    return once(from_jsonl(result))


def archives(result: Any) -> Archives:
    """The archives in a listing of a session's ``history`` with its hidden files.

    ``.done`` and ``.failed.json`` tell how an archive ended. One that is done and has no messages is the boundary of a
    reset: nothing before it belongs to the session any more.
    """
    if not isinstance(result, list):
        raise Garbage("the listing is not a list")
    files: dict[str, set[str]] = {}
    for entry in result:
        path = _object(entry, "entry").get("rel_path")
        folder, _, name = path.partition("/") if isinstance(path, str) else ("", "", "")
        if _ARCHIVE.fullmatch(folder):
            files.setdefault(folder, set()).add(name)
    ended: dict[str, list[str]] = {"completed": [], "failed": [], "pending": []}
    for archive in sorted(files, key=archive_number):
        names = files[archive]
        if ".done" in names and "messages.jsonl" not in names:
            ended = {state: [] for state in ended}
        else:
            ended["completed" if ".done" in names else "failed" if ".failed.json" in names else "pending"].append(
                archive
            )
    return Archives(*(tuple(ended[state]) for state in ("completed", "failed", "pending")))


def is_archive_id(text: str) -> bool:
    """Whether ``text`` can be the id of an archive."""
    return bool(_ARCHIVE.fullmatch(text))


def archive_number(archive_id: str) -> int:
    """The number in the id of an archive: they are counted from the session's beginning."""
    return int(archive_id.removeprefix("archive_"))


def _hit(item: Any, target: Target) -> Hit:
    item = _object(item, "hit")
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
    return hit if text == hit.text else replace(hit, text=text)


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


def _name(uri: str) -> str:
    return uri.rstrip("/").rpartition("/")[2]


def _message(line: str) -> Mapping[str, Any]:
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _sources(message: Mapping[str, Any]) -> list[str]:
    sources = message.get("source_message_ids")
    return [source for source in sources if isinstance(source, str)] if isinstance(sources, list) else []


def _abstract(item: Any) -> tuple[str, str]:
    item = _object(item, "abstract")
    archive, abstract = item.get("archive_id"), item.get("abstract")
    if not isinstance(archive, str) or not isinstance(abstract, str):
        raise Garbage("an abstract without archive and text")
    return archive, abstract


def _object(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise Garbage(f"{what} is not an object")
    return value


def _list(value: Mapping[str, Any], key: str) -> list[Any]:
    items = value.get(key)
    if not isinstance(items, list):
        raise Garbage(f"{key} is not a list")
    return items


def _count(value: Mapping[str, Any], key: str) -> int:
    number = value.get(key)
    if isinstance(number, bool) or not isinstance(number, int):
        raise Garbage(f"{key} is not a number")
    return max(0, number)
