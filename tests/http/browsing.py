"""A page as a browser without scripts sees it: its forms with what stands in their fields, and sending them."""

from dataclasses import dataclass, field
from html.parser import HTMLParser

import httpx
from starlette.testclient import TestClient

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
OURS = {**BROWSER, "Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}


@dataclass
class Form:
    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[Form] = []
        self._open: str | None = None
        self._select: str | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form":
            self.forms.append(Form(given["action"], given.get("method", "get")))
        elif tag == "input" and "name" in given and given.get("type") != "checkbox":
            self.forms[-1].fields[given["name"]] = given.get("value", "")
        elif tag == "select":
            self._select = given["name"]
        elif tag == "option" and self._select and ("selected" in given or self._select not in self.forms[-1].fields):
            self.forms[-1].fields[self._select] = given["value"]
        elif tag == "textarea":
            self._open = given["name"]
            self.forms[-1].fields[self._open] = ""

    def handle_data(self, data: str) -> None:
        if self._open:
            self.forms[-1].fields[self._open] += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea" and self._open:
            fields = self.forms[-1].fields
            fields[self._open] = fields[self._open].removeprefix("\n").replace("\n", "\r\n")
            self._open = None
        elif tag == "select":
            self._select = None


def forms_in(page: httpx.Response) -> dict[str, Form]:
    """The forms of a page that change something, by the end of their address."""
    parser = _Forms()
    parser.feed(page.text)
    return {form.action.rpartition("/")[2]: form for form in parser.forms if form.method == "post"}


def shown(client: TestClient, path: str, status: int = 200) -> str:
    """A page as a browser gets it."""
    answer = client.get(path, headers=BROWSER)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    return answer.text


def send_file(client: TestClient, form: Form, name: str, content: str | bytes, **typed: str) -> httpx.Response:
    """Send a form with a chosen file; with an empty name nobody chose one."""
    fields = {**form.fields, **typed}
    fields.pop("file", None)
    return client.post(form.action, data=fields, files={"file": (name, content)}, headers=OURS)


def send(client: TestClient, form: Form, headers: dict[str, str] | None = None, **typed: str) -> httpx.Response:
    """Send a form with some fields typed anew; redirects are followed, as a browser does."""
    return client.post(form.action, data={**form.fields, **typed}, headers=OURS if headers is None else headers)
