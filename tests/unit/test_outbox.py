"""`openviking-sidecar outbox`: what an operator sees and may do on the command line."""

import argparse
from pathlib import Path

import pytest

from app.commands.outbox import run_outbox
from app.services import open_services
from app.settings import Settings
from tests.unit.turning import a_turn, somebody

pytestmark = pytest.mark.anyio

UUID = "0B6F2F0E-8F4F-4D7C-9C56-0A1B2C3D4E5F"


def asked(action: str = "list", **more: object) -> argparse.Namespace:
    return argparse.Namespace(**{"action": action, "turn_id": None, "state": None, "session": None, "limit": 50} | more)


@pytest.fixture
async def settings(tmp_path: Path) -> Settings:
    settings = Settings(backend="openviking", data_dir=tmp_path)
    async with open_services(settings) as services:
        for session in (UUID.lower(), "other"):
            await services.store.accept(a_turn("secret words", who=somebody(session)))
    return settings


async def test_turns_are_listed_without_their_text(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    assert await run_outbox(settings, asked(state="pending")) == 0
    *turns, last = capsys.readouterr().out.splitlines()
    assert len(turns) == 2 and all("acme/alice" in line and "secret" not in line for line in turns)
    assert last.startswith("waiting 2 ")


async def test_a_session_is_found_by_the_id_that_the_host_uses(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await run_outbox(settings, asked(session=UUID)) == 0
    (turn, _) = capsys.readouterr().out.splitlines()
    assert UUID.lower() in turn


async def test_a_state_that_does_not_exist_is_an_error_and_no_empty_list(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await run_outbox(settings, asked(state="bogus")) == 2
    assert "pending" in capsys.readouterr().err


async def test_only_what_is_not_delivered_can_be_decided_about(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    await run_outbox(settings, asked(session="other"))
    turn_id = capsys.readouterr().out.split()[0]
    for action in ("retry", "discard"):
        assert await run_outbox(settings, asked(action)) == 2
        assert await run_outbox(settings, asked(action, turn_id="t_nonsense")) == 1
        assert await run_outbox(settings, asked(action, turn_id=turn_id)) == 0
    capsys.readouterr()
    assert await run_outbox(settings, asked("retry", turn_id=turn_id)) == 1
    assert "this turn is discarded" in capsys.readouterr().err
