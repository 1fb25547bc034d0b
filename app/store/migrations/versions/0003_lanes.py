"""What each session waits for, so that new turns go first; and indexes by which the next one is found at once."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the lane, set it where a turn waits, and make both indexes."""
    op.add_column("sessions", sa.Column("lane", sa.Integer, nullable=False, server_default="3"))
    op.execute("UPDATE sessions SET lane = 0 WHERE id IN (SELECT session_id FROM turns WHERE state = 'pending')")
    op.execute("UPDATE sessions SET lane = 1 WHERE id IN (SELECT session_id FROM turns WHERE state = 'sending')")
    op.drop_index("sessions_by_due", "sessions")
    for name, columns, which in (
        ("sessions_by_due", ["lane", "due_at"], "lease_owner IS NULL"),
        ("sessions_by_lease", ["lease_until"], "lease_owner IS NOT NULL"),
    ):
        op.create_index(name, "sessions", columns, sqlite_where=sa.text(which), postgresql_where=sa.text(which))
