"""What OpenViking answers about sessions and their archives: what the port promises, or `Garbage`."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from app.core.capture.captured_message import CapturedMessage
from app.openviking.answer_fields import count_in, list_in, object_of
from app.openviking.call_errors import Garbage
from app.openviking.prose import without_hints
from app.openviking.session_messages import from_jsonl, from_wire, once
from app.ports import Appended, SessionHistory

_ARCHIVE = re.compile(r"archive_[0-9]{1,9}")


@dataclass(frozen=True, slots=True)
class Archives:
    """The archives of a session since its last reset, oldest first, by how they ended."""

    completed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()


def appended(result: Any) -> Appended:
    """The answer to a batch of messages."""
    answer = object_of(result, "result")
    return Appended(count_in(answer, "message_count"), count_in(answer, "pending_tokens"))


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
    for match in list_in(object_of(result, "result"), "matches"):
        line = object_of(match, "match").get("content")
        if isinstance(line, str) and turn_id in line:
            message = _message(line)
            yield from ((source, message) for source in _sources(message) if own.fullmatch(source))


def memory_types(result: Any) -> frozenset[str] | None:
    """The types of memories that a session may become; None where all may."""
    policy = object_of(result, "result").get("memory_policy")
    types = policy.get("memory_types") if isinstance(policy, dict) else None
    return frozenset(one for one in types if isinstance(one, str)) if isinstance(types, list) else None


def history(result: Any) -> SessionHistory:
    """A session's context."""
    answer = object_of(result, "result")
    stats = object_of(answer.get("stats"), "stats")
    overview = answer.get("latest_archive_overview")
    if not isinstance(overview, str):
        raise Garbage("the overview is not text")
    return SessionHistory(
        overview=without_hints(overview),
        abstracts=tuple(_abstract(item) for item in list_in(answer, "pre_archive_abstracts")),
        messages=tuple(once(m for item in list_in(answer, "messages") if (m := from_wire(item)))),
        archives=count_in(stats, "totalArchives"),
        failed_archives=count_in(stats, "failedArchives"),
    )


def total_messages(result: Any) -> int:
    """How many messages a session ever got, archived ones included."""
    return count_in(object_of(result, "result"), "total_message_count")


def overview(result: Any) -> str:
    """The overview of an archive."""
    text = object_of(result, "result").get("overview")
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
        path = object_of(entry, "entry").get("rel_path")
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
    item = object_of(item, "abstract")
    archive, abstract = item.get("archive_id"), item.get("abstract")
    if not isinstance(archive, str) or not isinstance(abstract, str):
        raise Garbage("an abstract without archive and text")
    return archive, abstract
