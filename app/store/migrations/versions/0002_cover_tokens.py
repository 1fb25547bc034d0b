"""An index that holds what is summed up of a session's turns, so that no turn's text is read on the way."""

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Widen the index by state."""
    op.drop_index("turns_by_state", "turns")
    op.create_index("turns_by_state", "turns", ["session_id", "state", "position", "captured", "tokens"])
