"""OpenViking's texts as a model should read them: without what its own templates and renderers leave in them."""

import re

_HINT = re.compile(r"(?m)^(#{1,6} [^\n]{1,200})\n_[^\n]{1,1000}_[ \t]*$")
"""A line in italics directly below a heading: what the template asked the writer for, not what was written."""
_NOTHING = re.compile(r"(?m)^#{1,6} [^\n]{1,200}\n+- none[ \t]*(?:\n+(?=#)|\n*\Z)")
_SPEAKER = re.compile(r"(?m)^\*\*([\w.@-]{1,128})\*\*: ")
_BLANK = re.compile(r"\n{3,}")


def without_hints(overview: str) -> str:
    """A working memory without its template's instructions and without sections that say "none". Linear."""
    text = _NOTHING.sub("", _BLANK.sub("\n\n", _HINT.sub(r"\1", overview)))
    return re.sub(r"(?m)^(#{1,6} [^\n]{1,200})\n\n+(?=[^#\n])", r"\1\n", text).strip() if text != overview else overview


def without_speaker(text: str, peer: str | None) -> str:
    """A memory that quotes a conversation, without ``**<peer>**: `` before what the session's own side said.

    OpenViking writes a message's peer, or its role where it has none, in front of what it quotes.
    """
    if "**" not in text:
        return text
    return _SPEAKER.sub(lambda found: "" if found[1] in {peer, "user"} else _label(found), text)


def _label(found: "re.Match[str]") -> str:
    return "assistant: " if found[1] == "assistant" else found.group()
