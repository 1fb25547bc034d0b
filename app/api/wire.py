"""JSON answers, and problem documents (RFC 9457)."""

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any

from fastapi import Response
from pydantic import BaseModel
from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from app.core.json.answers import encode_answer
from app.core.json.encoding import encode
from app.errors import Ambiguous, FieldProblem, InvalidRequest, SidecarError

PROBLEM_TYPE = "application/problem+json"
MAX_PROBLEMS = 50
"""Wrong fields that one answer names."""
PIECE_BYTES = 1024 * 1024
"""Of a large answer, what is sent at once."""
WRONG_ITEMS = "wrong_items"
"""Type of a validation error about a list; its context's ``items`` are (place in the list, what is wrong)."""


class Json(JSONResponse):
    """A JSON answer: a dataclass that is one, a model, or plain data. Renders half characters, too."""

    def render(self, content: Any) -> bytes:
        """UTF-8; escapes where the text can not be encoded."""
        if is_dataclass(content):
            return encode_answer(content)
        return encode(content.model_dump(mode="json", by_alias=True) if isinstance(content, BaseModel) else content)


class JsonInPieces(Response):
    """A large JSON answer, sent in pieces of `PIECE_BYTES`: to join its parts would copy it while everybody waits."""

    media_type = Json.media_type

    def __init__(self, parts: Sequence[bytes | memoryview]) -> None:
        super().__init__(headers={"Content-Length": str(sum(map(len, parts)))})
        self._parts = parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - as ASGI calls it
        """Send it, as fast as the host reads."""
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        for part in self._parts:
            for start in range(0, len(part), PIECE_BYTES):
                piece = bytes(part[start : start + PIECE_BYTES])
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def problem(error: SidecarError, request_id: str) -> Response:
    """The problem document for an error."""
    body: dict[str, Any] = {
        "type": f"urn:openviking-sidecar:problem:{error.code}",
        "title": error.code.meaning,
        "status": error.status,
        "detail": error.detail,
        "code": str(error.code),
        "requestId": request_id,
    }
    if isinstance(error, InvalidRequest):
        body["errors"] = [{"field": p.field, "message": p.message} for p in error.problems]
    if isinstance(error, Ambiguous):
        body["candidates"] = [{"id": one.id, "uri": one.uri, "category": one.category} for one in error.candidates]
    headers: dict[str, str] = {}
    if error.retry_after_s is not None:
        headers["Retry-After"] = str(error.retry_after_s)
    if error.status == 408:
        headers["Connection"] = "close"  # what comes now would be taken for the rest of the body
    if error.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return Json(body, error.status, headers=headers, media_type=PROBLEM_TYPE)


def field_problems(errors: Sequence[Mapping[str, Any]]) -> InvalidRequest:
    """Pydantic's errors as one problem a field, with the path as the caller wrote it (``messages.3.role``)."""
    problems = []
    for error in errors[:MAX_PROBLEMS]:
        place, *path = error["loc"]
        if error["type"] == "json_invalid":
            problems.append(FieldProblem("body", f"not valid JSON: {error.get('ctx', {}).get('error', '')}"))
            continue
        if place == "header":
            place, path = "headers", [str(path[0]).title(), *path[1:]]
        path = path if place == "body" else [place, *path]
        if error["type"] == WRONG_ITEMS:
            prefix = ".".join(str(part) for part in path)
            problems += [FieldProblem(f"{prefix}.{item}", wrong) for item, wrong in error["ctx"]["items"]]
            continue
        problems.append(FieldProblem(".".join(str(part) for part in path) or "body", str(error["msg"])))
    return InvalidRequest(*problems)
