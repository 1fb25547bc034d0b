"""A large upload is held once, outside of the heap: no request holds a copy of it while it is read."""

import io
import tracemalloc
import zipfile
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from app.factory import create_app
from app.settings import Settings

pytestmark = pytest.mark.anyio
MIB = 1024 * 1024
PIECE = 64 * 1024


def packed(large: int) -> bytes:
    """A guide, and a picture of ``large`` bytes that nothing is made of."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("guide.md", "# Guide\n\nRun `atlas rewind` to go back.\n")
        archive.writestr("picture.png", bytes(large))
    return made.getvalue()


async def form(archive: bytes) -> AsyncIterator[bytes]:
    """As a client sends it, piece by piece."""
    head = 'Content-Disposition: form-data; name="file"; filename="handbook.zip"'
    yield f"--end\r\n{head}\r\n\r\n".encode()
    for at in range(0, len(archive), PIECE):
        yield archive[at : at + PIECE]
    yield b'\r\n--end\r\nContent-Disposition: form-data; name="wait"\r\n\r\ntrue\r\n--end--\r\n'


async def test_no_copy_of_an_upload_is_in_the_heap(tmp_path: Path) -> None:
    settings = Settings(_env_file=None, data_dir=tmp_path / "data", log_level="error", limits={"wait_ms": 60_000})
    settings.embedded.embedder.kind = "none"
    app = create_app(settings)
    large = packed(16 * MIB)
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app=app)
        headers = {"X-OpenViking-User": "ann", "Content-Type": "multipart/form-data; boundary=end"}
        async with httpx.AsyncClient(transport=transport, base_url="http://sidecar", headers=headers) as client:
            for archive, limit in ((packed(0), 1_000), (large, 4)):  # the first one loads what is loaded once
                tracemalloc.start()
                try:
                    answer = await client.post("/resources", content=form(archive))
                    most = tracemalloc.get_traced_memory()[1]
                finally:
                    tracemalloc.stop()
                assert answer.is_success, answer.text
                assert most < limit * MIB
        assert answer.json()["status"] == "ready"
