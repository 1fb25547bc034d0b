"""Calls made for a tenant: with its key and headers, and never with another tenant's key."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from app.core.deadline import Deadline
from app.core.identity import Identity, Tenant
from app.openviking.call_errors import Operation
from app.openviking.gateway import File, Gateway, Request
from app.openviking.headers import common_key, effective_tenant, headers_for, key_for, trace_headers
from app.openviking.health import Health
from app.ports import BackendError
from app.settings import OpenVikingSettings

T = TypeVar("T")


class Calls:
    """What `Gateway` does, for an identity. ``outgoing_headers`` gives the trace headers of the request at hand."""

    def __init__(
        self,
        settings: OpenVikingSettings,
        gateway: Gateway,
        health: Health,
        outgoing_headers: Callable[[], Mapping[str, str]],
    ) -> None:
        self._settings = settings
        self._configured = Tenant(settings.account, settings.user)
        self._keys = settings.keys()
        self._common_key = common_key(settings)
        self._gateway = gateway
        self._health = health
        self._passed_on = outgoing_headers

    async def make(
        self,
        operation: Operation,
        who: Identity,
        method: str,
        path: str,
        parse: Callable[[Any], T],
        deadline: Deadline,
        *,
        body: Mapping[str, Any] | None = None,
        params: Mapping[str, str] | None = None,
        file: File | None = None,
    ) -> T:
        """``parse`` of the answer. Raises `BackendError` for every failure, and when the key is another tenant's."""
        tenant = effective_tenant(self._settings, who.tenant)
        key = key_for(self._keys, self._common_key, tenant)
        headers = headers_for(who, tenant, key, self._passed_on())
        circuit = tenant.account_key
        if key and key == self._common_key and tenant != self._configured:
            await self._health.learn(deadline, trace_headers(self._passed_on()), circuit)
        self._health.check_owner(key, tenant)
        request = Request(method, path, headers, body, params, file)
        return await self._gateway.call(operation, request, parse, deadline, tenant_key=circuit)

    async def optional(
        self,
        operation: Operation,
        who: Identity,
        path: str,
        parse: Callable[[Any], T],
        deadline: Deadline,
        params: Mapping[str, str] | None = None,
    ) -> T | None:
        """A GET of something that need not exist."""
        try:
            return await self.make(operation, who, "GET", path, parse, deadline, params=params)
        except BackendError as error:
            if error.not_found:
                return None
            raise
