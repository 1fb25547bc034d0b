"""The serving process' side of reading: a child for each import, a few at once, killed when it takes too long."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from anyio import CapacityLimiter, to_thread

from app.atrest.vault import PLAIN, Vault
from app.documents.parsed_document import Limits, Refusal, Refused
from app.gathering.content import Content
from app.gathering.reader_child import Asked


@dataclass(frozen=True, slots=True)
class Upload:
    """What somebody sends: its bytes, with its name and media type as far as they are known. Whoever takes it closes
    ``content``."""

    name: str
    content: Content
    media_type: str = ""
    is_skill: bool = False


@dataclass(frozen=True, slots=True)
class ReadUpload:
    """What reading it has come to. Its documents lie in the spool."""

    files: int
    changed: int
    """Of these, those that were not stored already as they are."""
    size: int
    title: str
    summary: str
    skipped: tuple[str, ...]
    """Files that nothing could be made of, each with the reason; the first of them."""
    skipped_files: int


class ReaderFailed(RuntimeError):
    """The child ended without an answer, for no fault of what it read."""


class ReaderProcess:
    """Reads uploads in child processes, at most ``at_once`` of them; others wait their turn."""

    def __init__(
        self,
        limits: Limits,
        *,
        at_once: int,
        seconds: float,
        rules: Mapping[str, str] | None = None,
        patterns: Mapping[str, tuple[str, str]] | None = None,
        vault: Vault = PLAIN,
    ) -> None:
        """``rules`` and ``patterns`` are the policy's: what they find never reaches a disk."""
        self._limits = limits
        self._seconds = seconds
        self._rules = dict(rules or {})
        self._patterns = {name: list(pattern) for name, pattern in (patterns or {}).items()}
        self._vault = vault
        self._limiter = CapacityLimiter(at_once)
        self._children: set[subprocess.Popen[bytes]] = set()
        self._guard = threading.Lock()
        self._closed = False

    @property
    def salt(self) -> str:
        """See `Asked.salt`."""
        return self._asked("").salt

    async def read(self, upload: Upload, spool: Path, known: Mapping[str, str]) -> ReadUpload:
        """Read it into the new file ``spool``; there is none when it raises. Raises `Refused`, `ReaderFailed`."""
        asked = self._asked(
            upload.name,
            media_type=upload.media_type,
            spool=str(spool),
            vault=self._vault.cipher.for_child(),
            is_skill=upload.is_skill,
            known=dict(known),
        )
        try:
            answer = await self._run(asked, upload.content)
        except BaseException:
            spool.unlink(missing_ok=True)  # noqa: ASYNC240 - a name, and only in trouble
            raise
        return ReadUpload(
            files=answer["files"],
            changed=answer["changed"],
            size=answer["size"],
            title=answer.get("title", ""),
            summary=answer.get("summary", ""),
            skipped=tuple(answer["skipped"]),
            skipped_files=answer.get("more", 0),
        )

    async def aclose(self) -> None:
        """Kill every child; what they were reading was not accepted yet."""
        with self._guard:
            self._closed = True
            children = list(self._children)
        for child in children:
            child.kill()

    def _asked(self, name: str, **how: Any) -> Asked:
        return Asked(
            name=name,
            cpu_s=max(1, int(self._seconds)),
            limits=asdict(self._limits),
            rules=self._rules,
            patterns=self._patterns,
            **how,
        )

    async def _run(self, asked: Asked, content: Content) -> dict[str, Any]:
        child: list[subprocess.Popen[bytes]] = []
        ask = partial(self._ask, asked, content, child)
        try:
            answer = await to_thread.run_sync(ask, limiter=self._limiter, abandon_on_cancel=True)
        finally:
            for one in child:  # it runs on where the caller has gone
                one.kill()
        if "refused" in answer:
            raise Refused(Refusal(answer["refused"]), answer["detail"])
        return answer

    def _ask(self, asked: Asked, content: Content, started: list[subprocess.Popen[bytes]]) -> dict[str, Any]:
        child = self._begun(content)
        started.append(child)
        try:
            out, _ = child.communicate(asked.line(), timeout=self._seconds)
        except subprocess.TimeoutExpired:
            raise Refused(Refusal.UNSAFE, f"{asked.name[:80]!r} takes longer to be read than it may") from None
        finally:
            child.kill()
            child.wait()
            for pipe in (child.stdin, child.stdout):
                if pipe:
                    pipe.close()
            with self._guard:
                self._children.discard(child)
        if child.returncode in {-24, -9} and not self._closed:  # SIGXCPU, and the system's own way to save memory
            raise Refused(Refusal.UNSAFE, f"{asked.name[:80]!r} takes more time or memory to be read than it may")
        if not out:
            raise ReaderFailed(f"the process that reads imports ended with {child.returncode}")
        answer: dict[str, Any] = json.loads(out)
        return answer

    def _begun(self, content: Content) -> "subprocess.Popen[bytes]":
        """A child that has been lent the ``content``. It gets none of our settings: they hold keys."""
        inherited = {name: value for name, value in os.environ.items() if not name.upper().startswith("SIDECAR_")}
        environment = {**inherited, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        with content.lent() as descriptor, self._guard:
            if self._closed:
                raise ReaderFailed("the service is stopping")
            child = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, "-m", "app.gathering.reader_child", str(descriptor)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment,
                pass_fds=(descriptor,),
            )
            self._children.add(child)
        return child
