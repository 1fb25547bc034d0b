"""The embedded engine: the backend port on local files."""
