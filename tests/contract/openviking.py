"""An OpenViking in memory: files, sessions and a search by words, with the real one's manners.

Behind a fake transport it needs no socket; `served` puts it on a port, for a sidecar in another process.

What it answers has the shape of OpenViking 0.5.2's answers; ``tests/integration`` runs the same suite on the real one.
"""

import io
import json
import re
import threading
import zipfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx

from app.openviking.client import OpenVikingBackend
from app.openviking.opening import open_memories, open_resources
from app.settings import OpenVikingSettings
from app.store.turns import open_store
from app.text.words import token_set
from tests.contract.subject import Subject
from tests.unit.turning import FakeClock, work_rules

TRAILER = '\n\n<!-- MEMORY_FIELDS\n{\n  "version": 1\n}\n-->'
_KINDS = "memories", "resources", "skills"
_FIELDS = re.compile(r"<!-- MEMORY_FIELDS.*?-->", re.DOTALL)


@dataclass
class FakeOpenViking:
    """The server. ``down`` refuses every connection, ``refuses`` every write; ``before`` is told of each request."""

    files: dict[str, str] = field(default_factory=dict)
    times: dict[str, str] = field(default_factory=dict)
    sessions: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    uploads: dict[str, bytes] = field(default_factory=dict)
    asked: list[dict[str, Any]] = field(default_factory=list)
    """The bodies of requests for documents and skills."""
    failing: int = 0
    """How many of the next tasks fail."""
    down: bool = False
    refuses: bool = False
    before: Callable[[httpx.Request], None] = lambda _request: None
    lock: threading.RLock = field(default_factory=threading.RLock)
    _writes: int = 0

    def put(self, uri: str, text: str) -> None:
        """A file as its own extraction writes it."""
        self._writes += 1
        self.files[uri] = _FIELDS.sub("", text).strip()
        at = datetime.fromtimestamp(1_800_000_000 + self._writes, UTC)
        self.times[uri] = at.strftime("%Y-%m-%dT%H:%M:%SZ")

    def below(self, uri: str) -> list[str]:
        """The files at or below a URI."""
        return [one for one in sorted(self.files) if one == uri or one.startswith(f"{uri.rstrip('/')}/")]

    def answer(self, request: httpx.Request) -> httpx.Response:
        """The answer to a request. Raises `httpx.ConnectError` while the server is down."""
        self.before(request)
        if self.down:
            raise httpx.ConnectError("refused", request=request)
        with self.lock:
            return self._answer(request)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        user = request.headers.get("x-openviking-user", "default")
        is_form = request.headers.get("content-type", "").startswith("multipart/")
        url, body = request.url, {} if is_form else json.loads(request.content or b"{}")

        def real(uri: str) -> str:
            return uri.replace("viking://~", f"viking://user/{user}", 1)

        match request.method, url.path.removeprefix("/api/v1/").split("/"):
            case "POST", ["content", "write"] if self.refuses:
                return httpx.Response(400, json={"status": "error", "error": {"code": "INVALID_ARGUMENT"}})
            case "POST", ["content", "write"]:
                self.put(real(body["uri"]), body["content"])
                return _ok({"uri": real(body["uri"]), "vector_status": "complete"})
            case "GET", ["content", "read"]:
                uri = real(url.params["uri"])
                text = self.files.get(uri)
                return _missing() if text is None else _ok(text + TRAILER * ("raw" in url.params))
            case "DELETE", ["fs"] if "recursive" in url.params:
                for uri in self.below(real(url.params["uri"])):
                    del self.files[uri]
                return _ok({"uri": real(url.params["uri"]), "estimated_deleted_count": 1})
            case "POST", ["resources", "temp_upload"]:
                return self._uploaded(request)
            case "POST", ["resources"]:
                self.asked.append(body)
                return self._taken_in(real(body["to"]), _unzipped(self.uploads.pop(body["temp_file_id"])))
            case "POST", ["skills"]:
                self.asked.append(body)
                return self._skill(real("viking://~/skills"), body)
            case "DELETE", ["skills", name]:
                below = self.below(real(f"viking://~/skills/{name}"))
                for uri in below:
                    del self.files[uri]
                return _ok({"name": name}) if below else _missing()
            case "GET", ["tasks", name]:
                failed = {"error": "Failed to generate embedding", "status": "failed"}
                return _ok({"task_id": name, **(failed if name == "failing" else {"status": "completed"})})
            case "DELETE", ["fs"]:
                self.files.pop(real(url.params["uri"]), None)
                return _ok({"uri": real(url.params["uri"]), "estimated_deleted_count": 1})
            case "GET", ["fs", "tree"]:
                below = self.below(real(url.params["uri"]))
                return _ok([self._listed(uri) for uri in below]) if below else _missing()
            case "POST", ["search", "grep"]:
                return _ok({"matches": list(self._matches(real(body["uri"]), re.compile(body["pattern"])))})
            case "POST", ["search", "find"]:
                targets = body["target_uri"] if isinstance(body["target_uri"], list) else [body["target_uri"]]
                found = self._found(body["query"], [real(one) for one in targets])[: body["limit"]]
                if body.get("read_content"):
                    found = [{**one, "content": self.files[one["uri"]]} for one in found]
                kinds = {kind: [one for one in found if kind in one["uri"].split("/")] for kind in _KINDS}
                return _ok({**kinds, "total": len(found)})
            case "POST", ["sessions", name, "messages", "batch"]:
                live = self.sessions.setdefault(f"{user}/{name}", [])
                live += body["messages"]
                return _ok({"message_count": len(live), "pending_tokens": 1})
            case "GET", ["sessions", _, "context"]:
                stats = {"totalArchives": 0, "failedArchives": 0}
                return _ok({"latest_archive_overview": "", "pre_archive_abstracts": [], "messages": [], "stats": stats})
            case "POST", ["sessions", _, "commit"]:
                return _ok({"status": "skipped", "task_id": None, "reason": "no_messages"})
            case "GET", ["/health"]:
                return httpx.Response(200, json={"status": "ok", "healthy": True, "version": "0.5.2"})
        return _missing()

    def _uploaded(self, request: httpx.Request) -> httpx.Response:
        boundary = request.headers["content-type"].partition("boundary=")[2].encode()
        part = request.content.split(b"--" + boundary)[1]
        name = f"upload_{len(self.asked)}_{len(self.uploads)}.zip"
        self.uploads[name] = part.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n")
        return _ok({"temp_file_id": name})

    def _taken_in(self, root: str, files: dict[str, str]) -> httpx.Response:
        if self.failing:
            self.failing -= 1
            return _ok({"status": "success", "task_id": "failing", "root_uri": root})
        for uri in self.below(root):
            del self.files[uri]
        self.files |= {f"{root}/{name}": text for name, text in files.items()}
        return _ok({"status": "success", "task_id": "done", "root_uri": root})

    def _skill(self, home: str, body: dict[str, Any]) -> httpx.Response:
        is_zip = "temp_file_id" in body
        files = _unzipped(self.uploads.pop(body["temp_file_id"])) if is_zip else {"SKILL.md": body["data"]}
        text = next(text for name, text in files.items() if name.endswith("SKILL.md"))
        name = re.search(r"^name: (\S+)$", text, re.MULTILINE)
        assert name is not None and text.startswith("---\n"), text
        below = {path.removeprefix(f"{name.group(1)}/"): text for path, text in files.items()}
        return self._taken_in(f"{home}/{name.group(1)}", below)

    def _listed(self, uri: str) -> dict[str, Any]:
        return {"uri": uri, "isDir": False, "size": len(self.files[uri].encode()), "modTime": self.times[uri]}

    def _matches(self, uri: str, pattern: re.Pattern[str]) -> Any:
        for one in self.below(uri):
            for number, line in enumerate(self.files[one].split("\n"), 1):
                if pattern.search(line):
                    yield {"uri": one, "line": number, "content": line}

    def _found(self, query: str, targets: list[str]) -> list[dict[str, Any]]:
        asked = token_set(query)
        uris = dict.fromkeys(uri for target in targets for uri in self.below(target))
        scores = {uri: len(asked & token_set(self.files[uri])) / max(1, len(asked)) for uri in uris}
        return [
            {"uri": uri, "level": 2, "score": score, "abstract": self.files[uri], "tags": []}
            for uri, score in sorted(scores.items(), key=lambda one: -one[1])
            if score
        ]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256
    fake: FakeOpenViking


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: object) -> None:
        """Quiet."""

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        url = f"http://openviking.test{self.path}"
        try:
            answer = self.server.fake.answer(httpx.Request(self.command, url, headers=dict(self.headers), content=body))
        except httpx.ConnectError:
            self.close_connection = True
            return
        with suppress(BrokenPipeError):  # who asked was killed
            self.send_response(answer.status_code)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(answer.content)))
            self.end_headers()
            self.wfile.write(answer.content)

    do_GET = do_POST = do_DELETE = _serve


@contextmanager
def served(fake: FakeOpenViking) -> Iterator[str]:
    """The base URL of a server on a free port. While it is ``down`` it breaks connections off."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.fake = fake
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()


def backend_on(server: FakeOpenViking) -> OpenVikingBackend:
    """A backend that talks to it, for every user."""
    settings = OpenVikingSettings(url="http://openviking.test", breaker_failures=1_000)
    return OpenVikingBackend(settings, transport=httpx.MockTransport(server.answer))


@asynccontextmanager
async def openviking(directory: Path) -> AsyncIterator[Subject]:
    """A subject on a server of its own, with a store of the sidecar's."""
    async with subject_on(FakeOpenViking(), directory) as subject:
        yield subject


@asynccontextmanager
async def subject_on(server: FakeOpenViking, directory: Path) -> AsyncIterator[Subject]:
    """A subject on this server."""
    backend = backend_on(server)
    store = await open_store(f"sqlite:///{directory / 'turns.db'}", rules=work_rules(), clock=FakeClock())
    try:
        yield Subject(backend, open_memories(backend, store.ledger), open_resources(backend, store.catalogue))
    finally:
        await store.aclose()
        await backend.aclose()


def _unzipped(data: bytes) -> dict[str, str]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {one: archive.read(one).decode() for one in archive.namelist()}


def _ok(result: Any) -> httpx.Response:
    return httpx.Response(200, json={"status": "ok", "result": result})


def _missing() -> httpx.Response:
    return httpx.Response(404, json={"status": "error", "error": {"code": "NOT_FOUND", "message": "no"}})
