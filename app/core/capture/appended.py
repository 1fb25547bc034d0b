"""What a host appended to an assistant's message after that was captured.

OpenClaw puts the reply to a sub-agent's result behind the text of the assistant's last message, under the time of that
message: the whole has another fingerprint, but what stood there before still has its own.
"""

from collections.abc import Collection

from app.core.messages.content_blocks import text_in
from app.core.messages.fingerprints import timed_fingerprint
from app.core.messages.host_message import HostMessage, Role

MAX_PARTS = 16
"""How many of a message's last text parts are looked at: each is one more reading of it."""


def appended_part(message: HostMessage, recorded: Collection[str]) -> HostMessage:
    """The message without the beginning that is among ``recorded`` fingerprints; as it is where no beginning is."""
    time = message.millis
    if time is None or not recorded or message.role is not Role.ASSISTANT:
        return message
    if not isinstance(message.raw.get("content"), list):
        return message
    texts = [index for index, block in enumerate(message.blocks) if index and text_in(block)]
    for start in reversed(texts[-MAX_PARTS:]):
        before = message.with_content([*message.blocks[:start]]).content_fingerprint
        if before and timed_fingerprint(before, time) in recorded:
            return message.with_content([*message.blocks[start:]])
    return message
