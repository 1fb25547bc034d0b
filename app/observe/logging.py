"""JSON logs: one line an event, with request id, session and reason; never a key, a token or message text at info."""

import json
import logging
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

import structlog
from structlog.typing import EventDict, WrappedLogger

from app.observe.context import noted

_encode = json.JSONEncoder(ensure_ascii=False, default=str).encode


class _Lines:
    """Writes lines for one logger's name; a lock of its own keeps two threads' lines apart."""

    def __init__(self, name: str, stream: TextIO, lock: threading.Lock) -> None:
        self.name = name
        self._stream = stream
        self._lock = lock

    def msg(self, line: str) -> None:
        """Write one line at once. A log that can not be written (a broken pipe, a full disk) stops no request."""
        with self._lock, suppress(OSError, ValueError):
            self._stream.write(line + "\n")
            self._stream.flush()

    debug = info = warning = error = critical = exception = msg


def configure_logging(level: str) -> None:
    """Send structlog and the standard library's loggers to stderr as JSON lines; safe to call again.

    structlog's own events, one for each request, are written directly: the standard library would render each twice.
    """
    shared: list[structlog.types.Processor] = [
        _with_context,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
    ]
    number = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[*shared, _add_name, _rendered],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=_factory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*shared, structlog.stdlib.add_logger_name],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, _rendered],
        )
    )
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(number)
    for noisy in ("httpx", "httpcore", "alembic", "uvicorn.access"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    for name in ("uvicorn", "uvicorn.error"):
        logging.getLogger(name).handlers = []


def _factory(stream: TextIO) -> Callable[..., _Lines]:
    lock = threading.Lock()
    return lambda name="app": _Lines(name, stream, lock)


def _with_context(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    for name, value in noted().items():
        event.setdefault(name, value)
    return event


def _add_name(logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    event["logger"] = logger.name
    return event


def _rendered(_logger: WrappedLogger, _method: str, event: EventDict) -> str:
    return _encode(event)
