"""``memory_store``: keep something for all later conversations."""

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BeforeValidator, Field

from app.core.identity import PeerRole
from app.core.memories.memory import MAX_KEY_CHARS, MAX_TTL_DAYS
from app.engine.memories.keeping import Statement
from app.tools.memory_lines import category_of, details_of, peers_seen_by
from app.tools.tool import Answer, Arguments, Caller, Name, Text, Tool, Uses


def _lowered(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


Category = Annotated[str, BeforeValidator(_lowered), Field(pattern=r"^[a-z][a-z0-9_-]{0,39}$")]


class StoreArguments(Arguments):
    """What is to be remembered, and how."""

    text: Text = Field(
        validation_alias=AliasChoices("text", "memory_content"), description="One fact, complete in itself."
    )
    category: Category | None = Field(
        None,
        validation_alias=AliasChoices("category", "memory_type"),
        description="profile, preferences, entities or notes; chosen by the text if absent.",
    )
    key: Annotated[Name, Field(max_length=MAX_KEY_CHARS)] | None = Field(
        None, description="What it is about, such as home_city: a later text with the same key replaces it."
    )
    importance: Annotated[Literal["normal", "high"], BeforeValidator(_lowered)] = Field(
        "normal", validation_alias=AliasChoices("importance", "priority")
    )
    ttl_days: float | None = Field(
        None, gt=0, le=MAX_TTL_DAYS, allow_inf_nan=False, description="Days for which it holds; for good if absent."
    )


async def run(uses: Uses, caller: Caller, asked: StoreArguments) -> Answer:
    """Stored, and recalled from the next turn on."""
    peers_seen_by(caller)
    statement = Statement(
        asked.text,
        category=asked.category,
        key=asked.key,
        important=asked.importance == "high",
        ttl_days=asked.ttl_days,
        session=caller.who.session if caller.has_session else None,
        for_peer=caller.who.peer_role is PeerRole.PERSON,  # what one person wants to be kept is not everybody's
    )
    stored = await uses.store_memory.run(caller.who, statement, caller.deadline)
    memory = stored.memory
    details = {**details_of(memory), "created": stored.created}
    if stored.policy:
        found = ", ".join(line.kind for line in stored.policy)
        text = f"Remembered as {memory.id}, without what must not be stored: {found}."
        return Answer(text, details, policy=stored.policy)
    if not stored.created:
        return Answer(f"This was remembered already, as {memory.id}; it is confirmed now.", details)
    return Answer(f"Remembered as {memory.id} ({category_of(memory)}).", details)


TOOL = Tool(
    name="memory_store",
    alias="commit_memory",
    description=(
        "Remember a fact about the user or their work in all later conversations. Use it when the user asks you to "
        "remember something, or corrects you. Never store passwords or keys."
    ),
    arguments=StoreArguments,
    run=run,
    read_only=False,
)
