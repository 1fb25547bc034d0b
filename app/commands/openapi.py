"""The files of ``openapi/``: the OpenAPI document and the examples, generated from the code and checked in CI."""

import json
from typing import Any

from app.api.examples import FILES
from app.factory import create_app
from app.settings import Settings


def documents() -> dict[str, str]:
    """File name to text, byte for byte what stands in ``openapi/``."""
    app = create_app(Settings(_env_file=None))
    return {name: _pretty(content) for name, content in {"openapi.json": app.openapi(), **FILES}.items()}


def _pretty(content: Any) -> str:
    if isinstance(content, str):
        return content
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
