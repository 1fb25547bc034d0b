"""Naming processes so that one that ended can be told from another that was given its number.

A name is ``<machine and PID namespace>/<pid>/<start time>``. Only Linux tells enough for that; elsewhere the first part
is empty, and no process is ever taken for gone, for running, or for one that may be signalled.
"""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_STARTED = 19
"""Index of a process's start time among the fields of ``/proc/<pid>/stat`` that follow the command's name."""


def this_process() -> str:
    """The name of this process with a random part behind it, so that two of its workers differ."""
    return f"{name_of(os.getpid())}/{secrets.token_hex(4)}"


def name_of(pid: int) -> str:
    """The name of the process that has this number now."""
    return f"{_realm()}/{pid}/{_started(pid) or ''}"


def is_gone(name: str) -> bool:
    """True only when it was a process of this machine and PID namespace and certainly does not run any more."""
    place = _place(name)
    return place is not None and _started(place[0]) != place[1]


def is_running(name: str) -> bool:
    """True only when that very process certainly runs."""
    place = _place(name)
    return place is not None and bool(place[1]) and _started(place[0]) == place[1]


@contextmanager
def handle(name: str) -> Iterator[int | None]:
    """A pidfd of that very process, or None when it does not run.

    What is done by it meets no other process that gets the number meanwhile; it becomes readable when the process ends.
    """
    place = _place(name)
    try:
        opened = os.pidfd_open(place[0]) if place else None
    except OSError:
        opened = None
    try:
        yield opened if is_running(name) else None
    finally:
        if opened is not None:
            os.close(opened)


def _place(name: str) -> tuple[int, str] | None:
    """Number and start time of a process of this machine and PID namespace; None for any other."""
    realm, *rest = name.split("/")
    if not realm or realm != _realm() or len(rest) not in (2, 3) or not rest[0].isdigit():
        return None
    return int(rest[0]), rest[1]


def _realm() -> str:
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}.{Path('/proc/self/ns/pid').readlink()}".replace("/", "")
    except OSError:
        return ""


def _started(pid: int) -> str | None:
    """When the process was started; None if there is none, or only its remains."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    state, *fields = text[text.rindex(")") + 1 :].split()
    return None if state in {"Z", "X"} else fields[_STARTED - 1]
