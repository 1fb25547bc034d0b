"""One HTTP connection to the sidecar: headers, errors, and pages that lead to the next one."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import httpx

UNREACHABLE = "unreachable"
"""The code of an error without an answer of the sidecar."""
UNENCODABLE = "unencodable"
"""The code of a request that can not be written down: a number that JSON does not have, a header that is not ASCII."""
SIDECAR_SHARE = 0.9
"""Of the time that we wait the sidecar gets this share, so that its own answer comes first."""


class SidecarError(Exception):
    """The sidecar refused or could not be reached.

    ``code`` is the problem's, `UNREACHABLE` without an answer, `UNENCODABLE` for what could not be sent; ``problem`` is
    all of it: ``errors`` names wrong fields, ``candidates`` the memories that could be meant. ``retry_after`` is in
    seconds, where the sidecar says it.
    """

    def __init__(
        self,
        code: str,
        detail: str,
        status: int | None = None,
        problem: Mapping[str, Any] | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(f"{code}: {detail}")
        self.code, self.status, self.retry_after = code, status, retry_after
        self.problem = problem or {}

    @property
    def is_final(self) -> bool:
        """True when sending the same again can not help."""
        if self.status is None:
            return self.code == UNENCODABLE
        return 400 <= self.status < 500 and self.status not in {408, 429}


class Connection:
    """Where the sidecar is, and who speaks to it."""

    def __init__(self, base_url: str, headers: Mapping[str, str], http: httpx.Client) -> None:
        self.http = http
        self._base_url = base_url.rstrip("/")
        self._headers = headers

    def call(self, method: str, path: str, *, headers: Mapping[str, str] | None = None, **options: Any) -> Any:
        """The answer, a JSON object. ``params`` without a value are left out. Raises `SidecarError`."""
        request = self._request(method, path, headers or {}, options)
        with _told():
            return _answer(self.http.send(request))

    def ask(self, path: str, body: Mapping[str, Any], *, timeout: float | None = None) -> Any:
        """The answer of a POST whose body takes a ``deadlineMs``, which follows from ``timeout``, in seconds: that of
        the client if absent. Raises `SidecarError`.
        """
        seconds = self.http.timeout.read if timeout is None else timeout
        deadline = {} if seconds is None else {"deadlineMs": max(1, int(seconds * SIDECAR_SHARE * 1000))}
        options: dict[str, Any] = {} if timeout is None else {"timeout": timeout}
        return self.call("POST", path, json={**deadline, **body}, **options)

    def lines(self, path: str) -> Iterator[str]:
        """The lines of an answer, as they arrive. Raises `SidecarError`, also in the middle."""
        request = self._request("GET", path, {}, {})
        with _told():
            response = self.http.send(request, stream=True)
            try:
                if not response.is_success:
                    response.read()
                    _answer(response)
                yield from _lines(response.iter_bytes())
            finally:
                response.close()

    def _request(self, method: str, path: str, headers: Mapping[str, str], options: Mapping[str, Any]) -> httpx.Request:
        sent = {name: value for name, value in options.items() if name not in {"json", "params"}}
        headers = {**self._headers, **headers}
        try:
            if "json" in options:
                headers["Content-Type"] = "application/json"
                sent["content"] = _encoded(options["json"])
            params = {name: value for name, value in options.get("params", {}).items() if value is not None}
            return self.http.build_request(
                method, self._base_url + path, headers=headers, params=params or None, **sent
            )
        except (TypeError, ValueError, RecursionError, httpx.InvalidURL) as error:
            raise SidecarError(UNENCODABLE, str(error)) from error


def quoted(name: str) -> str:
    """The name as a part of a path; half a surrogate pair becomes a question mark, which no name of the sidecar has."""
    return quote(name, safe="", errors="replace")


def _encoded(body: Any) -> bytes:
    """JSON in UTF-8; with half a surrogate pair, which UTF-8 can not carry, in escapes."""
    try:
        return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        return json.dumps(body, allow_nan=False, separators=(",", ":")).encode()


def _lines(chunks: Iterator[bytes]) -> Iterator[str]:
    """Lines that are not empty. They end at a line feed alone: JSON may hold the other line separators as they are."""
    begun: list[bytes] = []
    for chunk in chunks:
        *ended, rest = chunk.split(b"\n")
        for line in ended:
            if whole := b"".join([*begun, line]):
                yield whole.decode()
            begun = []
        begun.append(rest)
    if whole := b"".join(begun):
        yield whole.decode()


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except (httpx.HTTPError, ValueError) as error:  # a ValueError: an answer that is no JSON, or no UTF-8
        raise SidecarError(UNREACHABLE, str(error) or type(error).__name__) from error


def _answer(response: httpx.Response) -> Any:
    answer = response.json()
    if not isinstance(answer, dict):
        raise SidecarError(UNREACHABLE, "the answer is not a JSON object: is this the sidecar?")
    if not response.is_success:
        wait = response.headers.get("retry-after", "")
        code, detail = str(answer.get("code", "error")), str(answer.get("detail", ""))
        raise SidecarError(code, detail, response.status_code, answer, float(wait) if wait.isdigit() else None)
    return answer
