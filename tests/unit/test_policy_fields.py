"""Passwords and tokens in fields: what stands beside a field says nothing of its value."""

import string
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.policy.fields import name_of
from app.policy.policy import Policy

DEFAULT = Policy.of({}, {})
FORMS = (
    '{"password": "%s"}',
    '{"password": "%s", "user": "bob"}',
    '{"user":"bob","password":"%s","host":"db1"}',
    '{\n  "password": "%s",\n  "user": "bob"\n}',
    '{"token": "%s", "expires_in": 3600}',
    '{"access_token": "%s", "token_type": "bearer"}',
    '{"api_key": "%s", "region": "eu"}',
    '{\\"password\\": \\"%s\\", \\"user\\": \\"bob\\"}',
    "connect(user='bob', password='%s', host='db1')",
    "user=bob password=%s host=db1",
    "DB_PASSWORD=%s\nDB_USER=bob",
    "DB_PASSWORD_1=%s",
    "password: %s\nuser: bob",
    "[db]\npassword = %s\nhost = db1",
)
VALUES = 60
_SIGNS = string.ascii_letters + string.digits


def _drawn(rng: Random, signs: str, size: int) -> str:
    return "".join(rng.choice(signs) for _ in range(size))


KINDS: dict[str, Callable[[Random], str]] = {
    "ten letters and digits": lambda rng: _drawn(rng, _SIGNS, 10),
    "sixteen letters and digits": lambda rng: _drawn(rng, _SIGNS, 16),
    "twelve with signs": lambda rng: _drawn(rng, _SIGNS + "!@#%^*_-+", 12),
    "a word and a number": lambda rng: f"{rng.choice(('Summer', 'Dragon', 'Porto', 'coffee'))}{rng.randint(10, 2025)}!",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", FORMS)
def test_a_field_is_masked_whatever_stands_beside_it(form: str, kind: str) -> None:
    rng = Random(7)
    values = [KINDS[kind](rng) for _ in range(VALUES)]
    left = [value for value in values if value in DEFAULT.apply(form % value).text]
    assert len(left) <= VALUES // 20, left


@pytest.mark.parametrize(
    "text",
    [
        '{"max_tokens": 4096, "temperature": 0.7}',
        '{"usage": {"prompt_tokens": 1523, "total_tokens": 1611}}',
        '{"key": "user:1234:profile", "ttl": 3600}',
        '{"password": null, "user": "bob"}',
        '{"password": "<your password>", "user": "bob"}',
        '{"token_type": "bearer", "expires_in": 3600}',
        '{"type": "password", "name": "login", "id": "pw-field"}',
        '{"password": {"type": "string", "minLength": 8}}',
        "password=required;user=optional",
        "PASSWORD_MIN_LENGTH=12\nPASSWORD_HISTORY=4",
        "GPIO_PIN=17\nLED_PIN=4",
        "def login(user: str, password: str) -> None:",
        'api_key=os.environ["API_KEY"], region="eu"',
        "secretKeyRef:\n  name: db\n  key: password",
    ],
)
def test_fields_that_tell_no_secret_stay(text: str) -> None:
    assert DEFAULT.apply(text).text == text


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('{"password": "X1"}', "password"),
        ("user=bob password=X1 host=a", "password"),
        ("  - password: X1\n", "password"),
        ("db.password := X1", "db.password"),
        ("The password: X1, and more", None),
        ("my password is X1", None),
        ("password: X1 is what he said", None),
        ('"password": "X1 and more"', None),
        (f"{'a' * 81}=X1", None),
    ],
)
def test_the_name_of_a_field(text: str, name: str | None) -> None:
    start = text.index("X1")
    begins = name_of(text, start, start + 2)
    assert (begins if begins is None else text[begins:].partition("X1")[0].rstrip("\"' =:")) == name


@given(st.text(alphabet="\"'\\ \t\n:=>ab_.-{},", max_size=200), st.data())
def test_any_place_has_a_name_before_it_or_none(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    begins = name_of(text, start, end)
    assert begins is None or 0 <= begins < start
