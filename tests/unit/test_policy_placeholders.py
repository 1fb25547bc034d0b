"""What stands in the place of a value is no secret; a password with such a word in it is one."""

import pytest

from app.policy.placeholders import is_placeholder
from app.policy.policy import Policy

DEFAULT = Policy.of({}, {})


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("My wifi password is Mockingbird77!", "Mockingbird77!"),
        ("The password for the router is TodoList2024!", "TodoList2024!"),
        ("My login password: InsertCoin#9", "InsertCoin#9"),
        ("Mein Passwort ist Sampler2021!", "Sampler2021!"),
        ("The admin password is fakeNews2020!", "fakeNews2020!"),
        ("my bank password is Replacement#88", "Replacement#88"),
        ("Password: yours4ever!22", "yours4ever!22"),
        ("password: sampleTr0pical!9x", "sampleTr0pical!9x"),
        ("password is example-Tr0pical!9x", "example-Tr0pical!9x"),
        ("DB_PASSWORD=fakeNews@2020", "fakeNews@2020"),
        ("postgres://svc:Mockingbird77!@db:5432/x", "Mockingbird77!"),
        ("my password is MyExample!2031", "MyExample!2031"),
        ("my password is Foxxxxy#77", "Foxxxxy#77"),
        ("The wifi password is Hereford1987", "Hereford1987"),
    ],
)
def test_a_password_with_such_a_word_in_it_is_masked(text: str, secret: str) -> None:
    assert DEFAULT.text(text) == text.replace(secret, "[secret removed]")


@pytest.mark.parametrize(
    "value",
    [
        "changeme",
        "ChangeMe123!",
        "change-me",
        "pleaseChangeMe",
        "replaceme",
        "REPLACE_ME",
        "replace-with-your-key",
        "replacewithyourkey",
        "your-token",
        "yourtoken",
        "yourPassword",
        "YOUR_API_KEY",
        "YOUR-API-KEY-HERE",
        "put-your-key-here",
        "insertYourKeyHere",
        "mockToken",
        "mock_token_1",
        "MockPassword!1",
        "fakepassword",
        "dummy-pass-22",
        "DUMMY_KEY",
        "example-key",
        "exampleKey",
        "examplepassword",
        "sample_password",
        "sk-proj-example-0001",
        "exampleuserid1114",
        "#examples-6",
        "sk_test_fake1234",
        "ghp_xxxxxxxxxxxxxxxxxxxx",
        "ghp_fakefakefakefakefakefakefakefakefake",
        "AKIAIOSFODNN7EXAMPLE",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "my_secret_key",
        "not-a-real-key",
        "notarealkey",
        "token-goes-here",
        "TODO",
        "[REDACTED]",
        "xxxx",
        "********",
        "dev2@example.com",
        "https://api.example.com/v2?id=7!",
        "<your key #2>",
    ],
)
def test_what_documentation_writes_in_the_place_of_a_value_is_let_through(value: str) -> None:
    assert is_placeholder(value)
    assert value in DEFAULT.text(f"password: {value}\n") or "@" in value


@pytest.mark.parametrize("piece", ["example", "key", "your", "mockToken", "Fake!9", "x", "changeme_"])
def test_a_long_value_is_read_once(piece: str) -> None:
    """A quadratic expression would take minutes."""
    is_placeholder(piece * (200_000 // len(piece)))
