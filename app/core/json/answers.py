"""Dataclasses that are answers: written as JSON as they stand, with names in camelCase and docstrings in the schema."""

from functools import cache
from typing import Any, TypeVar

from pydantic import ConfigDict, GetCoreSchemaHandler, TypeAdapter, with_config
from pydantic.alias_generators import to_camel
from pydantic_core import CoreSchema, PydanticSerializationError

from app.core.json.encoding import encode

T = TypeVar("T")

_CONFIG = ConfigDict(
    alias_generator=to_camel,
    validate_by_name=True,
    validate_by_alias=False,
    use_attribute_docstrings=True,
    ser_json_inf_nan="constants",
    json_schema_serialization_defaults_required=True,
)


def answer(kind: type[T]) -> type[T]:
    """Decorates a dataclass that is the body of an answer, or part of one.

    Pydantic reads a plain dataclass anew, source code and all, for every route that it stands in: a quarter of a second
    of the first request. So its schema is made once, and kept with the class.
    """
    kind.__get_pydantic_core_schema__ = classmethod(_kept_schema)  # type: ignore[attr-defined]
    return with_config(_CONFIG)(kind)


def _kept_schema(kind: type, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
    if source is not kind or kind in _being_read:
        return handler(source)
    _being_read.add(kind)
    try:
        return adapter(kind).core_schema
    finally:
        _being_read.discard(kind)


_being_read: set[type] = set()


@cache
def adapter(kind: type[T]) -> TypeAdapter[T]:
    """What reads and writes objects of a class; made once for each."""
    return TypeAdapter(kind)


def encode_answer(body: Any, *, without: frozenset[str] = frozenset()) -> bytes:
    """A dataclass that `answer` decorates as UTF-8 JSON, or all of it but the fields in ``without``."""
    kind: Any = type(body)
    shape = adapter(kind)
    try:
        return shape.dump_json(body, by_alias=True, exclude=set(without))
    except PydanticSerializationError:  # half a surrogate pair: `encode` writes it as an escape
        return encode(shape.dump_python(body, mode="json", by_alias=True, exclude=set(without)))
