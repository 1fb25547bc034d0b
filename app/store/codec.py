"""Turns and identities as text for the store, and back."""

import hashlib
import json
import secrets
from base64 import b32encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from app.core.capture.captured_message import CapturedMessage, Part, TextPart, ToolPart
from app.core.identity import Identity, PeerRole, SessionKind, SessionNotes, Tenant
from app.core.messages.usage import Usage

PIECE_CHARS = 256 * 1024
"""Of a list of strings so much is parsed at once."""
AT_ONCE_CHARS = 64 * 1024
"""What is not longer is decoded faster than a thread is woken."""


def new_id(prefix: str) -> str:
    """``<prefix>_`` and 26 lower-case letters and digits: 128 random bits, nothing special in a URL or a pattern."""
    return f"{prefix}_{b32encode(secrets.token_bytes(16)).decode().rstrip('=').lower()}"


def hashed(key: str) -> str:
    """A host's idempotency key as the store keeps it: of bounded length and plain characters."""
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def dump_messages(messages: Sequence[CapturedMessage]) -> str:
    """Captured messages as ASCII JSON."""
    return _dump([_message(message) for message in messages])


def load_messages(text: str | None) -> tuple[CapturedMessage, ...]:
    """The inverse of `dump_messages`; a dropped payload is no messages."""
    return tuple(map(_captured, _items(text))) if text else ()


@dataclass(frozen=True, slots=True)
class StoredMessages:
    """A turn's messages, decoded one by one while they are gone through: a turn may have a million of them."""

    text: str
    """See `dump_messages`."""
    count: int

    def __iter__(self) -> Iterator[CapturedMessage]:
        return map(_captured, _items(self.text))

    def __len__(self) -> int:
        return self.count

    @property
    def is_large(self) -> bool:
        """Whether decoding them takes long enough for others to notice."""
        return len(self.text) > AT_ONCE_CHARS


NO_MESSAGES = StoredMessages("[]", 0)
"""Those of a turn whose payload was dropped."""


def _items(text: str) -> Iterator[Any]:
    """The items of a JSON array, decoded one by one: tens of megabytes in one call would stop every other thread."""
    decode, place = json.JSONDecoder().raw_decode, 1
    while text[place] != "]":
        item, place = decode(text, place)
        yield item
        place += text[place] == ","


def dump_strings(items: Sequence[str]) -> str:
    """A list of strings as ASCII JSON."""
    return _dump(list(items))


def load_strings(text: str) -> tuple[str, ...]:
    """The inverse of `dump_strings`."""
    return tuple(chain.from_iterable(map(json.loads, _pieces(text))))


def _pieces(text: str) -> Iterator[str]:
    """A JSON array of strings as arrays of about `PIECE_CHARS`: a parser lets no other thread in before its end."""
    start, opening = 0, ""
    while (border := _border(text, start + PIECE_CHARS)) >= 0:
        yield f"{opening}{text[start : border + 1]}]"
        start, opening = border + 2, "["
    yield opening + text[start:]


def _border(text: str, start: int) -> int:
    """Where the next string with a letter or a digit at its end ends, and another follows; -1 if none does.

    What begins a string stands behind a bracket or a comma, and a quote within one behind a backslash.
    """
    while (found := text.find('","', start)) >= 0 and not text[found - 1].isalnum():
        start = found + 1
    return found


def dump_identity(who: Identity) -> str:
    """An identity as ASCII JSON; tenant and session have columns of their own."""
    notes = who.notes.parent, who.notes.chat_type
    return _dump([who.session_key, who.agent, who.sender, who.peer_role, who.kind, *(notes if any(notes) else ())])


def load_identity(account: str, user: str, session: str, text: str) -> Identity:
    """The inverse of `dump_identity`."""
    session_key, agent, sender, peer_role, kind, *notes = json.loads(text)
    tenant, role = Tenant(account or None, user or None), PeerRole(peer_role)
    return Identity(tenant, session, session_key, agent, sender, role, SessionKind(kind), SessionNotes(*notes))


def _message(message: CapturedMessage) -> dict[str, Any]:
    return {
        "role": message.role,
        "at": message.created_at,
        "id": message.source_id,
        "peer": message.peer_id,
        "parts": [_part(part) for part in message.parts],
        **({"sender": message.sender} if message.sender else {}),
        **({"usage": [message.usage.prompt, message.usage.output]} if message.usage else {}),
    }


def _part(part: Part) -> Any:
    if isinstance(part, TextPart):
        return part.text
    return [part.id, part.name, part.input, part.output, part.is_error]


def _captured(item: dict[str, Any]) -> CapturedMessage:
    parts = tuple(TextPart(part) if isinstance(part, str) else ToolPart(*part) for part in item["parts"])
    usage = Usage(*item["usage"]) if "usage" in item else None
    return CapturedMessage(item["role"], parts, item["at"], item["id"], item["peer"], item.get("sender"), usage)


def _dump(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))
