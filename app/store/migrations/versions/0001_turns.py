"""Sessions, turns and commits."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the three tables of the outbox."""
    op.create_table(
        "sessions",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("account", sa.Text, nullable=False),
        sa.Column("user_name", sa.Text, nullable=False),
        sa.Column("session", sa.Text, nullable=False),
        sa.Column("identity", sa.Text, nullable=False),
        sa.Column("epoch", sa.Integer, nullable=False, server_default="0"),
        sa.Column("next_position", sa.Integer, nullable=False, server_default="1"),
        sa.Column("next_message", sa.Integer, nullable=False, server_default="0"),
        sa.Column("token_budget", sa.Integer, nullable=False),
        sa.Column("last_turn_at", sa.Float, nullable=False),
        sa.Column("remembered_at", sa.Float, nullable=False, server_default="0"),
        sa.Column("archived_through", sa.Integer, nullable=False, server_default="0"),
        sa.Column("cleared_through", sa.Integer, nullable=False, server_default="0"),
        sa.Column("cleared_message", sa.Integer, nullable=False, server_default="-1"),
        sa.Column("summary", sa.Text, nullable=False, server_default=""),
        sa.Column("due_at", sa.Float),
        sa.Column("retry_at", sa.Float, nullable=False, server_default="0"),
        sa.Column("lease_owner", sa.Text),
        sa.Column("lease_until", sa.Float, nullable=False, server_default="0"),
        sa.Column("fence", sa.Integer, nullable=False, server_default="0"),
        sa.UniqueConstraint("account", "user_name", "session", name="sessions_by_name"),
    )
    op.create_index("sessions_by_due", "sessions", ["due_at"])
    op.create_table(
        "turns",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("turn_id", sa.Text, nullable=False, unique=True),
        sa.Column("session_id", sa.Integer, sa.ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False),
        sa.Column("epoch", sa.Integer, nullable=False),
        sa.Column("position", sa.Integer, nullable=False),
        sa.Column("key_hash", sa.Text),
        sa.Column("fingerprint", sa.Text, nullable=False),
        sa.Column("repeatable", sa.Boolean, nullable=False),
        sa.Column("prints", sa.Text, nullable=False),
        sa.Column("first_message", sa.Integer, nullable=False),
        sa.Column("host_messages", sa.Integer, nullable=False),
        sa.Column("payload", sa.Text),
        sa.Column("bytes", sa.Integer, nullable=False),
        sa.Column("captured", sa.Integer, nullable=False),
        sa.Column("tokens", sa.Integer, nullable=False),
        sa.Column("remember", sa.Boolean, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("reason", sa.Text, nullable=False, server_default=""),
        sa.Column("sent", sa.Integer, nullable=False, server_default="0"),
        sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
        sa.Column("attempt_started", sa.Float),
        sa.Column("error", sa.Text, nullable=False, server_default=""),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("delivered_at", sa.Float),
        sa.UniqueConstraint("session_id", "key_hash", name="turns_by_key"),
    )
    op.create_index("turns_by_position", "turns", ["session_id", "position"])
    op.create_index("turns_by_fingerprint", "turns", ["session_id", "fingerprint"])
    op.create_index("turns_by_state", "turns", ["session_id", "state", "position"])
    op.create_index("turns_by_age", "turns", ["state", "created_at", "bytes"])
    op.create_table(
        "commits",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("upload_id", sa.Text, nullable=False, unique=True),
        sa.Column("session_id", sa.Integer, sa.ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False),
        sa.Column("epoch", sa.Integer, nullable=False),
        sa.Column("cause", sa.Text, nullable=False),
        sa.Column("after", sa.Integer, nullable=False),
        sa.Column("through", sa.Integer, nullable=False),
        sa.Column("clear_through", sa.Integer, nullable=False),
        sa.Column("new_epoch", sa.Boolean, nullable=False),
        sa.Column("first_message", sa.Integer, nullable=False),
        sa.Column("last_message", sa.Integer, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("task_id", sa.Text),
        sa.Column("archive_id", sa.Text),
        sa.Column("attempts", sa.Integer, nullable=False, server_default="0"),
        sa.Column("attempt_started", sa.Float),
        sa.Column("next_at", sa.Float, nullable=False),
        sa.Column("error", sa.Text, nullable=False, server_default=""),
        sa.Column("forced", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("created_at", sa.Float, nullable=False),
        sa.Column("finished_at", sa.Float),
    )
    op.create_index("commits_by_session", "commits", ["session_id", "id"])
