"""JSON on the wire: strict on numbers, lenient on characters, and as fast as Python can without another dependency."""

import json
from typing import Any

from pydantic_core import to_json


def encode(value: Any) -> bytes:
    """``value`` (plain JSON data) as UTF-8. Half surrogate pairs, which UTF-8 can not carry, come out as escapes."""
    try:
        return to_json(value, inf_nan_mode="constants")
    except ValueError:  # half a pair, or nested deeper than pydantic-core follows
        return json.dumps(value, separators=(",", ":")).encode()


def parse_json(body: bytes) -> Any:
    """The body's JSON. NaN, infinities and numbers out of range are no JSON: `json.JSONDecodeError`.

    Lone surrogates pass: hosts written in JavaScript cut emoji in two, and a turn must not be lost for that.
    """
    try:
        return _DECODER.decode(body.decode(json.detect_encoding(body), "surrogatepass"))
    except RecursionError:
        raise json.JSONDecodeError("nested too deeply", "", 0) from None
    except UnicodeDecodeError as error:
        raise json.JSONDecodeError(f"not {error.encoding} text", "", error.start) from None
    except json.JSONDecodeError as error:
        raise json.JSONDecodeError(error.msg, "", error.pos) from None  # without the document
    except ValueError as error:
        raise json.JSONDecodeError(str(error), "", 0) from None


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not a JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError("number out of range")
    return value


_DECODER = json.JSONDecoder(parse_constant=_no_constant, parse_float=_finite)
