"""What several unit tests need."""

import pytest

from tests.unit.drivers import HAS_VECTORS, use_driver


@pytest.fixture(
    params=["sqlite3", pytest.param("apsw", marks=pytest.mark.skipif(not HAS_VECTORS, reason="extra vec is missing"))]
)
def driver(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Runs a test over both SQLite drivers of the embedded engine."""
    use_driver(request.param, monkeypatch)
    return str(request.param)
