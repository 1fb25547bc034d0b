"""Sessions whose file of live messages was left with half a line, and which OpenViking refuses to touch from then on.

OpenViking 0.5.2 writes that file anew for every batch, in place; where it is killed meanwhile, each later call for the
session is answered with 400, for good (observed). The file can be deleted, and then the session goes on without it.
"""

import codecs
import json

from app.core.capture.batches import batches
from app.core.capture.captured_message import CapturedMessage
from app.core.deadline import Deadline
from app.core.identity import Identity
from app.core.reasons import Reason
from app.openviking import hit_answers, session_answers
from app.openviking.call_errors import Garbage, Operation
from app.openviking.calls import Calls
from app.openviking.session_archives import session_path, session_uri
from app.openviking.session_messages import from_jsonl, to_wire
from app.ports import BackendError

_REFUSAL = ": 400 INVALID_ARGUMENT Invalid live message JSONL"
_TAKEN_FOR = ("gbk", "latin-1")
"""As what OpenViking reads a file that is no UTF-8, the first one first."""
_READ = Operation("read_torn_session")
_DELETE = Operation("delete_torn_session", writes=True)
_WRITE = Operation("mend_torn_session", writes=True)


class TornSessions:
    """Mends them: what can still be read stands in the session afterwards, the rest is for the caller to send again."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls

    async def mended(
        self, who: Identity, error: BackendError, operation: Operation, deadline: Deadline
    ) -> BackendError:
        """The error for the caller: ``error`` itself, or that a write has to be tried again in a session just mended.

        What of the refused write was in the file stays in it, so that the caller must look for it first. Raises
        `BackendError` when mending fails; it is then begun anew by the next write.
        """
        if not error.detail.startswith(operation.name + _REFUSAL):
            return error
        params = {"uri": f"{session_uri(who)}/messages.jsonl"}
        text = await self._calls.make(
            _READ, who, "GET", "/api/v1/content/read", hit_answers.text, deadline, params=params
        )
        whole = [message for line in _as_written(text).split("\n") for message in _readable(line)]
        await self._calls.make(_DELETE, who, "DELETE", "/api/v1/fs", lambda _: None, deadline, params=params)
        for batch in batches(whole):
            body = {"messages": [to_wire(message) for message in batch]}
            path = session_path(who, "/messages/batch")
            await self._calls.make(_WRITE, who, "POST", path, session_answers.appended, deadline, body=body)
        detail = f"{operation.name}: the session's file was torn, and was mended"
        return BackendError(Reason.OPENVIKING_UNAVAILABLE, detail, retryable=True, uncertain=True, answered=True)


def _as_written(text: str) -> str:
    """The text of a file that was cut within a character, before OpenViking took it for another encoding.

    Any other text is left as it is: only such a file is UTF-8 up to a character that is not complete.
    """
    for encoding in _TAKEN_FOR:
        utf8 = codecs.getincrementaldecoder("utf-8")()
        try:
            written = utf8.decode(text.encode(encoding))
        except UnicodeError:
            continue
        if utf8.getstate()[0]:
            return written
    return text


def _readable(line: str) -> list[CapturedMessage]:
    try:
        return from_jsonl(line)
    except (json.JSONDecodeError, Garbage):
        return []
