"""Going on with forgettings that were begun: after a start, and whenever a caller could not wait for the end."""

import anyio
import structlog

from app.engine.memories.erasing import EraseEverywhere
from app.errors import StoreUnavailable
from app.ports import BackendError

log = structlog.get_logger(__name__)

LOOK_EVERY_S = 5.0
"""Pause after a failure, and longest sleep: another process may have died over one."""


class Forgetter:
    """The background task of forgetting."""

    def __init__(self, erase: EraseEverywhere) -> None:
        self.erase = erase
        self._work = anyio.Event()
        erase.on_left = self.wake

    def wake(self) -> None:
        """There may be something to go on with."""
        self._work.set()

    async def run(self) -> None:
        """Go on until cancelled."""
        while True:
            self._work = anyio.Event()
            try:
                await self.erase.go_on()
            except (BackendError, StoreUnavailable) as error:
                log.warning("forgetting_goes_on_later", error=type(error).__name__)
                await anyio.sleep(LOOK_EVERY_S)
                continue
            with anyio.move_on_after(LOOK_EVERY_S):
                await self._work.wait()
