"""What is imported arrives as JSON, or as a form with a file; both within the limits of all bodies. Of a file no more
than a piece is in this process: it goes into a `Content` as it arrives."""

import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine
from dataclasses import dataclass
from io import BytesIO
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from pydantic import ValidationError
from starlette.datastructures import FormData, Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from app.api.forms import refuse_other_sites
from app.api.intake import Intake
from app.api.resources_schema import ImportRequest
from app.api.scope import CALLER_DOCUMENTED, tenant_from
from app.api.wire import field_problems
from app.core.json.encoding import parse_json
from app.documents.resource import MAX_PATH_CHARS
from app.errors import FieldProblem, InvalidRequest, Overloaded
from app.gathering.content import Content
from app.gathering.reader_process import Upload

JSON, FORM = "application/json", "multipart/form-data"
_TEXT_BYTES = 64 * 1024
"""Of a field that is no file."""


@dataclass(frozen=True, slots=True)
class Arrived:
    """An import as it was sent: the fields, and the file where there is one."""

    asked: ImportRequest
    file: Upload | None = None
    fields: dict[str, str] | None = None
    """Of a form, all of them: a page's has more than these."""


class UploadRoute(APIRoute):
    """A route whose body is JSON or a form with a file. A stranger's body is not read, nor another site's form."""

    def __init__(self, *arguments: Any, openapi_extra: dict[str, Any] | None = None, **options: Any) -> None:
        super().__init__(*arguments, openapi_extra={**CALLER_DOCUMENTED, **(openapi_extra or {})}, **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler, with what arrived in ``request.state.arrived``."""
        handler = super().get_route_handler()

        async def taken(request: Request) -> Response:
            request.state.tenant = tenant_from(request)
            kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind not in {JSON, FORM}:
                raise InvalidRequest(FieldProblem("headers.Content-Type", f"send the body as {FORM} or {JSON}"))
            if kind == FORM:
                refuse_other_sites(request.headers)
            intake: Intake = request.app.state.intake
            async with intake.pieces(request.headers, request.receive) as pieces:
                if kind == JSON:
                    request.state.arrived = Arrived(_asked(_parsed(b"".join([piece async for piece in pieces]))))
                    return await handler(request)
                arrived = request.state.arrived = await _form(request.headers, pieces)
                try:
                    return await handler(request)
                finally:
                    if arrived.file:
                        arrived.file.content.close()

        return taken


def arrived_with(request: Request) -> Arrived:
    """What came with the request."""
    found: Arrived = request.state.arrived
    return found


class _SentFile(UploadFile):
    """A file of a form, in a `Content`."""

    def __init__(self, content: Content, filename: str | None, headers: Headers) -> None:
        super().__init__(BytesIO(), size=0, filename=filename, headers=headers)
        self.content = content

    async def write(self, data: bytes) -> None:
        """Add a piece."""
        self.content.write(data)

    async def close(self) -> None:
        """Close it."""
        self.content.close()


class _FormParser(MultiPartParser):
    """Puts a file where nothing has a copy of it, and nothing that was not looked at goes to a disk."""

    def __init__(self, headers: Headers, pieces: AsyncGenerator[bytes, None]) -> None:
        super().__init__(headers, pieces, max_files=1, max_fields=12, max_part_size=_TEXT_BYTES)
        self._contents: list[Content] = []

    def on_headers_finished(self) -> None:
        """A part begins."""
        super().on_headers_finished()
        part = self._current_part
        if part.file is not None:
            part.file.file.close()
            self._contents.append(Content())
            part.file = _SentFile(self._contents[-1], part.file.filename, part.file.headers)

    async def parse(self) -> FormData:
        """The form; without one its file is gone."""
        try:
            return await super().parse()
        except BaseException:
            for content in self._contents:
                content.close()
            raise


async def _form(headers: Headers, pieces: AsyncIterator[bytes]) -> Arrived:
    async def stream() -> AsyncGenerator[bytes, None]:
        async for piece in pieces:
            yield piece

    try:
        form = await _FormParser(headers, stream()).parse()
    except (MultiPartException, KeyError, ValueError) as error:
        async for _ in pieces:
            """Read to the end: a caller that is still sending does not see the answer."""
        raise InvalidRequest(FieldProblem("body", f"not a form with one file: {error}")) from error
    except OSError as error:
        raise Overloaded(f"there is no room for a file: {error.strerror}; try again") from error
    try:
        return _arrived(form)
    except BaseException:
        await form.close()
        raise


def _arrived(form: FormData) -> Arrived:
    texts = {name: value for name, value in form.multi_items() if isinstance(value, str)}
    file = next((value for name, value in form.multi_items() if name == "file" and isinstance(value, _SentFile)), None)
    if file is None or not (file.filename or file.content.size):  # a browser sends an empty part where none was chosen
        raise InvalidRequest(FieldProblem("file", "send the document as the form's field `file`"))
    known = {field.alias or name for name, field in ImportRequest.model_fields.items()}
    asked = {name: value for name, value in texts.items() if name in known and value != ""}
    if wrong := asked.keys() & {"url", "git", "text"}:
        raise InvalidRequest(*(FieldProblem(name, "a file comes alone") for name in sorted(wrong)))
    media_type = (file.content_type or "").partition(";")[0].strip().lower()
    name = (file.filename or "").replace("\\", "/").rsplit("/", 1)[-1][:MAX_PATH_CHARS]
    return Arrived(_asked(asked), Upload(name or "upload", file.content, media_type), texts)


def _parsed(body: bytes) -> Any:
    try:
        return parse_json(body)
    except json.JSONDecodeError as error:
        raise InvalidRequest(FieldProblem("body", f"not valid JSON: {error}")) from None


def _asked(fields: Any) -> ImportRequest:
    try:
        return ImportRequest.model_validate(fields)
    except ValidationError as error:
        problems = [{**one, "loc": ("body", *one["loc"])} for one in error.errors()]
        raise field_problems(problems) from None
