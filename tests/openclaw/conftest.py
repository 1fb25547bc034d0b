"""A real OpenClaw with the plugin, a real sidecar, and both backends behind it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

from tests.integration.conftest import rigs as rigs  # the real OpenViking, started when first asked for
from tests.openclaw.host import Gateway, Rig, Sidecar, rig, text_of, why_not, without_block
from tests.openclaw.stored import StoredMessage, in_embedded, in_openviking


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if reason := why_not():
        for item in items:
            if Path(__file__).parent in item.path.parents and item.get_closest_marker("rig"):
                item.add_marker(pytest.mark.skip(reason=reason))


class ByChain(LoadScopeScheduling):
    """The tests of one chain go to one process, in order, whatever module they stand in: a host starts in half a
    minute. The groups of ``--dist loadgroup`` are not seen by pytest 9.2 with xdist 3.8."""

    def _split_scope(self, nodeid: str) -> str:
        module, _, test = nodeid.partition("::")
        _, _, backend = test.partition("[")
        return f"{'world' if Path(module).stem in OF_ONE_WORLD else module}[{backend}"


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByChain:
    return ByChain(config, log)


@dataclass
class World:
    """One gateway, one sidecar, one backend."""

    backend: str
    rig: Rig
    gateway: Gateway
    sidecar: Sidecar
    stored: Callable[[], list[StoredMessage]]

    def asked(self, text: str) -> list[dict]:
        """The messages of the last request to the model in which a user says this, and not only a recalled memory."""
        requests = [request["messages"] for request in self.rig.requests()]
        return next(
            messages
            for messages in reversed(requests)
            if any(text in without_block(text_of(message)) for message in messages if message["role"] == "user")
        )

    def session_of(self, text: str) -> list[StoredMessage]:
        """What is stored of the session in which somebody said this: other tests' sessions may stand beside it."""
        stored = self.stored()
        sessions = {message.session for message in stored if message.text == text}
        return [message for message in stored if message.session in sessions]


@pytest.fixture(scope="session")
def openclaw(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    with rig(tmp_path_factory.mktemp("openclaw")) as started:
        yield started


BACKENDS = "embedded", "openviking"
OF_ONE_WORLD = {"test_memory", "test_session_start", "test_tools"}
"""Modules whose tests share a `world` on each backend."""
PATIENT = {"turnBudgetMs": 60_000, "assembleTimeoutMs": 60_000, "recallTimeoutMs": 14_000, "toolTimeoutMs": 60_000}
"""A busy machine must change no answer; a host gives a hook 15 seconds, however."""
SMALL_WINDOW = 24_000


@pytest.fixture(scope="session", params=BACKENDS)
def world(request: pytest.FixtureRequest, openclaw: Rig, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The whole chain on this backend, with the same sessions for all tests."""
    yield from _run(_world(request, "alice", openclaw, request.param, tmp_path_factory, PATIENT))


@pytest.fixture(scope="module", params=BACKENDS)
def alone(request: pytest.FixtureRequest, openclaw: Rig, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A chain whose sidecar is stopped and started at will; each test leaves it running."""
    yield from _run(_world(request, "bob", openclaw, f"alone-{request.param}", tmp_path_factory))


@pytest.fixture(scope="module", params=BACKENDS)
def small(request: pytest.FixtureRequest, openclaw: Rig, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A chain whose model has a small window."""
    for world in _run(_world(request, "bob", openclaw, f"small-{request.param}", tmp_path_factory, PATIENT)):
        world.gateway.use_window(SMALL_WINDOW)
        yield world


def _world(
    request: pytest.FixtureRequest,
    user: str,
    openclaw: Rig,
    name: str,
    directories: pytest.TempPathFactory,
    config: Mapping[str, int] = MappingProxyType({}),
) -> World:
    data_dir = directories.mktemp(name) / "data"
    settings = {"BACKEND": request.param, "LOG_LEVEL": "debug"}
    # What is relevant is judged elsewhere, and in `test_guidance`: a model that reads would take half of the machine.
    settings |= {"RECALL__RESOURCES": "true", "RECALL__TIMEOUT_MS": "30000", "RECALL__RERANK": "false"}
    if request.param == "openviking":
        server = request.getfixturevalue("rigs").up("api_key")
        headers = server.users[user]
        settings |= {"OPENVIKING__URL": server.url, "OPENVIKING__API_KEY": headers["X-API-Key"]}
        stored = lambda: in_openviking(server.url, headers)  # noqa: E731
    else:
        stored = lambda: in_embedded(data_dir)  # noqa: E731
    return World(request.param, openclaw, *_parts(openclaw, name, data_dir, settings, config), stored)


def _parts(
    openclaw: Rig, name: str, data_dir: Path, settings: dict[str, str], config: Mapping[str, int] = MappingProxyType({})
) -> tuple[Gateway, Sidecar]:
    openclaw.script.write_text("[]")  # the model is one for all modules: what it does for the last one is over
    sidecar = Sidecar(data_dir, settings)
    return Gateway(openclaw, name, {"baseUrl": sidecar.url, **config}), sidecar


def _run(world: World) -> Iterator[World]:
    try:
        world.sidecar.up()
        world.gateway.up()
        yield world
    finally:
        world.gateway.down()
        world.sidecar.down()
