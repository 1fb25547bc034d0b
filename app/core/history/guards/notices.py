"""The lines that stand where something was cut: how much is missing, and how to read it. The same bytes every time."""

import json

TOOL_RESULT = "ov_tool_result"
"""The tool by which a model reads the original of an output that was cut."""


def missing(chars: int, of: int, ref: str, offset: int) -> str:
    """Stands between head and tail. ``offset``: where what is missing begins."""
    arguments = json.dumps({"callId": ref, "offset": offset}, ensure_ascii=False)
    return f"[... {chars:,} of {of:,} characters left out here; read them with {TOOL_RESULT} {arguments} ...]"


def cleared(tool: str, chars: int, images: int, ref: str, *, failed: bool) -> str:
    """Stands for a whole output."""
    what = f"{chars:,} characters" + (f", {images} images" if images else "")
    arguments = json.dumps({"callId": ref}, ensure_ascii=False)
    outcome = " of a failed call" if failed else ""
    name = f" of {tool}" if tool else ""
    return f"[Output{name}{outcome} ({what}) left out to save space; read it with {TOOL_RESULT} {arguments}]"
