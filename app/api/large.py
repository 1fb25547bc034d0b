"""Bodies that are too large to be parsed here: the small members are taken out, the large ones are left as they are."""

from dataclasses import dataclass

from app.core.json.encoding import encode
from app.core.json.outline import Member, NoOutline, outline
from app.errors import FieldProblem, InvalidRequest

AT_ONCE_BYTES = 512 * 1024
AT_ONCE_VALUES = 5_000
"""Bytes, and arrays and objects: what has no more of either is parsed and read in a few milliseconds."""
EXPECT_BYTES = 128 * 1024
"""Conversations grow: behind one of this size there may soon be a large one."""
MAX_CONTEXT_BYTES = 1024 * 1024
"""Largest ``runtimeContext``: it is read here, for it says who calls."""

MAX_TEXT_BYTES = 16 * 1024
"""Longest other text: longer than any that may be given, so that one that may not is still refused."""

Value = bytes | memoryview
"""A part of a body; a large one where it stands, for to copy it takes as long as others must not wait."""

_CONTEXT = frozenset({"runtimeContext", "runtime_context"})
_EMPTY = {b"[": b"[]", b"{": b"{}"}


@dataclass(frozen=True, slots=True)
class Large:
    """The members that are read in another process."""

    messages: Value
    """As the host wrote them."""
    prompt: Value

    @property
    def tokens(self) -> int:
        """About how many tokens the messages are, unread."""
        return len(self.messages) // 4


def is_large(body: Value) -> bool:
    """Whether parsing and reading ``body`` takes long enough for others to notice."""
    return isinstance(body, memoryview) or len(body) > AT_ONCE_BYTES or _values_in(body) > AT_ONCE_VALUES


def divide(body: bytes) -> tuple[bytes, Large | None]:
    """What of ``body`` is parsed here, and what is not. Of other large members next to nothing is left: none is read.

    Raises `InvalidRequest`.
    """
    try:
        members = outline(body)
    except NoOutline as error:
        raise InvalidRequest(FieldProblem("body", f"not valid JSON: {error}")) from None
    values = {member.key: _value(body, member) for member in members}
    for name in _CONTEXT & values.keys():
        if len(values[name]) > MAX_CONTEXT_BYTES:
            raise InvalidRequest(FieldProblem(name, f"may have {MAX_CONTEXT_BYTES} bytes"))
    messages, prompt = values.get("messages", b"[]"), values.get("prompt", b"null")
    large = None
    if messages[:1] == b"[" and (is_large(messages) or is_large(prompt)):
        large = Large(messages, prompt)
        values["messages"] = b"[]"
        if prompt[:1] == b'"':
            values["prompt"] = b'""'
    for name, value in values.items():
        if is_large(value) and name not in _CONTEXT:
            values[name] = _EMPTY.get(bytes(value[:1])) or _beginning(bytes(value[:-1][:MAX_TEXT_BYTES]))
    return b"{" + b",".join(encode(name) + b":" + value for name, value in values.items()) + b"}", large


def _values_in(body: bytes) -> int:
    return body.count(b"{") + body.count(b"[")


def _value(body: bytes, member: Member) -> Value:
    whole = memoryview(body)[member.start : member.end]
    return whole if len(whole) > AT_ONCE_BYTES else bytes(whole)


def _beginning(head: bytes) -> bytes:
    """A string that begins like this, without an escape or a character that would be cut in two."""
    escape = head.find(b"\\", MAX_TEXT_BYTES - 16)
    return (head if escape < 0 else head[:escape]).decode("utf-8", "ignore").encode() + b'"'
