"""The use case of a tool call: which tool, with which arguments, and every way it can end as an answer in text."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import structlog
from pydantic import ValidationError

from app.core.reasons import Reason
from app.errors import BackendTrouble, RefusedByPolicy, SidecarError
from app.ports import BackendError
from app.tools import BY_NAME
from app.tools.tool import Answer, Arguments, Caller, Mistake, Tool, Uses

log = structlog.get_logger(__name__)

MAX_PROBLEMS = 5
"""Wrong arguments that one answer names."""


@dataclass(frozen=True, slots=True)
class CallTool:
    """Runs tools by name."""

    uses: Uses

    async def run(self, name: str, arguments: Mapping[str, Any], caller: Caller, *, bypassed: bool = False) -> Answer:
        """Call the tool ``name``, which must exist. Raises errors of `app.errors` only: the store is away.

        ``bypassed``: a bypass pattern covers the session, so nothing of it is read or written.
        """
        if bypassed:
            return _refusal("Memory is switched off in this conversation. Go on without it.", Reason.SESSION_BYPASSED)
        tool = BY_NAME[name]
        try:
            asked = tool.arguments.model_validate(dict(arguments))
        except ValidationError as error:
            return _refusal(_wrong(tool, error), Reason.INVALID_ARGUMENTS)
        try:
            return await tool.run(self.uses, caller, asked)
        except Mistake as mistake:
            return Answer(mistake.text, mistake.details, ok=False, reason=mistake.reason)
        except BackendError as error:
            return _away(tool, error.reason, error.detail)
        except BackendTrouble as error:
            return _away(tool, error.code, error.detail)
        except RefusedByPolicy as error:
            return replace(_refusal(f"It was not done: {error.detail}.", error.code), policy=error.policy)
        except SidecarError as error:
            if error.status >= 500:
                raise
            return _refusal(f"It was not done: {error.detail}.", error.code)


def _away(tool: Tool[Any], reason: Reason, detail: str) -> Answer:
    """The backend does not answer; the model can go on, and is told what did not happen."""
    log.warning("tool_failed", tool=tool.name, reason=str(reason), detail=detail)
    what = "What is stored can not be read right now." if tool.read_only else "It was not done."
    return _refusal(f"{what} Go on without it, or try again in a minute.", reason)


def _refusal(text: str, reason: Reason) -> Answer:
    return Answer(text, ok=False, reason=reason)


def _wrong(tool: Tool[Any], error: ValidationError) -> str:
    """What is wrong with the arguments, and which the tool takes."""
    problems = "; ".join(_problems(error))
    return f"Wrong arguments for {tool.name}: {problems}. It takes {_taken(tool.arguments)}. Call it again with these."


def _problems(error: ValidationError) -> Iterator[str]:
    """A line a problem. What the model sent is not repeated: it may be long, and in a log it would be a text."""
    for problem in error.errors(include_url=False, include_input=False)[:MAX_PROBLEMS]:
        name = ".".join(str(part) for part in problem["loc"])[:80] or "the arguments"
        match problem["type"]:
            case "extra_forbidden":
                yield f"there is no argument {name!r}"
            case "missing":
                yield f"{name} is missing"
            case _:
                yield f"{name}: {problem['msg'].removeprefix('Value error, ')}"


def _taken(arguments: type[Arguments]) -> str:
    names = [
        f"{field.alias or name}{'' if field.is_required() else ' (optional)'}"
        for name, field in arguments.model_fields.items()
    ]
    return ", ".join(names) or "none"
