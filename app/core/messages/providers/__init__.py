"""What providers accept of a conversation, for hosts that do not see to it themselves: a file for each style."""

from collections.abc import Mapping

from app.core.messages.providers import anthropic_rules, gemini_rules, openai_rules
from app.core.messages.providers.style import Style, unchanged

_OPENCLAW = Style("openclaw", unchanged, unchanged)

STYLES: Mapping[str, Style] = {
    style.name: style for style in (_OPENCLAW, openai_rules.STYLE, anthropic_rules.STYLE, gemini_rules.STYLE)
}
"""By the name that `/assemble` takes. OpenClaw cleans what it sends by itself, so for it nothing is done."""
