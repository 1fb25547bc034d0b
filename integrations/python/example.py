"""A chat loop with memory: ``python example.py``, with a sidecar on port 8787. An empty line ends it.

The model is any callable from messages and system prompt to text; here a parrot. Your history stays yours: what the
sidecar adds is only ever sent to the model, never kept.
"""

import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

from sidecar_client import Message, Session, Sidecar, SidecarError

Model = Callable[[Sequence[Message], str], str]
Turn = tuple[str, list[Message]]
"""A key that no other turn has, and what was said."""


def chat(sidecar: Sidecar, session: Session, model: Model, questions: Iterable[str]) -> Iterator[str]:
    """Answers each question with what the sidecar knows about it. A sidecar that is away stops nothing."""
    history: list[Message] = []
    unsent: deque[Turn] = deque()
    for question in questions:
        asked = {"role": "user", "content": question}
        context = sidecar.assemble(session, [*history, asked])
        reply = {"role": "assistant", "content": model(context["messages"], context.get("systemPromptAddition", ""))}
        yield reply["content"]
        history += [asked, reply]
        unsent.append((str(uuid.uuid4()), [asked, reply]))
        hand_over(sidecar, session, unsent)
    if history and not unsent:
        with suppress(SidecarError):
            sidecar.end(session)


def hand_over(sidecar: Sidecar, session: Session, unsent: deque[Turn]) -> None:
    """Turns in order; what does not get through is sent again with the next one, under the same key."""
    while unsent:
        try:
            sidecar.after_turn(session, *unsent[0])
        except SidecarError as error:
            if not error.is_final:
                return
        unsent.popleft()


def _parrot(messages: Sequence[Message], _system: str) -> str:
    return f"You said, with all I know about it: {messages[-1]['content']}"


def _typed() -> Iterator[str]:
    try:
        while line := input("> "):
            yield line
    except EOFError:
        return


if __name__ == "__main__":
    with Sidecar() as connection:
        for answer in chat(connection, Session("example"), _parrot, _typed()):
            print(answer)
