"""What is generated from the tools is up to date."""

from app.tools import BY_NAME, TOOLS
from app.tools.definitions import Style, definition
from benchmarks.tools import LIMIT_TOKENS, cost
from docs.plugin_tools import documents


def test_the_plugin_has_the_tools_as_they_are() -> None:
    for path, text in documents().items():
        assert path.read_text(encoding="utf-8") == text, f"{path} is out of date: make docs"


def test_names_and_aliases_are_unique_and_callable_everywhere() -> None:
    names = [name for tool in TOOLS for name in (tool.name, tool.alias) if name]
    assert len(names) == len(set(names)) == len(BY_NAME)
    assert all(name.isascii() and name.replace("_", "").isalnum() and len(name) <= 64 for name in names)


def test_the_list_is_short_enough_for_every_request() -> None:
    for style in Style:
        assert cost([definition(tool, style) for tool in TOOLS]) <= LIMIT_TOKENS
