"""Memories on purpose: those that wait for the backend, what it has no place for, and how often they changed."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables of memories."""
    op.create_table(
        "waiting_memories",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("account", sa.Text, nullable=False),
        sa.Column("user_name", sa.Text, nullable=False),
        sa.Column("memory_id", sa.Text, nullable=False),
        sa.Column("said", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("bytes", sa.Integer, nullable=False),
        sa.Column("refused", sa.Text, nullable=False, server_default=""),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.UniqueConstraint("account", "user_name", "memory_id", name="waiting_memories_by_id"),
    )
    op.create_table(
        "memory_ledger",
        sa.Column("account", sa.Text, primary_key=True),
        sa.Column("user_name", sa.Text, primary_key=True),
        sa.Column("memory_id", sa.Text, primary_key=True),
        sa.Column("uri", sa.Text, nullable=False),
        sa.Column("text_hash", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("created_at", sa.Text, nullable=False),
        sa.Column("key", sa.Text),
        sa.Column("fields", sa.Text, nullable=False),
        sa.Column("history", sa.Text, nullable=False),
        sa.Column("version", sa.Integer, nullable=False),
    )
    op.create_index("memory_ledger_by_uri", "memory_ledger", ["account", "user_name", "uri"])
    op.create_index("memory_ledger_by_date", "memory_ledger", ["account", "user_name", "created_at", "memory_id"])
    op.create_table(
        "memory_versions",
        sa.Column("account", sa.Text, primary_key=True),
        sa.Column("user_name", sa.Text, primary_key=True),
        sa.Column("version", sa.BigInteger, nullable=False),
    )
