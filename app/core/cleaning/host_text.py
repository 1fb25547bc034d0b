"""From a host's text to what a person, a model or a tool really said.

Hosts decorate text, and that is noise for memory and for queries. It is taken off only at the start of the text
(see `decoration`) or between delimiters of the host's own; what is left stays byte for byte: line breaks, code,
dates, JSON of one's own (docs/wire-contract.md, `/after-turn`). Linear in the text.
"""

import re

from app.core.cleaning.decoration import CONTINUE, MARK, TIMESTAMP, UNTRUSTED, peeled
from app.core.injection.fence import strip_blocks
from app.core.injection.history_summary import without_history
from app.text.markdown import code_spans

_HOST_PROMPTS = (
    *CONTINUE,
    "[OpenClaw heartbeat poll]",
    "Follow the heartbeat monitor scratch context when provided.",
    "Read HEARTBEAT.md if it exists (workspace context).",
    "Run the following periodic tasks (only those due based on their intervals):",
    "Pre-compaction memory flush.",
    "A new session was started via /new or /reset.",
)
"""What hosts ask in a person's place. A text that begins so is the host's to its end."""

_PLACEHOLDER = re.compile(r"\s*+\[tool(?:Use|Call|Result)?: ?[^\]\n]{1,200}\]\s*+")
_SILENCE = frozenset({"NO_REPLY", "HEARTBEAT_OK"})
_REPLY_DIRECTIVE = re.compile(r"\[\[ ?reply_to(?:_current|: ?[^\]\n]{1,100}) ?\]\] ?")
_INTERNAL = re.compile(r"^[ \t]*+<<<(BEGIN|END)_OPENCLAW_INTERNAL_CONTEXT>>>[ \t]*+(?:\r?\n|$)", re.MULTILINE)
_TRAILING_CONTEXT = re.compile(
    rf"\n[ \t]*+\n(?:Context: {MARK}[ \t]*+(?:\n|$)"
    rf"|Untrusted context {UNTRUSTED}:\n[ \t\n]{{0,8}}<<<EXTERNAL_UNTRUSTED_CONTENT)"
)
_SURROGATE = re.compile("[\ud800-\udfff]")


def clean_user_text(text: str) -> str:
    """What a person wrote, without injected blocks and host noise; empty when the host said it all."""
    text = storable(text)
    stamp = TIMESTAMP.match(text)  # a host stamps the line on which an injected block begins, too
    text = _without_internal(without_history(strip_blocks(text[stamp.end() :] if stamp else text)))
    trailing = _TRAILING_CONTEXT.search(text)
    text = text[: trailing.start()] if trailing else text
    text = peeled(text, stamped=stamp is not None)
    return "" if text.startswith(_HOST_PROMPTS) or _is_placeholder(text) else text


def clean_assistant_text(text: str) -> str:
    """What the model said, without injected blocks, host directives and the words that mean "no reply"."""
    text = _without_internal(strip_blocks(storable(text)))
    directive = _REPLY_DIRECTIVE.match(text)
    text = text[directive.end() :] if directive else text
    return "" if text.strip() in _SILENCE or _is_placeholder(text) else text


def clean_tool_text(text: str) -> str:
    """What a tool gave back, without injected blocks."""
    return strip_blocks(storable(text))


def storable(text: str) -> str:
    """``text`` that every store takes: no NUL, split surrogate pairs joined, lone surrogates replaced by U+FFFD.

    OpenViking answers 400 to a lone surrogate, PostgreSQL refuses NUL.
    """
    text = text.replace("\x00", "")
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _is_placeholder(text: str) -> bool:
    return _PLACEHOLDER.fullmatch(text) is not None


def _without_internal(text: str) -> str:
    """Without what stands between OpenClaw's internal-context delimiters, each on its own line and outside code."""
    delimiters = list(_INTERNAL.finditer(text))
    if not delimiters:
        return text
    spans = iter(code_spans(text))
    span = next(spans, None)
    pieces, position, start, depth = [], 0, 0, 0
    for delimiter in delimiters:
        while span and span[1] <= delimiter.start():
            span = next(spans, None)
        if span and span[0] <= delimiter.start() and not depth:
            continue
        if delimiter[1] == "BEGIN":
            start = start if depth else delimiter.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                pieces.append(text[position:start])
                position = delimiter.end()
    return "".join([*pieces, text[position:]])
