"""Swagger UI in a real headless Chromium that can reach nothing but the sidecar."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.process import sidecar

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with sidecar(tmp_path_factory.mktemp("docs") / "data") as base:
        yield base


@pytest.fixture
def page(chromium: Browser, url: str) -> Iterator[Page]:
    opened = chromium.new_page(viewport={"width": 1280, "height": 1800})
    foreign: list[str] = []
    opened.on(
        "request", lambda request: None if request.url.startswith((url, "data:")) else foreign.append(request.url)
    )
    yield opened
    opened.close()
    assert foreign == []


def test_try_it_out_answers_on_each_endpoint(page: Page, url: str, screenshots: Path) -> None:
    page.goto(f"{url}/docs")
    expect(page.get_by_role("heading", name="OpenViking sidecar")).to_be_visible()
    operations = page.locator(".opblock")
    expect(operations.first).to_be_visible()
    count = operations.count()
    assert count >= 8
    for index in range(count):
        operation = operations.nth(index)
        operation.locator(".opblock-summary-control").first.click()
        execute = operation.get_by_role("button", name="Execute")
        expect(execute).to_be_visible()
        path = operation.locator(".opblock-summary-path").inner_text()
        if "{" in path:
            field = operation.locator("tr[data-param-in=path] input")
            field.fill("t_unknown")
            field.blur()
            expect(field).to_have_value("t_unknown")
        execute.click()
        status = operation.locator(".live-responses-table tbody .response-col_status").first
        expected = re.compile("^404" if "{" in path else "^20[01]")
        expect(status, path).to_contain_text(expected, timeout=20_000)
        operation.locator(".opblock-summary-control").first.click()
    page.screenshot(path=screenshots / "docs.png", full_page=True)
