"""What a host says a model really used, as its providers word it: on a turn as a whole, or on each reply."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_PROMPT = ("input", "inputTokens", "input_tokens", "promptTokens", "prompt_tokens")
_CACHED = ("cacheRead", "cacheWrite", "cache_read_input_tokens", "cache_creation_input_tokens")
"""Parts of a prompt that some count beside it. OpenAI's cached tokens are within ``prompt_tokens``."""
_OUTPUT = ("output", "outputTokens", "output_tokens", "completionTokens", "completion_tokens")
MOST_TOKENS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request to a model: all of its prompt, cached or not, and the reply."""

    prompt: int
    output: int

    @property
    def total(self) -> int:
        """What the window holds behind the reply."""
        return self.prompt + self.output


def usage_in(value: Any) -> Usage | None:
    """A host's ``usage``; None for anything without a prompt."""
    if not isinstance(value, Mapping):
        return None
    prompt = _first(value, _PROMPT) + sum(_number(value.get(key)) for key in _CACHED)
    return Usage(prompt, _first(value, _OUTPUT)) if prompt else None


def _first(value: Mapping[str, Any], keys: tuple[str, ...]) -> int:
    return next((number for key in keys if (number := _number(value.get(key)))), 0)


def _number(value: Any) -> int:
    return value if type(value) is int and 0 <= value <= MOST_TOKENS else 0
