"""What OpenViking says about itself, and whose each key is."""

from collections.abc import Mapping
from typing import Any

from app.core.deadline import Deadline
from app.core.identity import Tenant
from app.openviking.call_errors import Garbage, Operation, unauthorized
from app.openviking.gateway import Gateway, Request
from app.openviking.headers import is_header_value
from app.ports import BackendError, BackendHealth

MAX_LEARNED = 16
"""Keys of unknown owner that one health check asks about."""

_HEALTH = Operation("health", of_session=False)
_TEXTS = {"version": "version", "auth_mode": "auth_mode", "account_id": "account", "user_id": "user", "role": "role"}


class Health:
    """Asks ``/health`` and remembers the server's mode and the owners of keys: in ``api_key`` mode the key is the user.

    There the tenant headers are ignored, so a key of another user would quietly mix up two people's memories.
    """

    def __init__(self, gateway: Gateway, keys: Mapping[str, str], common_key: str | None) -> None:
        self._gateway = gateway
        self._keys = keys
        self._common_key = common_key
        self._mode: str | None = None
        self._owners: dict[str, Tenant] = {}

    def check_owner(self, key: str | None, tenant: Tenant) -> None:
        """Raises `BackendError` when the key is known to be another tenant's, or where no tenant is named."""
        if self._mode == "trusted" and not (tenant.account and tenant.user):
            raise unauthorized("OpenViking in trusted mode wants an account and a user, and none is configured")
        owner = self._owners.get(key) if key and self._mode == "api_key" else None
        if owner and not _matches(tenant, owner):
            raise unauthorized("the OpenViking key belongs to another tenant than the request names")

    async def learn(self, deadline: Deadline, headers: Mapping[str, str], circuit: str) -> None:
        """Find out whose the common key is, unless that is known. Never raises.

        OpenViking may have been away when the service started, and `check_owner` knows nothing until it has answered.
        """
        if self._mode is None:
            try:
                self._know(await self._ask(self._common_key, deadline, headers, circuit))
            except BackendError as error:
                if not error.retryable:  # a server that does not tell
                    self._mode = ""

    async def check(self, deadline: Deadline, headers: Mapping[str, str]) -> BackendHealth:
        """The server's health. Never raises; a key that is refused or is another tenant's makes it not ok."""
        try:
            facts = await self._ask(self._common_key, deadline, headers)
            self._know(facts)
            problem = await self._learn_others(deadline, headers)
        except BackendError as error:
            return BackendHealth(False, error.detail)
        if not problem and self._mode == "api_key":
            if not self._common_key and not self._keys:
                problem = "OpenViking wants an API key and none is configured"
            elif facts.get("role") == "root":
                problem = "the root key has no memories in api_key mode: a user's key is needed"
        return BackendHealth(not problem, problem or "ok", facts)

    def _know(self, facts: Mapping[str, str]) -> None:
        self._mode = facts.get("auth_mode", "")
        if self._common_key:
            self._owners[self._common_key] = _owner(facts)

    async def _learn_others(self, deadline: Deadline, headers: Mapping[str, str]) -> str:
        """Ask about tenants' keys; the first thing that is wrong with one, or nothing."""
        if self._mode != "api_key":
            return ""
        unknown = [key for key in self._keys.values() if key not in self._owners]
        for key in unknown[:MAX_LEARNED]:
            self._owners[key] = _owner(await self._ask(key, deadline, headers))
        for name, key in self._keys.items():
            named = Tenant.of_key(name)
            owner = self._owners.get(key)
            if owner and not _matches(named, owner):
                return f"the key configured for {name} belongs to {owner.account}/{owner.user}"
        return ""

    async def _ask(
        self, key: str | None, deadline: Deadline, headers: Mapping[str, str], circuit: str | None = None
    ) -> dict[str, str]:
        if key and not is_header_value(key):
            raise unauthorized("the OpenViking key can not stand in a header")
        request = Request("GET", "/health", {**headers, **({"X-API-Key": key} if key else {})})
        return await self._gateway.call(_HEALTH, request, _facts, deadline, tenant_key=circuit)


def _facts(body: Any) -> dict[str, str]:
    if not isinstance(body, dict) or body.get("healthy") is not True:
        raise Garbage("not healthy")
    return {name: value for key, name in _TEXTS.items() if isinstance(value := body.get(key), str)}


def _owner(facts: Mapping[str, str]) -> Tenant:
    return Tenant(facts.get("account"), facts.get("user"))


def _matches(tenant: Tenant, owner: Tenant) -> bool:
    """Whether nothing that ``tenant`` names contradicts the owner."""
    return (tenant.account is None or owner.account in (None, tenant.account)) and (
        tenant.user is None or owner.user in (None, tenant.user)
    )
