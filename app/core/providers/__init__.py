"""What providers accept of a conversation, for hosts that do not see to it themselves: a file for each style."""

from collections.abc import Mapping

from app.core.providers import anthropic, gemini, openai
from app.core.providers.style import Style, unchanged

STYLES: Mapping[str, Style] = {
    style.name: style
    for style in (Style("openclaw", unchanged, unchanged), openai.STYLE, anthropic.STYLE, gemini.STYLE)
}
"""By the name that `/assemble` takes. OpenClaw cleans what it sends by itself, so for it nothing is done."""
