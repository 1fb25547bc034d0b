"""``SIDECAR_AUTH__TOKENS``: what is no clear list of tokens must not start, for half a door lets everybody in."""

import json

import pytest
from pydantic import ValidationError

from app.core.identity import Tenant
from app.settings import AuthSettings, Settings


def parsed(tokens: str) -> dict[str, Tenant | None]:
    return AuthSettings(tokens=tokens).parsed()  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["a,b", " a , ,b,", '["a", "b"]', '[" a", "b "]'])
def test_a_list_in_either_form(text: str) -> None:
    assert parsed(text) == {"a": None, "b": None}


def test_tokens_bound_to_a_tenant() -> None:
    text = json.dumps({"a": {"account": "acme", "user": "mia"}, "b": {"account": "acme"}, "c": {}})
    assert parsed(text) == {"a": Tenant("acme", "mia"), "b": Tenant("acme"), "c": Tenant()}


@pytest.mark.parametrize("text", ["", " ", ",", "[]", "{}"])
def test_no_tokens(text: str) -> None:
    assert parsed(text) == {}


@pytest.mark.parametrize(
    "value",
    [
        '{"": {"account": "acme"}}',
        '{" ": {"account": "acme"}}',
        '["a", ""]',
        "[1]",
        '[["a"]]',
        '{"hush": null}',
        '{"hush": "acme"}',
        '{"hush": {"account": 5}}',
        '{"hush": {"account": "a/b"}}',
        '{"hush": {"acount": "acme"}}',
        '{"hush"',
        '["hush"',
        "hush-schlüssel",
        '{"hush-密钥": {}}',
        "hush\x07",
    ],
)
def test_anything_else_is_refused_and_not_shown(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIDECAR_AUTH__TOKENS", value)
    with pytest.raises(ValidationError) as refusal:
        Settings(_env_file=None)
    assert "hush" not in str(refusal.value)
    assert [problem["loc"] for problem in refusal.value.errors()] == [("auth", "tokens")]
