"""The serving process' side: a child that has the model, started when there is something for it.

One at the lowest priority makes the vectors of many texts; with adapters one reads pairs of texts that an answer
waits for. In a thread of this process the work would hold Python's lock in between, at a priority that nothing else
has, and requests would wait for it.
"""

import json
import os
import select
import subprocess
import sys
import threading
from array import array
from collections.abc import Sequence
from io import RawIOBase
from pathlib import Path
from typing import Any, cast

from app.core.recall.text_pairs import Task, Texts
from app.embedded.encoder.framing import read_frame, write_frame

TRIES = 2
"""A child that ended while it had nothing to do is noticed when the next request is written."""


class EncoderFailed(OSError):
    """The child did not start, or ended before its answer."""


class EncoderClosed(EncoderFailed):
    """Everything is being closed."""


class EncoderProcess:
    """Vectors of many texts, or with ``adapters`` the log-odds of pairs, from another process.

    All methods may be called from any thread.
    """

    def __init__(self, model: Path, *adapters: Path) -> None:
        self._files = [str(model), *map(str, adapters)]
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._started = False
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

    def is_ready(self) -> bool:
        """Whether texts would be embedded without a wait for the child to start; begins to start it. Raises
        `EncoderFailed`."""
        if not self._lock.acquire(blocking=False):
            return self._started  # another thread has it at work, or waits for its start
        try:
            child = self._begun()
            if not self._started and select.select([cast(RawIOBase, child.stdout)], [], [], 0)[0]:
                self._finish_start(child)
            return self._started
        finally:
            self._lock.release()

    def passages(self, texts: Sequence[str]) -> list[bytes]:
        """The vectors of ``texts``, in order, as 32-bit floats. Raises `EncoderFailed`."""
        if not texts:
            return []
        answer = self._answer(list(texts))
        size = len(answer) // len(texts)
        return [answer[at : at + size] for at in range(0, len(answer), size)]

    def log_odds(self, task: Task, pairs: Sequence[Texts]) -> list[float]:
        """For each pair of texts the log-odds of what the task asks, where there is an adapter that was learnt for it
        (`app.embedded.encoder.pair_reader`). Raises `EncoderFailed`."""
        return list(array("f", self._answer([task, *pairs]))) if pairs else []

    def close(self) -> None:
        """End the child at once, whatever it is at."""
        self._closed = True
        child = self._child
        if child is not None:
            child.kill()
            child.wait()
            with self._lock:  # whoever waits for its answer has none now
                _close_pipes(child)

    def _answer(self, asked: list[Any]) -> bytes:
        """What the child answers. Raises `EncoderFailed`."""
        request = json.dumps(asked).encode()
        with self._lock:
            for _ in range(TRIES):
                answer = self._asked(request)
                if answer is not None:
                    return answer
        if self._closed:
            raise EncoderClosed("everything is being closed")
        raise EncoderFailed("the process that encodes ended before its answer")

    def _asked(self, request: bytes) -> bytes | None:
        try:
            child = self._begun()
            if not self._started:
                self._finish_start(child)
            write_frame(cast(RawIOBase, child.stdin), request)
            return read_frame(cast(RawIOBase, child.stdout))
        except (BrokenPipeError, ValueError):
            return None

    def _begun(self) -> "subprocess.Popen[bytes]":
        """The child, which may still be loading its weights."""
        if self._closed:
            raise EncoderClosed("everything is being closed")
        if self._child is not None:
            if self._child.poll() is None or not self._started:
                return self._child
            _close_pipes(self._child)
            self._child, self._started = None, False
        threads = str(max(1, (os.cpu_count() or 1) // 2))
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
            "OPENBLAS_NUM_THREADS": threads,
            "OMP_NUM_THREADS": threads,
        }
        command = [sys.executable, "-m", "app.embedded.encoder.encoding_process", *self._files]
        pipe = subprocess.PIPE
        child = subprocess.Popen(command, stdin=pipe, stdout=pipe, bufsize=0, env=environment)  # noqa: S603 - our own program
        self._child = child
        if self._closed:  # meanwhile: `close` saw no child
            child.kill()
        return child

    def _finish_start(self, child: "subprocess.Popen[bytes]") -> None:
        """Wait until the child has loaded its weights."""
        if read_frame(cast(RawIOBase, child.stdout)) is None:
            child.wait()
            self._child = None
            _close_pipes(child)
            if self._closed:
                raise EncoderClosed("everything is being closed")
            raise EncoderFailed("the process that encodes did not start")
        self._started = True


def _close_pipes(child: "subprocess.Popen[bytes]") -> None:
    for pipe in (child.stdin, child.stdout):
        if pipe:
            pipe.close()
