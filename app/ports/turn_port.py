"""The port to the turn store: turns, their delivery, and what was archived of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

from app.core.capture.captured_message import CapturedMessage
from app.core.history.guards.cuts import Cut
from app.core.history.guards.packing import Original, Packed
from app.core.history.prompt_layout import Layout
from app.core.history.window import Measured, Window
from app.core.identity import Identity, Tenant
from app.core.json.answers import answer
from app.core.memories.memory import NewMemory
from app.core.reasons import Reason


@dataclass(frozen=True, slots=True)
class NewTurn:
    """A turn as `/after-turn` hands it to the store."""

    who: Identity
    key: str | None
    """The host's idempotency key."""
    fingerprint: str
    """Of what is said: with the same key it tells a repeat from a reuse."""
    occurrence: str | None
    """What only a repeat of the turn shares with it, whatever its key (see `capture.incoming`); None: nothing does."""
    messages: tuple[CapturedMessage, ...]
    fingerprints: tuple[str, ...]
    """One per host message of the turn, in host order: how `/assemble` finds archived messages again."""
    tokens: int
    token_budget: int
    remember: bool = False
    """The user asked to remember something."""
    skipped: Reason | None = None
    """Why nothing of it is delivered (heartbeat, nothing new); its fingerprints are kept all the same."""
    span: tuple[int, int] | None = None
    """First and last time of the messages behind ``fingerprints``, epoch milliseconds; None when none carries one."""
    memories: tuple[NewMemory, ...] = ()
    """What it asks to remember: on disk with it, and recalled from then on."""
    usage: Measured | None = None
    """What the host says that the model really used."""
    reply_tokens: int = 0
    """Of ``tokens``, those of the last reply."""
    flush_at: int | None = None
    """With how many tokens in the host's window a flush is due; None for never."""
    compared_through: int = 0
    """The position of the session's newest turn that it was compared with (`Recorded.through`); see `SeenBefore`."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a session's turns hold that may stand in a new turn again."""

    fingerprints: tuple[str, ...] = ()
    """Oldest first."""
    through: int = 0
    """The position of the newest turn that was looked at."""


class SeenBefore(Exception):
    """Turns that a new one was not compared with hold messages of the same times; nothing was written.

    Compare it with what `TurnStore.recorded` has, and put it in again.
    """


class CompactionState(StrEnum):
    """Where a session's background upload stands."""

    IDLE = "idle"
    UPLOADING = "uploading"
    UPLOADED = "uploaded"
    FORCED = "forced"


@answer
@dataclass(frozen=True, slots=True)
class MessageRange:
    """Messages of a session by their running number in it, both ends included."""

    start: int
    end: int


@answer
@dataclass(frozen=True, slots=True)
class Compaction:
    """The background upload of a long session."""

    state: CompactionState = CompactionState.IDLE
    upload_id: str | None = None
    message_range: MessageRange | None = None
    clear: MessageRange | None = None
    """What the host may drop."""


@dataclass(frozen=True, slots=True)
class Acceptance:
    """The store's answer, given only once the turn is on disk."""

    status: Literal["committed", "duplicate", "skipped"]
    """``committed``, ``duplicate`` or ``skipped``."""
    turn_id: str
    captured: int
    delivered: bool
    pending_tokens: int
    compaction: Compaction
    flushes: bool = False
    """A flush is due, and that it was told is on disk."""


@dataclass(frozen=True, slots=True)
class LocalHistory:
    """What the store knows of the part of a session (in its present epoch) that is archived or cleared."""

    fingerprints: tuple[str, ...] = ()
    """Of every host message that is archived or was skipped before an archived one, oldest first."""
    summary: str = ""
    """The last summary that the backend made, kept so that an outage does not blank the history."""
    unsummarised: tuple[CapturedMessage, ...] = ()
    """Archived or cleared messages that ``summary`` does not cover: their extraction failed or still runs."""
    opening: tuple[str, ...] = ()
    """What the epoch's first turns told, a text for each turn."""
    focus: str = ""
    """What compactions were asked to keep (`app.core.history.focus`)."""
    assembled_at: float = 0
    """When a prompt was last asked for, epoch seconds, as far as that was noted; 0 for never."""
    cuts: tuple[Cut, ...] = ()
    """What guards decided in the session."""
    layout: Layout | None = None
    """How the session's last prompt was laid out."""
    changes: int = 0
    """How often something of the tenant was changed on purpose: a layout is kept only while that holds."""
    assemble_budget: int = 0
    """The token budget that `/assemble` was last given, as far as it was noted; 0 for none."""
    epoch: int = 0
    known: bool = False
    """False when the store never saw this session."""
    resetting: bool = False
    """A reset is accepted and the backend has not carried it out yet: what it shows is the old epoch's."""


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A turn as it was taken in. Its messages are dropped once an archive that holds them is extracted."""

    turn_id: str
    messages: tuple[CapturedMessage, ...]
    archive_id: str | None
    """The archive that holds it, as far as the backend named one."""


class TurnStore(Protocol):
    """Turns, their delivery, and what was archived of them. Its worker-facing half lives in `app.store`."""

    async def accept(self, turn: NewTurn) -> Acceptance:
        """Put the turn on disk, or recognise it. Raises `KeyReused`, `OutboxFull`, `StoreUnavailable`, `SeenBefore`."""
        ...

    async def seen_fingerprints(self, who: Identity) -> tuple[str, ...]:
        """The fingerprints of all turns of the session's present epoch, oldest first."""
        ...

    async def recorded(self, who: Identity, span: tuple[int, int] | None, *, in_order: bool) -> Recorded:
        """The fingerprints of messages that a turn with times within ``span`` may hold again.

        Messages with a time are the same in every epoch. ``in_order`` adds those without one, of the present epoch.
        """
        ...

    async def local_history(self, who: Identity) -> LocalHistory:
        """What is archived or cleared of the session; an empty one for an unknown session."""
        ...

    def note_budget(self, who: Identity, token_budget: int) -> None:
        """Have the budget noted that `/assemble` was given: commits go by the smaller one of it and the turns' own.

        The answer does not wait for it; one that is lost comes again with the next request.
        """
        ...

    async def window(self, who: Identity) -> Window:
        """What is known of the host's window in this session."""
        ...

    async def note_window(self, who: Identity, tokens: int) -> None:
        """Write down that the host's window holds so many tokens."""
        ...

    async def begin_flush(self, who: Identity, tokens: int, token_budget: int) -> bool:
        """The same for a window in which a flush is due. True once for each compaction: then it is to be told."""
        ...

    def note_request(self, who: Identity) -> None:
        """Have it noted that a prompt of the session is asked for; the answer does not wait for it."""
        ...

    async def keep_outputs(
        self, who: Identity, outputs: Sequence[Packed], layout: Layout | None = None, changes: int = 0
    ) -> None:
        """Write down what guards decided, the originals of what they cut, and how the prompt is laid out.

        The layout is left out when something of the tenant was forgotten since ``changes`` was read: it may tell it.
        Raises `StoreUnavailable`.
        """
        ...

    async def tool_output(self, who: Identity, ref: str) -> Original | None:
        """The newest output of the session that was cut under this name; None for none."""
        ...

    async def tool_output_refs(self, who: Identity, limit: int) -> tuple[str, ...]:
        """The names of the newest outputs of the session that were cut and can be read, newest first."""
        ...

    async def undelivered(self, who: Identity) -> tuple[CapturedMessage, ...]:
        """The messages of the session's present epoch that the backend does not have yet, oldest first."""
        ...

    async def last_agent(self, tenant: Tenant, session: str) -> str | None:
        """The agent last seen for this session."""
        ...
