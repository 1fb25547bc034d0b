"""Messages on a pipe: eight bytes that say how long one is, and the message."""

from io import RawIOBase

_LENGTH_BYTES = 8


def write_frame(pipe: RawIOBase, message: bytes) -> None:
    """Write one message, all of it."""
    view = memoryview(len(message).to_bytes(_LENGTH_BYTES, "big") + message)
    while view:
        view = view[pipe.write(view) or 0 :]


def read_frame(pipe: RawIOBase) -> bytes | None:
    """The next message; None when the other end is gone."""
    length = _exactly(pipe, _LENGTH_BYTES)
    return None if length is None else _exactly(pipe, int.from_bytes(length, "big"))


def _exactly(pipe: RawIOBase, count: int) -> bytes | None:
    parts: list[bytes] = []
    while count:
        part = pipe.read(count)
        if not part:
            return None
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
