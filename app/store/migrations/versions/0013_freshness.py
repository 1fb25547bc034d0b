"""The last report on each tenant's memories."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create its table."""
    op.create_table(
        "freshness_reports",
        sa.Column("account", sa.Text, primary_key=True),
        sa.Column("user_name", sa.Text, primary_key=True),
        sa.Column("checked_at", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
