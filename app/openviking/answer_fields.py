"""Fields of OpenViking's answers, read without trust: what is not as it should be raises `Garbage`."""

from collections.abc import Mapping
from typing import Any

from app.openviking.call_errors import Garbage


def name_in(uri: str) -> str:
    """The last part of a URI."""
    return uri.rstrip("/").rpartition("/")[2]


def object_of(value: Any, what: str) -> Mapping[str, Any]:
    """The value, which is a JSON object."""
    if not isinstance(value, dict):
        raise Garbage(f"{what} is not an object")
    return value


def list_in(value: Mapping[str, Any], key: str) -> list[Any]:
    """The list under a key."""
    items = value.get(key)
    if not isinstance(items, list):
        raise Garbage(f"{key} is not a list")
    return items


def count_in(value: Mapping[str, Any], key: str) -> int:
    """The number under a key, 0 at the least."""
    number = value.get(key)
    if isinstance(number, bool) or not isinstance(number, int):
        raise Garbage(f"{key} is not a number")
    return max(0, number)
