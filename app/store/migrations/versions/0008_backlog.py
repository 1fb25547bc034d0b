"""An index that tells of what waits for the backend whose it is, so that no turn is read to sum that up."""

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Widen the index by age."""
    op.drop_index("turns_by_age", "turns")
    op.create_index("turns_by_age", "turns", ["state", "created_at", "bytes", "session_id"])
