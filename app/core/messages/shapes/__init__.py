"""In whose shape a host writes calls and results: a file for each, and how it is known."""

from app.core.messages.host_message import Messages
from app.core.messages.shapes import anthropic_shape, openai_shape, openclaw_shape
from app.core.messages.shapes.shape import Shape

SHAPES = (openai_shape.SHAPE, openclaw_shape.SHAPE, anthropic_shape.SHAPE)
"""In the order in which a message is tried."""

__all__ = ["SHAPES", "Shape", "shape_of"]


def shape_of(messages: Messages) -> Shape:
    """Whose shape the messages have: by their newest message with a call or a result, else by what only one has.

    OpenClaw stamps every message with a time; OpenAI's assistant speaks in strings and Anthropic's in blocks.
    """
    for message in reversed(messages):
        for shape in SHAPES:
            if shape.wrote(message):
                return shape
    if any("timestamp" in message.raw for message in messages):
        return openclaw_shape.SHAPE
    spoke = [message.raw.get("content") for message in messages if message.raw.get("role") == "assistant"]
    return anthropic_shape.SHAPE if any(isinstance(content, list) for content in spoke) else openai_shape.SHAPE
