"""One message in, one message out: the frame of JSON-RPC, and what each version of the protocol asks of a request.

Up to 2025-11-25 a connection begins with ``initialize``; since 2026-07-28 each request says in ``_meta`` which version
it speaks, and repeats in headers what proxies route by. No version needs anything to be kept between two requests.
"""

import base64
import binascii
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import structlog
from mcp_types import PROTOCOL_VERSION_META_KEY, methods
from mcp_types.jsonrpc import (
    HEADER_MISMATCH,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    UNSUPPORTED_PROTOCOL_VERSION,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, KNOWN_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from app.errors import SidecarError

log = structlog.get_logger(__name__)

ASSUMED_VERSION = "2025-03-26"
"""Of a request without the version header, as the protocol says."""
_NAMES = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The parameter that the header ``Mcp-Name`` repeats."""
_STATUS = {METHOD_NOT_FOUND: 404, INTERNAL_ERROR: 500}

Handle = Callable[[Any, str], Awaitable[dict[str, Any]]]
"""Answers the parsed request of a version with the fields of its result."""


class Refused(Exception):
    """The request can not be answered; becomes a JSON-RPC error."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


@dataclass(frozen=True, slots=True)
class Reply:
    """What goes back; without a ``body`` the message was taken note of."""

    status: int
    body: dict[str, Any] | None = None


async def answer(message: Any, headers: Mapping[str, str], handlers: Mapping[str, Handle]) -> Reply:
    """The reply to one message. ``headers`` has names in small letters; ``handlers`` are by method."""
    if not isinstance(message, dict):
        return _error(None, Refused(INVALID_REQUEST, "send one JSON-RPC message"), 400)
    version = headers.get("mcp-protocol-version", ASSUMED_VERSION)
    try:
        if "method" not in message:
            JSONRPCResponse.model_validate(message)  # nothing was asked, so nothing waits for it
            return Reply(202)
        if "id" not in message:
            JSONRPCNotification.model_validate(message)
            return Reply(202)
        request = JSONRPCRequest.model_validate(message)
    except ValidationError:
        return _error(None, Refused(INVALID_REQUEST, "not a JSON-RPC 2.0 message"), 400)
    modern = version in MODERN_PROTOCOL_VERSIONS
    try:
        _check_version(request, version, headers)
        result = await _result(request, version, handlers)
    except Refused as refused:
        early = modern or refused.code == UNSUPPORTED_PROTOCOL_VERSION
        return _error(request.id, refused, _STATUS.get(refused.code, 400) if early else 200)
    return Reply(200, {"jsonrpc": "2.0", "id": request.id, "result": result})


async def _result(request: JSONRPCRequest, version: str, handlers: Mapping[str, Handle]) -> dict[str, Any]:
    handle = handlers.get(request.method)
    if handle is None or (request.method, version) not in methods.CLIENT_REQUESTS:
        raise Refused(METHOD_NOT_FOUND, f"no such method: {request.method[:80]}")
    try:
        parsed = methods.parse_client_request(request.method, version, request.params)
    except ValidationError as error:
        raise Refused(INVALID_PARAMS, _first(error)) from None
    try:
        fields = await handle(parsed.params, version)
    except SidecarError as error:
        raise Refused(INTERNAL_ERROR, error.detail, {"code": str(error.code)}) from error
    return methods.serialize_server_result(request.method, version, fields)


def _check_version(request: JSONRPCRequest, version: str, headers: Mapping[str, str]) -> None:
    """Raises `Refused` for an unknown version, and for a request that contradicts its own headers."""
    if version not in KNOWN_PROTOCOL_VERSIONS:
        data = {"supported": list(KNOWN_PROTOCOL_VERSIONS), "requested": version[:40]}
        raise Refused(UNSUPPORTED_PROTOCOL_VERSION, "this version of the protocol is not spoken here", data)
    if version in HANDSHAKE_PROTOCOL_VERSIONS:
        return
    params = request.params or {}
    meta = params.get("_meta")
    if not isinstance(meta, dict) or meta.get(PROTOCOL_VERSION_META_KEY) != version:
        raise Refused(HEADER_MISMATCH, "MCP-Protocol-Version and params._meta do not name the same version")
    if headers.get("mcp-method") != request.method:
        raise Refused(HEADER_MISMATCH, "Mcp-Method does not repeat the method")
    named = params.get(_NAMES.get(request.method, ""))
    if named is not None and _decoded(headers.get("mcp-name", "")) != named:
        raise Refused(HEADER_MISMATCH, f"Mcp-Name does not repeat {_NAMES[request.method]}")


def _decoded(value: str) -> str | None:
    """A header's text; what is not ASCII comes as ``=?base64?...?=``."""
    if not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[len("=?base64?") : -len("?=")], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None


def _first(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, problem['loc']))[:120]}: {problem['msg']}"


def _error(request_id: object, refused: Refused, status: int) -> Reply:
    error: dict[str, Any] = {"code": refused.code, "message": str(refused)}
    if refused.data is not None:
        error["data"] = refused.data
    return Reply(status, {"jsonrpc": "2.0", "id": request_id, "error": error})
