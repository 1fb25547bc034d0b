"""What somebody sends to do harm is refused with a clear error, and nothing of it is written."""

import io
import random
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from app.factory import create_app
from app.settings import Settings
from tests.http.test_resources import upload, zipped

UNPACKED = 4 * 1024 * 1024


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("hostile") / "data"


@pytest.fixture(scope="module")
def client(data_dir: Path) -> Iterator[TestClient]:
    limits = {"max_files": 20, "max_unpacked_bytes": UNPACKED}
    settings = Settings.model_validate({"data_dir": data_dir, "log_level": "error", "resources": limits})
    with TestClient(create_app(settings)) as client:
        yield client


def written(data_dir: Path) -> set[str]:
    """Files of imports; the store's own are there whatever is sent."""
    return {str(file) for folder in ("incoming", "accounts") for file in (data_dir / folder).rglob("*")}


def named(name: str) -> bytes:
    return zipped({"good.md": "Good.", name: "Bad."})


def bomb() -> bytes:
    return zipped({"bomb.txt": b"\0" * (3 * 1024 * 1024)})


def many_bombs() -> bytes:
    return zipped({f"{number}.txt": random.Random(number).randbytes(400_000) for number in range(12)})


def link() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        entry = zipfile.ZipInfo("passwords.txt")
        entry.create_system = 3
        entry.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(entry, "/etc/passwd")
    return made.getvalue()


def device() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        entry = zipfile.ZipInfo("zero.txt")
        entry.create_system = 3
        entry.external_attr = (stat.S_IFCHR | 0o666) << 16
        archive.writestr(entry, "x")
    return made.getvalue()


def lying_about_its_size() -> bytes:
    """The listing says 10 bytes; unpacked there are 8 MB."""
    packed = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = packed.compress(b"lie " * (2 * 1024 * 1024)) + packed.flush()
    head = struct.pack("<4s5H3I2H", b"PK\x03\x04", 20, 0, 8, 0, 0, 0, len(body), 10, 8, 0) + b"lies.txt"
    entry = struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 20, 20, 0, 8, 0, 0, 0, len(body), 10, 8, 0, 0, 0, 0, 0, 0)
    entry += b"lies.txt"
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 1, 1, len(entry), len(head) + len(body), 0)
    return head + body + entry + end


def overlapping() -> bytes:
    """Two entries that are the same bytes of the archive: the trick of the 42-kilobyte bombs."""
    body = zlib.compress(b"again " * 1000)[2:-4]
    head = struct.pack("<4s5H3I2H", b"PK\x03\x04", 20, 0, 8, 0, 0, 0, len(body), 6000, 5, 0) + b"a.txt"
    entries = b""
    for name in (b"a.txt", b"b.txt"):
        entries += struct.pack(
            "<4s6H3I5H2I", b"PK\x01\x02", 20, 20, 0, 8, 0, 0, 0, len(body), 6000, 5, 0, 0, 0, 0, 0, 0
        )
        entries += name
    end = struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 2, 2, len(entries), len(head) + len(body), 0)
    return head + body + entries + end


def encrypted() -> bytes:
    data = bytearray(zipped({"secret.md": "Secret."}))
    data[6] |= 1
    listing = data.find(b"PK\x01\x02")
    data[listing + 8] |= 1
    return bytes(data)


def huge_listing() -> bytes:
    return struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, 60_000, 60_000, 10_000_000, 0, 0)


def twice() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("a.md", "One.")
        archive.writestr("A.md", "Two.")
    return made.getvalue()


def pdf_of_pages(count: int) -> bytes:
    kids = " ".join(["3 0 R"] * count)
    objects = [
        "1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj",
        f"2 0 obj<</Type/Pages/Count {count}/Kids[{kids}]>>endobj",
        "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj",
    ]
    made, offsets = "%PDF-1.4\n", []
    for one in objects:
        offsets.append(len(made))
        made += one + "\n"
    rows = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    table = f"xref\n0 4\n0000000000 65535 f \n{rows}trailer<</Size 4/Root 1 0 R>>\nstartxref\n{len(made)}\n%%EOF"
    return (made + table).encode()


ARCHIVES: dict[str, tuple[Callable[[], bytes], int]] = {
    "climbs out": (lambda: named("../../outside.md"), 422),
    "climbs out inside": (lambda: named("docs/../../outside.md"), 422),
    "absolute": (lambda: named("/etc/cron.d/job.md"), 422),
    "backslashes": (lambda: named("..\\..\\outside.md"), 422),
    "drive": (lambda: named("C:/outside.md"), 422),
    "line break in a name": (lambda: named("a\nb.md"), 422),
    "deep folders": (lambda: named("d/" * 60 + "x.md"), 422),
    "long name": (lambda: named("n" * 600 + ".md"), 422),
    "link": (link, 422),
    "device": (device, 422),
    "bomb": (bomb, 422),
    "many files that are too much together": (many_bombs, 413),
    "lies about its size": (lying_about_its_size, 422),
    "overlapping files": (overlapping, 422),
    "too many files": (lambda: zipped({f"{number}.md": "x" for number in range(30)}), 413),
    "huge listing": (huge_listing, 413),
    "encrypted": (encrypted, 422),
    "two files of one name": (twice, 422),
    "damaged": (lambda: zipped({"a.md": "Some text."})[:-30], 422),
    "nothing to read": (lambda: zipped({"a.exe": b"MZ"}), 415),
    "archive in an archive": (lambda: zipped({"inner.zip": bomb()}), 415),
    "deep HTML within": (lambda: zipped({"deep.html": "<div>" * 50_000 + "x"}), 422),
}
FILES: dict[str, tuple[str, bytes, int]] = {
    "deep HTML": ("deep.html", b"<div>" * 100_000 + b"x", 422),
    "PDF of too many pages": ("pages.pdf", pdf_of_pages(2_500), 413),
    "no PDF": ("a.pdf", b"<html>", 422),
    "program": ("a.exe", b"MZ\x90", 415),
    "binary that says it is text": ("a.txt", b"\x00\x01\x02" * 50, 415),
    "nothing": ("a.md", b"  \n", 422),
}
URLS = [
    "http://127.0.0.1:8787/memories",
    "http://localhost/",
    "http://[::1]/",
    "http://0.0.0.0/",
    "http://169.254.169.254/latest/meta-data/",
    "http://10.0.0.8/",
    "http://192.168.1.1/admin",
    "http://[::ffff:127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://user:secret@example.org/",
    "http://127.0.0.1:22/",
    "file:///etc/passwd",
    "ftp://example.org/a.md",
    "gopher://127.0.0.1:6379/_FLUSHALL",
    "http:///etc/passwd",
    "http://exa mple.org/",
    "/etc/passwd",
]


@pytest.mark.parametrize("name", ARCHIVES)
def test_an_archive_that_does_harm_is_refused(client: TestClient, data_dir: Path, name: str) -> None:
    make, status = ARCHIVES[name]
    answer = upload(client, "upload.zip", make())
    assert answer.status_code == status, answer.text
    assert answer.json()["detail"] and written(data_dir) == set()
    assert client.get("/resources").json()["resources"] == []


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_does_harm_is_refused(client: TestClient, data_dir: Path, name: str) -> None:
    file, content, status = FILES[name]
    answer = upload(client, file, content)
    assert answer.status_code == status, answer.text
    assert answer.json()["detail"] and written(data_dir) == set()


@pytest.mark.parametrize("url", URLS)
def test_a_url_that_leads_inside_is_refused(client: TestClient, data_dir: Path, url: str) -> None:
    answer = client.post("/resources", json={"url": url, "wait": True})
    assert (answer.status_code, answer.json()["code"]) == (400, "url_refused"), answer.text
    assert answer.json()["detail"] and written(data_dir) == set()


@pytest.mark.parametrize("git", ["https://10.0.0.1/a/b", "git@github.com:a/b", "https://github.com/a", "file:///srv/x"])
def test_a_repository_elsewhere_is_refused(client: TestClient, git: str) -> None:
    answer = client.post("/resources", json={"git": git})
    assert (answer.status_code, answer.json()["code"]) == (400, "url_refused")


@pytest.mark.parametrize("to", ["../x", "viking://~/memories/x", "a/../../b", ".hidden", "x" * 301, "a\nb"])
def test_nothing_is_stored_outside_of_its_folder(client: TestClient, data_dir: Path, to: str) -> None:
    answer = upload(client, "guide.md", "A guide to guides.", to=to)
    assert answer.status_code == 400 and answer.json()["errors"][0]["field"] == "to"
    assert written(data_dir) == set()


def test_a_form_of_another_site_is_refused(client: TestClient, data_dir: Path) -> None:
    headers = {"Sec-Fetch-Site": "cross-site"}
    answer = client.post("/resources", files={"file": ("a.md", "Text.")}, headers=headers)
    assert answer.status_code == 403 and written(data_dir) == set()


def test_a_body_names_one_thing(client: TestClient) -> None:
    for body in ({}, {"url": "https://example.org", "text": "x"}, {"text": "  "}, {"text": 7}):
        assert client.post("/resources", json=body).status_code == 400
    assert client.post("/resources", content=b"x", headers={"Content-Type": "text/plain"}).status_code == 400
    assert client.post("/resources", data={"to": "x"}, files={"other": ("a.md", "x")}).status_code == 400
