"""The two calls to an OpenAI-compatible server that the embedded backend can make: embeddings and chat."""

from collections.abc import Mapping, Sequence
from typing import Any

import httpx
from pydantic import SecretStr

from app.settings import ChatSettings, EmbedderSettings

_LONGEST_ANSWER = 64 * 1024 * 1024


class EndpointError(OSError):
    """The endpoint refused, failed, was too slow, or answered something else."""


def embed_over_http(settings: EmbedderSettings, texts: Sequence[str]) -> list[list[float]]:
    """The vectors of ``texts``, in order. Raises `EndpointError`."""
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
        raise EndpointError(f"{url}: {type(error).__name__}: {error}") from error
    if not isinstance(answer, dict):
        raise EndpointError(f"{url} answered no object")
    return answer
