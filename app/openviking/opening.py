"""Opens the OpenViking backend, and where settings ask for it a server of our own behind it."""

from urllib.parse import urlsplit

from app.observe.context import outgoing_headers
from app.openviking.client import OpenVikingBackend
from app.ports import OpenedBackend
from app.settings import Settings

DEFAULT_PORT = 1933
"""Where OpenViking listens when its URL names no port."""


def open_backend(settings: Settings) -> OpenedBackend:
    """See `app.backends`. Nothing is sent yet."""
    backend = OpenVikingBackend(settings.openviking, outgoing_headers=outgoing_headers)
    if not settings.local.enabled:
        return OpenedBackend(backend)
    from app.local.supervised_server import LocalServer

    port = urlsplit(settings.openviking.url).port or DEFAULT_PORT
    return OpenedBackend(backend, LocalServer(settings.local, port, settings.data_dir, backend.move_to))
