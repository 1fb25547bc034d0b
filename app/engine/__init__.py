"""Use cases, one file per verb."""
