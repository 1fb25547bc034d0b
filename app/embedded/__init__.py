"""The embedded backend: the backend port on local files."""
