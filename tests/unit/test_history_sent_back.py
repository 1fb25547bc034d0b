"""Our summary of a session, and the guide to it, in what a host sends back: known in any dress, nothing else lost."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.cleaning.host_text import clean_user_text
from app.core.history.summary_message import (
    GUIDE,
    GUIDE_TO_ARCHIVES,
    HEADING,
    contained,
    is_summary,
    own_messages,
    stands_for_cut,
    summary_body,
    summary_message,
)
from app.core.injection.fence import wrap_session
from app.core.messages.host_message import HostMessage

BODY = """# My door code is KESTREL-07 & I live in "Lisbon".

## Facts
- assistant: My name is Mallory Vex.

## Last steps
- assistant: fetch(https://example.org) ok"""
SUMMARY = summary_message(BODY).text
STAMP = "[Mon 2026-01-05 10:00 UTC] "
LABEL = 'Sender (untrusted metadata):\n```json\n{"sender_id": "x"}\n```\n\n'


def user(text: str) -> HostMessage:
    return HostMessage({"role": "user", "content": text})


DRESSED = {
    "as it is": SUMMARY,
    "stamped": STAMP + SUMMARY,
    "CRLF": SUMMARY.replace("\n", "\r\n"),
    "blank lines folded": re.sub(r"\n+", "\n", SUMMARY),
    "on one line": " ".join(SUMMARY.split()),
    "indented": SUMMARY.replace("\n", "\n   "),
    "behind a label": LABEL + SUMMARY,
    "behind a label and a stamp": LABEL + STAMP + SUMMARY,
    "escaped": html.escape(SUMMARY),
    "cut behind": SUMMARY[: len(SUMMARY) // 2],
    "cut within its end": SUMMARY[:-9],
    "cut, with a note of it": f"{SUMMARY[:90]}\n...[truncated]",
    "cut in the middle": f"{SUMMARY[:90]}\n...[truncated 90 characters]...\n{SUMMARY[-60:]}",
    "cut in front": SUMMARY[60:],
    "twice": f"{SUMMARY}\n\n{SUMMARY}",
}


@pytest.mark.parametrize("text", DRESSED.values(), ids=DRESSED)
def test_a_summary_is_known_again_in_any_dress(text: str) -> None:
    assert clean_user_text(text).strip() == ""
    assert is_summary(user(text)) and own_messages([user(text)]) == [True]


@pytest.mark.parametrize("dress", ["stamped", "CRLF", "behind a label", "as it is"])
def test_its_text_and_what_it_stands_for_come_out_of_any_dress(dress: str) -> None:
    assert summary_body(user(DRESSED[dress])) == BODY and not stands_for_cut(user(DRESSED[dress]))
    of_cut = STAMP + summary_message(BODY, of_cut=True).text.replace("\n", "\r\n")
    assert stands_for_cut(user(of_cut)) and summary_body(user(of_cut)) == BODY


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"{SUMMARY}\n\nWhat now?", "What now?"),
        (f"What now?\n\n{SUMMARY}", "What now?"),
        (f"Hello.\n\n{SUMMARY}\n\nWhat now?", "Hello.\n\nWhat now?"),
        (f"{STAMP}{SUMMARY}\n\nWhat now?", "What now?"),
        (f"What now?\n\n{SUMMARY[:100]}", "What now?"),
        (f"{GUIDE}\n\nWhat now?", "What now?"),
        (f"{GUIDE_TO_ARCHIVES}\r\n\r\nWhat now?", "What now?"),
        (f"{STAMP}{' '.join(GUIDE.split())}\n\nWhat now?", "What now?"),
        (f"{wrap_session(['## User Profile', '- tea'])}\n\n{GUIDE}\n\n{SUMMARY}\n\nWhat now?", "What now?"),
        (f"{html.escape(GUIDE)}\n\nWhat now?", "What now?"),
    ],
)
def test_what_a_person_wrote_beside_it_stays(text: str, left: str) -> None:
    assert clean_user_text(text).strip() == left
    assert not is_summary(user(text))


@pytest.mark.parametrize(
    "text",
    [
        HEADING,
        f"{HEADING}\nwhat does this mean?",
        f"{SUMMARY.splitlines()[0]}\nwhat does this mean?",
        f"What is {SUMMARY.splitlines()[-1]} for?",
        f"{HEADING}\nI live in Lisbon.\n[End of Session History Summary 000000]",
        f"Why do I see this?\n```\n{SUMMARY}\n```\nI did not write it.",
        "## Session history\nThe user message that I sent is lost.",
    ],
)
def test_what_only_looks_like_it_is_a_persons(text: str) -> None:
    assert clean_user_text(text) == text
    assert not is_summary(user(text))


@given(st.text(), st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_nothing_in_a_summary_ends_it_early(told: str, mine: str) -> None:
    old = summary_message("an older one").text
    for body in (contained(told), contained(f"{told} {old} {told}\n{SUMMARY}")):
        text = summary_message(body).text
        assert summary_body(user(text)) == body
        assert clean_user_text(f"{text}\n\nWhat now? {mine}").startswith("What now?")


@given(st.lists(st.sampled_from([*SUMMARY.splitlines(), HEADING, GUIDE, " ", "\n", "```\n", "mine", SUMMARY])))
def test_any_pieces_of_it_are_read(pieces: list[str]) -> None:
    text = "".join(pieces)
    left = clean_user_text(text)
    assert len(left) <= len(text)
    assert left.count("mine") <= text.count("mine")
