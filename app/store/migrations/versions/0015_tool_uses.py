"""What is remembered of tool calls."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create its table."""
    op.create_table(
        "tool_uses",
        sa.Column("account", sa.Text, primary_key=True),
        sa.Column("user_name", sa.Text, primary_key=True),
        sa.Column("agent", sa.Text, primary_key=True),
        sa.Column("session", sa.Text, primary_key=True),
        sa.Column("tool", sa.Text, primary_key=True),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("used_at", sa.Float, nullable=False),
    )
