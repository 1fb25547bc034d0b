"""Pages about memories, documents, sessions and deliveries in a real headless Chromium: by keyboard, and on a phone."""

import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.process import sidecar

pytestmark = pytest.mark.browser

HOSTILE = "<script>document.title = 'taken'</script><img src=x onerror=\"document.title = 'taken'\">"
LONG = "https://example.org/" + "a" * 3_000
RIGHT_TO_LEFT = "מיה אוהבת תה ירוק עם דבש."
MANY = 1_000
PHONE = 360
TROUBLE = """width => {
  const wrong = [], root = document.documentElement;
  if (root.scrollWidth > width) wrong.push("scrolls sideways: " + root.scrollWidth);
  for (const one of document.querySelectorAll("input:not([type=hidden]), select, textarea, button, a, pre, p, h1")) {
    const box = one.getBoundingClientRect(), name = one.outerHTML.slice(0, 80);
    if (!one.matches(".skip") && box.width && (box.left < 0 || box.right > width)) wrong.push("cut off: " + name);
    if (one.labels && !one.matches("button") && !one.labels.length) wrong.push("without a label: " + name);
    if (one.matches("button, a") && !one.textContent.trim()) wrong.push("without a name: " + name);
  }
  return wrong;
}"""
"""What is wrong with a page on a screen of that width."""


def stored(host: httpx.Client) -> None:
    for text in (HOSTILE, LONG, RIGHT_TO_LEFT, "Mia likes green tea."):
        host.post("/memories", json={"text": text, "category": "notes"}).raise_for_status()
    for title in (HOSTILE, LONG[:200], RIGHT_TO_LEFT):
        said = {"text": f"# {title}\n\nTea: {HOSTILE} {LONG} {RIGHT_TO_LEFT}", "title": title, "wait": True}
        host.post("/resources", json=said).raise_for_status()
    skill = f"---\nname: make-tea\ndescription: How tea is made {HOSTILE}\n---\n# Tea\n\n{LONG}\n"
    host.post("/skills", json={"text": skill, "wait": True}).raise_for_status()
    turn = [{"role": "user", "content": f"Which tea? {LONG} {HOSTILE}"}, {"role": "assistant", "content": "Green."}]
    for session in ({"sessionId": "tea"}, {"sessionId": "k", "sessionKey": f"agent:main:{HOSTILE}{LONG[:900]}"}):
        host.post("/after-turn", json={**session, "messages": turn, "wait": True}).raise_for_status()
        host.post("/compact", json=session).raise_for_status()
        asked = {**session, "messages": [{"role": "user", "content": "Which tea does Mia like?"}]}
        host.post("/assemble", json=asked).raise_for_status()


def taken_in(host: httpx.Client) -> None:
    at = "2024-01-01T00:00:00.000Z"
    lines = "\n".join(
        json.dumps(
            {
                "id": f"m_{number:05}",
                "category": "entities",
                "text": f"Room {number} is blue.",
                "createdAt": at,
                "updatedAt": at,
            }
        )
        for number in range(MANY)
    )
    headers = {"content-type": "application/x-ndjson"}
    host.post("/memories/import", content=lines, headers=headers, timeout=120).raise_for_status()


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with sidecar(tmp_path_factory.mktemp("memories") / "data") as base:
        with httpx.Client(base_url=base, trust_env=False, timeout=30) as host:
            taken_in(host)
            stored(host)
        yield base


@pytest.fixture
def page(chromium: Browser, url: str) -> Iterator[Page]:
    context = chromium.new_context(viewport={"width": 1100, "height": 900}, java_script_enabled=False)
    opened = context.new_page()
    foreign: list[str] = []
    opened.on("request", lambda request: None if request.url.startswith(url) else foreign.append(request.url))
    yield opened
    context.close()
    assert foreign == []


def tab_to(page: Page, name: str, role: str = "link") -> None:
    """Press Tab until the control of that name has the focus."""
    wanted = page.get_by_role(role, name=name).first  # type: ignore[arg-type]
    for _ in range(60):
        page.keyboard.press("Tab")
        if wanted.and_(page.locator(":focus")).count():
            return
    raise AssertionError(f"{name} can not be reached by keyboard")


def test_from_searching_to_forgetting_by_keyboard_alone(page: Page, url: str) -> None:
    page.goto(url)
    tab_to(page, "Memories")
    page.keyboard.press("Enter")
    tab_to(page, "Search", "searchbox")
    page.keyboard.type("green tea")
    page.keyboard.press("Enter")
    tab_to(page, "Mia likes green tea.")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Memory", exact=True)).to_be_visible()
    tab_to(page, "Pin", "button")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_have_text("Pinned.")
    tab_to(page, "Text", "textbox")
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type("Mia likes black tea.")
    tab_to(page, "Save", "button")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Changed.")
    expect(page.locator("ol").get_by_text("Mia likes green tea.").first).to_be_visible()
    tab_to(page, "Forget …")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing is forgotten yet")).to_be_visible()
    tab_to(page, "Forget it for good", "button")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Forgotten")).to_be_visible()
    tab_to(page, "All memories")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Mia likes black tea.")).to_have_count(0)
    expect(page.get_by_role("main").get_by_role("link", name="document.title")).to_have_count(1)


def test_a_document_from_the_upload_to_the_removal(page: Page, url: str, tmp_path: Path) -> None:
    guide = tmp_path / "guide.md"
    guide.write_text("# Atlas guide\n\n## Rollback\n\nTo go back to the release before, run `atlas rewind`.\n")
    page.goto(url)
    tab_to(page, "Documents")
    page.keyboard.press("Enter")
    page.get_by_label("File").set_input_files(guide)  # what the dialogue of the browser does
    page.get_by_label("File").focus()
    tab_to(page, "Upload", "button")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Atlas guide can be found now.")
    tab_to(page, "Search", "searchbox")
    page.keyboard.type("go back to the release before")
    page.keyboard.press("Enter")
    expect(page.get_by_text("guide.md > Atlas guide > Rollback")).to_be_visible()
    tab_to(page, "Atlas guide")
    page.keyboard.press("Enter")
    expect(page.locator("pre")).to_contain_text("atlas rewind")
    tab_to(page, "Remove …")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing is removed yet")).to_be_visible()
    tab_to(page, "Remove it for good", "button")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status")).to_contain_text("Removed.")
    expect(page.get_by_role("link", name="Atlas guide")).to_have_count(0)


def every_page(page: Page, url: str) -> list[str]:
    """One address of each page, with what is hardest to show on it."""
    addresses = ["/", "/ui/memories", "/ui/memories?query=tea&state=any", "/ui/memories?since=soon", "/ui/sessions"]
    for path, kind in (
        ("/ui/memories", "memories"),
        ("/ui/resources", "resources"),
        ("/ui/resources?kind=skill", "resources"),
        ("/ui/sessions", "sessions"),
        ("/ui/deliveries?state=all", "deliveries"),
    ):
        page.goto(f"{url}{path}")
        links = page.locator(f"main .list a[href^='/ui/{kind}/']").all()
        addresses += [str(link.get_attribute("href")) for link in links[:5]]
    addresses += [f"{one}/forget" for one in addresses if one.startswith("/ui/memories/")]
    addresses += [one.replace("/one?", "/remove?") for one in addresses if one.startswith("/ui/resources/one?")]
    addresses += ["/ui/resources", "/ui/resources?query=tea", "/ui/resources?kind=skill&query=tea&done=removed"]
    for session in [one for one in addresses if one.startswith("/ui/sessions/")]:
        page.goto(f"{url}{session}")
        addresses.append(str(page.locator("a[href*='/archives/']").first.get_attribute("href")))
    return [
        *addresses,
        "/ui/tenant",
        "/ui/forget",
        "/ui/forget?everything=true",
        "/ui/deliveries",
        "/ui/deliveries?state=all",
        "/ui/recalls",
    ]


def test_on_a_phone_nothing_is_cut_off_and_everything_has_a_label(page: Page, url: str, screenshots: Path) -> None:
    page.set_viewport_size({"width": PHONE, "height": 740})
    addresses = every_page(page, url)
    assert len(addresses) > 20
    for address in addresses:
        page.goto(f"{url}{address}")
        assert page.title().endswith("OpenViking sidecar") and page.locator("h1").count() == 1, address
        assert page.evaluate(TROUBLE, PHONE) == [], address
    for name, address in {
        "memories": "/ui/memories",
        "resources": "/ui/resources?query=tea",
        "session": "/ui/sessions/tea",
        "deliveries": "/ui/deliveries",
    }.items():
        page.goto(f"{url}{address}")
        page.screenshot(path=screenshots / f"{name}-phone.png", full_page=True)


def test_what_has_the_focus_can_be_seen(page: Page, url: str) -> None:
    page.goto(f"{url}/ui/memories")
    plain = page.get_by_role("button", name="Show").screenshot()
    tab_to(page, "Show", "button")
    assert page.locator(":focus-visible").count() == 1
    box = page.locator(":focus").bounding_box()
    assert box
    clip = {"x": box["x"] - 4, "y": box["y"] - 4, "width": box["width"] + 8, "height": box["height"] + 8}
    focused = page.screenshot(clip=clip)  # type: ignore[arg-type]
    page.keyboard.press("Tab")
    assert page.screenshot(clip=clip) != focused and plain  # type: ignore[arg-type]


def test_many_memories_page_by_page(page: Page, url: str) -> None:
    page.goto(f"{url}/ui/memories?category=entities")
    seen = set()
    for _ in range(4):
        seen |= set(page.locator("main .list a").all_inner_texts())
        page.get_by_role("link", name="Older memories").click()
    assert len(seen) == 200
    page.get_by_label("Search").fill("which colour is room 711?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Room 711 is blue.")).to_be_visible()


def test_another_site_presses_no_button(chromium: Browser, url: str, tmp_path: Path) -> None:
    with httpx.Client(base_url=url, trust_env=False) as host:
        memory = host.post("/memories", json={"text": "Tom has a dog."}).json()
        shown = host.get(f"/ui/memories/{memory['id']}").text
    proof = shown.partition('name="proof" value="')[2].partition('"')[0]
    trap = (
        f'<form id=f method=post action="{url}/ui/memories/{memory["id"]}/forget">'
        f'<input name=proof value="{proof}"></form><script>f.submit()</script>'
    )  # worse than real: it knows the proof

    class Trap(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.end_headers()
            self.wfile.write(trap.encode())

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Trap)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        page = chromium.new_page()
        page.goto(f"http://127.0.0.1:{server.server_port}/")
        expect(page.get_by_text("sent by a page of another site")).to_be_visible()
        page.close()
    finally:
        server.shutdown()
        server.server_close()
    assert httpx.get(f"{url}/memories/{memory['id']}", trust_env=False).status_code == 200
