"""The tools that a model can call. A new one is a file here and a line in `TOOLS`; see docs/recipes/add-a-tool.md."""

from collections.abc import Mapping
from typing import Any

from app.tools import (
    archive_expand,
    archive_search,
    commit_memory,
    import_resource,
    ls,
    memory_forget,
    memory_recall,
    search,
    tool_result,
)
from app.tools.tool import Tool

TOOLS: tuple[Tool[Any], ...] = (
    memory_recall.TOOL,
    commit_memory.TOOL,
    memory_forget.TOOL,
    archive_search.TOOL,
    archive_expand.TOOL,
    tool_result.TOOL,
    ls.TOOL,
    search.TOOL,
    import_resource.TOOL,
)
"""In the order in which models are told of them."""

BY_NAME: Mapping[str, Tool[Any]] = {name: tool for tool in TOOLS for name in (tool.name, tool.alias) if name}
"""By name and by alias."""
