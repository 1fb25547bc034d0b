"""Finding an installed OpenViking, and what it is started with."""

import importlib.util
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from app.errors import CanNotStart
from app.settings import LocalSettings

HOST = "127.0.0.1"
"""The only address that the child listens on: nobody but the sidecar needs it."""
PORTS_TRIED = 100
_MODULE = "openviking_cli.server_bootstrap"
_PROGRAM = "openviking-server"
_IS_INSTALLED = "import importlib.util, sys; sys.exit(importlib.util.find_spec('openviking_cli') is None)"
_LOOK_S = 30


def find_command(settings: LocalSettings) -> list[str]:
    """The command that starts OpenViking, without its address: the setting's, else the PATH's, else this Python's.

    Raises `CanNotStart` when there is none, or when what the settings name does not exist.
    """
    command = _server(settings.python)
    if not settings.config:
        return command
    config = Path(settings.config).expanduser()
    if not config.is_file():
        raise CanNotStart(f"SIDECAR_LOCAL__CONFIG: there is no file {config}")
    return [*command, "--config", str(config.resolve())]


def environment(inherited: Mapping[str, str]) -> dict[str, str]:
    """The child's environment: ours without our own settings, which hold keys that are not its business."""
    kept = {name: value for name, value in inherited.items() if not name.upper().startswith("SIDECAR_")}
    return {**kept, "PYTHONUNBUFFERED": "1"}


def next_free_port(first: int) -> int:
    """The first port from ``first`` on that nobody listens on. Raises `OSError` when there is none near."""
    for port in range(first, min(first + PORTS_TRIED, 65_536)):
        with socket.socket() as probe:
            probe.setsockopt(
                socket.SOL_SOCKET, socket.SO_REUSEADDR, 1
            )  # as the server will: old connections may linger
            try:
                probe.bind((HOST, port))
            except OSError:
                continue
            return port
    raise OSError(f"no port from {first} on is free")


def _server(named: str) -> list[str]:
    if named:
        path = shutil.which(os.path.expanduser(named))
        if path is None:
            raise CanNotStart(f"SIDECAR_LOCAL__PYTHON: there is no program {named}")
        if not Path(path).name.startswith("python"):
            return [path]
        if not _has_openviking(path):
            raise CanNotStart(f"SIDECAR_LOCAL__PYTHON: OpenViking is not installed for {path}")
        return [path, "-m", _MODULE]
    if path := shutil.which(_PROGRAM):
        return [path]
    if importlib.util.find_spec("openviking_cli"):
        return [sys.executable, "-m", _MODULE]
    raise CanNotStart(
        "no OpenViking was found on this machine: install it (python3 -m venv ov && ov/bin/pip install openviking) "
        "and set SIDECAR_LOCAL__PYTHON to that ov/bin/python"
    )


def _has_openviking(python: str) -> bool:
    try:
        asked = subprocess.run([python, "-c", _IS_INSTALLED], capture_output=True, timeout=_LOOK_S)  # noqa: S603
    except (OSError, subprocess.TimeoutExpired):
        return False
    return asked.returncode == 0
