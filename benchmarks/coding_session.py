"""A coding session as a host sends it, and a backend that goes away and comes back: for `benchmarks.prompt_cache`.

Each turn states a fact of its own, makes a call, and has an answer. The outputs are logs of a test run.
"""

import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

from app.core.reasons import Reason
from app.ports import BackendError, ContextBackend

BEGAN_MS = 1_770_000_000_000
_LINE = "tests/test_{module}.py::test_case_{n} PASSED in {ms} ms  [ worker {worker} ]"
_TOKENS_OF_LINE = 25
MODULES = ("payments", "orders", "stock", "login", "search", "mail")


def fact_of(number: int) -> str:
    """What the user states in a turn."""
    return f"ticket PAY-{1_000 + number} is due on day {number % 28 + 1}"


def turns(count: int, sizes: Sequence[int], seed: int = 7) -> Iterator[list[dict[str, Any]]]:
    """The turns' messages; ``sizes``: about the tokens of an output, one of them for each turn."""
    some = random.Random(seed)
    for number in range(count):
        module = MODULES[number % len(MODULES)]
        asked = (
            f"Step {number}: fix the {module} module, {fact_of(number)}. Then run its tests and tell me what failed."
        )
        told = f"I changed app/{module}/step_{number}.py and ran the tests of {module}; all of them pass now."
        yield [
            _at(number, 0, {"role": "user", "content": asked}),
            *_called(some, number, module, some.choice(sizes)),
            _at(number, 9, {"role": "assistant", "content": [{"type": "text", "text": told}]}),
        ]


def _called(some: random.Random, number: int, module: str, tokens: int) -> Iterator[dict[str, Any]]:
    name = f"call_{number}"
    arguments = {"command": f"pytest tests/test_{module}.py --step {number}"}
    block = {"type": "toolCall", "id": name, "name": "exec", "arguments": arguments}
    lines = [
        _LINE.format(module=module, n=some.randrange(10_000), ms=some.randrange(900), worker=n % 8)
        for n in range(max(1, tokens // _TOKENS_OF_LINE))
    ]
    output = [{"type": "text", "text": "\n".join([*lines, f"{len(lines)} passed"])}]
    yield _at(number, 1, {"role": "assistant", "content": [block]})
    yield _at(number, 2, {"role": "toolResult", "toolCallId": name, "toolName": "exec", "content": output})


def _at(number: int, seconds: int, message: dict[str, Any]) -> dict[str, Any]:
    return {**message, "timestamp": BEGAN_MS + number * 60_000 + seconds * 1_000}


class Prefix:
    """Counts how often a request does not begin with all of the one before: a provider's cached prefix breaks."""

    def __init__(self) -> None:
        self.breaks: list[int] = []
        """The numbers of the requests that broke it."""
        self._before: list[str] = []
        self._seen = 0

    def see(self, answer: dict[str, Any]) -> None:
        """Take the answer of `/assemble` for the next request."""
        parts = [answer.get("systemPromptAddition") or "", *map(json.dumps, answer["messages"])]
        if self._seen and parts[: len(self._before)] != self._before:
            self.breaks.append(self._seen)
        self._before = parts
        self._seen += 1


class Leaving:
    """A backend in front of another one, which can go away."""

    def __init__(self, backend: ContextBackend) -> None:
        self._backend = backend
        self.away = False

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._backend, name)
        if not callable(value) or name in ("gauges", "aclose"):
            return value

        async def call(*given: Any, **named: Any) -> Any:
            if self.away:
                raise BackendError(Reason.BACKEND_UNAVAILABLE, "it is away", retryable=True)
            return await value(*given, **named)

        return call
