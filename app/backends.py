"""Which backends there are. A new one is a package, and one line here: see ``docs/recipes/add-a-backend.md``."""

from collections.abc import Callable
from pkgutil import resolve_name
from typing import TYPE_CHECKING

from app.atrest.vault import PLAIN, Vault
from app.ports import OpenedBackend

if TYPE_CHECKING:
    from app.settings import Settings

BACKENDS = {
    "embedded": "app.embedded.backend:open_backend",
    "openviking": "app.openviking.opening:open_backend",
}
"""By the name in ``SIDECAR_BACKEND``, what opens it. Only the one that is configured is imported: the others would cost
time and memory at start."""


def open_backend(settings: "Settings", vault: Vault = PLAIN) -> OpenedBackend:
    """The configured backend, with what it keeps on disk in ``vault``.

    Raises `ImportError` when what it needs is not installed, `OSError` for its files.
    """
    opener: Callable[[Settings, Vault], OpenedBackend] = resolve_name(BACKENDS[settings.backend])
    return opener(settings, vault)
