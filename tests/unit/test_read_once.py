"""A host's message is read once: on its way through a recall nothing asks twice what it says."""

import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from inspect import CO_VARARGS
from itertools import groupby
from types import CodeType, FrameType
from typing import Any

import pytest

from app.core.capture.captured_turn import capture_turn
from app.core.capture.incoming import read_incoming
from app.core.history.prompt import assemble_history
from app.core.history.summary_message import acknowledgement, summary_message
from app.core.history.summary_text import History
from app.core.injection.inject import Mode
from app.core.messages.host_message import HostMessage, encode_messages
from app.core.messages.reading_cache import Readings
from tests.unit.recalling import Recalling, ScriptedBackend, experience, memory

from .histories import STYLES, written

pytestmark = pytest.mark.anyio

QUESTION = "Please fix the failing import test in src/app.py: which lock does it wait for?"
PLAN = [
    {"kind": "user", "text": "run it"},
    {"kind": "tools", "count": 2, "text": "looking"},
    {"kind": "answer", "text": "done"},
]
OUR_OWN = [summary_message("The past.").raw, acknowledgement().raw]


def conversation(style: str) -> list[dict[str, Any]]:
    turns = written([PLAN, PLAN], style, timed=True)
    history = [message for turn in turns for message in turn]
    return [*OUR_OWN, *history, {"role": "user", "content": QUESTION, "timestamp": 1_770_000_000_000}]  # type: ignore[list-item]


class Walk:
    """What is called, from the first call of a kind on."""

    def __init__(self) -> None:
        self.read: Counter[tuple[CodeType, tuple[int, ...]]] = Counter()
        """Calls into `app.core.messages` with a message, by function and arguments."""
        self.entered_twice: set[str] = set()
        """Modules of the core that are entered from another one while they stand in the stack already."""
        self._seen: list[Any] = []
        """Keeps what was read alive, and so its identity its own."""

    def __call__(self, frame: FrameType, event: str, _argument: Any) -> None:
        if event != "call" or not _module(frame).startswith("app."):
            return
        code = frame.f_code
        given = [frame.f_locals[name] for name in code.co_varnames[: code.co_argcount]]
        if code.co_flags & CO_VARARGS:
            given += frame.f_locals[code.co_varnames[code.co_argcount + code.co_kwonlyargcount]]
        if _module(frame).startswith("app.core.messages.") and any(_is_message(one) for one in given):
            self._seen += given
            self.read[code, tuple(map(id, given))] += 1
        entered = Counter(module for module, _ in groupby(_stack(frame)) if module.startswith("app.core."))
        self.entered_twice |= {module for module, times in entered.items() if times > 1}

    def read_twice(self) -> list[str]:
        return [code.co_qualname for (code, _), times in self.read.items() if times > 1]


@contextmanager
def walk() -> Iterator[Walk]:
    """The calls of this thread until the block ends."""
    seen = Walk()
    sys.setprofile(seen)
    try:
        yield seen
    finally:
        sys.setprofile(None)


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def _stack(frame: FrameType | None) -> Iterator[str]:
    while frame:
        if _module(frame).startswith("app."):
            yield _module(frame)
        frame = frame.f_back


def _is_message(value: Any) -> bool:
    return isinstance(value, HostMessage) or (isinstance(value, dict) and "role" in value)


def engine() -> Recalling:
    backend = ScriptedBackend(
        memories=[memory("lock", "The import test waits for a lock."), memory("run", "They run it at night.")],
        experiences=[experience("lock")],
    )
    return Recalling(backend, experience={"enabled": True})


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("inject", ["message", "tool_call"])
async def test_a_message_is_read_once_on_its_way_through_transform(style: str, inject: str) -> None:
    recall = engine()
    await recall(QUESTION)  # what is loaded and compiled at first is no reading
    messages = Readings().read(conversation(style))
    with walk() as seen:
        result = await recall(*messages, inject=Mode(inject))
        encode_messages(result.messages)
    assert result.context_block
    assert seen.read and not seen.read_twice()
    assert not seen.entered_twice


@pytest.mark.parametrize("style", STYLES)
async def test_what_one_request_read_no_later_one_reads_again(style: str) -> None:
    recall, readings = engine(), Readings()

    async def everything(sent: list[dict[str, Any]]) -> None:
        """`full`, and the turn's end behind it, of messages that came as JSON."""
        messages = readings.read(json.loads(json.dumps(sent)))
        recorded = [message.fingerprint for message in messages[2:5]]
        history = History("We talked.", archived_fingerprints=tuple(filter(None, recorded)))
        assembled = assemble_history(messages, history, token_budget=10_000, summary_share=0.3)
        result = await recall(*assembled.messages)
        encode_messages(result.messages)
        capture_turn(read_incoming(messages, 4), received_at=datetime.now(UTC))

    sent = conversation(style)
    await everything(sent)
    kept = readings.read(sent)
    new = {"role": "user", "content": "And which test waits for another lock?"}
    with walk() as seen:
        await everything([*sent[:-1], {"role": "assistant", "content": "It waits for none."}, new])
    assert readings.read(sent) == kept
    old = {id(message) for message in kept}
    assert not [code.co_qualname for code, given in seen.read if old.intersection(given)]
