"""Pages for people: Jinja2 templates with everything escaped, and nothing from elsewhere.

No script, no build. The content security policy allows the one style sheet by its hash and nothing else: not even what
somebody might smuggle into a session's name could run.
"""

import base64
import hashlib
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import Response

from app.core.reasons import BACKEND_TROUBLE

if TYPE_CHECKING:
    from jinja2 import Environment

PAGES = "/ui/"
"""Paths of pages."""
NAVIGATION = (
    ("/", "Sidecar"),
    ("/ui/memories", "Memories"),
    ("/ui/resources", "Documents"),
    ("/ui/sessions", "Sessions"),
    ("/ui/recalls", "Recalls"),
    ("/ui/freshness", "Freshness"),
    ("/ui/deliveries", "Deliveries"),
    ("/docs", "API"),
)
"""Every page leads to these."""
_FOLDER = Path(__file__).with_name("templates")
_TROUBLE = BACKEND_TROUBLE | {"degraded"}


def page(template: str, status: int = 200, **values: Any) -> Response:
    """The page that ``template`` makes of ``values``."""
    text = _environment().get_template(template).render(values)
    headers = {
        "Content-Security-Policy": _policy(),
        "Cache-Control": "no-store",
        "Referrer-Policy": "same-origin",  # with none at all a browser does not say that a form is ours
        "X-Content-Type-Options": "nosniff",
    }
    return Response(text.encode("utf-8", "replace"), status, headers, "text/html; charset=utf-8")


def see_other(path: str) -> Response:
    """Where to look after something was done: loading that again does nothing a second time."""
    return Response(status_code=303, headers={"Location": path, "Cache-Control": "no-store"})


def link(path: str, **query: str | None) -> str:
    """The path with those of the query that say something."""
    said = {name: value for name, value in query.items() if value}
    return f"{path}?{urlencode(said, errors='replace')}" if said else path


def section_of(path: str) -> tuple[str, str]:
    """The page of `NAVIGATION` that a path belongs to, and its name; the first page for any other."""
    return next((one for one in NAVIGATION[1:] if f"{path}/".startswith(f"{one[0]}/")), NAVIGATION[0])


def wants_page(path: str, accept: str) -> bool:
    """Whether a request is a browser's for one of the pages, so that an error is shown as one, too."""
    return f"{path}/".startswith(PAGES) and "text/html" in accept.lower()


@cache
def _environment() -> "Environment":
    """Loaded with the first page: the service starts sooner without."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    made = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"time": _time, "moment": _moment, "bytes": _bytes, "ms": _ms, "short": _short}
    made.globals |= {"style": Markup(_style()), "tone_of": _tone, "here": "", "navigation": NAVIGATION, "tenant": None}  # noqa: S704 - our own file
    return made


@cache
def _style() -> str:
    return (_FOLDER / "style.css").read_text(encoding="utf-8")


@cache
def _policy() -> str:
    digest = base64.b64encode(hashlib.sha256(_style().encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )


def _tone(code: str) -> str:
    return {"ok": "good"}.get(code, "bad" if code in _TROUBLE else "")


def _time(at: str) -> str:
    return at[:19].replace("T", " ")


def _moment(seconds: float) -> str:
    """Seconds since the epoch; a clock that is far off shows as it is."""
    try:
        return _time(datetime.fromtimestamp(seconds, UTC).isoformat())
    except (ValueError, OverflowError, OSError):
        return f"{seconds:.0f}"


def _bytes(count: int) -> str:
    return f"{count:,} bytes" if count < 10_000 else f"{count / 1024:,.0f} KiB"


def _ms(value: float) -> str:
    return f"{value:,.1f} ms" if value < 100 else f"{value:,.0f} ms"


def _short(uri: str) -> str:
    """The last part of a URI; with the one before it when it says little by itself, such as a number."""
    *_, folder, name = ("", *uri.rstrip("/").rsplit("/", 2))
    return name if len(name.removesuffix(".md")) > 3 else f"{folder}/{name}".strip("/")
