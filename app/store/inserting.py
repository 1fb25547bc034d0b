"""Inserting a row unless another request has put one with the same key there meanwhile."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import sqlite


def insert_new(connection: Connection, table: Table, values: Mapping[str, Any]) -> None:
    """Insert ``values``; a row that is there already stays as it is."""
    insert: Any = sqlite.insert
    if connection.dialect.name == "postgresql":  # worth a twentieth of the start where it is not used
        from sqlalchemy.dialects.postgresql import insert
    connection.execute(insert(table).values(values).on_conflict_do_nothing())
