"""The times of each turn's messages, and what tells a repeat of it whatever its key."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns and their indexes; of older turns only the latest time their messages may have is known."""
    op.add_column("turns", sa.Column("first_at", sa.BigInteger))
    op.add_column("turns", sa.Column("last_at", sa.BigInteger))
    op.add_column("turns", sa.Column("occurrence", sa.Text))
    # A print that begins with "@" is of a message with a time. A host's clock may be ahead of ours: by a day at most.
    op.execute(
        "UPDATE turns SET first_at = 0, last_at = CAST((created_at + 86400) * 1000 AS BIGINT)"
        """ WHERE prints LIKE '%"@%'"""
    )
    op.execute(
        "UPDATE turns SET occurrence = fingerprint"
        """ WHERE key_hash IS NULL AND repeatable AND prints NOT LIKE '%"@%'"""
    )
    op.drop_index("turns_by_fingerprint", "turns")
    op.drop_column("turns", "repeatable")
    op.create_index("turns_by_occurrence", "turns", ["session_id", "occurrence"])
    op.create_index("turns_by_time", "turns", ["session_id", "last_at", "first_at", "position"])
