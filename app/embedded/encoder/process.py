"""The serving process' side: one child that encodes, started when there are many texts, at the lowest priority.

In a thread of this process the work would hold Python's lock in between, at a priority that nothing else has, and
requests would wait for it.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from io import RawIOBase
from pathlib import Path
from typing import cast

from app.embedded.encoder.framing import read_frame, write_frame

TRIES = 2
"""A child that ended while it had nothing to do is noticed when the next request is written."""


class EncoderFailed(OSError):
    """The child did not start, or ended before its answer."""


class EncoderProcess:
    """Vectors of many texts, from another process. All methods may be called from any thread."""

    def __init__(self, model: Path) -> None:
        self._model = model
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._closed = False

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    @property
    def is_running(self) -> bool:
        """Whether a child has the weights in memory."""
        child = self._child
        return child is not None and child.poll() is None

    def passages(self, texts: Sequence[str]) -> list[bytes]:
        """The vectors of ``texts``, in order, as 32-bit floats. Raises `EncoderFailed`."""
        request = json.dumps(list(texts)).encode()
        with self._lock:
            for _ in range(TRIES):
                answer = self._asked(request)
                if answer is not None:
                    size = len(answer) // max(1, len(texts))
                    return [answer[at : at + size] for at in range(0, len(answer), size)] if texts else []
        raise EncoderFailed("the process that embeds ended before its answer")

    def close(self) -> None:
        """End the child at once, whatever it is at."""
        self._closed = True
        child = self._child
        if child is not None:
            child.kill()
            child.wait()
            with self._lock:  # whoever waits for its answer has none now
                _close_pipes(child)

    def _asked(self, request: bytes) -> bytes | None:
        try:
            child = self._running()
            write_frame(cast(RawIOBase, child.stdin), request)
            return read_frame(cast(RawIOBase, child.stdout))
        except (BrokenPipeError, ValueError):
            return None

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._child is not None:
            if self._child.poll() is None:
                return self._child
            _close_pipes(self._child)
        if self._closed:
            raise EncoderFailed("everything is being closed")
        threads = str(max(1, (os.cpu_count() or 1) // 2))
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "OPENBLAS_NUM_THREADS": threads,
            "OMP_NUM_THREADS": threads,
        }
        command = [sys.executable, "-m", "app.embedded.encoder.encoding_process", str(self._model)]
        pipe = subprocess.PIPE
        child = subprocess.Popen(command, stdin=pipe, stdout=pipe, bufsize=0, env=environment)  # noqa: S603 - our own program
        self._child = child
        if read_frame(cast(RawIOBase, child.stdout)) is None:
            child.wait()
            self._child = None
            _close_pipes(child)
            raise EncoderFailed("the process that embeds did not start")
        return child


def _close_pipes(child: "subprocess.Popen[bytes]") -> None:
    for pipe in (child.stdin, child.stdout):
        if pipe:
            pipe.close()
