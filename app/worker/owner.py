"""Who holds a lease, so that others can tell when that process is dead without waiting for the lease to run out."""

import os
import secrets
from pathlib import Path

_STARTED = 19
"""Index of a process's start time among the fields of ``/proc/<pid>/stat`` that follow the command's name."""


def this_process() -> str:
    """``<machine and PID namespace>/<pid>/<start time>/<random>``; the first part is empty where Linux can not tell."""
    pid = os.getpid()
    return f"{_realm()}/{pid}/{_started(pid) or ''}/{secrets.token_hex(4)}"


def is_gone(owner: str) -> bool:
    """True only when the owner was a process of this machine and PID namespace and certainly does not run any more."""
    realm, *rest = owner.split("/")
    if not realm or realm != _realm() or len(rest) != 3 or not rest[0].isdigit():
        return False
    return _started(int(rest[0])) != rest[1]


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
