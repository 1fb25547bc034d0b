"""How sessions' prompts are laid out, and what compactions were asked to keep."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "layouts",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("account", sa.Text, nullable=False),
        sa.Column("user_name", sa.Text, nullable=False),
        sa.Column("session", sa.Text, nullable=False),
        sa.Column("edge", sa.Text, nullable=False),
        sa.Column("before", sa.Integer, nullable=False),
        sa.Column("archived", sa.Integer, nullable=False),
        sa.Column("last_archived", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("of_cut", sa.Boolean, nullable=False),
        sa.Column("of_archives", sa.Boolean, nullable=False),
        sa.Column("budget", sa.Integer, nullable=False),
        sa.Column("uncut", sa.Integer, nullable=False),
        sa.Column("at", sa.Float, nullable=False),
        sa.UniqueConstraint("account", "user_name", "session", name="layouts_by_session"),
    )
    op.create_index("layouts_by_age", "layouts", ["at"])
    op.add_column("sessions", sa.Column("focus", sa.Text, nullable=False, server_default=""))
    op.execute("DELETE FROM tool_outputs WHERE kind = 'dropped'")
