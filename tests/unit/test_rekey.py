"""``rekey``: from any key to any other, and on again after it was killed anywhere."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import ValidationError

from app.atrest.data_directory import MARKER, Marker, open_vault, read_marker, vault_of, write_marker
from app.atrest.keys import Keys, key_in
from app.atrest.places import INDEX_PAGE_BYTES, STORE_PAGE_BYTES, Places
from app.atrest.rekey import Rekeyed, rekey
from app.atrest.vault import PLAIN, Vault
from app.cli import main
from app.errors import CanNotStart
from app.settings import Settings
from tests.scan import places_of

ONE, OTHER = Keys.of(b"1" * 32), Keys.of(b"2" * 32)
SAID = "the crane by the harbour"
KILLED = """
import os, sys
from pathlib import Path
from app.atrest.keys import Keys
from app.atrest.places import Places
from app.atrest.rekey import rekey
directory, left, old, new = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4]
replace = Path.replace
def replaced(self, target):
    global left
    left -= 1
    if left < 0:
        os._exit(9)
    return replace(self, target)
Path.replace = replaced
keys = [Keys.of(key.encode() * 32) if key else None for key in (old, new)]
rekey(Places(directory, directory / "turns.db"), *keys)
"""


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path, tmp_path / "turns.db")


def files_of(places: Places) -> list[Path]:
    user = places.directory / "accounts" / "default" / "default"
    return [
        user / "sessions" / "talk.jsonl",
        user / "memories" / "profile.md",
        places.directory / "incoming" / "t.jsonl",
    ]


def fill(places: Places, vault: Vault) -> None:
    """Files, a turn store, and an index for words."""
    write_marker(places.directory, Marker(vault.cipher.key_id))
    for file in files_of(places):
        vault.write_atomic(file, f"{SAID}\n{SAID} again".encode())
        os.utime(file, ns=(10**18, 10**18))
    index = places.directory / "accounts" / "default" / "default" / "index.db"
    for path, page_bytes in ((places.directory / "turns.db", STORE_PAGE_BYTES), (index, INDEX_PAGE_BYTES)):
        with closing(vault.connect(path, page_bytes, isolation_level=None)) as db:
            db.execute(f"PRAGMA page_size = {page_bytes}")
            db.execute("PRAGMA journal_mode = WAL").fetchall()
            db.execute("CREATE TABLE told(id INTEGER PRIMARY KEY AUTOINCREMENT, said TEXT, more BLOB)")
            db.execute("CREATE INDEX told_by_text ON told(said) WHERE id > 0")
            db.execute("CREATE VIRTUAL TABLE words USING fts5(body, tokenize='porter ascii')")
            db.execute("CREATE VIRTUAL TABLE vocabulary USING fts5vocab(words, row)")
            db.execute("INSERT INTO told(said, more) VALUES (?, ?)", (SAID, bytes(range(256)) * 40))
            db.execute("INSERT INTO words(body) VALUES (?)", (SAID,))
            db.execute("PRAGMA user_version = 12")


def assert_all_there(places: Places, vault: Vault) -> None:
    for file in files_of(places):
        assert vault.read(file) == f"{SAID}\n{SAID} again".encode() and file.stat().st_mtime_ns == 10**18
    databases = dict(places.databases())
    assert len(databases) == 2
    for path, page_bytes in databases.items():
        with closing(vault.connect(path, page_bytes, isolation_level=None)) as db:
            assert db.execute("SELECT said, more FROM told").fetchall() == [(SAID, bytes(range(256)) * 40)]
            assert db.execute("SELECT body FROM words WHERE words MATCH 'cranes'").fetchall() == [(SAID,)]
            assert ("harbour", 1, 1) in db.execute("SELECT * FROM vocabulary").fetchall()
            assert db.execute("PRAGMA user_version").fetchone() == (12,)
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert int(db.execute("PRAGMA page_size").fetchone()[0]) == page_bytes
            assert db.execute("INSERT INTO told(said) VALUES ('x') RETURNING id").fetchone() == (2,)
            db.execute("DELETE FROM told WHERE id = 2")
            db.execute("UPDATE sqlite_sequence SET seq = 1")


@pytest.mark.parametrize(
    ("old", "new"), [(None, ONE), (ONE, OTHER), (ONE, None)], ids=["encrypt", "another", "decrypt"]
)
def test_everything_is_there_under_the_new_key_only(places: Places, old: Keys | None, new: Keys | None) -> None:
    fill(places, vault_of(old))
    assert rekey(places, old, new) == Rekeyed(changed=5)
    assert bool(places_of(places.directory, SAID)) is (new is None)
    assert_all_there(places, vault_of(new))
    assert rekey(places, old, new) == Rekeyed(kept=5)
    assert read_marker(places.directory) == Marker(new.id if new else "")


@pytest.mark.parametrize(("old", "new"), [("", "1"), ("1", "2"), ("1", "")], ids=["encrypt", "another", "decrypt"])
def test_it_goes_on_after_it_was_killed(places: Places, old: str, new: str) -> None:
    keys = {"": None, "1": ONE, "2": OTHER}
    fill(places, vault_of(keys[old]))
    for done in (1, 2):  # the marker, and one file; the rest of the files, and a database without the other
        command = [sys.executable, "-c", KILLED, str(places.directory), str(2 * done), old, new]
        assert subprocess.run(command, check=False).returncode == 9
        with pytest.raises(CanNotStart, match=r"begun in .* and not ended"):
            open_vault(places, keys[new])
        with pytest.raises(CanNotStart, match="has to be ended first"):
            rekey(places, keys[new], keys[old])
    rekey(places, keys[old], keys[new])
    assert_all_there(places, vault_of(keys[new]))
    assert [path for path in places.directory.rglob("*") if ".tmp-" in path.name] == []
    assert open_vault(places, keys[new]).cipher.key_id == (keys[new].id if new else "")  # type: ignore[union-attr]


def test_the_wrong_old_key_changes_nothing(places: Places) -> None:
    fill(places, PLAIN)
    rekey(places, None, ONE)
    before = {path: path.read_bytes() for path in places.directory.rglob("*") if path.is_file()}
    for old in (OTHER, None):
        with pytest.raises(CanNotStart, match=f"has key {ONE.id}"):
            rekey(places, old, Keys.of(b"3" * 32))
    assert before == {path: path.read_bytes() for path in places.directory.rglob("*") if path.is_file()}


def test_a_lost_marker_is_made_again(places: Places) -> None:
    fill(places, PLAIN)
    rekey(places, None, ONE)
    (places.directory / MARKER).unlink()
    with pytest.raises(CanNotStart, match=rf"is encrypted \(key {ONE.id}\)"):
        open_vault(places, None)
    with pytest.raises(CanNotStart, match=f"has key {ONE.id}"):
        rekey(places, None, OTHER)
    assert not (places.directory / MARKER).exists()
    assert_all_there(places, open_vault(places, ONE))
    assert read_marker(places.directory) == Marker(ONE.id)


def test_the_turn_store_alone_tells_that_a_directory_is_encrypted(places: Places) -> None:
    store = places.directory / "turns.db"
    with closing(vault_of(ONE).connect(store, STORE_PAGE_BYTES, isolation_level=None)) as db:
        db.execute("CREATE TABLE told(said TEXT)")
    with pytest.raises(CanNotStart, match=r"is encrypted .* and there is no key"):
        open_vault(places, None)
    with pytest.raises(CanNotStart, match="encrypted with another key"):
        open_vault(places, OTHER)
    with pytest.raises(CanNotStart, match="has key unknown"):
        rekey(places, None, OTHER)
    assert not (places.directory / MARKER).exists()
    assert open_vault(places, ONE).cipher.key_id == ONE.id
    assert read_marker(places.directory) == Marker(ONE.id)


def test_unused_pages_are_read_as_sqlite_sees_them(tmp_path: Path) -> None:
    vault = vault_of(ONE)
    file = tmp_path / "turns.db"
    with closing(vault.connect(file, STORE_PAGE_BYTES, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL").fetchall()
        db.execute("CREATE TABLE told(said TEXT)")
        db.executemany("INSERT INTO told VALUES (?)", [(f"{SAID} {number}",) for number in range(300)])
        with vault.open_pages(file.with_name("turns.db-wal")) as log:
            assert SAID.encode() in log.read()
        db.execute("PRAGMA secure_delete = OFF").fetchall()
        db.execute("DELETE FROM told")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        with vault.open_pages(file) as pages:
            assert SAID.encode() in pages.read()  # on free pages
        assert SAID.encode() not in file.read_bytes()
        db.execute("PRAGMA secure_delete = ON").fetchall()
        db.execute("VACUUM")
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        with vault.open_pages(file) as pages:
            assert SAID.encode() not in pages.read()


@pytest.mark.parametrize("told", ["31" * 32, "MTEx" * 10 + "MTE=", " " + "MTEx" * 10 + "MTE=\n"])
def test_a_key_is_written_in_hex_or_base64(told: str) -> None:
    assert Keys.of(key_in(told)) == ONE
    assert "31" not in repr(ONE).replace(ONE.id, "")


@pytest.mark.parametrize("told", ["secret", "31" * 31, "zz" * 32, "MTEx" * 9])
def test_what_is_no_key_is_refused_without_quoting_it(told: str, tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="32 random bytes") as refused:
        Settings(_env_file=None, encryption={"key": told})
    assert told not in str(refused.value)
    (tmp_path / "key").write_text(told)
    with pytest.raises(CanNotStart, match=r"SIDECAR_ENCRYPTION__KEY_FILE: .*32 random bytes") as refused_file:
        Settings(_env_file=None, encryption={"key_file": tmp_path / "key"}).encryption.keys()
    assert told not in str(refused_file.value)


def test_two_keys_are_one_too_many(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="key and key_file are both set"):
        Settings(_env_file=None, encryption={"key": "31" * 32, "key_file": tmp_path / "key"})


def test_the_command(places: Places, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(places.directory)
    settings: Callable[[str, str], None] = monkeypatch.setenv
    settings("SIDECAR_DATA_DIR", str(places.directory))
    settings("SIDECAR_STORE__URL", f"sqlite:///{places.directory / 'turns.db'}")
    fill(places, PLAIN)
    assert main(["rekey"]) == 2
    assert "SIDECAR_ENCRYPTION__KEY" in capsys.readouterr().err
    settings("SIDECAR_ENCRYPTION__KEY", "no key")
    assert main(["rekey"]) == 2
    printed = capsys.readouterr().err
    assert printed.startswith("openviking-sidecar: SIDECAR_ENCRYPTION__KEY: ") and "no key" not in printed[40:60]
    settings("SIDECAR_ENCRYPTION__KEY", "31" * 32)
    assert main(["rekey"]) == 0
    assert capsys.readouterr().out == "5 files and databases changed, 0 were so already\n"
    monkeypatch.delenv("SIDECAR_ENCRYPTION__KEY")
    settings("SIDECAR_ENCRYPTION__OLD_KEY", "32" * 32)
    assert main(["rekey", "--plain"]) == 1
    assert f"has key {ONE.id}" in capsys.readouterr().err
    settings("SIDECAR_ENCRYPTION__OLD_KEY", "31" * 32)
    assert main(["rekey", "--plain"]) == 0
    assert_all_there(places, PLAIN)


def test_without_the_libraries_the_extra_is_named(places: Places, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("sqlcipher3", "cryptography", "app.atrest.sealed"):
        monkeypatch.setitem(sys.modules, module, None)
    fill(places, PLAIN)
    with pytest.raises(CanNotStart, match=r"pip install 'openviking-sidecar\[encrypt\]'"):
        rekey(places, None, ONE)
    assert read_marker(places.directory) == Marker()
    with closing(sqlite3.connect(places.directory / "turns.db")) as db:
        assert db.execute("SELECT said FROM told").fetchone() == (SAID,)
