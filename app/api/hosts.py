"""Which names a request may call this service by, as long as no token guards it.

A page on any site can have its own name lead to this machine (DNS rebinding); the browser then lets it read our answers
as its own site's. That takes a name in the public DNS. So addresses pass, and names that nobody can register: those of
one label (``localhost``, a container's) and those below a reserved end.
"""

import ipaddress
from collections.abc import Sequence
from functools import lru_cache

_RESERVED = (".localhost", ".test", ".internal")
"""RFC 6761, and ICANN's reservation of ``internal`` for private use."""


MAX_ADDRESS_CHARS = 100
"""Longer than any address, with its zone and in brackets."""


def is_ours(host: str, more: Sequence[str] = ()) -> bool:
    """Whether a ``Host`` header's value (with or without port) may be served.

    ``more`` adds names; ``*.example.org`` is every name below, ``*`` is any. No header at all is no browser's doing.
    """
    name = _without_port(host.strip().lower()).rstrip(".")
    if not name or _is_address(name) or name.endswith(_RESERVED):
        return True
    if "." not in name and name.isprintable() and not set(name) & set(" []:/"):
        return True
    return any(_covers(pattern.strip().lower(), name) for pattern in more)


def _covers(pattern: str, name: str) -> bool:
    return pattern in {"*", name} or (pattern.startswith("*.") and name.endswith(pattern[1:]))


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdigit() and (host.startswith("[") or ":" not in name) else host


def _is_address(name: str) -> bool:
    return len(name) <= MAX_ADDRESS_CHARS and _parses(name)


@lru_cache(maxsize=64)
def _parses(name: str) -> bool:
    bracketed = name.startswith("[") and name.endswith("]")
    try:
        ipaddress.ip_address(name[1:-1] if bracketed else name)
    except ValueError:
        return False
    return True
