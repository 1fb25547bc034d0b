"""What recall and delivery ask of the ledger of memories: which are as the backend has them, by text and by key."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

_BY = {"by_text": ["text_hash"], "by_key": ["key"]}


def upgrade() -> None:
    """Add the columns and indexes."""
    op.add_column("memory_ledger", sa.Column("stamp", sa.Text, nullable=False, server_default=""))
    op.add_column("memory_ledger", sa.Column("settled", sa.Boolean, nullable=False, server_default=sa.true()))
    op.add_column("memory_ledger", sa.Column("plain", sa.Boolean, nullable=False, server_default=sa.true()))
    for name, columns in _BY.items():
        op.create_index(f"memory_ledger_{name}", "memory_ledger", ["account", "user_name", *columns])
    op.create_index("memory_ledger_by_plain", "memory_ledger", ["plain", "settled", "account", "user_name"])
