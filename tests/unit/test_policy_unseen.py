"""What nobody sees in a text, and other dashes and digits, hide nothing from the policy."""

import pytest

from app.policy.policy import Policy
from app.policy.unseen import plain

DEFAULT = Policy.of({}, {})
KEY = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
UNSEEN = ["\u200b", "\u200c", "\u200d", "\u2060", "\ufeff", "\u00ad"]


@pytest.mark.parametrize("sign", UNSEEN)
@pytest.mark.parametrize("at", [2, 16, len(KEY) - 1])
def test_a_key_with_an_invisible_sign_in_it_is_masked_whole(sign: str, at: int) -> None:
    text = f"two{sign}words {KEY[:at]}{sign}{KEY[at:]} and{sign} more"
    assert DEFAULT.text(text) == f"two{sign}words [secret removed] and{sign} more"


def test_each_of_several_is_masked_where_it_stands() -> None:
    text = f"\ufeffa\u200b\u200b {KEY[:9]}\u200b\u200b{KEY[9:]},\u00ad {KEY[:9]}\u2060{KEY[9:]}\u200d.\u200b"
    assert DEFAULT.text(text) == "\ufeffa\u200b\u200b [secret removed],\u00ad [secret removed]\u200d.\u200b"


def test_an_invisible_sign_in_the_word_before_hides_no_password() -> None:
    assert DEFAULT.text("pass\u00adword: Heron!\u200bLake!55") == "pass\u00adword: [secret removed]"


@pytest.mark.parametrize("joint", [*"\u2010\u2011\u2012\u2013\u2014\u2015", *UNSEEN, "\u200b-\u200b", " \u200b"])
def test_a_card_is_masked_whatever_stands_between_its_groups(joint: str) -> None:
    number = joint.join(("4539", "5787", "6362", "1486"))
    assert DEFAULT.text(f"the card {number}, please") == "the card [card removed], please"


def test_a_card_in_wide_digits_is_masked() -> None:
    assert DEFAULT.text("card ４５３９５７８７６３６２１４８６") == "card [card removed]"
    assert DEFAULT.text("card ４５３９‑５７８７‑６３６２‑1486") == "card [card removed]"


@pytest.mark.parametrize(
    "text",
    [
        "pages 10–15 of 2019—2024 — see the notes",
        "the family 👩\u200d👩\u200d👧 likes می\u200cخواهم and co\u00adoperation",
        "the test card 4242–4242–4242–4242",
        "version ２０２４ of the password guide",
        "\ufeff# Passwords\n\nAt least 12 characters – no names.",
    ],
)
def test_such_signs_alone_are_nothing(text: str) -> None:
    assert DEFAULT.text(text) == text


@pytest.mark.parametrize("text", ["plain", "naïve – plain", "価格 12"])
def test_a_usual_text_is_read_as_it_is(text: str) -> None:
    assert plain(text).text == text


def test_a_masked_text_comes_out_unchanged_with_invisible_signs_beside_the_mask() -> None:
    once = DEFAULT.text(f"\u200bpassword\u200b: \u200b{KEY}\u200b\n[secret \u200bremoved] is Heron!Lake!55\u200b")
    assert "Heron" not in once
    assert DEFAULT.apply(once).applied == ()


def test_own_patterns_see_the_text_without_them_too() -> None:
    policy = Policy.of(dict.fromkeys(("secret", "card"), "allow"), {"quiet": ("hush", "mask")})
    assert policy.text("\u200bh\u200bush\u200b") == "\u200b[quiet removed]\u200b"
