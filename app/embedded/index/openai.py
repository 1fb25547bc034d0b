"""The two calls to an OpenAI-compatible server that the embedded backend can make: embeddings and chat."""

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
from pydantic import SecretStr

from app.core.messages.tokens import estimate_tokens
from app.settings import ChatSettings, EmbedderSettings

_LONGEST_ANSWER = 64 * 1024 * 1024


BATCH_TOKENS = 8_000
"""Of all texts of one embedding request, estimated; a longer text goes alone."""
AT_ONCE = 4
"""Embedding requests under way at a time."""
BACKOFF_S = 0.5
"""Before the second try; twice as long before the third."""

_turns = threading.BoundedSemaphore(AT_ONCE)


class EndpointError(OSError):
    """The endpoint refused, failed, was too slow, or answered something else; ``may_pass``: the next try may work."""

    def __init__(self, detail: str, *, may_pass: bool = False) -> None:
        super().__init__(detail)
        self.may_pass = may_pass


def embed_over_http(settings: EmbedderSettings, texts: Sequence[str], tries: int) -> list[list[float]]:
    """The vectors of ``texts``, in order: `BATCH_TOKENS` a request, `AT_ONCE` of them. A request that
    failed in a way that may pass is tried again, ``tries`` times in all. Raises `EndpointError`."""
    batches = list(_batches(texts))
    if len(batches) == 1:
        return _embedded(settings, batches[0], tries)
    with ThreadPoolExecutor(min(AT_ONCE, len(batches))) as threads:
        answers = list(threads.map(lambda batch: _embedded(settings, batch, tries), batches))
    return [vector for answer in answers for vector in answer]


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    tokens = 0
    for text in texts:
        more = estimate_tokens(text)
        if batch and tokens + more > BATCH_TOKENS:
            yield batch
            batch, tokens = [], 0
        batch.append(text)
        tokens += more
    if batch:
        yield batch


def _embedded(settings: EmbedderSettings, texts: Sequence[str], tries: int) -> list[list[float]]:
    for attempt in range(1, tries):
        try:
            with _turns:
                return _request_embeddings(settings, texts)
        except EndpointError as error:
            if not error.may_pass:
                raise
        time.sleep(BACKOFF_S * 2 ** (attempt - 1))
    with _turns:
        return _request_embeddings(settings, texts)


def _request_embeddings(settings: EmbedderSettings, texts: Sequence[str]) -> list[list[float]]:
    body = {"model": settings.model, "input": list(texts), "encoding_format": "float"}
    answer = _post(settings.url, "embeddings", settings.api_key, settings.timeout_ms, body)
    try:
        rows = sorted(answer["data"], key=lambda row: row["index"])
        vectors = [[float(number) for number in row["embedding"]] for row in rows]
    except (KeyError, TypeError, ValueError) as error:
        raise EndpointError(f"no embeddings in the answer: {error!r}") from error
    if len(vectors) != len(texts) or not all(vectors) or len({len(vector) for vector in vectors}) != 1:
        raise EndpointError(f"asked for {len(texts)} embeddings of one length, got {[len(v) for v in vectors][:5]}")
    return vectors


def chat_over_http(settings: ChatSettings, system: str, user: str) -> str:
    """The model's answer to one question, as text. Raises `EndpointError`."""
    body = {
        "model": settings.model,
        "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}],
        "temperature": 0,
    }
    answer = _post(settings.url, "chat/completions", settings.api_key, settings.timeout_ms, body)
    try:
        content = answer["choices"][0]["message"]["content"]
    except (KeyError, TypeError, IndexError) as error:
        raise EndpointError(f"no message in the answer: {error!r}") from error
    if not isinstance(content, str) or not content.strip():
        raise EndpointError("the model said nothing")
    return content


def _post(
    base_url: str, path: str, api_key: SecretStr | None, timeout_ms: int, body: Mapping[str, Any]
) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {api_key.get_secret_value()}"} if api_key else {}
    url = f"{base_url.rstrip('/')}/{path}"
    try:
        response = httpx.post(url, json=body, headers=headers, timeout=timeout_ms / 1000)
        response.raise_for_status()
        if len(response.content) > _LONGEST_ANSWER:
            raise EndpointError(f"{url} answered {len(response.content)} bytes")
        answer = response.json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
        detail = f"{url}: {type(error).__name__}: {error}"
        raise EndpointError(detail, may_pass=_may_pass(error)) from error
    if not isinstance(answer, dict):
        raise EndpointError(f"{url} answered no object")
    return answer


def _may_pass(error: Exception) -> bool:
    if isinstance(error, httpx.HTTPStatusError):
        return error.response.status_code in (408, 429) or error.response.status_code >= 500
    return isinstance(error, httpx.TransportError) and not isinstance(error, httpx.UnsupportedProtocol)
