"""What is remembered of skills; and an index to bound what is kept of sessions' starts."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table, and name the column of tools as it is named there."""
    op.execute("ALTER TABLE tool_uses RENAME COLUMN tool TO name")
    op.create_table(
        "skill_uses",
        sa.Column("account", sa.Text, primary_key=True),
        sa.Column("user_name", sa.Text, primary_key=True),
        sa.Column("agent", sa.Text, primary_key=True),
        sa.Column("session", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("used_at", sa.Float, nullable=False),
    )
    op.create_index("skill_uses_by_name", "skill_uses", ["account", "user_name", "agent", "name"])
    op.create_index("session_starts_by_tenant", "session_starts", ["account", "user_name", "created_at"])
