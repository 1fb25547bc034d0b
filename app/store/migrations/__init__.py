"""Versioned changes of the turn store's schema, run by Alembic from `app.store.migrating`."""
