"""The pages of ``/ui/recalls`` in a real headless Chromium with no network, by day and by night."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.process import sidecar

pytestmark = pytest.mark.browser

FACTS = ("I prefer my tea green, with honey.", "我对花生过敏，出门一定带药。", "My tea kettle is in the blue cupboard.")


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with sidecar(tmp_path_factory.mktemp("recalls") / "data", EXPERIENCE__ENABLED="true") as base:
        with httpx.Client(base_url=base, trust_env=False) as host:
            for number, fact in enumerate(FACTS):
                turn = [{"role": "user", "content": fact}, {"role": "assistant", "content": "Noted."}]
                said = {"sessionId": f"<b>s{number}</b>", "messages": turn, "wait": True, "advancementKey": fact}
                host.post("/after-turn", json=said).raise_for_status()
                host.post("/compact", json={"sessionId": f"<b>s{number}</b>"}).raise_for_status()
            for question in ("hi", "what tea do I like?", "please fix the failing tea timer in src/timer.py"):
                asked = {"sessionId": "evening", "messages": [{"role": "user", "content": question}]}
                host.post("/assemble", json=asked).raise_for_status()
        yield base


@pytest.fixture(params=["light", "dark"])
def page(request: pytest.FixtureRequest, chromium: Browser, url: str) -> Iterator[Page]:
    opened = chromium.new_page(viewport={"width": 1100, "height": 900}, color_scheme=request.param)
    trouble: list[str] = []
    opened.on("request", lambda request: None if request.url.startswith(url) else trouble.append(request.url))
    opened.on("console", lambda message: trouble.append(message.text) if message.type == "error" else None)
    yield opened
    opened.close()
    expected = ("favicon", "400 (Bad Request)")  # a browser notes the answer to a wrong filter as an error
    assert [line for line in trouble if not any(words in line for words in expected)] == []


def test_from_the_list_to_the_candidates(page: Page, url: str, screenshots: Path) -> None:
    night = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    page.goto(f"{url}/ui/recalls")
    expect(page.get_by_role("heading", name="Recalls")).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(3)
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == ("rgb(19, 21, 24)" if night else "rgb(247, 247, 245)"), "the style sheet was not applied"
    page.screenshot(path=screenshots / f"recalls-{'dark' if night else 'light'}.png", full_page=True)
    page.get_by_role("link", name="please fix the failing tea timer").click()
    expect(page.get_by_text("This looks like a task")).to_be_visible()
    expect(page.get_by_text("green, with honey").first).to_be_visible()
    expect(page.get_by_role("img").first).to_be_visible()
    assert page.locator("line.line").count() > 1
    page.screenshot(path=screenshots / f"recall-{'dark' if night else 'light'}.png", full_page=True)


def test_a_filter_and_its_way_back(page: Page, url: str) -> None:
    page.goto(f"{url}/ui/recalls")
    page.get_by_label("Session").fill("morning")
    page.get_by_role("button", name="Filter").click()
    expect(page.get_by_text("No recalls here yet.")).to_be_visible()

    page.get_by_role("link", name="Show all").click()
    expect(page.locator("tbody tr")).to_have_count(3)


def test_a_wrong_filter_is_named_on_a_page_with_a_way_back(page: Page, url: str) -> None:
    page.goto(f"{url}/ui/recalls?since=2020-01-01")
    page.get_by_label("Since").fill("soon")
    page.get_by_role("button", name="Filter").click()
    expect(page.locator("code", has_text="since")).to_be_visible()
    page.get_by_role("link", name="Back to Recalls").click()
    expect(page.locator("tbody tr")).to_have_count(3)


def test_the_first_page_leads_to_recalls_by_keyboard_alone(page: Page, url: str) -> None:
    page.goto(url)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="To the content")).to_be_focused()
    for _ in range(8):
        page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="API", exact=True)).to_be_focused()
    for _ in range(5):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Recalls")).to_be_visible()


def test_on_a_narrow_screen_nothing_is_cut_off(page: Page, url: str, screenshots: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    for path in ("/", "/ui/recalls", "/ui/recalls?since=soon"):
        page.goto(f"{url}{path}")
        expect(page.get_by_role("heading").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, path
    page.goto(f"{url}/ui/recalls")
    shown = page.locator("tbody tr").first.locator("td:visible")
    assert all(box and box["x"] + box["width"] <= 390 for box in map(Locator.bounding_box, shown.all()))
    page.screenshot(path=screenshots / "recalls-phone.png", full_page=True)
    page.get_by_role("link", name="please fix the failing tea timer").click()
    expect(page.get_by_role("heading", name="Experience gate")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.screenshot(path=screenshots / "recall-phone.png", full_page=True)
