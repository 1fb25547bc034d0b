"""Stands in for ``openviking-server``: takes the same arguments, answers ``/health`` and nothing else.

``--config`` names a JSON file of what it does instead: ``{"exit": 3}`` ends at once, ``{"deaf": true}`` never answers,
``{"stubborn": true}`` ignores SIGTERM, ``{"leaves": "<file>"}`` starts a process of its own and writes its number
there.
"""

import argparse
import json
import signal
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Health(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps({"status": "ok", "healthy": True, "version": "stand-in", "auth_mode": "dev"}).encode()
        self.send_response(200 if self.path == "/health" else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--host")
    parser.add_argument("--port", type=int)
    parser.add_argument("--config", type=Path)
    arguments = parser.parse_args()
    how = json.loads(arguments.config.read_text()) if arguments.config else {}
    print(f"the stand-in was started on {arguments.port}", flush=True)
    if "exit" in how:
        sys.exit(how["exit"])
    if how.get("stubborn"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "leaves" in how:
        waits = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
        Path(how["leaves"]).write_text(str(waits.pid))
    if how.get("deaf"):
        signal.pause()
    ThreadingHTTPServer((arguments.host, arguments.port), Health).serve_forever()


if __name__ == "__main__":
    main()
