"""Until when a write of unknown outcome may still arrive: marked with the limits of the process that began it."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column, and let writes that are in doubt settle."""
    op.add_column("turns", sa.Column("doubt_until", sa.Float))
    # An earlier release did not say how long its calls may take; a minute is generous.
    op.execute("UPDATE turns SET doubt_until = attempt_started + 60 WHERE state = 'sending'")
