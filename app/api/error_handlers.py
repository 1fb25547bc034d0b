"""One handler for every error: each becomes a problem document."""

from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from app.api.pages import PAGES, page, section_of, wants_page
from app.api.wire import field_problems, problem
from app.core.reasons import Reason
from app.errors import FieldProblem, InvalidRequest, NotFound, SidecarError
from app.observe.context import note


class _MethodNotAllowed(SidecarError):
    code, status = Reason.METHOD_NOT_ALLOWED, 405


def install_error_handlers(app: FastAPI) -> None:
    """Render every error the same way."""

    async def sidecar(request: Request, error: Exception) -> Response:
        assert isinstance(error, SidecarError)  # noqa: S101
        return _answer(request, error)

    async def validation(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)  # noqa: S101
        return _answer(request, field_problems(error.errors()))

    async def framework(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)  # noqa: S101
        answer = _answer(request, _translated(error))
        answer.headers.update(error.headers or {})
        return answer

    handlers: dict[type[Exception], Callable[[Request, Exception], Awaitable[Response]]] = {
        SidecarError: sidecar,
        RequestValidationError: validation,
        HTTPException: framework,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)


def _translated(error: HTTPException) -> SidecarError:
    match error.status_code:
        case 404:
            return NotFound("no such path")
        case 405:
            return _MethodNotAllowed("see Allow for what this path takes")
        case _:
            return InvalidRequest(FieldProblem("body", str(error.detail)))


def answer_to(path: str, accept: str, error: SidecarError, request_id: str) -> Response:
    """The error as a problem document; as a page where a browser asked for one of the pages."""
    answer = problem(error, request_id)
    if wants_page(path, accept):
        named = error.problems if isinstance(error, InvalidRequest) else ()
        shown: dict[str, Any] = {
            "title": error.code.meaning,
            "detail": error.detail,
            "code": str(error.code),
            "problems": named,
        }
        headers = {name: value for name in ("Retry-After",) if (value := answer.headers.get(name))}
        back, name = section_of(path)
        shown |= {"back": back, "name": name, "number": error.status, "request_id": request_id}
        answer = page("problem.html", error.status, **shown)
        answer.headers.update(headers)
    if error.status == 401 and path.startswith(PAGES):
        answer.headers["WWW-Authenticate"] = 'Basic realm="token as password", charset="UTF-8"'
    return answer


def _answer(request: Request, error: SidecarError) -> Response:
    note(reason=str(error.code))
    return answer_to(request.url.path, request.headers.get("accept", ""), error, request.state.request_id)
