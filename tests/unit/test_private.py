"""The data directory is for its owner alone, whoever made it."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from app.atrest import private
from app.atrest.private import make_private, private_key
from app.services import open_services
from app.settings import Settings

pytestmark = pytest.mark.anyio


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_an_existing_data_directory_becomes_private(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir(mode=0o755)
    data.chmod(0o755)
    for name in ("sidecar.db", "traces.db"):
        (data / name).touch()
        (data / name).chmod(0o644)
    (data / "accounts").mkdir(mode=0o755)
    async with open_services(Settings(_env_file=None, data_dir=data)):
        assert mode(data) == mode(data / "accounts") == 0o700
        assert {mode(path) for path in data.iterdir() if path.is_file()} == {0o600}


def test_what_a_link_leads_to_is_left_alone(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.touch()
    elsewhere.chmod(0o644)
    data = tmp_path / "data"
    data.mkdir()
    (data / "link").symlink_to(elsewhere)
    make_private(data)
    assert mode(elsewhere) == 0o644


def test_a_directory_of_somebody_else_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tmp_path.chmod(0o755)

    def refused(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "chmod", refused)
    logs: list[tuple[str, str]] = []
    monkeypatch.setattr(
        private.log, "warning", lambda event, **facts: logs.append((event, facts["path"])), raising=False
    )
    make_private(tmp_path)
    assert logs == [("not_private", str(tmp_path))]


def test_a_key_is_made_once_whoever_asks_first(tmp_path: Path) -> None:
    path = tmp_path / "forms.key"
    with ThreadPoolExecutor(16) as several:
        keys = set(several.map(lambda _: private_key(path), range(64)))
    assert len(keys) == 1 and {len(key) for key in keys} == {32}
    assert [one.name for one in tmp_path.iterdir()] == ["forms.key"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert private_key(tmp_path / "another.key") not in keys
