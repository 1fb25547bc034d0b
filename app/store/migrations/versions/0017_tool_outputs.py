"""Tool outputs that were cut, and when a session's prompt was last asked for."""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table, and add the column."""
    op.create_table(
        "tool_outputs",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("account", sa.Text, nullable=False),
        sa.Column("user_name", sa.Text, nullable=False),
        sa.Column("session", sa.Text, nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("room", sa.Integer, nullable=False),
        sa.Column("ref", sa.Text, nullable=False),
        sa.Column("call", sa.Text, nullable=False),
        sa.Column("tool", sa.Text, nullable=False),
        sa.Column("chars", sa.Integer, nullable=False),
        sa.Column("shown", sa.Text, nullable=False),
        sa.Column("removed", sa.Integer, nullable=False),
        sa.Column("bytes", sa.Integer, nullable=False),
        sa.Column("said_at", sa.BigInteger),
        sa.Column("at", sa.Float, nullable=False),
        sa.Column("body", sa.LargeBinary),  # the last, so that SQLite sums up bytes without reading bodies
        sa.UniqueConstraint("account", "user_name", "session", "key", name="tool_outputs_by_key"),
    )
    op.create_index("tool_outputs_by_call", "tool_outputs", ["account", "user_name", "session", "call"])
    op.create_index("tool_outputs_by_age", "tool_outputs", ["at"])
    op.add_column("sessions", sa.Column("assembled_at", sa.Float, nullable=False, server_default="0"))
