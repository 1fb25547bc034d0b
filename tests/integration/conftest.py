"""The real OpenViking beside the checkout: started once per way to start it, taken down at the end.

The rig lies in ``../shared/rig`` beside the checkout, or where ``RIG_DIR`` says. Without it, these tests skip.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.settings import OpenVikingSettings
from tests.process import free_port

RIG_DIR = Path(os.environ.get("RIG_DIR") or Path(__file__).parents[3] / "shared" / "rig")
RIG_HOME = Path(os.environ.get("OPENVIKING_RIG_HOME") or Path.home() / ".cache" / "openviking-rig")
_NUMBERS = count()
"""A process has more than one `Rigs`, and each server a name of its own."""


@dataclass(frozen=True)
class OpenViking:
    """A running server. ``users`` maps a name to the headers that it sends."""

    name: str
    url: str
    provider_url: str
    auth: str
    account: str
    root_key: str
    users: dict[str, dict[str, str]]

    def settings(self, **values: Any) -> OpenVikingSettings:
        """Settings for a client that may act for every user of this server."""
        if self.auth == "api_key":
            keys = {f"{self.account}/{user}": headers["X-API-Key"] for user, headers in self.users.items()}
            values = {"api_keys": json.dumps(keys), **values}
        elif self.auth == "trusted":
            values = {"api_key": self.root_key, **values}
        return OpenVikingSettings(**{"url": self.url, "timeout_ms": 30_000, **values})

    def fault(self, **faults: str) -> None:
        """Break or mend the model provider: ``chat`` or ``embeddings`` to ``ok``, ``down``, ``garbage``, ``hang``."""
        flags = [arg for kind, how in faults.items() for arg in (f"--{kind}", how)]
        run("provider", "fault", "--name", self.name, *flags)

    def settle(self, user: str) -> None:
        """Wait until the server has indexed everything: until then equal searches need not give equal answers."""
        named = {"X-OpenViking-Account": self.account, "X-OpenViking-User": user}
        headers = self.users.get(user) or ({**named, "X-API-Key": self.root_key} if self.auth == "trusted" else {})
        httpx.post(f"{self.url}/api/v1/system/wait", headers=headers, timeout=120, trust_env=False).raise_for_status()

    def restart(self, *, kill: bool = False) -> None:
        """Stop the server and start it again on its old data."""
        run("restart", "--name", self.name, *(["--kill"] if kill else []))


def run(*args: str) -> dict[str, Any]:
    """A verb of the rig; its answer."""
    done = subprocess.run([str(RIG_DIR / "openviking" / "rig"), *args], capture_output=True, text=True, timeout=180)
    if done.returncode:
        raise RuntimeError(f"rig {' '.join(args)} failed:\n{done.stderr[-2000:]}")
    answer: dict[str, Any] = json.loads(done.stdout or "{}")
    return answer


class Rigs:
    """Starts servers, each way once; all of them go down with the stack."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._running: dict[tuple[str, ...], OpenViking] = {}

    def up(self, auth: str = "api_key", *flags: str, to_break: bool = False) -> OpenViking:
        """The server with this authentication and these flags of the rig (``--evolution``, ``--fast``).

        ``to_break`` gives another one than the rest use: OpenViking stays off for a minute and more after its models
        failed, whether they are back or not.
        """
        key = (auth, *sorted(flags), *(["to break"] if to_break else []))
        if key not in self._running:
            self._running[key] = self._start(auth, flags, f"pytest-{os.getpid()}-{next(_NUMBERS)}")
        return self._running[key]

    def _start(self, auth: str, flags: tuple[str, ...], name: str) -> OpenViking:
        ports = ["--port", str(free_port()), "--provider-port", str(free_port())]
        self._stack.callback(run, "down", "--name", name, "--wipe")
        facts = run("up", "--name", name, "--auth", auth, *ports, *flags)
        return OpenViking(
            name=name,
            url=facts["base_url"],
            provider_url=facts["provider_url"],
            auth=auth,
            account=facts.get("account") or "acme",
            root_key=facts.get("root_key") or "",
            users={user: dict(each["headers"]) for user, each in (facts.get("users") or {}).items()},
        )


@pytest.fixture(scope="session")
def rigs() -> Iterator[Rigs]:
    if not (RIG_DIR / "openviking" / "rig").exists():
        pytest.skip(f"no OpenViking rig at {RIG_DIR}; set RIG_DIR")
    if not (RIG_HOME / "venvs").exists():
        pytest.skip(f"the OpenViking rig is not set up below {RIG_HOME}; run its ./setup")
    with ExitStack() as stack:
        yield Rigs(stack)


@pytest.fixture(scope="session")
def openviking(rigs: Rigs) -> OpenViking:
    """A server in ``api_key`` mode with users alice and bob; embeddings by letters, which is quick and plain."""
    return rigs.up("api_key", "--fast")
