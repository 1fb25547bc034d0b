"""JSON for the wire, written as fast as Python can without another dependency."""

import json
from typing import Any

from pydantic_core import to_json


def encode(value: Any) -> bytes:
    """``value`` (plain JSON data) as UTF-8. Half surrogate pairs, which UTF-8 can not carry, come out as escapes."""
    try:
        return to_json(value, inf_nan_mode="constants")
    except ValueError:  # half a pair, or nested deeper than pydantic-core follows
        return json.dumps(value, separators=(",", ":")).encode()
