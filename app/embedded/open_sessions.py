"""A user's session files, as they were read last. Synchronous; called in threads."""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.atrest.vault import Vault
from app.core.deadline import Deadline
from app.embedded.storage import layout, session_file
from app.embedded.storage.session_file import SessionFile

MAX_OPEN_SESSIONS = 64


class SessionUnknown(Exception):
    """There is no such session, or no such archive in it."""


class OpenSessions:
    """The sessions of the user at ``root``; the last `MAX_OPEN_SESSIONS` are kept, and only what is new is read."""

    def __init__(self, root: Path, vault: Vault) -> None:
        self._root = root
        self._vault = vault
        self._files: OrderedDict[str, SessionFile] = OrderedDict()

    @contextmanager
    def opened(self, session: str, deadline: Deadline) -> Iterator[SessionFile]:
        """The session file, up to date, with the user's lock held until the block ends."""
        with layout.locked(self._root, deadline):
            stored = self._files.pop(session, None) or SessionFile(
                layout.session_path(self._root, session), vault=self._vault
            )
            stored = session_file.refresh(stored)
            try:
                yield stored
            except OSError:
                stored = session_file.anew(stored)  # what was written is not sure: read it again
                raise
            finally:
                self._files[session] = stored
                while len(self._files) > MAX_OPEN_SESSIONS:
                    self._files.popitem(last=False)
