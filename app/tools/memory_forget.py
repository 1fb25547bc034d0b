"""``memory_forget``: forget one memory, and only when it is clear which."""

from collections.abc import Sequence

from pydantic import Field, model_validator

from app.core.memories.memory import Memory, MemoryFilter
from app.core.memories.memory_outcomes import Receipt
from app.core.reasons import Reason
from app.engine.memories.forgetting import Selection
from app.errors import Ambiguous, NotFound
from app.tools.memory_lines import details_of, lines_of, peers_seen_by
from app.tools.tool import Answer, Arguments, Caller, Mistake, Name, Text, Tool, Uses


class ForgetArguments(Arguments):
    """Which memory; one of the three."""

    id: Name | None = Field(None, description="Of a memory, as memory_recall shows it.")
    uri: Name | None = None
    query: Text | None = Field(None, description="Words of the memory.")

    @model_validator(mode="after")
    def _one_selection(self) -> "ForgetArguments":
        if sum(value is not None for value in (self.id, self.uri, self.query)) != 1:
            raise ValueError("give one of id, uri and query")
        return self


async def run(uses: Uses, caller: Caller, asked: ForgetArguments) -> Answer:
    """What was forgotten; where several memories could be meant, those, and nothing is forgotten."""
    seen = MemoryFilter(visible_to=peers_seen_by(caller))
    selection = Selection(asked.id, asked.uri, asked.query)
    try:
        found = await uses.select_memory.run(caller.who, selection, seen, caller.deadline)
    except NotFound:
        text = "There is no memory with this id. Find the right one with memory_recall, or give a query."
        raise Mistake(text) from None
    except Ambiguous as several:
        raise _which(several.candidates) from None
    if found is None:
        return Answer("Nothing like this is remembered, so there is nothing to forget.", {"candidates": []})
    return await _forgotten(uses, caller, found)


def _which(memories: Sequence[Memory]) -> Mistake:
    text = "Nothing was forgotten: any of these could be meant. Call memory_forget with the id of one."
    candidates = [details_of(memory) for memory in memories]
    return Mistake(f"{text}\n{lines_of(memories)}", Reason.AMBIGUOUS, candidates=candidates)


async def _forgotten(uses: Uses, caller: Caller, memory: Memory) -> Answer:
    receipt = await uses.forget_memory.run(caller.who, memory.id, caller.deadline)
    kept = [{"what": one.what, "why": one.why} for one in receipt.kept]
    details = {"receiptId": receipt.receipt_id, "forgotten": [details_of(memory)], "kept": kept}
    return Answer(f"Forgotten: {memory.id} ({memory.category}).{_left(receipt)}", details)


def _left(receipt: Receipt) -> str:
    if not receipt.kept:
        return ""
    left = "; ".join(f"{one.what} ({one.why})" for one in receipt.kept)
    return f" It will not be recalled. It may still stand in: {left}."


TOOL = Tool(
    name="memory_forget",
    description=(
        "Forget one memory for good, when the user asks for it or it is wrong. Where several could be meant they are "
        "listed and none is forgotten. To correct one, store the right fact and forget the wrong one."
    ),
    arguments=ForgetArguments,
    run=run,
    read_only=False,
    destructive=True,
)
