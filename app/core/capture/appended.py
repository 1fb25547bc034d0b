"""What a host appended to an assistant's message after that was captured.

OpenClaw puts the reply to a sub-agent's result behind the text of the assistant's last message, under the time of that
message: the whole has another fingerprint, but what stood there before still has its own.
"""

from collections.abc import Collection

from app.core.messages.fingerprints import content_fingerprint, millis, timed_fingerprint
from app.core.messages.host_message import Message, Role, blocks_of, role_of, text_in, time_of

MAX_PARTS = 16
"""How many of a message's last text parts are looked at: each is one more reading of it."""


def appended_part(message: Message, recorded: Collection[str]) -> Message:
    """The message without the beginning that is among ``recorded`` fingerprints; as it is where no beginning is."""
    time = millis(time_of(message))
    if time is None or not recorded or role_of(message) is not Role.ASSISTANT:
        return message
    if not isinstance(message.get("content"), list):
        return message
    blocks = blocks_of(message)
    texts = [index for index, block in enumerate(blocks) if index and text_in(block)]
    for start in reversed(texts[-MAX_PARTS:]):
        before = content_fingerprint({**message, "content": blocks[:start]})
        if before and timed_fingerprint(before, time) in recorded:
            return {**message, "content": blocks[start:]}
    return message
