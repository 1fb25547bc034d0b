"""Bringing the schema of a store up to date."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlalchemy import Connection, Engine, inspect, text

from app.errors import CanNotStart
from app.store.schema import metadata

MIGRATIONS = Path(__file__).with_name("migrations")
_MIGRATION_LOCK = 0x51DECA2


def latest_revision() -> str:
    """The newest schema revision: migrations are numbered files."""
    return max(path.name[:4] for path in (MIGRATIONS / "versions").glob("[0-9]*.py"))


def migrate(engine: Engine, unnamed: str | None = None) -> None:
    """Bring the schema to the newest revision; processes that start together do it one after the other.

    An empty store is made from `app.store.schema` as it is now: importing Alembic is a sixth of a whole start, so it is
    loaded only where there is something to upgrade. ``unnamed``: see `app.store.turns.open_store`.
    """
    latest = latest_revision()
    with engine.connect() as connection:
        if _revision(connection) == latest:
            return
    with engine.begin() as connection, _alone(connection):
        found = _revision(connection)
        if found == latest:
            return
        if found is None:
            metadata.create_all(connection)
            connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"))
            connection.execute(text("INSERT INTO alembic_version VALUES (:latest)"), {"latest": latest})
        elif found > latest:
            raise CanNotStart(f"the turn store has schema {found}, made by a newer version; this one knows {latest}")
        else:
            upgrade(connection, unnamed)


@contextmanager
def _alone(connection: Connection) -> Iterator[None]:
    """Keep other processes from migrating, however long this takes; on SQLite the write lock itself does."""
    if connection.dialect.name != "postgresql":
        yield
        return
    from app.store.postgres import unhurried

    with unhurried(connection):
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _MIGRATION_LOCK})
        yield


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def upgrade(connection: Connection, unnamed: str | None = None) -> None:
    """Run the migrations that the store has not seen, in the caller's transaction."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes |= {"connection": connection, "unnamed": unnamed}
    command.upgrade(config, "head")
