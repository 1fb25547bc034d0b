"""Types of settings: what an environment variable's text is read as."""

import json
from typing import Annotated, Any

from pydantic import BeforeValidator, Field
from pydantic_settings import NoDecode

from app.core.memories.memory import MAX_TTL_DAYS


def as_list(value: Any) -> Any:
    """A text with commas, or a JSON list."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if text.startswith("["):
        return json.loads(text)
    return [item.strip() for item in text.split(",") if item.strip()]


def as_object(value: Any) -> Any:
    """A text that is a JSON object."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value or "{}")
    except ValueError:
        raise ValueError("is not a JSON object") from None


TextList = Annotated[list[str], NoDecode, BeforeValidator(as_list)]
Fraction = Annotated[float, Field(ge=0, le=1)]
Days = Annotated[float, Field(gt=0, le=MAX_TTL_DAYS, allow_inf_nan=False)]
