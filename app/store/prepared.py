"""A turn made ready for the store: what takes long with a large one, and needs no store."""

from dataclasses import dataclass, replace

from app.core.capture.captured_turn import with_ids
from app.core.capture.skill_uses import SkillRecord, skills_in, turns_in
from app.core.capture.tool_records import ToolTally, tallied
from app.core.capture.tool_uses import ToolUse, parted
from app.core.history.session_opening import told_in
from app.ports import NewTurn
from app.store.codec import dump_messages, dump_strings, new_id


@dataclass(frozen=True, slots=True)
class Prepared:
    """A turn made ready outside the transaction: its id and its messages as they will be stored.

    What is in here need not be in ``turn`` any more: see `without_lists`.
    """

    turn: NewTurn
    turn_id: str
    payload: str
    fingerprints: str
    told: str
    """What a session's opening takes of it."""
    host_messages: int
    """How many messages of the host it is made of."""
    captured: int
    """How many of them are kept."""
    tools: tuple[ToolTally, ...] = ()
    """The tool calls in them, counted: the transaction is not to take longer for a turn of many."""
    skills: tuple[SkillRecord, ...] = ()
    """The skills that were used in them."""
    late: tuple[ToolUse, ...] = ()
    """The results in them whose calls stand in earlier turns."""

    def without_lists(self) -> "Prepared":
        """The same for another process: half a million strings take it long to read, and it has them as one."""
        return replace(self, turn=replace(self.turn, messages=(), fingerprints=()))


def prepare(turn: NewTurn) -> Prepared:
    """Give the turn its id and its messages theirs; nothing is written."""
    turn_id = new_id("t")
    captured = 0 if turn.skipped is not None else len(turn.messages)
    payload, fingerprints = dump_messages(with_ids(turn.messages, turn_id)), dump_strings(turn.fingerprints)
    turns = tuple(turns_in(turn.messages)) if captured else ()
    late, calls = parted(use for one in turns for use in one.uses)
    told, host_messages = told_in(turn.messages), len(turn.fingerprints)
    return Prepared(
        turn, turn_id, payload, fingerprints, told, host_messages, captured, tallied(calls), skills_in(turns), late
    )
