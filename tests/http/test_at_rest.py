"""Encryption at rest: nothing that was said can be read off the disk, and everything is there with the key."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.atrest.data_directory import vault_of
from app.atrest.keys import Keys, key_in
from app.atrest.rekey import rekey
from app.atrest.residue import with_logs
from app.errors import CanNotStart
from app.factory import create_app
from app.settings import Settings
from tests.http.conftest import PATIENT
from tests.http.test_erasure import FACT, MARK, committed, forget, recalled, remembered, turn
from tests.http.test_guards import preflight, read_all, session
from tests.http.test_resources import GUIDE, found, upload
from tests.scan import places_of

KEY = "11" * 32
OTHER_KEY = "22" * 32
OUTPUT = "\n".join(f"row {number}: the harbour crane moved {number * 7919}" for number in range(8_000))
PREFERENCE = "I prefer green tea in the morning."
SAID = (MARK, "green tea", "atlas rewind")
"""Of what is kept as text: memory and turn, preference, document. Tool outputs are compressed."""

Open = Callable[..., AbstractContextManager[TestClient]]


@pytest.fixture
def opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    """A sidecar for a while, on the same directory each time."""
    monkeypatch.chdir(tmp_path)

    @contextmanager
    def opened(key: str = "", **encryption: Any) -> Iterator[TestClient]:
        settings = settings_of(tmp_path / "data", key=key, **encryption)
        with TestClient(create_app(settings)) as client:
            yield client

    return opened


def settings_of(data: Path, **encryption: Any) -> Settings:
    return Settings(
        _env_file=None,
        data_dir=data,
        log_level="error",
        trace={"texts": True},
        embedded={"embedder": {"kind": "none"}},
        encryption=encryption,
        **PATIENT,
    )


def fill(client: TestClient) -> None:
    """Something of each kind."""
    assert client.post("/memories", json={"text": FACT}).status_code == 201
    turn(client, "s1", f"Remember that {FACT} {PREFERENCE}", f"Noted, {MARK}.")
    turn(client, "s1", "And what else?", "Nothing else.")
    committed(client, "s1")
    assert upload(client, "guide.md", GUIDE).status_code == 201
    preflight(client, session(OUTPUT))
    assert MARK in recalled(client, "What is the name of the vault?")


def assert_there(client: TestClient) -> None:
    """All that `fill` has put there is found."""
    assert MARK in recalled(client, "What is the name of the vault?")
    assert "green tea" in recalled(client, "What does the user prefer in the morning?")
    assert "atlas rewind" in found(client, "how do I go back to the release before?")[0]["passages"][0]["text"]
    assert read_all(client, "call_1") == OUTPUT
    assert client.get("/recalls").json()["recalls"]


def content_of(data: Path, key: str) -> str:
    """All content below the directory as the key's holder reads it, of unused pages, too."""
    vault = vault_of(Keys.of(key_in(key)))
    texts = [vault.read(path) for path in data.rglob("*") if path.suffix in (".md", ".json", ".jsonl")]
    for database in data.rglob("*.db"):
        for path in filter(Path.exists, with_logs(database)):
            with vault.open_pages(path) as pages:
                texts.append(pages.read())
    return b"\n".join(texts).decode("utf-8", "replace").lower()


def test_no_text_can_be_read_off_the_disk_and_all_of_it_is_there_with_the_key_until_it_is_forgotten(
    opened: Open, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    with opened(KEY) as client:
        fill(client)
        assert places_of(tmp_path, *SAID) == []
    assert places_of(tmp_path, *SAID) == []
    assert [text for text in SAID if text not in content_of(data, KEY)] == []
    before = bytes_below(data)
    for key, said in (("", "is encrypted (key "), (OTHER_KEY, "is encrypted with another key")):
        with pytest.raises(CanNotStart) as refused, opened(key):
            pass
        assert said in str(refused.value) and KEY not in str(refused.value) and OTHER_KEY not in str(refused.value)
    assert bytes_below(data) == before
    with opened(KEY) as client:
        assert_there(client)
        assert forget(client, id=remembered(client, MARK)["id"])["kept"] == []
        left = content_of(data, KEY)
        assert MARK not in left and "green tea" in left
        assert MARK not in recalled(client, "What is the name of the vault?")


def test_a_directory_is_encrypted_given_another_key_and_decrypted(opened: Open, tmp_path: Path) -> None:
    places = settings_of(tmp_path / "data").places
    one, other = Keys.of(key_in(KEY)), Keys.of(key_in(OTHER_KEY))
    with opened() as client:
        fill(client)
        with pytest.raises(CanNotStart, match="a service uses it"):
            rekey(places, None, one)
    assert {place.rpartition(": ")[2] for place in places_of(tmp_path, *SAID)} == set(SAID)
    before = bytes_below(places.directory)
    with pytest.raises(CanNotStart, match="openviking-sidecar rekey"), opened(KEY):
        pass
    assert bytes_below(places.directory) == before
    for old, new, key in ((None, one, KEY), (one, other, OTHER_KEY)):
        assert rekey(places, old, new).changed > 5
        assert places_of(tmp_path, *SAID) == []
        with opened(key) as client:
            assert_there(client)
    assert rekey(places, other, None).changed > 5
    with opened() as client:
        assert_there(client)


def bytes_below(directory: Path) -> dict[str, bytes]:
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}
