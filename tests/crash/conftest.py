"""The real OpenViking for crash tests; see `tests.integration.conftest`."""

from tests.integration.conftest import rigs

__all__ = ["rigs"]
