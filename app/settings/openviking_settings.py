"""Settings: the OpenViking server."""

import json
from typing import Annotated, Self

from pydantic import BaseModel, Field, SecretStr, field_validator, model_validator
from pydantic_settings import NoDecode

from app.core.identity import is_openviking_id


class OpenVikingSettings(BaseModel):
    """The OpenViking server."""

    url: str = Field("http://127.0.0.1:1933", description="Base URL of OpenViking.")
    api_key: SecretStr | None = Field(
        None, description="Key sent as `X-API-Key`: a user key, or the root key (trusted)."
    )
    api_keys: Annotated[SecretStr, NoDecode] = Field(
        SecretStr(""),
        description='JSON object `{"account/user": "<key>"}` for servers in `api_key` mode, where the key is the user.',
    )
    account: str | None = Field(None, description="Account when the request names none.")
    user: str | None = Field(None, description="User when the request names none.")
    timeout_ms: int = Field(10_000, ge=100, le=600_000, description="Longest wait for one answer of OpenViking.")
    connect_timeout_ms: int = Field(1_000, ge=50, le=60_000, description="Longest wait for a connection.")
    pool_size: int = Field(32, ge=1, le=1000, description="Connections to OpenViking at once.")
    breaker_failures: int = Field(5, ge=1, description="Failures in a row that open a tenant's circuit breaker.")
    breaker_reset_ms: int = Field(5_000, ge=10, description="How long an open breaker waits before one probe.")

    @field_validator("url")
    @classmethod
    def _is_http(cls, url: str) -> str:
        if not url.startswith(("http://", "https://")):
            raise ValueError("must start with http:// or https://")
        return url.rstrip("/")

    @field_validator("account", "user")
    @classmethod
    def _is_id(cls, value: str | None) -> str | None:
        if value and not is_openviking_id(value):
            raise ValueError("may hold A-Z a-z 0-9 _ . @ - and at most one @")
        return value or None

    def keys(self) -> dict[str, str]:
        """``account/user`` to API key."""
        text = self.api_keys.get_secret_value().strip()
        return json.loads(text) if text else {}

    @model_validator(mode="after")
    def _keys_parse(self) -> Self:
        try:
            keys = self.keys()
            valid = all(isinstance(v, str) and k.count("/") == 1 for k, v in keys.items())
        except (ValueError, AttributeError):
            valid = False
        if not valid:
            raise ValueError('api_keys is not a JSON object of {"account/user": "key"}')
        return self
