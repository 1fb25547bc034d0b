"""The audit trail: who did what with which memory."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create its table."""
    op.create_table(
        "audit",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("account", sa.Text, nullable=False),
        sa.Column("user_name", sa.Text, nullable=False),
        sa.Column("at", sa.Text, nullable=False),
        sa.Column("action", sa.Text, nullable=False),
        sa.Column("memory_id", sa.Text, nullable=False),
        sa.Column("token", sa.Text),
        sa.Column("agent", sa.Text),
        sa.Column("session", sa.Text),
        sa.Column("request_id", sa.Text),
        sa.Column("trace_id", sa.Text),
    )
    op.create_index("audit_by_tenant", "audit", ["account", "user_name", "id"])
    op.create_index("audit_by_memory", "audit", ["account", "user_name", "memory_id", "id"])
    op.create_index("audit_by_age", "audit", ["at"])
