"""One HTTP connection to the sidecar: headers, errors, and pages that lead to the next one."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx

UNREACHABLE = "unreachable"
"""The code of an error without an answer of the sidecar."""


class SidecarError(Exception):
    """The sidecar refused or could not be reached.

    ``code`` is the problem's, `UNREACHABLE` without an answer; ``problem`` is all of it: ``errors`` names wrong fields,
    ``candidates`` the memories that could be meant. ``retry_after`` is in seconds, where the sidecar says it.
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
        return self.status is not None and 400 <= self.status < 500 and self.status not in {408, 429}


class Connection:
    """Where the sidecar is, and who speaks to it."""

    def __init__(self, base_url: str, headers: Mapping[str, str], http: httpx.Client) -> None:
        self.http = http
        self._base_url = base_url.rstrip("/")
        self._headers = headers

    def call(self, method: str, path: str, *, headers: Mapping[str, str] | None = None, **options: Any) -> Any:
        """The answer, a JSON object. ``params`` without a value are left out. Raises `SidecarError`."""
        with _told():
            response = self.http.request(
                method, self._base_url + path, headers={**self._headers, **(headers or {})}, **_given(options)
            )
            return _answer(response)

    def lines(self, path: str) -> Iterator[str]:
        """The lines of an answer, as they arrive. Raises `SidecarError`, also in the middle."""
        with _told(), self.http.stream("GET", self._base_url + path, headers=self._headers) as response:
            if not response.is_success:
                response.read()
                _answer(response)
            yield from (line for line in response.iter_lines() if line)


def _given(options: dict[str, Any]) -> dict[str, Any]:
    if "params" not in options:
        return options
    params = {name: value for name, value in options["params"].items() if value is not None}
    return {**options, "params": params}


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except (httpx.HTTPError, ValueError) as error:
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
