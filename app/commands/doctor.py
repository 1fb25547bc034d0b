"""``openviking-sidecar doctor``: what is in effect, and whether store and backend can be used, as JSON on stdout."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel, SecretStr

from app.services import open_services
from app.settings import Settings

MASK = "***"
"""Stands for a key, a token or a password."""
_USERINFO = re.compile(r"(?<=://)[^/@\s]{0,1000}@")


async def run_doctor(settings: Settings) -> int:
    """Print the report. The exit status is 0 when the store can be written and the backend answers, else 1."""
    async with open_services(settings) as services:
        store_problem = await services.store.check()
        server = services.server.look() if services.server else {}
        backend = await services.backend_health()
    report = {
        "dataDir": str(settings.data_dir.resolve()),
        "encryption": f"on, key {keys.id}" if (keys := settings.encryption.keys()) else "off",
        "store": store_problem or "writable",
        "backend": {"name": settings.backend, "ok": backend.ok, "detail": backend.detail, **server, **backend.facts},
        "listen": f"{settings.host}:{settings.port}",
        "tokens": len(settings.auth.parsed()),
        "settings": dict(effective(settings)),
    }
    print(json.dumps(report, indent=2, ensure_ascii=False))
    return 0 if store_problem is None and backend.ok else 1


def effective(model: BaseModel, prefix: str = "SIDECAR_") -> Iterator[tuple[str, Any]]:
    """Every setting by its variable with the value in effect, whatever it came from. Secrets are masked."""
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            yield from effective(value, f"{prefix}{name.upper()}__")
        else:
            yield f"{prefix}{name.upper()}", _shown(value)


def _shown(value: Any) -> Any:
    if isinstance(value, SecretStr):
        return MASK if value.get_secret_value() else ""
    if isinstance(value, Path):
        return str(value)
    return _USERINFO.sub(f"{MASK}@", value) if isinstance(value, str) else value
