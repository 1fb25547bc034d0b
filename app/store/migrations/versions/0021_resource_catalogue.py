"""The documents and skills that a backend keeps as passages alone."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "resource_catalogue",
        sa.Column("account", sa.Text, primary_key=True, nullable=False),
        sa.Column("user_name", sa.Text, primary_key=True, nullable=False),
        sa.Column("path", sa.Text, primary_key=True, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    op.create_table(
        "resource_documents",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("account", sa.Text, nullable=False),
        sa.Column("user_name", sa.Text, nullable=False),
        sa.Column("resource", sa.Text, nullable=False),
        sa.Column("path", sa.Text, nullable=False),
        sa.Column("folder", sa.Text, nullable=False),
        sa.Column("digest", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("text", sa.LargeBinary, nullable=False),
        sa.UniqueConstraint("account", "user_name", "folder", name="resource_documents_by_folder"),
    )
    op.create_index("resource_documents_by_path", "resource_documents", ["account", "user_name", "resource", "path"])
