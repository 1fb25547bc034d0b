"""What sessions began with."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create its table."""
    op.create_table(
        "session_starts",
        sa.Column("account", sa.Text, primary_key=True),
        sa.Column("user_name", sa.Text, primary_key=True),
        sa.Column("session", sa.Text, primary_key=True),
        sa.Column("chat", sa.Text, primary_key=True),
        sa.Column("viewer", sa.Text, primary_key=True),
        sa.Column("epoch", sa.Integer, nullable=False),
        sa.Column("cleared", sa.Integer, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("memory_ids", sa.Text, nullable=False),
        sa.Column("created_at", sa.Float, nullable=False),
    )
    op.create_index("session_starts_by_age", "session_starts", ["created_at"])
