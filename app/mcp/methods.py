"""The methods: tools as in `app.tools`, the profile as a resource, recall as a prompt."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcp_types.jsonrpc import INVALID_PARAMS
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, KNOWN_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION

from app import __version__
from app.core.cleaning.host_text import storable
from app.core.injection.fence import neutralise_lines, put_before, wrap
from app.core.injection.inject import Mode
from app.core.memories.memory import MAX_PAGE, MemoryFilter
from app.core.messages.host_message import HostMessage
from app.engine.assembly import Step
from app.engine.memories.browsing import ListMemories, MemoryListing
from app.engine.results import AssembleInput
from app.errors import SidecarError
from app.mcp.exchange import Handle, Refused
from app.tools import BY_NAME, TOOLS
from app.tools.definitions import Style, definition
from app.tools.tool import Caller
from app.tools.tool_calls import CallTool

PROFILE = "memory://profile"
CONTEXT = "context"
_TOKEN_BUDGET = 128_000
_INSTRUCTIONS = (
    "Long-term memory of the user. Look things up with memory_recall before you say that you do not know, and keep "
    "what the user wants to be remembered with memory_store."
)
_ABOUT: Mapping[str, Any] = {
    "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
    "serverInfo": {"name": "openviking-sidecar", "title": "OpenViking sidecar", "version": __version__},
    "instructions": _INSTRUCTIONS,
}
_PROFILE_RESOURCE = {
    "uri": PROFILE,
    "name": "profile",
    "title": "User profile",
    "description": "What is known of the user.",
    "mimeType": "text/markdown",
}
_CONTEXT_PROMPT = {
    "name": CONTEXT,
    "title": "A question with what is known about it",
    "description": "Puts the memories that are about a question in front of it.",
    "arguments": [{"name": "query", "description": "The question.", "required": True}],
}
_WHOLE: Mapping[str, Any] = {"resultType": "complete"}
"""Since 2026-07-28 a result says that it is one; earlier versions leave that out."""
_ALIKE: Mapping[str, Any] = {**_WHOLE, "ttlMs": 3_600_000, "cacheScope": "public"}
_PRIVATE: Mapping[str, Any] = {**_WHOLE, "ttlMs": 0, "cacheScope": "private"}


@dataclass(frozen=True, slots=True)
class McpServer:
    """Answers for one caller. ``transform`` is the use case of recall."""

    call_tool: CallTool
    memories: ListMemories
    transform: Step
    caller: Caller
    bypassed: bool = False

    def handlers(self) -> Mapping[str, Handle]:
        """By method."""
        return {
            "initialize": _initialize,
            "server/discover": _discover,
            "ping": _ping,
            "tools/list": _list_tools,
            "tools/call": self._call_tool,
            "resources/list": _list_resources,
            "resources/templates/list": _list_templates,
            "resources/read": self._read_resource,
            "prompts/list": _list_prompts,
            "prompts/get": self._get_prompt,
        }

    async def _call_tool(self, params: Any, _version: str) -> dict[str, Any]:
        if params.name not in BY_NAME:
            raise Refused(INVALID_PARAMS, f"there is no tool {params.name[:80]!r}")
        try:
            answer = await self.call_tool.run(params.name, params.arguments or {}, self.caller, bypassed=self.bypassed)
        except SidecarError as error:
            text = f"It was not done ({error.code}). Go on without it, or try again in a minute."
            return {**_WHOLE, "content": [{"type": "text", "text": text}], "isError": True}
        return {**_WHOLE, "content": [{"type": "text", "text": answer.text}], "isError": not answer.ok}

    async def _read_resource(self, params: Any, _version: str) -> dict[str, Any]:
        if str(params.uri) != PROFILE:
            raise Refused(INVALID_PARAMS, f"there is no resource {str(params.uri)[:80]!r}; there is {PROFILE}")
        text = "" if self.bypassed else await self._profile()
        return {**_PRIVATE, "contents": [{"uri": PROFILE, "mimeType": "text/markdown", "text": text}]}

    async def _profile(self) -> str:
        """The profile as a block of data; empty where nothing is known."""
        who = self.caller.who
        peers = frozenset({who.actor_peer} if who.actor_peer else ())
        wanted = MemoryListing(MemoryFilter(category="profile", visible_to=peers), limit=MAX_PAGE)
        found = await self.memories.run(who, wanted, self.caller.deadline)
        if not found.memories:
            return ""
        lines = neutralise_lines([memory.text for memory in found.memories])
        return wrap(["## User Profile\n" + "\n".join(f"- {line}" for line in lines)])

    async def _get_prompt(self, params: Any, _version: str) -> dict[str, Any]:
        if params.name != CONTEXT:
            raise Refused(INVALID_PARAMS, f"there is no prompt {params.name[:80]!r}; there is {CONTEXT!r}")
        query = storable((params.arguments or {}).get("query", ""))
        if not query.strip():
            raise Refused(INVALID_PARAMS, "the prompt takes a query")
        asked = AssembleInput(
            messages=(HostMessage({"role": "user", "content": query}),),
            prompt=None,
            token_budget=_TOKEN_BUDGET,
            inject=Mode.BLOCK,
            bypassed=self.bypassed,
        )
        recalled = await self.transform.run(self.caller.who, asked, self.caller.deadline)
        text = put_before(recalled.context_block or "", query)
        return {**_WHOLE, "messages": [{"role": "user", "content": {"type": "text", "text": text}}]}


async def _initialize(params: Any, _version: str) -> dict[str, Any]:
    wanted = params.protocol_version
    version = wanted if wanted in HANDSHAKE_PROTOCOL_VERSIONS else LATEST_HANDSHAKE_VERSION
    return {**_ABOUT, "protocolVersion": version}


async def _discover(_params: Any, _version: str) -> dict[str, Any]:
    return {**_ALIKE, **_ABOUT, "supportedVersions": list(KNOWN_PROTOCOL_VERSIONS)}


async def _ping(_params: Any, _version: str) -> dict[str, Any]:
    return {}


async def _list_tools(_params: Any, _version: str) -> dict[str, Any]:
    return {**_ALIKE, "tools": [definition(tool, Style.MCP) for tool in TOOLS]}


async def _list_resources(_params: Any, _version: str) -> dict[str, Any]:
    return {**_ALIKE, "resources": [_PROFILE_RESOURCE]}


async def _list_templates(_params: Any, _version: str) -> dict[str, Any]:
    return {**_ALIKE, "resourceTemplates": []}


async def _list_prompts(_params: Any, _version: str) -> dict[str, Any]:
    return {**_ALIKE, "prompts": [_CONTEXT_PROMPT]}
