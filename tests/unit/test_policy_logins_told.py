"""Secrets that log in: directories, codes and links to sign in with, wallets, small talk, SQL."""

import pytest

from app.policy.detectors import directories, login_codes, wallet_words
from app.policy.policy import Policy

DEFAULT = Policy.of({}, {})
WORDS = "glide mimic hollow ticket army noble drift salmon castle brief panther echo"
LONG = f"{WORDS} pudding rifle scan torch umbrella vivid wagon yard zebra oxygen metal nest"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("ldapsearch -x -D cn=admin,dc=corp -w Kestrel_55 -b dc=corp", "Kestrel_55"),
        ("BINDPW h4rborMist\nBASE dc=corp", "h4rborMist"),
        ("conn.simple_bind_s('cn=admin,dc=ex,dc=org', 'Tundra_4411')", "Tundra_4411"),
        ("Connection(server, 'uid=ops,dc=k,dc=io', 'ferry2Boat!')", "ferry2Boat!"),
        ("the bind account is cn=reader,dc=acme,dc=de with Wacholder77!", "Wacholder77!"),
        ("use 123 456 to sign in", "123 456"),
        ("Sign in with the code 904 118 within ten minutes", "904 118"),
        ("https://x.example/login/magic-link/kJ8s7Dh2Lq9Zx0Vb3Nm5", "kJ8s7Dh2Lq9Zx0Vb3Nm5"),
        ("lol my pw is toasty42", "toasty42"),
        ("mi contra es gatito2009 jaja", "gatito2009"),
        ("u/p = maria / sunflower8", "sunflower8"),
        ("wifi: Horizon5G / lavendel2020", "lavendel2020"),
        ("SET PASSWORD FOR 'joe'@'localhost' = 'walnut-tree';", "walnut-tree"),
        ("ALTER USER joe IDENTIFIED WITH mysql_native_password BY 'pepperpot'", "pepperpot"),
        ("mchkey 7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f", "7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f"),
    ],
)
def test_what_logs_in_is_masked(text: str, value: str) -> None:
    assert value not in DEFAULT.text(text)


@pytest.mark.parametrize(
    "text",
    [
        f"my seed phrase is {WORDS} keep it safe",
        f"{WORDS} 这是钱包的，帮我记住",
        LONG,
        f"restore with: {WORDS.upper()}",
        f"I wrote {WORDS.replace(' ', ' - ')} on a steel plate",
        "the Ledger showed\n" + "\n".join(f"{at}. {word}" for at, word in enumerate(WORDS.split(), 1)),
        '["' + '", "'.join(WORDS.split()) + '"] is the mnemonic',
    ],
)
def test_words_of_a_wallet_are_masked(text: str) -> None:
    masked = DEFAULT.text(text)
    assert not any(word in masked.lower().split() for word in WORDS.split())


@pytest.mark.parametrize(
    "text",
    [
        "ldapsearch -x -W -D cn=admin,dc=corp -b dc=corp '(uid=eva)'",
        "ldapsearch -D cn=admin,dc=corp -w $LDAP_PASSWORD",
        "search('ou=people,dc=corp', '(uid=eva7)', ['mail'])",
        "rootpw {SSHA}d0Q0626PSH9VUld7yWpR0k6BlpQmtczb",
        "bindpw rotation is described in chapter 9",
        "lol my pw is too long",
        "game pass ultimate is 15 bucks",
        "cat dog fish bird horse sheep goat duck lion tiger bear wolf",
        "vocabulary: abandon ability able about above absent absorb abstract absurd abuse access accident",
        "use 3 of them to sign in",
        "Use port 8443 to sign in",
        "https://docs.acme.io/auth/magic-links/getting-started",
        "wifi: slow / fast",
        "u/p = unit per price",
        "CREATE USER kim IDENTIFIED BY PASSWORD ?",
        "eva:$apr1$9Cv/OMGj$ZomWQzuQL.3TRCS81A1g8/",
    ],
)
def test_what_is_said_of_them_stays(text: str) -> None:
    assert DEFAULT.text(text) == text


def test_they_are_searched_in_linear_time() -> None:
    """What is read twice lies within bounds: many beginnings without an end find nothing."""
    assert list(directories.find("ldapsearch cn=a,dc=" * 20_000)) == []
    assert list(login_codes.find("sign in with use https://a/login/" * 20_000)) == []
    assert list(wallet_words.find("abandon absent " * 20_000)) == []
