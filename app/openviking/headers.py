"""The headers of a call: who calls, with which key, as which peer (contract, "outgoing headers")."""

from collections.abc import Mapping

from app.core.identity import Identity, Tenant
from app.openviking.call_errors import rejected, unauthorized
from app.settings import OpenVikingSettings

_PASSED_ON = {"traceparent": "traceparent", "tracestate": "tracestate", "x-request-id": "X-Request-ID"}


def effective_tenant(settings: OpenVikingSettings, tenant: Tenant) -> Tenant:
    """The tenant with the configured account and user filled in where the request names none."""
    return Tenant(tenant.account or settings.account, tenant.user or settings.user)


def common_key(settings: OpenVikingSettings) -> str | None:
    """The key of every tenant that has none of its own."""
    return settings.api_key.get_secret_value() if settings.api_key else None


def key_for(keys: Mapping[str, str], common: str | None, tenant: Tenant) -> str | None:
    """The API key of a tenant: its own (``account/user``, ``-`` for what is not named), else the common one.

    Raises `BackendError` when keys per tenant are configured, this tenant has none, and there is no common one.
    """
    own = keys.get(tenant.account_key)
    if keys and not own and not common:
        raise unauthorized("no OpenViking key is configured for this tenant")
    return own or common or None


def headers_for(who: Identity, tenant: Tenant, key: str | None, passed_on: Mapping[str, str]) -> dict[str, str]:
    """The headers of a call for ``who``; one without a value is left out. The agent is for older servers."""
    values = {
        "X-API-Key": key,
        "X-OpenViking-Account": tenant.account,
        "X-OpenViking-User": tenant.user,
        "X-OpenViking-Actor-Peer": who.actor_peer,
        "X-OpenViking-Agent": who.agent,
    }
    for name, value in values.items():
        if value and not is_header_value(value):
            refuse = unauthorized if name == "X-API-Key" else rejected
            raise refuse(f"the value for {name} can not stand in a header")
    return {name: value for name, value in values.items() if value} | trace_headers(passed_on)


def trace_headers(passed_on: Mapping[str, str]) -> dict[str, str]:
    """The tracing headers among ``passed_on``; others and malformed ones stay behind."""
    return {
        _PASSED_ON[name.lower()]: value
        for name, value in passed_on.items()
        if name.lower() in _PASSED_ON and value and is_header_value(value)
    }


def is_header_value(value: str) -> bool:
    """Whether ``value`` can be sent in a header as it is."""
    return value.isascii() and value.isprintable() and value == value.strip()
