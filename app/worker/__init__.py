"""Background delivery and commits."""
