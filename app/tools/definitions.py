"""A tool as models are told of it: one definition in three styles, from the same few facts."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from functools import cache
from typing import Any

from app.tools.tool import Tool


class Style(StrEnum):
    """Whose way of writing a definition."""

    OPENAI = "openai"
    ANTHROPIC = "anthropic"
    MCP = "mcp"


def definition(tool: Tool[Any], style: Style, name: str | None = None) -> dict[str, Any]:
    """The definition of ``tool``, under its own name or another."""
    return _WRITERS[style](tool, name or tool.name)


@cache
def schema_of(tool: Tool[Any]) -> Mapping[str, Any]:
    """The JSON schema of a tool's arguments, without what a model does not need and every request pays for."""
    schema: dict[str, Any] = _trimmed(tool.arguments.model_json_schema())
    return {"type": "object", "properties": schema.get("properties", {}), **_if_any("required", schema)} | {
        "additionalProperties": False
    }


def _openai(tool: Tool[Any], name: str) -> dict[str, Any]:
    function = {"name": name, "description": tool.description, "parameters": schema_of(tool)}
    return {"type": "function", "function": function}


def _anthropic(tool: Tool[Any], name: str) -> dict[str, Any]:
    return {"name": name, "description": tool.description, "input_schema": schema_of(tool)}


def _mcp(tool: Tool[Any], name: str) -> dict[str, Any]:
    hints = {
        "readOnlyHint": tool.read_only,
        "destructiveHint": tool.destructive,
        "idempotentHint": True,
        "openWorldHint": False,
    }
    return {
        "name": name,
        "description": tool.description,
        "inputSchema": schema_of(tool),
        "annotations": hints,
    }


_WRITERS: Mapping[Style, Callable[[Tool[Any], str], dict[str, Any]]] = {
    Style.OPENAI: _openai,
    Style.ANTHROPIC: _anthropic,
    Style.MCP: _mcp,
}


_UNTOLD = frozenset({"title", "minLength", "maxLength"})


def _trimmed(node: Any) -> Any:
    if isinstance(node, list):
        return [_trimmed(item) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {
        key: {name: _trimmed(schema) for name, schema in value.items()} if key == "properties" else _trimmed(value)
        for key, value in node.items()
        if key not in _UNTOLD and not (key == "default" and value is None)
    }
    choices = [choice for choice in kept.pop("anyOf", []) if choice != {"type": "null"}]
    if len(choices) == 1:
        return {**choices[0], **kept}
    return {**kept, "anyOf": choices} if choices else kept


def _if_any(key: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {key: schema[key]} if key in schema else {}
