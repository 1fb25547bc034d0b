"""A real headless Chromium that can reach nothing but this machine."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

expect.set_options(timeout=60_000)  # a busy machine must change nothing


@pytest.fixture(scope="package")  # Playwright's event loop must be gone before other tests start theirs
def chromium() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        pytest.skip("no Chromium on this machine: apt-get install chromium")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=found,
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--disable-background-networking",
                "--disable-component-update",
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            ],
        )
        yield launched
        launched.close()


@pytest.fixture
def screenshots() -> Path:
    """Where pictures are kept as artefacts of the test run."""
    path = Path(__file__).parents[2] / "artifacts"
    path.mkdir(exist_ok=True)
    return path
