"""Sixty-four callers of sixteen tenants at once: each sees what is its own, and nothing else."""

import asyncio
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.settings import Settings
from tests.http.test_mcp import served

pytestmark = pytest.mark.anyio

TENANTS, CALLERS = 16, 4
MARK = re.compile(r"mark-\d+")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.mark.long
async def test_tenants_stay_apart_under_64_way_load(tmp_path: Path) -> None:
    settings = Settings(_env_file=None, data_dir=tmp_path / "data", log_level="error", limits={"wait_ms": 120_000})
    with served(settings) as url:
        base = url.removesuffix("/mcp")
        limits = httpx.Limits(max_connections=TENANTS * CALLERS)
        async with httpx.AsyncClient(base_url=base, timeout=120, limits=limits, trust_env=False) as http:
            await asyncio.gather(
                *(caller(http, tenant, number) for tenant in range(TENANTS) for number in range(CALLERS))
            )


async def caller(http: httpx.AsyncClient, tenant: int, number: int) -> None:
    """Stores, finds and lists over HTTP and MCP; whatever comes back names no other tenant's mark."""
    headers = {"X-OpenViking-User": f"user-{tenant}"}

    async def tool(name: str, **arguments: Any) -> str:
        answer = await http.post(f"/tools/{name}", json={"agentId": "main", "arguments": arguments}, headers=headers)
        assert answer.status_code == 200, answer.text
        return answer.text

    async def by_mcp(name: str, **arguments: Any) -> str:
        params = {"name": name, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        answer = await http.post("/mcp", json=message, headers=headers)
        assert answer.status_code == 200, answer.text
        assert answer.json()["id"] == number
        return answer.text

    own = f"mark-{tenant}"
    await tool("memory_store", text=f"The locker of caller {number} has {own} on it.")
    for ask in (tool, by_mcp):
        for shown in (
            await ask("memory_recall", query="locker mark", limit=20),
            await ask("ov_ls"),
            await ask("ov_search", query="locker mark"),
        ):
            assert set(MARK.findall(shown)) == {own}, shown
