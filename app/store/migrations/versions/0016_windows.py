"""The host's window, and when it was told to flush."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add its columns to sessions."""
    for name, kind, default in (
        ("window_tokens", sa.Integer, "0"),
        ("window_measured", sa.Integer, "0"),
        ("token_ratio", sa.Float, "1"),
        ("token_scale", sa.Float, "1"),
        ("compactions", sa.Integer, "0"),
        ("flushed_compaction", sa.Integer, "-1"),
    ):
        op.add_column("sessions", sa.Column(name, kind, nullable=False, server_default=default))
    op.add_column("sessions", sa.Column("flushed_at", sa.Float))
