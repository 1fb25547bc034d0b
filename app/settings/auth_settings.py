"""Settings: who may call."""

import json
from typing import Annotated

from pydantic import BaseModel, Field, SecretStr, field_validator
from pydantic_settings import NoDecode

from app.core.identity import Tenant, is_openviking_id
from app.settings.setting_types import TextList, as_list


def _parsed_tokens(tokens: SecretStr) -> dict[str, Tenant | None]:
    text = tokens.get_secret_value().strip()
    if text.startswith("{"):
        return {token.strip(): Tenant(**who) for token, who in json.loads(text).items()}
    return {token.strip(): None for token in as_list(text)}


class AuthSettings(BaseModel):
    """Who may call."""

    tokens: Annotated[SecretStr, NoDecode] = Field(
        SecretStr(""),
        description='A list of tokens, or a JSON object `{"<token>": {"account": "...", "user": "..."}}`.',
    )
    allow_anonymous: bool = Field(
        False, description="Without tokens: let `serve` bind a public address, and answer to any host name."
    )
    allowed_hosts: TextList = Field(
        default_factory=list,
        description="Without tokens: host names to answer to, beside addresses, `localhost` and names without a dot; "
        "`*.example.org` is all below it.",
    )

    def parsed(self) -> dict[str, Tenant | None]:
        """Token to the tenant it is bound to, or to None when it may act for any."""
        return _parsed_tokens(self.tokens)

    def served_hosts(self) -> list[str]:
        """The host names to answer to beside our own; any, where tokens guard the door or leave was given."""
        return ["*"] if self.allow_anonymous or self.parsed() else self.allowed_hosts

    @field_validator("tokens")
    @classmethod
    def _tokens_parse(cls, value: SecretStr) -> SecretStr:
        try:
            tokens = _parsed_tokens(value)
        except (ValueError, AttributeError, TypeError):
            raise ValueError("is neither a list nor a JSON object of {token: {account, user}}") from None
        if not all(tokens):
            raise ValueError("has an empty token")
        if not all(token.isascii() and token.isprintable() for token in tokens):
            raise ValueError("has a token with other than printable ASCII characters, which no header can carry")
        ids = [part for who in tokens.values() if who for part in (who.account, who.user) if part is not None]
        if not all(isinstance(part, str) and is_openviking_id(part) for part in ids):
            raise ValueError("binds a token to an account or user that OpenViking does not allow")
        return value
