"""What a compaction is asked to keep, until the backend has been told."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; nothing is asked of the commits that are there."""
    op.add_column("commits", sa.Column("instructions", sa.Text, nullable=False, server_default=""))
