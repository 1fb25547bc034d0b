"""Secrets in the structured arguments of tool calls: masked as they are in the same data as text."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.capture.guarding import guarded_json
from app.engine.policy.texts import Texts
from app.policy.policy import Policy

DEFAULT = Policy.of({}, {})
TOKEN = "q8ZkX7Lm2Pw9Rt4Vn6"


def kept(arguments: Any) -> Any:
    return guarded_json(arguments, DEFAULT.text)


@pytest.mark.parametrize(
    ("arguments", "secret"),
    [
        ({"command": ["mysql", "-u", "root", "--password", "Tr0pical!9x"]}, "Tr0pical!9x"),
        ({"command": ["mysql", "-e", "select 1", "--password", "Tr0pical!9x", "shop"]}, "Tr0pical!9x"),
        ({"command": ["redis-cli", "config", "set", "requirepass", "Tr0pical!9x"]}, "Tr0pical!9x"),
        ({"argv": ["docker", "login", "-u", "bob", "-p", "Tr0pical!9x"]}, "Tr0pical!9x"),
        ({"args": ["--passphrase", "green bamboo counts heavy rain"]}, "green bamboo counts heavy rain"),
        (["--token", TOKEN], TOKEN),
        ({"headers": [["Accept", "*/*"], ["X-Api-Key", TOKEN]]}, TOKEN),
        ({"env": [{"name": "DB_PASSWORD", "value": "Wint3r!22k"}]}, "Wint3r!22k"),
        ({"env": [{"value": "Wint3r!22k", "name": "DB_PASSWORD"}]}, "Wint3r!22k"),
        ({"key": "api_token", "value": TOKEN}, TOKEN),
        ({"name": "PIN", "value": 4821}, "4821"),
        ({"selector": "#password", "text": "Summ3r!77q"}, "Summ3r!77q"),
        ({"action": "type", "selector": 'input[type="password"]', "value": "Summ3r!77q"}, "Summ3r!77q"),
        ({"element": "Password input", "ref": "s1e3", "text": "Summ3r!77q"}, "Summ3r!77q"),
        ({"fields": [{"ref": "e5", "type": "textbox", "name": "Password", "value": "Summ3r!77q"}]}, "Summ3r!77q"),
        ({"db": {"password": {"value": "Aut0mn!55z"}}}, "Aut0mn!55z"),
        ({"password": {"old": ["Aut0mn!55z"]}}, "Aut0mn!55z"),
        ({"a_very_long_prefix_for_environment_variable_name_in_this_project_DB_PASSWORD": "Spr1ng!44w"}, "Spr1ng!44w"),
    ],
)
def test_what_names_a_value_may_stand_anywhere_near_it(arguments: Any, secret: str) -> None:
    assert secret in json.dumps(arguments)
    assert secret not in json.dumps(kept(arguments))
    assert "[secret removed]" in json.dumps(kept(arguments))


@pytest.mark.parametrize(
    "arguments",
    [
        {"name": "DB_PASSWORD", "description": "The password of the database, see Runbook7."},
        {"tokens": 4096, "max_tokens": 4096, "usage": {"tokens": {"input": 1523, "output": 88}}},
        {"selector": "#password"},
        {"selector": "#username", "text": "mia.k42"},
        {"command": ["git", "commit", "-m", "rotate password docs"]},
        {"command": ["grep", "-rn", "password", "src/login.py"]},
        {"command": ["kubectl", "get", "secret", "db-credentials", "-n", "prod"]},
        {"command": ["docker", "run", "-p", "8080:80", "--env-file", ".env", "web:2.1"]},
        {"command": ["--password-file", "/run/secrets/db"]},
        {"tags": ["password", "token", "oauth2", "RFC6750"]},
        {"queries": ["how do I reset my password", "Summer2024 collections"]},
        {"name": "max_tokens", "value": 4096},
        {"name": "PASSWORD_MIN_LENGTH", "value": 12},
        {"password": {"type": "string", "minLength": 8, "description": "At least 8 characters"}},
        {"properties": {"token": {"type": "string", "format": "uuid", "title": "Token"}}},
        {"secretKeyRef": {"name": "db-creds", "key": "password"}},
        {"error": {"code": 4004, "message": "token expired"}},
        {"auth": {"user": "bob77", "host": "db1.internal", "method": "oauth2"}},
        {"path": "docs/password.md", "content": "# Passwords\n\nRotate them each quarter."},
        {"preflight": {"value": {"sessionId": "7f1c1a52-6d1e-4f6e-9d0b-3f1b8f6c2a10"}}},
        {"definitions": {"ClientToken": {"type": "string", "pattern": "^[a-zA-Z0-9-]+$"}}},
        {"token": {"commit": "766d055c236d0ba897eccaa292b0fa243dfa0f3e"}},
        {"auth": {"request_id": "670491a4-985c-4c8c-b1a2-d4a13c6bca2e", "path": "src/auth/token.py"}},
        {"key": "user:1234:profile", "value": "mia"},
        {"name": "DB_PASSWORD", "value": "${DB_PASSWORD}"},
        {"name": "DB_PASSWORD", "value": None},
    ],
)
def test_arguments_that_tell_no_secret_stay(arguments: Any) -> None:
    assert kept(arguments) == arguments


def test_a_secret_counts_once_however_it_is_named() -> None:
    texts = Texts(DEFAULT)
    guarded_json(
        {"env": [{"name": "DB_PASSWORD", "value": "Wint3r!22k"}], "c": ["--password", "Tr0pical!9x"]}, texts.rule
    )
    assert [(line.kind, line.count) for line in texts.lines()] == [("secret", 2)]


_NAMES = st.sampled_from(
    ["name", "value", "key", "text", "password", "--token", "DB_PASSWORD", "env", "args", "4821", TOKEN]
)
_TREES = st.recursive(
    st.one_of(_NAMES, st.text(max_size=8), st.integers(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_NAMES, inner, max_size=4)),
)


@given(_TREES)
def test_masked_arguments_come_out_unchanged(tree: Any) -> None:
    once = kept(tree)
    assert kept(once) == once


def deep(levels: int) -> Any:
    return {"password": deep(levels - 1)} if levels else "Aut0mn!55z"


@pytest.mark.parametrize(
    "make",
    [
        lambda size: [{"name": f"DB_PASSWORD_{at}", "value": f"Wint3r!{at}"} for at in range(size)],
        lambda size: {f"DB_PASSWORD_{at}": f"Wint3r!{at}" for at in range(size)},
        lambda size: {"name": "x" * 60, **{f"name{at}": "y" for at in range(size)}, "value": "z"},
        lambda size: ["--password", *(f"Wint3r!{at}" for at in range(size))],
        lambda size: [deep(50) for _ in range(size // 50)],
        lambda size: [["password", f"Wint3r!{at}"] for at in range(size)],
        lambda size: {"n" * 60 + "." + "name": {"k" * 60: {"value": ["v" * 200] * size}}},
    ],
)
def test_the_work_grows_with_the_size_of_the_arguments(make: Any) -> None:
    """Each text is judged a few times with a bounded part of what names it."""

    def chars(size: int) -> int:
        read: list[str] = []

        def rule(text: str) -> str:
            read.append(text)
            return text

        guarded_json(make(size), rule)
        return sum(map(len, read))

    assert chars(800) <= 2.2 * chars(400)
