"""Who said something is the stored role; a name in front of the words counts only as a name."""

from pathlib import Path

import pytest

from app.core.capture.captured_message import CapturedMessage, TextPart
from app.core.deadline import Deadline
from app.core.identity import Identity, PeerRole, Tenant
from app.embedded.backend import EmbeddedBackend
from app.embedded.extraction.extract import memories_in
from app.embedded.search.speakers import quoted_speaker, usual_speakers
from app.ports import Target
from app.settings import EmbeddedSettings


def said(number: int, text: str, role: str = "user") -> CapturedMessage:
    who = "assistant" if role == "assistant" else "user"
    return CapturedMessage(who, (TextPart(text),), f"2026-03-04T09:0{number}:00+00:00", f"t_a.{number}")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("role", "text", "asked"),
    [
        ("assistant", "Noted: Mia prefers short answers with code.", "what does Mia prefer"),
        ("user", "By the way, we changed our mind: the picnic is at the lake.", "where is the picnic"),
        ("user", "Noted: the picnic moved to the lake.", "where is the picnic"),
        ("user", "Mia: the picnic is at the lake", "where is the picnic"),
        ("assistant", "顺便说一下：野餐改到湖边。", "野餐在哪里"),
    ],
)
async def test_every_turn_is_shown_with_its_stored_role(tmp_path: Path, role: str, text: str, asked: str) -> None:
    who = Identity(Tenant(), "talk", None, "main", None, PeerRole.ASSISTANT)
    backend = EmbeddedBackend(tmp_path, EmbeddedSettings())
    try:
        deadline = Deadline.after_ms(20_000)
        await backend.append(who, [said(0, text, role)], deadline)
        (hit,) = await backend.find(who, asked, Target.MEMORIES, 3, deadline)
        assert hit.text == f"2026-03-04 {role}: {text}"
    finally:
        await backend.aclose()


@pytest.mark.anyio
async def test_a_name_stands_for_the_role_that_goes_by_it(tmp_path: Path) -> None:
    who = Identity(Tenant(), "talk", None, "main", None, PeerRole.ASSISTANT)
    turn = [said(0, "Ana: The picnic is at the lake."), said(1, "Noted: the picnic, at the lake.", "assistant")]
    turn += [said(2, "Ana: The picnic needs a blanket.")]
    backend = EmbeddedBackend(tmp_path, EmbeddedSettings())
    try:
        await backend.append(who, turn, Deadline.after_ms(20_000))
        (hit,) = await backend.find(who, "the picnic", Target.MEMORIES, 3, Deadline.after_ms(20_000))
        assert hit.text.split("\n") == [
            "2026-03-04 Ana: The picnic is at the lake.",
            "assistant: Noted: the picnic, at the lake.",
            "Ana: The picnic needs a blanket.",
        ]
    finally:
        await backend.aclose()


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Caroline: I adopted a cat.", "Caroline"),
        ("Melanie Smith: yes", "Melanie Smith"),
        ("小王：我喜欢篮球", "小王"),
        ("Noted: the cat is grey.", ""),
        ("By the way, we changed our mind: tea.", ""),
        ("Correction: my birthday is 21 June.", ""),
        ("更正：我的生日是六月二日", ""),
        ("the plan is this: we go", ""),
        ("see https://example.org/a", ""),
        ("12:30 at the lake", ""),
    ],
)
def test_only_a_name_is_taken_for_one(text: str, name: str) -> None:
    assert quoted_speaker(text) == name


def test_a_name_counts_where_most_turns_of_the_role_have_it() -> None:
    chat, pasted = (1, "user"), (2, "user")
    turns = [
        (chat, "Tim: I love it"),
        (chat, "and I do not"),
        (chat, "at all"),
        (pasted, "Ana: hi"),
        (pasted, "Ana: bye"),
    ]
    assert usual_speakers(turns) == {pasted: "Ana"}


@pytest.mark.parametrize(
    ("text", "file"),
    [
        ("Correction: my birthday is 21 June.", "profile.md"),
        ("By the way, we changed our mind: I prefer tabs over spaces.", "preferences/spaces-or-tabs.md"),
        ("更正：我的生日是六月二日。", "profile.md"),
    ],
)
def test_a_user_who_introduces_words_with_a_colon_is_still_the_user(text: str, file: str) -> None:
    assert [memory.file for memory in memories_in([said(0, text)])] == [file]


@pytest.mark.parametrize("text", ["Tim: I love basketball.", "小王：我喜欢打篮球。"])
def test_what_another_is_quoted_with_is_not_the_users(text: str) -> None:
    assert list(memories_in([said(0, text)])) == []
