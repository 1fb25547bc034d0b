"""JSON logs: one line an event, with request id, session and reason; never a key, a token or message text at info."""

import json
import logging
import sys
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

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
        with self._lock:
            try:
                self._stream.write(line + "\n")
                self._stream.flush()
            except (OSError, ValueError):
                pass

    debug = info = warning = error = critical = exception = msg


_NAMES = ("file", "resource")
"""Facts that say what somebody called something."""


def configure_logging(level: str, shown: Callable[[str], str]) -> None:
    """Send structlog and the standard library's loggers to stderr as JSON lines; safe to call again.

    ``shown`` says what may be shown of a name. structlog's own events, one for each request, are written directly: the
    standard library would render each twice.
    """
    number = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[_completed, _naming(shown), _add_name, _rendered],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=_factory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[_completed, structlog.stdlib.add_logger_name],
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


def _completed(logger: WrappedLogger, method: str, event: EventDict) -> EventDict:
    """The event with what the request noted, its level, the time, and a traceback as text where there is one.

    One step instead of structlog's four: every request logs a line, and each step costs as much as what it adds.
    """
    for name, value in noted().items():
        event.setdefault(name, value)
    structlog.stdlib.add_log_level(logger, method, event)
    event["timestamp"] = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    return structlog.processors.format_exc_info(logger, method, event) if "exc_info" in event else event


def _naming(shown: Callable[[str], str]) -> Processor:
    def named(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        for name in _NAMES:
            if name in event:
                event[name] = shown(str(event[name]))
        return event

    return named


def _add_name(logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    event["logger"] = logger.name
    return event


def _rendered(_logger: WrappedLogger, _method: str, event: EventDict) -> str:
    return _encode(event)
