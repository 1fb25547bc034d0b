"""When a session's commits were refused, and which backend each was asked of."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; nothing was refused, and commits that are there may be any backend's."""
    op.add_column("sessions", sa.Column("commit_refusals", sa.Integer, nullable=False, server_default="0"))
    op.add_column("sessions", sa.Column("commit_after", sa.Float, nullable=False, server_default="0"))
    op.add_column("commits", sa.Column("backend", sa.Text))
