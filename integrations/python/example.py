"""A chat loop with memory in twenty lines: ``python example.py``, with a sidecar on port 8787.

The model is any callable from messages to text; here a parrot. Your history stays yours: what the sidecar adds is only
ever sent to the model, never kept.
"""

import uuid
from collections.abc import Callable, Iterable, Sequence

from sidecar_client import Message, Session, Sidecar

Model = Callable[[Sequence[Message], str], str]


def chat(sidecar: Sidecar, session: Session, model: Model, questions: Iterable[str]) -> list[Message]:
    """Answers each question with what the sidecar knows about it; returns the history."""
    history: list[Message] = []
    for question in questions:
        asked = {"role": "user", "content": question}
        context = sidecar.assemble(session, [*history, asked])
        reply = {"role": "assistant", "content": model(context["messages"], context.get("systemPromptAddition", ""))}
        sidecar.after_turn(session, f"{session.id}/{uuid.uuid4()}", [asked, reply])
        history += [asked, reply]
    sidecar.end(session)
    return history


def _parrot(messages: Sequence[Message], _system: str) -> str:
    return f"You said, with all I know about it: {messages[-1]['content']}"


if __name__ == "__main__":
    with Sidecar() as connection:
        for message in chat(connection, Session("example"), _parrot, iter(lambda: input("> "), "")):
            print(f"{message['role']}: {message['content']}")
