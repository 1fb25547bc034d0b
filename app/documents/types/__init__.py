"""A file for each type of document."""
