"""The budget that prompts are given, and what a session's first turns told."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add two columns to the sessions."""
    op.add_column("sessions", sa.Column("assemble_budget", sa.Integer, nullable=False, server_default="0"))
    op.add_column("sessions", sa.Column("opening", sa.Text, nullable=False, server_default="[]"))
