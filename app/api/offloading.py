"""Handing a large request to another process, and its errors back as problems."""

import json
from typing import Any

from app.api.large import Large
from app.core.deadline import Deadline
from app.errors import FieldProblem, InvalidRequest
from app.offload.jobs import WrongMessages
from app.services import Services


async def run_offloaded(
    services: Services, job: str, large: Large, *arguments: Any, deadline: Deadline | None = None
) -> Any:
    """The result of a job of `app.offload.jobs`. Raises `InvalidRequest`, `TimeoutError`, `ChildFailed`."""
    text = (b'{"messages":', large.messages, b',"prompt":', large.prompt, b"}")
    try:
        return await services.offload.run(job, text, *arguments, deadline=deadline)
    except WrongMessages as wrong:
        raise InvalidRequest(*(FieldProblem(f"messages.{item}", what) for item, what in wrong.args[0])) from None
    except json.JSONDecodeError as error:
        raise InvalidRequest(FieldProblem("body", f"not valid JSON: {error.msg}")) from None
