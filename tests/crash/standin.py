"""A stand-in for OpenViking over HTTP that keeps sessions in memory and breaks in every way that the real one can.

It has the real one's manners where they matter here: no idempotency, writes that go on after the client has left,
batches that are taken whole or not at all, archives by ``keep_recent_count``, and messages that stay findable.
"""

import json
import random
import re
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

EXTRACTION_S = 0.3
LATE_S = 0.5
"""How long after it was sent a write may still be applied; less than the sidecar's ``settle_ms`` in these tests."""


@dataclass
class StoredSession:
    live: list[dict[str, Any]] = field(default_factory=list)
    archives: list[list[dict[str, Any]]] = field(default_factory=list)
    committed_at: list[float] = field(default_factory=list)
    resets: list[int] = field(default_factory=list)
    """Indexes of the archives that a reset made."""

    def everything(self) -> list[dict[str, Any]]:
        return [message for archive in self.archives for message in archive] + self.live


class StandIn:
    """The server. ``chances`` weigh what happens to a write; ``on_event`` is told of each step, in a server thread."""

    def __init__(self, chances: dict[str, float] | None = None, seed: int = 0) -> None:
        self.sessions: dict[str, StoredSession] = {}
        self.chances = chances or {"ok": 1.0}
        self.late_s = LATE_S
        self.slow_s = (0.1, 1.0)
        """Range of seconds that a write of the fate ``slow`` takes before it is applied and answered."""
        self.on_event: Callable[[str], None] = lambda _event: None
        self.faults: dict[str, int] = {}
        self.lock = threading.RLock()
        self._random = random.Random(seed)
        self._server: _Server | None = None
        self.port = 0

    def __enter__(self) -> "StandIn":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self._server = _Server(("127.0.0.1", self.port), _Handler)
        self._server.standin = self
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Refuse connections and cut those that there are; what was stored stays, as on a disk."""
        if self._server is not None:
            self._server.shutdown()
            self._server.cut()
            self._server.server_close()
            self._server = None

    def texts(self, session: str) -> list[str]:
        """What was said in the session, archived and live, in order."""
        with self.lock:
            stored = self.sessions.get(session, StoredSession()).everything()
        return [_text(message) for message in stored]

    def slowness(self) -> float:
        """How many seconds the next slow write takes."""
        with self.lock:
            return self._random.uniform(*self.slow_s)

    def fate(self) -> str:
        """What happens to the next write."""
        with self.lock:
            fate = self._random.choices(list(self.chances), list(self.chances.values()))[0]
            self.faults[fate] = self.faults.get(fate, 0) + 1
            return fate


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128
    standin: StandIn

    def __init__(self, *args: Any) -> None:
        self._open: set[socket.socket] = set()
        super().__init__(*args)

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that was killed leaves broken connections behind."""

    def cut(self) -> None:
        for connection in list(self._open):
            _reset(connection)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_: object) -> None:
        """Quiet."""

    def do_GET(self) -> None:
        standin = self.server.standin
        url = urlsplit(self.path)
        match [unquote(part) for part in url.path.split("/")[3:]]:
            case ["sessions", name, "context"]:
                standin.on_event("context")
                self._answer(_context(standin, name))
            case ["tasks", task]:
                standin.on_event("task")
                name, _, number = task.rpartition("~")
                with standin.lock:
                    began = standin.sessions[name].committed_at[int(number)]
                self._answer({"status": "completed" if time.monotonic() - began > EXTRACTION_S else "running"})
            case ["fs", "tree"]:
                self._answer(_history(standin, parse_qs(url.query)["uri"][0].split("/")[-2]))
            case _:
                self._answer({"healthy": True})

    def do_POST(self) -> None:
        standin = self.server.standin
        body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        match [unquote(part) for part in urlsplit(self.path).path.split("/")[3:]]:
            case ["sessions", name, "messages", "batch"]:
                self._write("append", lambda: _append(standin, name, body["messages"]))
            case ["sessions", name, "commit"]:
                with standin.lock:
                    known = name in standin.sessions
                if not known:
                    self._answer({}, 404)
                    return
                self._write("commit", lambda: _commit(standin, name, body))
            case ["search", "grep"]:
                standin.on_event("grep")
                found = _grep(standin, body)
                self._answer({} if found is None else found, 404 if found is None else 200)
            case _:
                self._answer({}, 404)

    def _write(self, name: str, write: Callable[[], dict[str, Any]]) -> None:
        standin = self.server.standin
        standin.on_event(f"{name} received")
        match standin.fate():
            case "drop before":
                self._drop()
            case "drop after":
                write()
                self._drop()
            case "503 before":
                self._answer({}, 503)
            case "503 after":
                write()
                self._answer({}, 503)
            case "hang":
                time.sleep(2 * standin.late_s)
                self._drop()
            case "late":
                time.sleep(standin.late_s)
                write()
                self._drop()
            case "slow":
                time.sleep(standin.slowness())
                self._answer(write())
            case _:
                answer = write()
                standin.on_event(f"{name} applied")
                self._answer(answer)
                standin.on_event(f"{name} answered")

    def _drop(self) -> None:
        self.close_connection = True
        _reset(self.connection)

    def _answer(self, result: Any, status: int = 200) -> None:
        ok = {"status": "ok", "result": result}
        error = {"status": "error", "error": {"code": "UNAVAILABLE" if status == 503 else "NOT_FOUND", "message": "no"}}
        payload = json.dumps(ok if status == 200 else error).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)


def _append(standin: StandIn, name: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
    with standin.lock:
        session = standin.sessions.setdefault(name, StoredSession())
        session.live += messages
        return {"session_id": name, "message_count": len(session.live), "added": len(messages), "pending_tokens": 1}


def _commit(standin: StandIn, name: str, body: dict[str, Any]) -> dict[str, Any]:
    with standin.lock:
        session = standin.sessions[name]
        cut = len(session.live) - (0 if body.get("reset_context") else body.get("keep_recent_count", 0))
        if cut <= 0:
            return {"session_id": name, "status": "skipped", "task_id": None, "reason": "all_within_keep_window"}
        session.archives.append(session.live[:cut])
        session.live = session.live[cut:]
        session.committed_at.append(time.monotonic())
        if body.get("reset_context"):
            session.resets.append(len(session.archives) - 1)
        number = len(session.archives)
        uri = f"viking://user/default/sessions/{name}/history/archive_{number:03d}"
        return {"session_id": name, "status": "accepted", "task_id": f"{name}~{number - 1}", "archive_uri": uri}


def _grep(standin: StandIn, body: dict[str, Any]) -> dict[str, Any] | None:
    with standin.lock:
        session = standin.sessions.get(body["uri"].rpartition("/")[2])
        if session is None:
            return None
        lines = [json.dumps(message) for message in session.everything()]
    pattern = re.compile(body["pattern"])
    return {"matches": [{"content": line} for line in lines if pattern.search(line)]}


def _context(standin: StandIn, name: str) -> dict[str, Any]:
    with standin.lock:
        session = standin.sessions.get(name, StoredSession())
        return {
            "latest_archive_overview": f"summary of {len(session.archives)} archives" if session.archives else "",
            "pre_archive_abstracts": [],
            "messages": [],
            "stats": {"totalArchives": len(session.archives), "failedArchives": 0},
        }


def _history(standin: StandIn, name: str) -> list[dict[str, Any]]:
    with standin.lock:
        count = len(standin.sessions.get(name, StoredSession()).archives)
    names = ("messages.jsonl", ".done")
    return [{"rel_path": f"archive_{number:03d}/{each}"} for number in range(1, count + 1) for each in names]


def _text(message: dict[str, Any]) -> str:
    parts = message.get("parts") or [{"text": message.get("content")}]
    return "".join(part.get("text") or "" for part in parts)


def _reset(connection: socket.socket) -> None:
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
        connection.shutdown(socket.SHUT_RDWR)
        connection.close()
    except OSError:
        pass
