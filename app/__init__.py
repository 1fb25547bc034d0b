"""A context sidecar between an agent host and OpenViking."""

__version__ = "0.1.0"
