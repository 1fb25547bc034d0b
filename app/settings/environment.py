"""The environment variables that settings are read from."""

import re
from collections.abc import Iterable, Iterator

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from app.settings.all_settings import Settings


def variables(model: type[BaseModel] = Settings, prefix: str = "SIDECAR_") -> Iterator[tuple[str, FieldInfo]]:
    """Every environment variable and the field that it sets; those of a group with ``__``."""
    for name, field in model.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            yield from variables(inner, f"{prefix}{name.upper()}__")
        else:
            yield f"{prefix}{name.upper()}", field


def unknown_variables(environment: Iterable[str]) -> list[str]:
    """The names in ``environment`` that look like settings of ours and are none: typing errors, most likely."""
    known = {name for name, _ in variables()}
    groups = {name[: at.start()] for name in known for at in re.finditer("__", name)}
    ours = (name for name in environment if name.upper().startswith("SIDECAR_"))
    return sorted(name for name in ours if name.upper() not in known | groups)
