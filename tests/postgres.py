"""A private PostgreSQL server for tests, where its binaries are installed."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from sqlalchemy import create_engine, text

from tests.process import free_port

_PLACES = (Path("/usr/lib/postgresql"), Path("/usr/pgsql"), Path("/opt/homebrew/opt/postgresql"))


class NoPostgres(Exception):
    """Why no server can be started here."""


@contextmanager
def postgres() -> Iterator[str]:
    """The URL of an empty database on a new server, which is gone with all its data when the block ends."""
    programs = _programs()
    as_user = _unprivileged()
    home = Path(tempfile.mkdtemp(prefix="sidecar-postgres-"))
    port = free_port()
    try:
        if as_user:
            shutil.chown(home, as_user[-1])
        data = str(home / "data")
        _run(
            [*_prefix(as_user), str(programs / "initdb"), "-D", data, "-U", "sidecar", "-A", "trust", "-E", "UTF8"],
            home,
        )
        flags = f"-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={home} -c max_connections=80"
        # What it holds need not survive a power cut, only the processes that the tests kill.
        flags += " -c fsync=off -c full_page_writes=off -c synchronous_commit=off"
        control = [*_prefix(as_user), str(programs / "pg_ctl"), "-D", data, "-w", "-l", str(home / "log")]
        _run([*control, "-o", flags, "start"], home)
        try:
            yield f"postgresql://sidecar@127.0.0.1:{port}/postgres"
        finally:
            _run([*control, "-m", "immediate", "stop"], home)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def new_database(url: str) -> str:
    """The URL of one more empty database on a server that `postgres` started."""
    name = f"sidecar_{uuid4().hex}"
    _execute(url, f"CREATE DATABASE {name}")
    return f"{url.rpartition('/')[0]}/{name}"


def emptied(url: str) -> str:
    """The same database, with nothing in it."""
    _execute(url, "DROP SCHEMA public CASCADE", "CREATE SCHEMA public")
    return url


def _execute(url: str, *statements: str) -> None:
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for statement in statements:
            connection.execute(text(statement))
    engine.dispose()


def _programs() -> Path:
    found = shutil.which("initdb")
    if found:
        return Path(found).resolve().parent
    versions = sorted(
        (path for place in _PLACES if place.is_dir() for path in place.glob("*/bin/initdb")), reverse=True
    )
    if not versions:
        raise NoPostgres("no PostgreSQL server is installed (looked for initdb in PATH and /usr/lib/postgresql)")
    return versions[-1].parent


def _unprivileged() -> list[str]:
    """How to stop being root, which PostgreSQL refuses to run as; nothing for an ordinary user."""
    if os.getuid() != 0:
        return []
    try:
        pwd.getpwnam("postgres")
    except KeyError:
        raise NoPostgres("PostgreSQL does not run as root, and there is no user `postgres` to run it as") from None
    if shutil.which("runuser") is None:
        raise NoPostgres("PostgreSQL does not run as root, and there is no `runuser` to change the user")
    return ["runuser", "-u", "postgres"]


def _prefix(as_user: list[str]) -> list[str]:
    return [*as_user, "--"] if as_user else []


def _run(command: list[str], home: Path) -> None:
    # The server keeps what it inherits: a pipe would never be closed.
    with (home / "out").open("ab") as out:
        done = subprocess.run(command, stdout=out, stderr=out, cwd="/", timeout=60)
    if done.returncode:
        raise NoPostgres(f"{command[-1]} failed: {(home / 'out').read_text(errors='replace')[-1000:]}")
